"""Neuro-Tron against SGD: what the published code ran under that name, and SGD itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from neurotron._types import Array
from neurotron.claims.model import Finding
from neurotron.claims.setups import Level, Setup, divided, over_levels, setups
from neurotron.results.summary import bootstrap, steps_to

if TYPE_CHECKING:
    from neurotron.results.frames import Results

__all__ = ["faster", "more_often", "smaller_error"]

PUBLISHED, TRUE = "first-sample-sgd", "sgd"


def rivals(results: Results) -> Iterator[tuple[Setup, str, bool]]:
    """Yield each setup with what the paper called SGD, and with SGD."""
    for setup in setups(results):
        for rival in (PUBLISHED, TRUE):
            if setup.shared(rival):
                yield setup, rival, rival == PUBLISHED


def _case(setup: Setup, rival: str) -> str:
    return f"{setup.title} against {setup.trainers[rival]}"


def _by_replicate(setup: Setup, rival: str, ratio: Callable[[Level], Array]) -> Array:
    """Return the median over shared levels of what `ratio` gives by replicate.

    Against true SGD only where both recover: how often that is, is another question.
    """
    table = []
    for level in setup.shared(rival):
        values = ratio(level)
        if rival == TRUE:
            both = setup.recovered("neuro-tron", level) & setup.recovered(rival, level)
            values = np.where(both, values, np.nan)
        table.append(values)
    return over_levels(table)


def smaller_error(results: Results) -> list[Finding]:
    """Divide final errors of Neuro-Tron by those of the rival."""
    findings = []
    for setup, rival, published in rivals(results):

        def ratio(level: Level, setup: Setup = setup, rival: str = rival) -> Array:
            ours, theirs = (setup.values("error", who, level) for who in ("neuro-tron", rival))
            return divided(ours, theirs)

        values = _by_replicate(setup, rival, ratio)
        if values.size:
            found = bootstrap(values)
            measure = "error over that of the rival" + _where(rival) + " (< 1)"
            findings.append(
                Finding.of(_case(setup, rival), measure, found, len(values),
                           holds=found.high < 1.0, as_published=published)
            )  # fmt: skip
    return findings


def faster(results: Results) -> list[Finding]:
    """Divide the steps of Neuro-Tron to a tenth of the initial error by those of the rival."""
    reached = steps_to(results, "0.1×").rename({"steps": "reached"})
    findings = []
    for setup, rival, published in rivals(results):
        runs = setup.runs.join(reached, on=["cohort", "replicate", "arm"], how="left")
        timed = Setup(setup.title, setup.law, runs, setup.attack, setup.trainers)

        def ratio(level: Level, timed: Setup = timed, rival: str = rival) -> Array:
            ours, theirs = (timed.values("reached", who, level) for who in ("neuro-tron", rival))
            ours, theirs = (np.where(np.isnan(it), np.inf, it) for it in (ours, theirs))  # never
            return divided(ours, theirs)

        values = _by_replicate(timed, rival, ratio)
        if values.size:
            found = bootstrap(values)
            measure = (
                "steps to a tenth of the initial error over those of the rival"
                + _where(rival) + " (< 1; 0 if only the rival never comes there)"
            )  # fmt: skip
            findings.append(
                Finding.of(_case(setup, rival), measure, found, len(values),
                           holds=found.high < 1.0, as_published=published)
            )  # fmt: skip
    return findings


def _where(rival: str) -> str:
    return ", where both recover" if rival == TRUE else ""


def more_often(results: Results) -> list[Finding]:
    """Tell how much more often Neuro-Tron recovers w* than SGD does."""
    findings = []
    for setup, rival, _ in rivals(results):
        if rival == TRUE:
            more = [
                setup.recovered("neuro-tron", level) * 1.0 - setup.recovered(rival, level)
                for level in setup.shared(rival)
            ]
            found = bootstrap(np.mean(more, axis=0), np.mean)
            measure = "share of runs that recover w*, less that of SGD (> 0)"
            findings.append(
                Finding.of(_case(setup, rival), measure, found, setup.replicates,
                           holds=found.low > 0.0)
            )  # fmt: skip
    return findings
