"""The claims of the paper as checks of results."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from neurotron._intervals import Interval
from neurotron._types import Array
from neurotron.lab.claims.measuring import (
    ATTACKED,
    OURS,
    finding,
    largest,
    levels_met,
    medians,
    none_above,
    table1,
    titled,
)
from neurotron.lab.claims.model import Finding, above, at_most, below, between, every
from neurotron.lab.results.summary import bootstrap, median, rate
from neurotron.lab.training.summary import distinct_runs, longest, paired, slopes, steps_to

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

LIGHT, HEAVY = 1.0, 10.0
"""The outer weights of figure 7."""
PUBLISHED_STEP_SIZES = {LIGHT: 1e-4, HEAVY: 2e-5}
"""By outer weight (docs/errata.md)."""
SIZES = ("n_inputs", "filter_size", "batch_size", "noise", "steps")
COMPARED = ("law", "architecture", "activation", "leak", *SIZES)
"""What settings must share to be compared."""

SMALL = 0.125
"""The θ of figure 6."""

RESOLVED = 1e-300, 1e300
"""What an error is taken as that is zero, or infinite because the run diverged."""
UNKNOWN = Interval(1.0, 0.0, np.inf)
"""The growth from one level to the next if all errors at both are zero, or all are infinite."""

PUBLISHED, TRUE = "first-sample-sgd", "sgd"
ALL, BOTH = "in all runs", "where both recover"
GROUPS = {
    (PUBLISHED, BOTH): "the published SGD",
    (PUBLISHED, ALL): "the published SGD",
    (TRUE, BOTH): "true SGD where both find w*",
    (TRUE, ALL): "true SGD in all runs",
}
"""What is compared with: what the paper called SGD uses only the first sample of a batch."""
MET = ["replicate", "bound", "probability"]


def grows_with(axis: int) -> Callable[[Runs], list[Finding]]:
    """Return the check that the error grows with θ (axis 0) or β (axis 1)."""
    letter = "θβ"[axis]
    measure = (
        f"slope of the error over {letter} on a log-log scale (above 0, and the error grows from "
        f"each {letter} to the next)"
    )

    def check(results: Runs) -> list[Finding]:
        findings = []
        runs = table1(results).filter(OURS).sort("replicate", maintain_order=True)
        for (case,), group in runs.group_by("case", maintain_order=True):
            levels = longest(levels_met(group), axis)
            if len(levels) < 3:
                continue
            at = group.partition_by("bound", "probability", as_dict=True)
            errors = np.stack([at[level]["error"].to_numpy() for level in levels])
            x = np.log([level[axis] for level in levels])
            growth = _growth(errors)
            values = slopes(x, np.log(np.clip(errors, *RESOLVED)))
            findings += finding(
                str(case), measure, values, partial(_grows, growth),
                worst=min(step.estimate for step in growth),
            )  # fmt: skip
        return findings

    return check


grows_with_bound, grows_with_probability = map(grows_with, (0, 1))


def _grows(growth: list[Interval], slope: Interval) -> bool | None:
    """Tell whether errors grow in all, and from each level to the next."""
    return every((above(0.0, slope), *(above(1.0, step) for step in growth)))


def _growth(errors: Array) -> list[Interval]:
    """Return the factors by which errors grow from each level to the next."""
    pairs = (paired(higher, lower) for lower, higher in itertools.pairwise(errors))
    return [bootstrap(values) if values.size else UNKNOWN for values in pairs]


def recovers_without_attack(results: Runs) -> list[Finding]:
    """Compare errors of honest runs with 1e-13, ten times the paper's 1e-14."""
    honest = table1(results).filter(OURS, bound=0.0).with_columns(value="error")
    measure = "median error without attack (at most 1e-13)"
    return medians(honest, measure, partial(at_most, 1e-13), by=["probability"])


def small_attack_degrades(results: Runs) -> list[Finding]:
    """Divide errors under the smallest attack by those without one, in pairs."""
    runs = table1(results).filter(OURS)
    met = ["setting", "probability", "replicate"]
    pairs = runs.filter(bound=SMALL).join(runs.filter(bound=0.0), on=met, maintain_order="left")
    measure = f"error at θ = {SMALL} divided by that at θ = 0 (above 10)"
    return medians(_ratio(pairs), measure, partial(above, 10.0), by=["probability"])


def _ratio(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.with_columns(value=pl.col("error") / pl.col("error_right"))


def _compared(runs: pl.DataFrame, column: str, measure: str) -> list[Finding]:
    """Compare with both kinds of SGD: in all runs, and where both trainers recover the filter.

    Each replicate counts with its median over the levels of the attack.
    """
    findings = []
    settings = runs.filter(ATTACKED).partition_by("setting", maintain_order=True)
    for setting, (rival, where) in itertools.product(settings, GROUPS):
        theirs = setting.filter(algorithm=rival)
        pairs = setting.filter(OURS).join(theirs, on=MET, suffix="_sgd", maintain_order="left")
        if where == BOTH:
            pairs = pairs.filter(outcome="recovered", outcome_sgd="recovered")
        table = pairs.with_columns(
            case=pl.format("{} against {}, {}", "case", "trainer_sgd", pl.lit(where)),
            value=pl.col(column) / pl.col(f"{column}_sgd"),
            group=pl.lit(GROUPS[rival, where]),
            as_published=pl.lit(rival == PUBLISHED),
        )
        findings += medians(table, measure, partial(below, 1.0))
    return findings


def smaller_error_than_sgd(results: Runs) -> list[Finding]:
    """Divide final errors of Neuro-Tron by those of the rival."""
    return _compared(table1(results), "error", "error divided by that of SGD (below 1)")


def faster_than_sgd(results: Runs) -> list[Finding]:
    """Divide the steps of Neuro-Tron to a tenth of the initial error by those of the rival."""
    never = pl.col("steps").cast(pl.Float64).fill_null(float("inf"))
    reached = steps_to(results, "0.1×").with_columns(never)
    runs = table1(results).join(reached, on=["setting", "replicate", "arm"], maintain_order="left")
    measure = (
        "steps to a tenth of the initial error, divided by those of SGD (below 1; it is 0 if only "
        "SGD never gets there)"
    )
    return _compared(runs, "steps", measure)


def heavy_tails_alike(results: Runs) -> list[Finding]:
    """Divide errors without a fourth moment by those of every other law, at the same levels."""
    runs = table1(results).filter(OURS, ATTACKED)
    is_heavy = ((pl.col("law_name") == "student-t") & (pl.col("dof") <= 4.0)).fill_null(False)
    met = ["replicate", "bound", "probability"]
    pairs = runs.filter(is_heavy).join(runs.filter(~is_heavy), on=met, maintain_order="right")
    named = _ratio(pairs).with_columns(case=pl.format("{} against {}", "case", "case_right"))
    measure = "error divided by that with the other law (from 1/10 to 10)"
    return medians(named, measure, partial(between, 0.1, 10.0))


def outer_weights_help(results: Runs) -> list[Finding]:
    """Divide errors with heavy outer weights by those with light ones, at the same attack."""
    alike = [*COMPARED, "attack_text", "bound", "probability", "replicate"]
    runs = comparable(results).unique(
        [*alike, "outer_weights", "step_size"], keep="first", maintain_order=True
    )
    light, heavy = (runs.filter(outer_weights=weight) for weight in (LIGHT, HEAVY))
    steps = ["step_size", "step_size_right"]
    step, other = map(pl.col, steps)
    own = (step == PUBLISHED_STEP_SIZES[LIGHT]) & (other == PUBLISHED_STEP_SIZES[HEAVY])
    pairs = light.join(heavy, on=alike, maintain_order="left").filter(own | (step == other))
    pairs = pairs.sort(
        "bound", own, "step_size", descending=[False, True, True], maintain_order=True
    )
    findings = []
    for (*_, eta, eta_heavy), group in pairs.group_by(*alike[:-1], *steps, maintain_order=True):
        published, bound = eta != eta_heavy, group["bound"][0]
        kind = "published step sizes" if published else f"η = {eta:g} for both"
        measure = f"error with q = {HEAVY:g} divided by that with q = {LIGHT:g} (below 1)"
        honest = light.filter(bound=0.0, step_size=eta).join(
            group, on=[*COMPARED, "attack_text", "probability"], how="semi"
        )
        if bound > 0.0 and _is_late(group, honest):
            measure += f"; with q = {LIGHT:g} the error is still about that without attack"
        ordered = group.sort("replicate")
        errors = (ordered[name].to_numpy() for name in ("error_right", "error"))
        findings += finding(
            f"θ = {bound:g}, {kind}", measure, paired(*errors), partial(below, 1.0),
            as_published=published, group=kind, worst=float(ordered["error_right"].max()),  # type: ignore[arg-type]
        )  # fmt: skip
    return findings


def comparable(results: Runs) -> pl.DataFrame:
    """Return the runs of Neuro-Tron with a given step size, and the sizes of their settings."""
    runs = results.runs.filter(OURS, pl.col("step_size").is_not_null())
    sizes = [
        {"setting": name, **{key: one[key] for key in SIZES}}
        for name, one in results.settings.items()
    ]
    return runs.join(pl.DataFrame(sizes), on="setting", maintain_order="left")


def _is_late(attacked: pl.DataFrame, honest: pl.DataFrame) -> bool:
    """Return whether the attack does not show in the errors yet, because they are still falling."""
    ours, clean = (table["error"].to_numpy() for table in (attacked, honest))
    return bool(len(clean) and median(ours) < 2.0 * median(clean))


def impersonation_wins(results: Runs) -> list[Finding]:
    """Measure distances to the impersonated filter when every label is its own."""
    runs = results.runs.filter(OURS, attack="impersonation", probability=1.0)
    # a forged shard may have no filter, and a run that diverged has no distance
    known = runs.with_columns(value=pl.col("distance").fill_null(np.inf).fill_nan(np.inf))
    measure = "median distance ‖w − w_adv‖ at β = 1 (at most 1e-9 in every run)"
    return largest(titled(results, known, "trainer"), measure, lambda most: most <= 1e-9)


def theorem_1_is_silent(results: Runs) -> list[Finding]:
    """Count replicates for which Theorem 1 promises less than the initial error at any level."""
    measure = "share of replicates for which Theorem 1 promises less than the initial error (none)"
    promised = (pl.col("theorem1_radius") < pl.col("initial_error")).any()
    runs = table1(results).filter(OURS, ATTACKED)
    found = runs.group_by("case", "replicate", maintain_order=True).agg(promised=promised)
    return [
        Finding.of(str(case), measure, rate(count := int(some["promised"].sum()), len(some)),
                   len(some), holds=not count, count=count, total=len(some))
        for (case,), some in found.group_by("case", maintain_order=True)
    ]  # fmt: skip


def risk_below_attack(results: Runs) -> list[Finding]:
    """Divide prediction errors by θ* where the condition of section 3.4 holds."""
    promised = pl.col("theorem1_radius") < pl.col("initial_error")
    runs = distinct_runs(results).filter(ATTACKED, promised, pl.col("risk_ratio") < 1.0)
    parts = runs.with_columns(value=pl.col("prediction_error") / pl.col("theta_star"))
    return largest(
        titled(results, parts, "arm"),
        "prediction error divided by θ* (at most 1 in every run)",
        lambda most: most <= 1.0,
    )


def predictions_as_certified(results: Runs) -> list[Finding]:
    """Count runs whose prediction error is above the certified one, setting by setting."""
    runs = distinct_runs(results).filter(
        pl.col("radius") < pl.col("initial_error"),
        pl.col("certified_prediction_error").is_finite(),
        pl.col("prediction_error").is_not_null(),
    )
    parts = runs.with_columns(
        value=pl.col("prediction_error") / pl.col("certified_prediction_error")
    )
    return none_above(
        titled(results, parts, "trainer"),
        "share of replicates with a prediction error above the certified one (none; the largest of "
        "{total} is {most:.2g} of it)",
    )
