"""Readers and writers of tokenizer files: anything in, one TokenizerSpec out."""

from numbatok.formats.locate import load_spec, locate
from numbatok.formats.sources import Located, Source
from numbatok.formats.write import write

__all__ = ["Located", "Source", "load_spec", "locate", "write"]
