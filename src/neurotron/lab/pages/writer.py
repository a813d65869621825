"""Judges the results in a folder, and writes verdicts and page."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from neurotron import _check
from neurotron._references import code_allowed
from neurotron.lab.claims.judging import evaluate
from neurotron.lab.claims.judging import write as write_verdicts
from neurotron.lab.claims.model import Judgement
from neurotron.lab.pages import page
from neurotron.lab.results.results import Results, load

__all__ = ["code_of", "report"]


def report(folder: str | Path, *, allow_code: bool = False) -> list[Judgement]:
    """Judge the claims of the study in a folder, and write claims.json and report.html there.

    Parameters
    ----------
    folder
        The folder that `neurotron run` or `nt.lab.run` has written.
    allow_code
        Whether claims and charts may be imported that the folder names and this process has not
        given to a study itself. Allow it only for folders that you trust.

    Returns
    -------
    list of Judgement
        The verdict on each claim.
    """
    _check.instance("allow_code", allow_code, bool)
    results = load(folder)
    with code_of(results) if allow_code else nullcontext():
        judgements = evaluate(results)
        write_verdicts(results, judgements)
        page.write(results, judgements)
    return judgements


def code_of(results: Results) -> AbstractContextManager[None]:
    """Return a context in which the code may be imported that a folder of results names."""
    return code_allowed(results.spec["code"])
