"""What the rows of a fit say about it, and whether to trust it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron._digits import readable
from neurotron._html import card
from neurotron._pickling import Pickled
from neurotron._types import Array
from neurotron.estimator.geometry import Geometry, geometry_of
from neurotron.estimator.suspects import NORMAL, HonestNoise

if TYPE_CHECKING:
    from neurotron.estimator.regressor import NeuroTronRegressor

__all__ = ["Diagnosis", "diagnosis_of"]

WIDTH = 80
FEW = 10
"""Rows for each fitted number that a fit needs, if labels have noise or are poisoned."""
MOST_SUSPECTS = 0.4
LEAST_EXPLAINED = 0.1
MOST_BENT = 0.1
MOST_RELATED = 0.15
POINTS = 200
"""Quantiles of the residuals that are kept."""
NEARLY_DEPENDENT = 1e5
LEAST_ACTIVE = 0.2


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Diagnosis(Pickled):
    """What the rows of a fit say about it. It prints as paragraphs.

    Attributes
    ----------
    rows, suspects
        How many rows there are, and how many of them are suspects.
    rejected
        How many rows the solver did not use, because their labels are too far off.
    exact
        How many labels the model gives exactly, up to rounding.
    noise
        The law of the honest noise.
    attacked_fraction, attacked_fraction_interval, attack_size
        As in the regressor.
    noticeable
        How far one more label must be from the model to be a suspect, in units of the label.
    hidden
        Whether there is an attack most of whose labels hide in the noise.
    explained
        The share of the labels' variance that the model explains on the rows that are no suspects,
        by robust measures of spread.
    geometry
        How well the rows determine the weights: conditioning, influence, symmetry.
    bend
        The share of the residuals' variance that a curve in the predictions explains, on the rows
        that are no suspects. It is near 0 if the model has the right shape.
    converged
        Whether the search ended because several starts agreed or no other filter can fit better.
    sizes
        Up to 200 quantiles of |residual|, ascending.
    first_row
        The number of the first row: 0, as in an array, or 1 where a command counts rows.
    """

    rows: int
    suspects: int
    rejected: int
    exact: int
    noise: HonestNoise
    attacked_fraction: float
    attacked_fraction_interval: tuple[float, float]
    attack_size: float
    noticeable: float
    hidden: bool
    explained: float
    geometry: Geometry
    bend: float
    converged: bool
    sizes: Array
    first_row: int = 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why not to trust the fit; empty if there is no reason."""
        return tuple(self._reasons())

    def _reasons(self) -> Iterator[str]:
        g = self.geometry
        if not self.converged:
            yield (
                "the search did not find the same filter often enough, so there may be a better "
                "one: increase `max_iter`"
            )
        if max(self.suspects, self.rejected) > MOST_SUSPECTS * self.rows:
            share = _percent(max(self.suspects, self.rejected) / self.rows)
            yield (
                f"{share} of the labels are far from the model, and near one half the model of the "
                "majority cannot be told from the attacker's"
            )
        if self.rows < FEW * g.wanted:
            yield (
                f"{self.rows:,} rows are few for {g.wanted} numbers: give at least "
                f"{FEW * g.wanted:,}, or leave out columns"
            )
        if g.determined < g.wanted:
            yield (
                f"the rows determine only {g.determined} of {g.wanted} weights: leave out columns "
                "that are constant, repeated or combinations of others"
            )
        elif g.condition > NEARLY_DEPENDENT:
            yield (
                f"columns are nearly dependent (condition number {g.condition:.1g}), so the "
                "weights are not reliable: leave out some of them"
            )
        if self.explained < LEAST_EXPLAINED:
            yield (
                f"the inputs explain only {_percent(max(self.explained, 0.0))} of the variance of "
                "the labels: add inputs, or transform them"
            )
        if self.bend > MOST_BENT:
            yield (
                "the residuals follow a curve, so the model has the wrong shape: transform the "
                "label or the inputs (for example by a logarithm), or add squares of columns"
            )
        if g.related > MOST_RELATED:
            yield (
                "the inputs say which rows are suspects, so these may be an honest group that the "
                "model does not describe: look at them before you remove any"
            )
        if g.own_rows:
            yield (
                f"{self._strongest} mostly determines its own prediction (by "
                f"{_percent(g.influence)}), and so do {g.own_rows:,} of {self.rows:,} rows in all: "
                "a poisoned label cannot be noticed there, so check such labels by hand"
            )
        if g.active is not None and g.active < LEAST_ACTIVE:
            yield (
                f"all gates are off on {_percent(1.0 - g.active)} of the rows, which say nothing "
                "about the filter: try network='linear', or standardize=True"
            )

    @property
    def _strongest(self) -> str:
        return f"row {self.geometry.strongest:,} (counted from {self.first_row})"

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """All findings, a paragraph for each."""
        return tuple(self._paragraphs())

    def _paragraphs(self) -> Iterator[str]:
        g = self.geometry
        yield self._about_labels()
        yield self._about_noise()
        yield (
            f"The rows determine {g.determined} of {g.wanted} weights (condition number "
            f"{g.condition:.2g} after scaling the columns). A row determines "
            f"{_percent(g.wanted / self.rows)} of its own prediction on average, and "
            f"{self._strongest} most, {_percent(g.influence)}. Attacks on rows with a large "
            "influence are the hardest to notice."
        )
        if g.active is not None and g.asymmetry is not None:
            yield (
                f"At least one gate is on in {_percent(g.active)} of the rows. The network is "
                "easiest to find if inputs are symmetric around zero; here their mean makes up "
                f"{_percent(g.asymmetry)} of their size along one direction (0 % if symmetric)."
            )
        if self.reasons:
            yield "Do not trust this fit, because " + "; and because ".join(self.reasons) + "."
        else:
            yield "Nothing in these rows speaks against the fit."

    def _about_labels(self) -> str:
        parts = [f"The model explains {self.rows - self.suspects:,} of {self.rows:,} labels."]
        if self.suspects:
            parts.append(
                f"The other {self.suspects:,} are suspects; half of them are more than "
                f"{readable(self.attack_size, 3)} away from it."
            )
        low, high = map(_percent, self.attacked_fraction_interval)
        about = f"About {_percent(self.attacked_fraction)} of the labels"
        if self.attacked_fraction == 0.0:
            about = "No part of the labels"
        parts.append(
            f"{about} {'seems' if self.attacked_fraction == 0.0 else 'seem'} to be attacked (95 % "
            f"interval: {low} to {high})."
        )
        if self.hidden:
            parts.append(
                "Most attacked labels hide in the noise, so there are fewer suspects than that."
            )
        elif self.noticeable > 0.0:
            parts.append(
                "This counts labels that stand out from the noise: one more does if it is off by "
                f"{readable(self.noticeable, 3)} or more."
            )
        return " ".join(parts)

    def _about_noise(self) -> str:
        if self.noise.scale == 0.0:
            return f"Honest labels are exact: {self.exact:,} labels agree up to rounding."
        tails = "normal tails"
        if self.noise.tail < 0.5 * NORMAL:
            tails = f"tails like Student's law with {self.noise.tail:.2g} degrees of freedom"
        scale, share = readable(self.noise.scale, 3), _percent(max(self.explained, 0.0))
        return (
            f"The honest noise has a scale of {scale} in units of the label, and {tails}. The "
            f"model explains {share} of the variance of the labels that are no suspects."
        )

    def __str__(self) -> str:
        return "\n\n".join(
            textwrap.fill(part, WIDTH, break_long_words=False, break_on_hyphens=False)
            for part in self.paragraphs
        )

    def __repr__(self) -> str:
        reasons = f"{len(self.reasons)} reasons" if self.reasons else "no reason"
        return f"Diagnosis({self.suspects:,} suspects in {self.rows:,} rows, {reasons} to doubt it)"

    def _repr_html_(self) -> str:
        *facts, verdict = self.paragraphs
        names = ("suspects", "noise", "weights", "gates")
        return card("Diagnosis", dict(zip(names, facts, strict=False)), note=verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {
            "noise": dict(vars(self.noise)),
            "geometry": dict(vars(self.geometry)),
            "attacked_fraction_interval": list(self.attacked_fraction_interval),
            "sizes": self.sizes.tolist(),
            "reasons": list(self.reasons),
        }
        return plain

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw how many labels are how far off, and how many honest noise explains.

        Returns the matplotlib figure, which is saved to `path` if that is given.
        """
        from neurotron.figures.diagnosis import plot_diagnosis

        return plot_diagnosis(self, path)


def diagnosis_of(
    model: NeuroTronRegressor, seen: Array, labels: Array, predicted: Array
) -> Diagnosis:
    """Return the diagnosis of a fit, where `seen` are the inputs as the network sees them."""
    residuals, kept = labels - predicted, ~model.suspects_
    sizes = np.sort(np.abs(residuals))
    few = np.linspace(0, len(sizes) - 1, min(POINTS, len(sizes))).round().astype(np.intp)
    suspects = int(model.suspects_.sum())
    rarity = model.false_alarm_rate * min((suspects + 1) / len(labels), 1.0)
    return Diagnosis(
        rows=len(labels),
        suspects=suspects,
        rejected=int(model.solution_.rejected.sum()),
        exact=int(model.solution_.explained.sum()),
        noise=model.honest_noise_,
        attacked_fraction=model.attacked_fraction_,
        attacked_fraction_interval=model.attacked_fraction_interval_,
        attack_size=model.attack_size_,
        noticeable=model.honest_noise_.size_beyond(rarity),
        hidden=model.solution_.tampered is not None,
        explained=_explained(labels[kept], residuals[kept]),
        geometry=geometry_of(
            model.network_, seen, model.weights_, model.suspects_, intercept=model.fit_intercept
        ),
        bend=_bend(predicted[kept], residuals[kept]) if model.scale_ > 0.0 else 0.0,
        converged=model.converged_,
        sizes=_check.freeze(sizes[few]),
    )


def _explained(labels: Array, residuals: Array) -> float:
    """Return 1 − (spread of the residuals / spread of the labels)², by medians."""
    if not len(labels):
        return 0.0
    spread = float(np.median(np.abs(labels - np.median(labels))))
    left = float(np.median(np.abs(residuals)))
    if spread == 0.0:
        return float(left == 0.0)
    return 1.0 - min(left / spread, 1e100) ** 2


def _bend(predicted: Array, residuals: Array) -> float:
    """Return the share of the residuals' variance that a parabola in the predictions explains."""
    if len(predicted) <= 3 or predicted.std() == 0.0 or residuals.std() == 0.0:
        return 0.0
    ratios = (predicted - predicted.mean()) / predicted.std()
    squares = ratios**2
    curve = squares - 1.0 - (squares * ratios).mean() * ratios  # orthogonal to 1 and the ratios
    centred = residuals - residuals.mean()
    size = float(curve @ curve)
    square = float((curve @ centred) ** 2 / (centred @ centred)) / size if size > 0.0 else 0.0
    return max(1.0 - (1.0 - square) * (len(ratios) - 1) / (len(ratios) - 3), 0.0)


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:.3g} %"
