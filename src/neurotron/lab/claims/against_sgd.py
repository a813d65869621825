"""Neuro-Tron against SGD: the one that the published code ran, and true SGD."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from neurotron._types import Array
from neurotron.lab.claims.model import Finding, below
from neurotron.lab.claims.settings import SettingRuns, table1_settings
from neurotron.lab.results.summary import bootstrap
from neurotron.lab.training.levels import Level, divided, over_levels
from neurotron.lab.training.summary import steps_to

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = ["faster", "smaller_error"]

PUBLISHED, TRUE = "first-sample-sgd", "sgd"
ALL, BOTH = "in all runs", "where both recover"
GROUPS = {
    (PUBLISHED, BOTH): "the published SGD",
    (PUBLISHED, ALL): "the published SGD",
    (TRUE, BOTH): "true SGD where both find w*",
    (TRUE, ALL): "true SGD in all runs",
}
"""What is compared with: what the paper called SGD uses only the first sample of a batch."""
Ratio = Callable[[SettingRuns, str, Level], Array]


def compare(settings: list[SettingRuns], measure: str, ratio: Ratio) -> list[Finding]:
    """Compare with both kinds of SGD: in all runs, and where both trainers recover the filter.

    Each replicate counts with its median over the levels of the attack.
    """
    findings = []
    for setting, rival, runs in itertools.product(settings, (PUBLISHED, TRUE), (BOTH, ALL)):
        table = []
        for level in setting.shared(rival):
            values = ratio(setting, rival, level)
            if runs == BOTH:
                ours, theirs = (
                    setting.ended("recovered", it, level) for it in ("neuro-tron", rival)
                )
                values = np.where(ours & theirs, values, np.nan)
            table.append(values)
        values = over_levels(table) if table else np.empty(0)
        if values.size:
            found = bootstrap(values)
            case = f"{setting.title} against {setting.trainers[rival]}, {runs}"
            findings.append(
                Finding.of(case, measure, found, len(values), holds=below(1.0, found),
                           as_published=rival == PUBLISHED, group=GROUPS[rival, runs])
            )  # fmt: skip
    return findings


def smaller_error(results: Runs) -> list[Finding]:
    """Divide final errors of Neuro-Tron by those of the rival."""

    def ratio(setting: SettingRuns, rival: str, level: Level) -> Array:
        ours, theirs = (setting.values("error", name, level) for name in ("neuro-tron", rival))
        return divided(ours, theirs)

    return compare(table1_settings(results), "error divided by that of SGD (below 1)", ratio)


def faster(results: Runs) -> list[Finding]:
    """Divide the steps of Neuro-Tron to a tenth of the initial error by those of the rival."""
    every, keys = table1_settings(results), ["setting", "replicate", "arm"]
    if not every:
        return []
    reached = steps_to(results, "0.1×").rename({"steps": "reached"})
    timed = [
        dataclasses.replace(setting, runs=setting.runs.join(reached, on=keys, how="left"))
        for setting in every
    ]

    def ratio(setting: SettingRuns, rival: str, level: Level) -> Array:
        ours, theirs = (setting.values("reached", name, level) for name in ("neuro-tron", rival))
        ours, theirs = (np.where(np.isnan(it), np.inf, it) for it in (ours, theirs))  # never
        return divided(ours, theirs)

    measure = (
        "steps to a tenth of the initial error, divided by those of SGD (below 1; it is 0 if only "
        "SGD never gets there)"
    )
    return compare(timed, measure, ratio)
