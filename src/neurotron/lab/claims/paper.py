"""The claims of the paper as checks of results."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron._types import Array
from neurotron.lab.claims.model import Finding, above, at_most, below, between, every
from neurotron.lab.claims.settings import conditions_but, table1_settings
from neurotron.lab.results.summary import Interval, bootstrap, median, rate
from neurotron.lab.training.levels import divided, over_levels, paired, slopes

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = [
    "grows_with", "heavy_tails_alike", "impersonation_wins", "outer_weights_help",
    "recovers_without_attack", "small_attack_degrades", "theorem_is_silent",
]  # fmt: skip

PUBLISHED_STEP_SIZES = {1.0: 1e-4, 10.0: 2e-5}
"""By outer weight (docs/errata.md)."""

SMALL = 0.125
"""The θ of figure 6."""

RESOLVED = 1e-300, 1e300
"""What an error is taken as that is zero, or infinite because the run diverged."""
UNKNOWN = Interval(1.0, 0.0, np.inf)
"""The growth from one level to the next if all errors at both are zero, or all are infinite."""


def grows_with(axis: int) -> Callable[[Runs], list[Finding]]:
    """Return the check that the error grows with θ (axis 0) or β (axis 1)."""
    letter = "θβ"[axis]

    def check(results: Runs) -> list[Finding]:
        findings = []
        for setting in table1_settings(results):
            levels = setting.sweep(axis)
            if len(levels) < 3:
                continue
            errors = np.stack([setting.values("error", "neuro-tron", level) for level in levels])
            x = np.log([level[axis] for level in levels])
            slope = bootstrap(slopes(x, np.log(np.clip(errors, *RESOLVED))))
            growth = _growth(errors)
            findings.append(
                Finding.of(
                    setting.title,
                    f"slope of the error over {letter} on a log-log scale (above 0, and the error "
                    f"grows from each {letter} to the next)",
                    slope,
                    setting.replicates,
                    holds=every((above(0.0, slope), *(above(1.0, step) for step in growth))),
                    worst=min(step.estimate for step in growth),
                )
            )
        return findings

    return check


def _growth(errors: Array) -> list[Interval]:
    """Return the factors by which errors grow from each level to the next."""
    pairs = (paired(higher, lower) for lower, higher in itertools.pairwise(errors))
    return [bootstrap(values) if values.size else UNKNOWN for values in pairs]


def recovers_without_attack(results: Runs) -> list[Finding]:
    """Compare errors of honest runs with 1e-13, ten times the paper's 1e-14."""
    findings = []
    for setting in table1_settings(results):
        for level in [level for level in setting.levels if level[0] == 0.0]:
            error = bootstrap(setting.values("error", "neuro-tron", level))
            findings.append(
                Finding.of(setting.title, "median error without attack (at most 1e-13)", error,
                           setting.replicates, holds=at_most(1e-13, error))
            )  # fmt: skip
    return findings


def small_attack_degrades(results: Runs) -> list[Finding]:
    """Divide errors under the smallest attack by those without one, in pairs."""
    findings = []
    for setting in table1_settings(results):
        chances = [chance for bound, chance in setting.levels if bound == SMALL]
        for chance in chances:
            if (0.0, chance) not in setting.levels:
                continue
            small, honest = (
                setting.values("error", "neuro-tron", (bound, chance)) for bound in (SMALL, 0.0)
            )
            values = paired(small, honest)
            if values.size:
                ratio = bootstrap(values)
                measure = f"error at θ = {SMALL} divided by that at θ = 0 (above 10)"
                findings.append(
                    Finding.of(setting.title, measure, ratio, len(values), holds=above(10.0, ratio))
                )
    return findings


def heavy_tails_alike(results: Runs) -> list[Finding]:
    """Divide errors without a fourth moment by those of every other law, at the same levels."""
    every = table1_settings(results)
    findings = []
    for heavy in [setting for setting in every if setting.is_heavy]:
        for other in [setting for setting in every if not setting.is_heavy]:
            levels = [level for level in heavy.attacked if level in other.attacked]
            _, mine, theirs = np.intersect1d(heavy.numbers, other.numbers, return_indices=True)
            ratios = [
                divided(heavy.values("error", "neuro-tron", level)[mine],
                        other.values("error", "neuro-tron", level)[theirs])
                for level in levels
            ]  # fmt: skip
            values = over_levels(ratios) if levels else np.empty(0)
            if values.size:
                found = bootstrap(values)
                findings.append(
                    Finding.of(f"{heavy.title} against {other.title}",
                               "error divided by that with the other law (from 1/10 to 10)", found,
                               len(values), holds=between(0.1, 10.0, found))
                )  # fmt: skip
    return findings


def outer_weights_help(results: Runs) -> list[Finding]:
    """Divide errors with heavy outer weights by those with light ones, at the same attack."""
    light, heavy = sorted(PUBLISHED_STEP_SIZES)
    runs = results.runs.filter(pl.col("step_size").is_not_null(), algorithm="neuro-tron")
    conditions = {
        setting["name"]: conditions_but(setting, "network", "outer_weights")
        for setting in results.spec["settings"]
    }
    cases: dict[Any, Errors] = {}
    keys = [
        "setting",
        "attack_text",
        "bound",
        "probability",
        "outer_weights",
        "step_size",
        "trainer",
    ]
    for key, group in runs.group_by(keys, maintain_order=True):
        setting, *attack, weight, step, _ = key
        case = cases.setdefault((conditions[str(setting)], *attack), {})
        case.setdefault((weight, step), group.select("replicate", "error"))
    own_steps = tuple(PUBLISHED_STEP_SIZES[weight] for weight in (light, heavy))
    findings = []
    for (shared, attack, bound, chance), by in cases.items():
        honest = cases.get((shared, attack, 0.0, chance), {})
        steps = sorted({step for _, step in by}, reverse=True)
        for of_light, of_heavy in [own_steps, *((step, step) for step in steps)]:
            if (light, of_light) not in by or (heavy, of_heavy) not in by:
                continue
            pairs = by[heavy, of_heavy].join(by[light, of_light], on="replicate")
            values = paired(pairs["error"].to_numpy(), pairs["error_right"].to_numpy())
            if values.size:
                found, own = bootstrap(values), of_light != of_heavy
                kind = "published step sizes" if own else f"η = {of_light:g} for both"
                measure = f"error with q = {heavy:g} divided by that with q = {light:g} (below 1)"
                if bound > 0.0 and _is_late(by, honest, (light, of_light)):
                    measure += f"; with q = {light:g} the error is still about that without attack"
                findings.append(
                    Finding.of(f"θ = {bound:g}, {kind}", measure, found, len(values),
                               holds=below(1.0, found), as_published=own, group=kind,
                               worst=float(pairs["error"].to_numpy().max()))
                )  # fmt: skip
    return findings


Errors = dict[tuple[float, float], "pl.DataFrame"]


def _is_late(attacked: Errors, honest: Errors, key: tuple[float, float]) -> bool:
    """Return whether the attack does not show in the errors yet, because they are still falling."""
    if key not in honest:
        return False
    ours, clean = (median(table[key]["error"].to_numpy()) for table in (attacked, honest))
    return bool(ours < 2.0 * clean)


def impersonation_wins(results: Runs) -> list[Finding]:
    """Measure distances to the impersonated filter when every label is its own."""
    runs = results.runs.filter(attack="impersonation", probability=1.0, algorithm="neuro-tron")
    findings = []
    for (setting, trainer), group in runs.group_by("setting", "trainer", maintain_order=True):
        known = group["distance"].fill_null(np.inf)  # a forged shard may have no filter
        distances = known.fill_nan(np.inf).to_numpy()  # of a run that diverged
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       "median distance ‖w − w_adv‖ at β = 1 (at most 1e-9 in every run)",
                       bootstrap(distances), len(group), holds=distances.max() <= 1e-9,
                       worst=distances.max(), total=len(group))
        )  # fmt: skip
    return findings


def theorem_is_silent(results: Runs) -> list[Finding]:
    """Count replicates for which Theorem 1 promises less than the initial error at any level."""
    findings = []
    for setting in table1_settings(results):
        promised = [
            setting.values("theorem1_radius", "neuro-tron", level)
            < setting.values("initial_error", "neuro-tron", level)
            for level in setting.attacked
        ]
        some = np.any(promised, axis=0)
        findings.append(
            Finding.of(setting.title,
                       "share of replicates for which Theorem 1 promises less than the initial "
                       "error (none)",
                       rate(int(some.sum()), len(some)), len(some), holds=not some.any(),
                       count=int(some.sum()), total=len(some))
        )  # fmt: skip
    return findings
