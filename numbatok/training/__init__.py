"""Training: count distinct pretokens, then merge the most frequent pairs."""

from numbatok.training.api import count_pretokens, train, train_with_report
from numbatok.training.counts import PretokenCounts
from numbatok.training.files import Files
from numbatok.training.progress import TrainingProgress
from numbatok.training.report import TrainingReport, WordsReport

__all__ = [
    "Files",
    "PretokenCounts",
    "TrainingProgress",
    "TrainingReport",
    "WordsReport",
    "count_pretokens",
    "train",
    "train_with_report",
]
