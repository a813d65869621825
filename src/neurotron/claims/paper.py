"""The statements of the paper as checks of results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron._registry import parse
from neurotron._types import Array
from neurotron.claims.against_sgd import faster, smaller_error
from neurotron.claims.model import Finding, above, at_most, below, between, every
from neurotron.claims.settings import published, table1_settings
from neurotron.results.levels import divided, over_levels, paired, slopes
from neurotron.results.summary import bootstrap, certified, median, rate

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = ["BROADER_THAN_PUBLISHED", "CLAIMS", "certificate_holds"]

PUBLISHED_STEP_SIZES = {1.0: 1e-4, 10.0: 2e-5}
"""By outer weight (docs/errata.md)."""

SMALL = 0.125
"""The θ of figure 6."""

RESOLVED = 1e-300, 1e300
"""What an error is taken as that is zero, or infinite because the run diverged."""


def grows_with(axis: int) -> Callable[[Results], list[Finding]]:
    """Return the check that the error grows with θ (axis 0) or β (axis 1)."""
    letter = "θβ"[axis]

    def check(results: Results) -> list[Finding]:
        findings = []
        for setting in table1_settings(results):
            levels = setting.sweep(axis)
            if len(levels) < 3:
                continue
            errors = np.stack([setting.values("error", "neuro-tron", level) for level in levels])
            x = np.log([level[axis] for level in levels])
            slope = bootstrap(slopes(x, np.log(np.clip(errors, *RESOLVED))))
            findings.append(
                Finding.of(
                    setting.title,
                    f"slope of log error over log {letter} (> 0, and rising throughout)",
                    slope,
                    setting.replicates,
                    holds=every((above(0.0, slope), *_rises(errors))),
                )
            )
        return findings

    return check


def _rises(errors: Array) -> Iterator[bool | None]:
    """Tell of each level but the first whether errors, level by level, are above the last ones."""
    for lower, higher in itertools.pairwise(errors):
        values = paired(higher, lower)
        yield above(1.0, bootstrap(values)) if values.size else None


def recovers_without_attack(results: Results) -> list[Finding]:
    """Compare errors of honest runs with 1e-13, ten times the paper's 1e-14."""
    findings = []
    for setting in table1_settings(results):
        for level in [level for level in setting.levels if level[0] == 0.0]:
            error = bootstrap(setting.values("error", "neuro-tron", level))
            findings.append(
                Finding.of(setting.title, "error without attack (≤ 1e-13)", error,
                           setting.replicates, holds=at_most(1e-13, error))
            )  # fmt: skip
    return findings


def small_attack_degrades(results: Results) -> list[Finding]:
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
                measure = f"error at θ = {SMALL} over error at θ = 0 (> 10)"
                findings.append(
                    Finding.of(setting.title, measure, ratio, len(values), holds=above(10.0, ratio))
                )
    return findings


def heavy_tails_alike(results: Results) -> list[Finding]:
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
                               "error over that of the other law (between 1/10 and 10)", found,
                               len(values), holds=between(0.1, 10.0, found))
                )  # fmt: skip
    return findings


def outer_weights_help(results: Results) -> list[Finding]:
    """Divide errors with heavy outer weights by those with light ones, at the same attack."""
    light, heavy = sorted(PUBLISHED_STEP_SIZES)
    runs = published(results).filter(
        pl.col("algorithm") == "neuro-tron", pl.col("step_size").is_not_null()
    )
    conditions = {
        setting["name"]: _but_outer_weights(setting) for setting in results.spec["settings"]
    }
    cases: dict[Any, Errors] = {}
    keys = ["setting", "attack", "bound", "probability", "outer_weights", "step_size", "trainer"]
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
                measure = f"error with q = {heavy:g} over that with q = {light:g} (< 1)"
                if bound > 0.0 and _is_late(by, honest, (light, of_light)):
                    measure += f"; q = {light:g} has not arrived: its error is that of θ = 0"
                findings.append(
                    Finding.of(f"θ = {bound:g}, {kind}", measure, found, len(values),
                               holds=below(1.0, found), as_published=own)
                )  # fmt: skip
    return findings


Errors = dict[tuple[float, float], "pl.DataFrame"]


def _is_late(attacked: Errors, honest: Errors, who: tuple[float, float]) -> bool:
    """Tell whether an attack does not show in the errors, because they are still falling."""
    if who not in honest:
        return False
    ours, clean = (median(table[who]["error"].to_numpy()) for table in (attacked, honest))
    return bool(ours < 2.0 * clean)


def _but_outer_weights(setting: dict[str, Any]) -> tuple[Any, ...]:
    """Return what a setting must share with another to differ in nothing but outer weights."""
    name, given = parse(setting["network"])
    given.pop("outer_weights", None)
    sizes = (setting[key] for key in ("law", "n_inputs", "filter_size", "batch_size", "noise"))
    return (name, *sorted(given.items()), *sizes)


def impersonation_wins(results: Results) -> list[Finding]:
    """Measure distances to the impersonated filter when every label is its own."""
    runs = published(results).filter(
        (pl.col("attack") == "impersonation")
        & (pl.col("probability") == 1.0)
        & (pl.col("algorithm") == "neuro-tron")
    )
    findings = []
    for (setting, trainer), group in runs.group_by("setting", "trainer", maintain_order=True):
        distances = group["distance"].fill_nan(np.inf).to_numpy()  # of a run that diverged
        findings.append(
            Finding.of(f"{setting}, {trainer}", "‖w − w_adv‖ at β = 1 (≤ 1e-9 in every run)",
                       bootstrap(distances), len(group), holds=distances.max() <= 1e-9)
        )  # fmt: skip
    return findings


def certificate_holds(results: Results) -> list[Finding]:
    """Count runs that end outside of their radius, where one is below the initial error."""
    findings, runs = [], certified(results)
    for (setting, trainer), group in runs.group_by("setting", "trainer", maintain_order=True):
        worst = group.select("replicate", "part").group_by("replicate").max()["part"].to_numpy()
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       "share of replicates with a run outside its radius (0; the worst of "
                       f"{len(group)} runs is at {worst.max():.2g} of it)",
                       rate(int((worst > 1.0).sum()), len(worst)), len(worst),
                       holds=worst.max() <= 1.0)
        )  # fmt: skip
    return findings


def theorem_is_silent(results: Results) -> list[Finding]:
    """Count replicates of which Theorem 1 promises less than the initial error at any level."""
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
                       "share of replicates of which Theorem 1 promises anything (0)",
                       rate(int(some.sum()), len(some)), len(some), holds=not some.any())
        )  # fmt: skip
    return findings


CLAIMS: dict[str, tuple[str, str, Callable[[Results], list[Finding]]]] = {
    "grows-with-bound": (
        "A larger bound θ on the attack increases Neuro-Tron's error.",
        "section 4, figure 1a",
        grows_with(0),
    ),
    "grows-with-probability": (
        "A larger probability β of attack increases Neuro-Tron's error.",
        "section 4, figure 1b",
        grows_with(1),
    ),
    "recovers-without-attack": (
        "Without attack Neuro-Tron's error falls to about 1e-14, for every law.",
        "section 4, figure 6",
        recovers_without_attack,
    ),
    "small-attack-degrades": (
        "A small attack (θ = 0.125) visibly degrades the recovery.",
        "section 4, figure 6",
        small_attack_degrades,
    ),
    "smaller-error-than-sgd": (
        "Under attack Neuro-Tron attains a smaller error than SGD.",
        "section 4, figures 2 to 5",
        smaller_error,
    ),
    "faster-than-sgd": (
        "Under attack Neuro-Tron converges faster than SGD.",
        "section 4, figures 2 to 5",
        faster,
    ),
    "heavy-tails-alike": (
        "With t(4) inputs, which have no fourth moment, Neuro-Tron is as accurate as with others.",
        "section 4, figure 3",
        heavy_tails_alike,
    ),
    "outer-weights-help": (
        "Heavier outer weights (q = 10 instead of q = 1) lower the error under the same attack.",
        "section 3.6, figure 7",
        outer_weights_help,
    ),
    "impersonation-wins": (
        "If every label is that of another filter w_adv, Neuro-Tron converges to w_adv.",
        "section 3.5",
        impersonation_wins,
    ),
    "theorem-1-is-silent": (
        "Theorem 1 promises nothing about the simulations that are said to validate it.",
        "ours, on the caption of figure 1",
        theorem_is_silent,
    ),
    "certificate-holds": (
        "No run ends outside the radius of the sharp certificate.",
        "ours, not in the paper",
        certificate_holds,
    ),
}
"""Statement, place and check of every claim."""

BROADER_THAN_PUBLISHED = ("smaller-error-than-sgd", "faster-than-sgd", "outer-weights-help")
"""Claims that the paper tested on something else: not on SGD, not with the same step size."""
