"""The exceptions of numbatok.

NumbatokError
    InvalidTokenizerFile   a file that is damaged or contradicts itself
    UnsupportedTokenizer   a sound file with a feature that numbatok cannot reproduce exactly
    UnknownTokenizerName   `load` was given a name that is nothing it knows
    InvalidInput           an argument of the wrong kind (also TypeError or ValueError by subclass)
        InvalidType        (also TypeError)
        InvalidValue       (also ValueError)
            InvalidUtf8    bytes that are not UTF-8 under invalid="error"
    SpecialTokenError      plain text contains a special token (also ValueError)
    UnknownIdError         an id that the vocabulary does not have (also KeyError)
    TrainingError          training cannot go on: a source, the disk or a limit
        CheckpointError    a checkpoint that is damaged or of another training
    InvalidSource          a file of text is damaged, or lacks what was asked for (also ValueError)
    OutputError            an output exists, does not match or cannot be written (also OSError)

Every message gives the fact, the value, the place, and what to do next.
"""


class NumbatokError(Exception):
    """Base of all errors that numbatok raises on purpose."""


class InvalidTokenizerFile(NumbatokError, ValueError):
    """A tokenizer file is damaged or contradicts itself; the message names the field."""


class UnsupportedTokenizer(NumbatokError, ValueError):
    """A tokenizer has a feature that numbatok does not reproduce exactly; the message names it."""


class UnknownTokenizerName(NumbatokError, LookupError):
    """`load` was given something that is no built-in name, no file and no cached model."""


class InvalidInput(NumbatokError):
    """An argument cannot be used; the message says which and why."""


class InvalidType(InvalidInput, TypeError):
    """An argument has a type that cannot be used."""


class InvalidValue(InvalidInput, ValueError):
    """An argument has a value that cannot be used."""


class InvalidUtf8(InvalidValue):
    """Bytes are not well-formed UTF-8 and the call asked for `invalid="error"`."""


class SpecialTokenError(NumbatokError, ValueError):
    """Text contains a special token that the call neither recognizes nor takes as plain."""


class UnknownIdError(NumbatokError, KeyError):
    """An id is not in the vocabulary."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class TrainingError(NumbatokError):
    """Training cannot go on because of a source, the disk or a limit; nothing is left damaged."""


class CheckpointError(TrainingError):
    """A checkpoint is damaged, or belongs to another corpus, other options or another version."""


class InvalidSource(NumbatokError, ValueError):
    """A file of text cannot be read as asked; the message names the file and the place in it."""


class OutputError(NumbatokError, OSError):
    """An output cannot be written, or is not what the call expects; finished shards are intact."""
