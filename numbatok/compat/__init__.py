"""Other libraries' interfaces over a Tokenizer: `tok.as_tiktoken()` and `tok.as_hf()`."""
