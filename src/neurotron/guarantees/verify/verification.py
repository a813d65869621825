"""What is verified after training: how far a filter is from the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from neurotron._digits import counted, percent, up
from neurotron._text import either
from neurotron._types import Array
from neurotron.guarantee import Guarantee


@dataclass(frozen=True, eq=False, kw_only=True)
class Verification(Guarantee):
    """A statement about the distance ‖ŵ − w*‖ of one filter ŵ, read off fresh rows.

    It prints as a paragraph with its assumptions. `radius` is infinite if nothing is verified.
    """

    derived = ("useful",)

    theorem: str
    """"parity" or "cells": which theorem of docs/verification.md gave the radius."""
    length: float
    """‖ŵ‖, the length of the filter."""
    rows: int
    """How many fresh rows were used."""
    probability: float
    attacker: str
    noise: str | float
    bound: float | None
    level: float
    """Residuals up to this size count as explained; NaN if nothing is verified."""
    share: float
    """The share of the rows (with the theorem "cells": of those in the cells) that is explained."""
    threshold: float
    """The share that must be exceeded."""
    rows_needed: int | None
    """With about so many rows a perfect filter is verified in 95 of 100 cases, if all attacked
    labels are far off; None if no number suffices."""
    at_least: float = 0.0
    """With the same confidence, ‖ŵ − w*‖ is at least this: above 0, ŵ is not the true filter."""
    prediction_error: float = math.inf
    """A bound on √E(f_ŵ(x) − f_{w*}(x))² over new inputs, with the same confidence."""
    coefficient_radii: Array | None = None
    """For linear networks: a bound on |ŵ_j − w*_j| for each coefficient, all at once."""
    consistent: bool = True
    """Whether the rows can have the noise that was stated."""
    levels: Array = field(default_factory=lambda: np.empty(0))
    """Sizes of residuals, rounding included, for the figure."""
    shares: Array = field(default_factory=lambda: np.empty(0))
    """The share of rows up to each of these sizes."""

    @property
    def quantity(self) -> str:
        """What the radius is a bound on."""
        return "distance ‖ŵ − w*‖"

    @property
    def useful(self) -> bool:
        """Whether the radius is smaller than the filter, so that it excludes a filter of zeros."""
        return self.radius < self.length

    @property
    def statement(self) -> str:
        """What is verified, in one paragraph."""
        text = self._verified if self.holds else self._refusal
        if self.at_least > 0.0 and self.consistent:
            text += (
                f" With confidence {self.confidence_text} the distance is at least "
                f"{self.at_least:.3g}, so this is not exactly the true filter."
            )
        return text

    def __repr__(self) -> str:
        return (
            f"Verification({self.kind}, {self.theorem}, radius={up(self.radius)}, "
            f"confidence={self.confidence_text}, {self.rows:,} rows)"
        )

    @property
    def facts(self) -> dict[str, str]:
        """The main numbers as text, each with its name."""
        facts = super().facts
        if self.holds:
            facts["confidence"] = self.confidence_text
        if math.isfinite(self.prediction_error):
            facts["prediction error"] = f"at most {up(self.prediction_error)}"
        if self.at_least > 0.0:
            facts["distance"] = f"at least {self.at_least:.3g}"
        return facts | {"fresh rows": f"{self.rows:,}"}

    @property
    def _verified(self) -> str:
        title = "Estimated, not verified: the inputs of these rows are taken for their whole law."
        if self.kind == "theorem":
            drawn = " for inputs drawn from this table" * (self.about == "table")
            title = f"Verified{drawn}."
        among = "of its own cells " if self.theorem == "cells" else ""
        text = (
            f"{title} With confidence {self.confidence_text}, the distance ‖ŵ − w*‖ of this filter "
            f"to the true one is at most {up(self.radius)}, {self._against}. The filter explains "
            f"{percent(self.share)} of the fresh rows {among}up to {up(self.level)}; a filter "
            "farther away would explain fewer."
        )
        if math.isfinite(self.prediction_error):
            over = "the rows of the table" if self.about == "table" else "new inputs"
            text += (
                f" Its predictions are off by at most {up(self.prediction_error)} (root mean "
                f"square over {over}, in label units)."
            )
        if not self.useful and self.length > 0.0:
            text += f" The radius is not smaller than the filter itself: {self._too_large}"
        return text

    @property
    def _against(self) -> str:
        if self.probability == 0.0:
            return "if no label was attacked"
        change = "whatever was written into the attacked labels"
        if self.bound is not None:
            change = f"if no label was changed by more than {self.bound:g}"
        whom = f"at most {percent(self.probability)} of the labels"
        if self.attacker == "coin":
            whom = f"each label with a probability of at most {percent(self.probability)}"
        return f"{change}, {whom}"

    @property
    def _refusal(self) -> str:
        """Why nothing is verified, and what to do."""
        if self.failed:
            names = ", ".join(assumption.name for assumption in self.failed)
            return f"Not verified, because this does not hold: {names}. {self.failed[0].remedy}"
        if not self.consistent and self.noise == 0.0:
            return (
                "Not verified: the rows contradict what was stated. The filter explains too many "
                "of them to be wrong, and too few to be right: more labels are attacked than the "
                "probability says, or honest labels are not exact. Give a larger probability, or "
                "noise 'independent'."
            )
        if not self.consistent:
            return (
                "Not verified: more rows are explained than the stated noise allows. Give a "
                "smaller noise, or noise 'independent' if its size is not known."
            )
        return f"Not verified: {self._remedy}"

    @property
    def _remedy(self) -> str:
        beta, rows = percent(self.probability), counted(self.rows, "row")
        if self.rows_needed is None and self.bound is None:
            return f"with {beta} of the labels attacked, {self._why_not}"
        if self.rows_needed is not None and self.rows < self.rows_needed:
            return (
                f"{rows} are too few with {beta} of the labels attacked: give about "
                f"{self.rows_needed:,} fresh rows."
            )
        return (
            f"the filter explains too few of the {rows} at every level. Train a "
            "better filter, give more rows, or give a smaller probability if fewer labels can be "
            "attacked."
        )

    @property
    def _too_large(self) -> str:
        """Why a radius that was found is of little use."""
        few = self.rows_needed is not None and self.rows < self.rows_needed
        if few or (self.rows_needed is None and self.bound is None):
            return self._remedy
        return (
            "it is of the size of the noise, of the changes of labels, or of what this filter "
            "misses."
        )

    @property
    def _why_not(self) -> str:
        """Why no number of rows suffices, and what would help."""
        ways = ["Fewer attacked labels"]
        if self.probability < 0.5:
            if self.attacker == "any":
                ways.append("attackers who toss a coin for each label (attacker 'coin')")
            if self.noise != 0.0:
                ways.append("exact labels (noise 0)")
        if self.theorem == "cells" and self.noise != 0.0:
            why = "labels must be exact or nearly so, and these have too much noise."
        else:
            why = "no number of rows tells this filter from a wrong one."
        return f"{why} {either([*ways, 'a bound on the changes'])} would help."
