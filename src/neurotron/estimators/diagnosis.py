"""What the rows of a fit say about it, and whether to trust it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron._digits import between, percent, readable
from neurotron._json import record
from neurotron._pickling import Pickled
from neurotron._text import card, wrap
from neurotron._types import Array
from neurotron.estimators.geometry import Geometry, geometry_of
from neurotron.estimators.judgement import LabelJudgement
from neurotron.estimators.reasons import reasons_of, strongest_row
from neurotron.residuals.patterns import Groups, Pattern, curve_in, growth_in, rare_in, some_of
from neurotron.residuals.suspects import NORMAL, HonestNoise

if TYPE_CHECKING:
    from neurotron.estimators.regressor import NeuroTronRegressor

POINTS = 200
"""Quantiles of the residuals that are kept."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Diagnosis(Pickled):
    """What the rows of a fit say about it. It prints as paragraphs.

    Attributes
    ----------
    rows, suspects
        How many rows there are, and how many of them are suspects.
    far
        The share of labels that are suspects, or that the solver did not use if that is more, as
        `sample_weight` counts them.
    exact
        How many labels the model gives exactly, up to rounding.
    scale
        The standard deviation of the honest noise, as in the regressor.
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
    groups
        The two groups in which the residuals come, on the rows that are no suspects: the share of
        the smaller one, and how far apart they are. None if they do not come in two groups.
    curve, growth
        What the residuals, or their sizes, clearly depend on, on the rows that are no suspects: how
        strongly, and on which columns, or on the predictions if there is no column. None if they do
        not. A curve explains a share of their variance; growth is a rank correlation.
    rare
        A column that is rarely other than 0, and for which many of these rows are suspects, with
        their share; or None.
    converged
        Whether the search ended because several starts agreed or no other filter can fit better.
    sizes
        Up to 200 quantiles of |residual|, ascending.
    sample
        Inputs, predictions and residuals of some of the rows that are no suspects.
    column_names
        The names of the columns, empty if they have none.
    first_row
        The number of the first row: 0, as in an array, or 1 where a command counts rows.
    """

    rows: int
    suspects: int
    far: float
    exact: int
    scale: float
    noise: HonestNoise
    attacked_fraction: float
    attacked_fraction_interval: tuple[float, float]
    attack_size: float
    noticeable: float
    hidden: bool
    explained: float
    geometry: Geometry
    groups: Groups | None
    rare: Pattern | None
    converged: bool
    sizes: Array
    sample: tuple[Array, Array, Array]
    column_names: tuple[str, ...] = ()
    first_row: int = 0

    @cached_property
    def curve(self) -> Pattern | None:
        """See above. It is found when it is asked for, because a fit does not need it."""
        return curve_in(*self.sample) if self.scale > 0.0 else None

    @cached_property
    def growth(self) -> Pattern | None:
        """See above."""
        return growth_in(*self.sample) if self.scale > 0.0 else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why not to trust the fit; empty if there is no reason."""
        return tuple(reasons_of(self))

    @property
    def _intercept(self) -> str:
        return ", the intercept included" if self.geometry.intercept else ""

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """All findings, a paragraph for each."""
        return tuple(self._paragraphs())

    def _paragraphs(self) -> Iterator[str]:
        g = self.geometry
        yield self._about_labels()
        yield self._about_noise()
        yield (
            f"The rows determine {g.determined} of {g.wanted} weights{self._intercept} (condition "
            f"number {g.condition:.2g} after scaling the columns). A row determines "
            f"{percent(g.wanted / self.rows)} of its own prediction on average, and "
            f"{strongest_row(self)} most, {percent(g.influence)}. Attacks on rows with a large "
            "influence are the hardest to notice."
        )
        if g.asymmetry is not None:
            yield self._about_gates(g.asymmetry)
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
        about = f"About {percent(self.attacked_fraction)} of the labels"
        if self.attacked_fraction == 0.0:
            about = "No part of the labels"
        parts.append(
            f"{about} {'seems' if self.attacked_fraction == 0.0 else 'seem'} to be attacked (95 % "
            f"interval: {between(*self.attacked_fraction_interval)})."
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
        scale, share = readable(self.scale, 4), percent(max(self.explained, 0.0))
        return (
            f"The honest noise has a standard deviation of {scale}, and {tails}. The "
            f"model explains {share} of the variance of the labels that are no suspects."
        )

    def _about_gates(self, asymmetry: float) -> str:
        parts = [
            "The network is easiest to find if inputs are symmetric around zero; here their mean "
            f"makes up {percent(asymmetry)} of their size along one direction (0 % if symmetric)."
        ]
        if self.geometry.active is not None:
            on = percent(self.geometry.active)
            parts.insert(0, f"At least one gate is on in {on} of the rows.")
        return " ".join(parts)

    def __str__(self) -> str:
        return wrap("\n\n".join(self.paragraphs))

    def __repr__(self) -> str:
        reasons = f"{len(self.reasons)} reasons" if self.reasons else "no reason"
        return f"Diagnosis({self.suspects:,} suspects in {self.rows:,} rows, {reasons} to doubt it)"

    def _repr_html_(self) -> str:
        *facts, verdict = self.paragraphs
        names = ("suspects", "noise", "weights", "gates")
        return card("Diagnosis", dict(zip(names, facts, strict=False)), note=verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the sample of rows as plain values for JSON."""
        own = (field.name for field in fields(self) if field.name != "sample")
        return record(self, *own, "reasons", "curve", "growth")

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw how many labels are how far off, and how many honest noise explains.

        Returns the matplotlib figure, which is saved to `path` if that is given.
        """
        from neurotron.lab.figures import draw
        from neurotron.lab.figures.one_result import diagnosis_chart

        return draw(diagnosis_chart(self), path)


def diagnosis_of(
    model: NeuroTronRegressor,
    found: LabelJudgement,
    seen: Array,
    labels: Array,
    predicted: Array,
    counts: Array | None,
) -> Diagnosis:
    """Return the diagnosis of a fit, where `seen` are the inputs as the network sees them."""
    residuals, kept = labels - predicted, ~found.suspects
    if counts is not None:
        kept = kept & (counts > 0.0)
    some = some_of(kept)
    sizes = np.sort(np.abs(residuals))
    few = np.linspace(0, len(sizes) - 1, min(POINTS, len(sizes))).round().astype(np.intp)
    suspects = int(found.suspects.sum())
    rarity = model.false_alarm_rate * min((suspects + 1) / len(labels), 1.0)
    return Diagnosis(
        rows=len(labels),
        suspects=suspects,
        far=found.far,
        exact=int(model.solution_.explained.sum()),
        scale=model.scale_,
        noise=found.noise,
        attacked_fraction=found.share,
        attacked_fraction_interval=found.interval,
        attack_size=found.size,
        noticeable=found.noise.size_beyond(rarity),
        hidden=model.solution_.tampered is not None,
        explained=_explained(labels[kept], residuals[kept]),
        geometry=geometry_of(
            model.network_, seen, model.weights_, found.suspects, intercept=model.fit_intercept
        ),
        groups=found.groups,
        rare=rare_in(seen, found.suspects) if suspects else None,
        converged=model.converged_,
        sizes=_check.freeze(sizes[few]),
        sample=(seen[some], predicted[some], residuals[some]),
        column_names=tuple(map(str, getattr(model, "feature_names_in_", ()))),
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
