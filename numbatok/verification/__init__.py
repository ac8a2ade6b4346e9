"""Compare a tokenizer with another implementation: `tok.verify(...)` and `numbatok verify`."""

from numbatok.verification.compare import verify
from numbatok.verification.report import Difference, Report

__all__ = ["Difference", "Report", "verify"]
