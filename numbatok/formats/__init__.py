"""Readers and writers of tokenizer files: anything in, one TokenizerSpec out."""
