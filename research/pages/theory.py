"""The numbers of docs/theory.md: how sharp certificates are."""

from __future__ import annotations

import numpy as np
import polars as pl
from research.pages import Told, estimates, findings, rows

SHARP = {
    "N(0, 1)": "scheduled", "Laplace(2)": "scheduled", "Uniform(−1, 1)": "scheduled",
    "t(4)": "scheduled, inverse-norm weights", "Cauchy": "scheduled, inverse-norm weights",
}  # fmt: skip
"""The laws of the study of sharpness, and the trainers whose steps are those of certificates."""


def sharpness(law: str, trainer: str, beta: float) -> list[np.ndarray]:
    """Return for five networks: certified / measured, its upper 95 % end, radius / measured."""
    case = f", {trainer}, odd-direction θ=1 β={beta}"
    squares, radii = (
        findings("sharpness", claim, f"{law}, net").filter(pl.col("case").str.ends_with(case))
        for claim in ("certified-mean-square", "radius-near-error")
    )
    certified, upper = (1.0 / squares[name].to_numpy() for name in ("estimate", "low"))
    return [certified, upper, radii["estimate"].to_numpy()]


def ratios_of(law: str, trainer: str) -> list[float]:
    """Return certified over measured errors: at both β their mean, least and most; the upper end.

    If the steps are scheduled, the radius over the certified and over the measured error follow.
    """
    low, high = (sharpness(law, trainer, beta) for beta in (0.2, 0.5))
    found = [f(ratios) for ratios in (low[0], high[0]) for f in (np.mean, np.min, np.max)]
    found.append(max(*low[1], *high[1]))
    return [*found, *((high[2] / part).mean() for part in (high[0], 1.0) if high[2].size)]


def radius() -> float:
    """Return the largest certified radius over the measured error."""
    return estimates("sharpness", "radius-near-error")[1]


def above() -> dict[str, float]:
    """Return by how many per cent the certified error is above the measured one, at most."""
    return {
        law: 100.0 * (max(found[2], found[5]) - 1.0)
        for law, trainer in SHARP.items() for found in [ratios_of(law, trainer)]
    }  # fmt: skip


def theory() -> Told:
    """Yield the numbers of docs/theory.md."""
    far = above()
    yield "error was within {} % of the measured one", far["N(0, 1)"]
    yield "for Cauchy inputs at most {} % above it", far.pop("Cauchy")
    yield "at most {} % above the measured one, and", max(far.values())
    yield "it was at most {} times the measured RMS error", radius()
    errors = []
    for beta in (0.5, 0.2):
        nets = rows("sharpness", trainer="scheduled", probability=beta)
        radii = nets.filter(pl.col("setting").str.starts_with("normal-1"))["radius"].to_numpy()
        certified, _, ratio = sharpness("N(0, 1)", "scheduled", beta)
        errors.append((radii * certified / ratio).mean())
    yield "is {} for β = 0.5 and {} for β = 0.2, in the mean", *errors
    cells = " {} ({} … {}) |" * 2 + " {} |"
    yield f"| N(0, 1), η = 1e-3 |{cells}", *ratios_of("N(0, 1)", "η = 1e-3")
    for law, trainer in SHARP.items():
        name = law + ", inverse-norm weights" * ("inverse" in trainer)
        yield f"| {name} |{cells} {{}} | {{}} |", *ratios_of(law, trainer)
    whitened = rows("table-certificates", inputs="whitened")
    for (name, network), found in whitened.group_by("table", "network", maintain_order=True):
        certified = found.filter(attack="adaptive")["certified prediction error"].item()
        largest = found["largest prediction error"].max()
        what = f"{name}, {network}".replace(", leak", " with leak").removesuffix(", linear")
        yield f"| {what} |" + " {} |" * 5, *found["ratio"], certified, largest
