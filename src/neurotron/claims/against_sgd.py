"""Neuro-Tron against SGD: what the published code ran under that name, and SGD itself."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from neurotron._types import Array
from neurotron.claims.model import Finding
from neurotron.claims.setups import Level, Setup, divided, over_levels, setups
from neurotron.results.summary import bootstrap, rate, steps_to

if TYPE_CHECKING:
    from neurotron.results.frames import Results

__all__ = ["faster", "more_often", "smaller_error"]

PUBLISHED, TRUE = "first-sample-sgd", "sgd"
ALL, BOTH = "in all runs", "where both recover"
Ratio = Callable[[Setup, str, Level], Array]


def compare(setup_list: list[Setup], measure: str, ratio: Ratio) -> list[Finding]:
    """Compare with what the paper called SGD and with SGD: in all runs, and where both recover.

    A replicate counts with the median over the levels of the attack.
    """
    findings = []
    for setup, rival, runs in itertools.product(setup_list, (PUBLISHED, TRUE), (ALL, BOTH)):
        table = []
        for level in setup.shared(rival):
            values = ratio(setup, rival, level)
            if runs == BOTH:
                ours, theirs = (setup.ended("recovered", it, level) for it in ("neuro-tron", rival))
                values = np.where(ours & theirs, values, np.nan)
            table.append(values)
        values = over_levels(table) if table else np.empty(0)
        if values.size:
            found = bootstrap(values)
            case = f"{setup.title} against {setup.trainers[rival]}, {runs}"
            findings.append(
                Finding.of(case, measure, found, len(values), holds=found.high < 1.0,
                           as_published=rival == PUBLISHED)
            )  # fmt: skip
    return findings


def smaller_error(results: Results) -> list[Finding]:
    """Divide final errors of Neuro-Tron by those of the rival."""

    def ratio(setup: Setup, rival: str, level: Level) -> Array:
        ours, theirs = (setup.values("error", who, level) for who in ("neuro-tron", rival))
        return divided(ours, theirs)

    return compare(setups(results), "error over that of the rival (< 1)", ratio)


def faster(results: Results) -> list[Finding]:
    """Divide the steps of Neuro-Tron to a tenth of the initial error by those of the rival."""
    every, keys = setups(results), ["cohort", "replicate", "arm"]
    if not every:
        return []
    reached = steps_to(results, "0.1×").rename({"steps": "reached"})
    timed = [
        dataclasses.replace(setup, runs=setup.runs.join(reached, on=keys, how="left"))
        for setup in every
    ]

    def ratio(setup: Setup, rival: str, level: Level) -> Array:
        ours, theirs = (setup.values("reached", who, level) for who in ("neuro-tron", rival))
        ours, theirs = (np.where(np.isnan(it), np.inf, it) for it in (ours, theirs))  # never
        return divided(ours, theirs)

    measure = (
        "steps to a tenth of the initial error over those of the rival (< 1; 0 if only the rival "
        "never comes there)"
    )
    return compare(timed, measure, ratio)


def more_often(results: Results) -> list[Finding]:
    """Tell how much more often Neuro-Tron recovers w* than SGD, and where SGD ends otherwise."""
    findings = []
    for setup in setups(results):
        levels = setup.shared(TRUE)
        if not levels:
            continue
        ours, theirs, mirror = (
            np.stack([setup.ended(outcome, who, level) for level in levels]) * 1.0
            for outcome, who in (("recovered", "neuro-tron"), ("recovered", TRUE), ("mirror", TRUE))
        )
        more = bootstrap((ours - theirs).mean(axis=0), np.mean)
        case = f"{setup.title} against {setup.trainers[TRUE]}"
        measure = "share of runs that recover w*, less that of SGD (> 0)"
        findings.append(Finding.of(case, measure, more, setup.replicates, holds=more.low > 0.0))
        lost = theirs.mean(axis=0) < 0.5  # by replicate: at most levels
        if lost.any():
            ends = rate(int((mirror.mean(axis=0)[lost] > 0.5).sum()), int(lost.sum()))
            measure = "share of the replicates SGD does not recover that end at −w* (> 1/2)"
            findings.append(
                Finding.of(f"{case}, where it fails", measure, ends, int(lost.sum()),
                           holds=ends.low > 0.5)
            )  # fmt: skip
    return findings
