"""Encoding, by every library in every state on every text."""

from collections.abc import Iterator

from benchmarks.catalog import OTHER_TEXT, TOKENIZERS, files_of, sha256, text_path
from benchmarks.engine import AGAIN, Outcome, Plan, Rival, measure_group, prepared, rivals_of
from benchmarks.libraries import Files
from benchmarks.processes import Job
from benchmarks.states import STATES


def run(plan: Plan) -> Iterator[Outcome]:
    """Measure the plan; yield what is there after each tokenizer and text."""
    outcome = Outcome("encode", plan)
    rivals = rivals_of(outcome)
    groups = list(dict.fromkeys(STATES[state] for state in plan.states))
    for tokenizer in plan.tokenizers:
        files = files_of(tokenizer)
        able = prepared(outcome, rivals, job_of(plan, files, plan.texts[0], "batch"))
        able = [Rival(r.label + AGAIN, r.library, r.python) for r in able[:1]] + able
        for text in plan.texts:
            outcome.texts[text] = sha256(text_path(text).read_bytes())
            for group in groups:
                job = job_of(plan, files, text, group)
                measure_group(outcome, able, job, text, TOKENIZERS[tokenizer].oracle)
            yield outcome


def job_of(plan: Plan, files: Files, text: str, group: str) -> Job:
    """Return what a worker does for one group of states on one text."""
    other = OTHER_TEXT.get(text, "en")
    return Job(files, group, str(text_path(text)), str(text_path(other)), plan.settings)
