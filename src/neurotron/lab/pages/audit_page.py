"""The page of an audit: what an attacker can do to a model, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurotron import _check, _files
from neurotron.auditing.sentences import suspects_words, verdict_words
from neurotron.auditing.wording import sections
from neurotron.lab.figures.one_result import audit_chart
from neurotron.lab.pages.frame import figure_of, render

if TYPE_CHECKING:
    from neurotron.auditing.report import Audit

PAGES = (".html", ".htm")
VERDICTS = {
    "within": ("✓", "holds"),
    "exceeded": ("✗", "does-not-hold"),
    "undecided": ("?", "undecided"),
    "not asked": ("–", "not-tested"),
}
"""The mark of each verdict, and what gives it its colour."""


def build_audit(
    audit: Audit, *, label: str = "", command: str = "", rows: Sequence[int] | None = None
) -> str:
    """Return the page as text, which is the same for the same audit.

    Parameters
    ----------
    audit
        The audit.
    label
        The name of the label, if it has one.
    command
        The command that repeats the audit, if it was made on the command line.
    rows
        The numbers of the rows in the user's file. By default rows are counted from 0.
    """
    mark, kind = VERDICTS[audit.verdict]
    values = {
        "title": f"Audit of {audit.estimator}",
        "audit": audit,
        "verdict": {"mark": mark, "kind": kind, "words": verdict_words(audit)},
        "suspects": suspects_words(audit),
        "sections": sections(audit, label=label, rows=rows),
        "figure": figure_of(audit_chart(audit)),
        "command": command,
    }
    return render("audit.html", values)


def write_audit(audit: Audit, path: str | Path, **more: Any) -> Path:
    """Write the page to a file, of which nothing remains half-written; return its path."""
    place = _check.path("path", path, *PAGES)
    text = build_audit(audit, **more)
    with _files.writing(place):
        _files.remove_leftovers(place)
        _files.replace(place, text.encode("utf-8", "replace"))
    return place
