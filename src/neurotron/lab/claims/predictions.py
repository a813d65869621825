"""Claims about prediction errors, the root of the paper's prediction risk (section 3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from neurotron.guarantees.certify import certify
from neurotron.lab.claims.model import Finding
from neurotron.lab.results.summary import bootstrap, rate
from neurotron.lab.training import building
from neurotron.lab.training.summary import distinct_runs

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = ["predictions_as_certified", "risk_below_attack"]

ATTACKED = pl.col("bound") * pl.col("probability") > 0.0
PROMISED = pl.col("theorem1_radius") < pl.col("initial_error")


def risk_below_attack(results: Runs) -> list[Finding]:
    """Divide prediction errors by θ* where the condition of section 3.4 holds."""
    runs = distinct_runs(results).filter(ATTACKED, PROMISED)
    findings = []
    for (setting, arm), group in runs.group_by("setting", "arm", maintain_order=True):
        pairs = [
            (error, _largest_bound(results, str(setting), str(arm), replicate))
            for replicate, error in group.select("replicate", "prediction_error").iter_rows()
        ]
        parts = np.array([error / bound for error, bound in pairs if bound is not None])
        if parts.size:
            largest = float(parts.max())
            findings.append(
                Finding.of(f"{results.titles[str(setting)]}, {arm}",
                           "prediction error divided by θ* (at most 1 in every run)",
                           bootstrap(parts), len(parts), holds=largest <= 1.0, worst=largest,
                           total=len(parts))
            )  # fmt: skip
    return findings


def _largest_bound(results: Runs, setting: str, arm: str, replicate: int) -> float | None:
    """Return θ* of a run, None unless the condition of section 3.4 holds."""
    spec = results.specs[setting]
    problem = building.build_problem(spec, replicate)
    (chosen,) = (one for one in building.build_arms(spec, problem, replicate) if one.name == arm)
    certificate = certify(
        problem, chosen, batch_size=spec.batch_size, steps=spec.steps, failure=spec.failure,
        method="theorem1",
    )  # fmt: skip
    constants = certificate.constants
    return constants["theta_star"] if constants.get("risk_ratio", np.inf) < 1.0 else None


def predictions_as_certified(results: Runs) -> list[Finding]:
    """Count runs whose prediction error is above the certified one, setting by setting."""
    runs = distinct_runs(results).filter(
        pl.col("radius") < pl.col("initial_error"),
        pl.col("certified_prediction_error").is_finite(),
        pl.col("prediction_error").is_not_null(),
    )
    parts = runs.with_columns(
        part=pl.col("prediction_error") / pl.col("certified_prediction_error")
    )
    findings = []
    for (setting, trainer), group in parts.group_by("setting", "trainer", maintain_order=True):
        worst = group.group_by("replicate").agg(pl.col("part").max())["part"].to_numpy()
        largest = float(worst.max())
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       "share of replicates with a prediction error above the certified one (none; "
                       f"the largest of {len(group)} is {largest:.2g} of it)",
                       rate(int((worst > 1.0).sum()), len(worst)), len(worst),
                       holds=largest <= 1.0, worst=largest,
                       count=int((group["part"] > 1.0).sum()), total=len(group))
        )  # fmt: skip
    return findings
