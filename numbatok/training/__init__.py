"""Training: count distinct pretokens, then merge the most frequent pairs."""
