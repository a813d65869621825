"""What is guaranteed before training: the error of an arm after a number of steps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neurotron._digits import up
from neurotron._types import Array, Index
from neurotron.attacks.budget import Budget
from neurotron.guarantee import Guarantee
from neurotron.trainers import Arm, NeuroTron, Trainer

DISTANCES = ("radius", "radii", "root_mean_square", "initial_error", "floor", "limit")
"""Numbers that grow by as much as the centre is away from where it was."""


def no_advice(radius: float) -> str:
    """Say nothing about step sizes."""
    return ""


METHOD_NAMES = {
    "sharp": "sharp certificate",
    "theorem1": "Theorem 1 of the paper",
    "measured": "measurement",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate(Guarantee):
    """A statement about the error ‖w − w*‖ after an arm has been trained."""

    derived = ("useful", "prediction_error")

    method: str
    arm: Arm = field(repr=False)  # `to_dict` has its name
    budget: Budget
    batch_size: int
    steps: int | None
    """The number of steps; None for the limit of infinitely many."""
    initial_error: float
    random_start: bool = False
    """Whether `initial_error` bounds the root mean square of a random start only."""
    step_size: float | None = None
    """η; None for a schedule."""
    weighting: str | None = None
    """How samples are weighted."""
    at_steps: Index = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    mean_square_bounds: Array = field(default_factory=lambda: np.full(1, np.inf))
    """A bound on E‖w − w*‖² after each number of steps in `at_steps`, or what was measured."""
    radii: Array = field(default_factory=lambda: np.full(1, np.inf))
    """The radius after each number of steps in `at_steps`. If they hold for all steps at once
    (`any_time`), the last one may be larger than `radius`."""
    root_mean_square: float = math.inf
    """The bound on √E‖w − w*‖² after the last step."""
    floor: float = math.inf
    """The bound that √E‖w − w*‖² tends to with this step size."""
    limit: float = math.inf
    """The best possible bound on √E‖w − w*‖²: no step size reaches less."""
    rounding: float = 0.0
    """The part of the bound on √E‖w − w*‖² that allows for rounding errors. The radius, the bounds,
    the floor and the limit all include such a part."""
    risk: float = math.inf
    """c with E(f_w(x) − f_{w*}(x))² ≤ c ‖w − w*‖²."""
    prediction_radius: float = math.inf
    """A bound on the prediction error from coordinates of its own, which does not use `risk`."""
    this_attack: bool = False
    """Whether it holds against the arm's own attack only, whose probability β(x) was used."""
    any_time: bool = False
    """Whether `radii` bounds the errors of all steps at once."""
    coordinates: str = "weights"
    """The coordinates in which the radius was computed: of the "weights" themselves, of
    "predictions", or of one leaky "gate". The `constants` are those in these coordinates."""
    constants: dict[str, float] = field(default_factory=dict)
    centre: Array | None = None
    """The fit w° of a table, (r,), if all distances are to it; None if they are to w*. If labels
    may have been changed before training, it is the fit of the labels at hand."""
    leak: float = 1.0
    """The leak of the network. Unless it is 1, the fit of a table is not the least-squares one."""

    advice: Callable[[float], str] = field(default=no_advice, repr=False)
    """Returns a sentence about a better step size than one with this radius. It takes longer than
    the certificate, so it is called only for the text."""

    def moved(self, centre: Array, shift: float) -> Certificate:
        """Return the certificate about a centre that is at most `shift` away from the exact one."""
        farther = {name: getattr(self, name) + shift for name in DISTANCES}
        with np.errstate(over="ignore"):
            squares = (np.sqrt(self.mean_square_bounds) + shift) ** 2
        return dataclasses.replace(self, centre=centre, mean_square_bounds=squares, **farther)

    def scaled(self, factor: float) -> Certificate:
        """Return the certificate with all distances multiplied by a factor."""
        times = {name: getattr(self, name) * factor for name in (*DISTANCES, "rounding")}
        squares = self.mean_square_bounds * factor**2
        return dataclasses.replace(self, mean_square_bounds=squares, **times)

    @property
    def quantity(self) -> str:
        """What the radius is a bound on."""
        return "error ‖w − w*‖" if self.centre is None else "distance ‖w − w°‖"

    @property
    def prediction_error(self) -> float:
        """A bound on the root mean squared prediction error, in the units of the labels.

        √E(f_w(x) − f_{w*}(x))² over new inputs x, or over the rows of a table according to their
        weights, is at most this, with the same probability as the radius. These are two statements,
        each with that probability. It is infinite where the second moments of the
        inputs are infinite or not known.
        """
        known = self.holds and math.isfinite(self.risk)
        return (
            min(math.sqrt(self.risk) * self.radius, self.prediction_radius) if known else math.inf
        )

    @property
    def useful(self) -> bool:
        """Whether a bound, on weights or predictions, is better than the one of the start.

        What was measured always says something.
        """
        at_start = math.sqrt(self.risk) * self.initial_error
        better = self.root_mean_square < self.initial_error or self.prediction_error < at_start
        return self.holds and (better or self.kind == "measured")

    @property
    def is_rounding(self) -> bool:
        """Whether rounding errors are at least half of the radius."""
        return self.holds and 2.0 * self.rounding >= self.root_mean_square

    @property
    def statement(self) -> str:
        """What is guaranteed, in one paragraph."""
        return f"{self._title} {self._claim}{self.advice(self.radius)}"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.kind}, {self.method}, radius={up(self.radius)}, "
            f"confidence={self.confidence_text})"
        )

    @property
    def trainer(self) -> Trainer:
        """The trainer of the arm, with the step size and the weighting that were found for it."""
        trainer = self.arm.trainer
        given = not isinstance(trainer.step_size, str)
        if given or self.step_size is None or not isinstance(trainer, NeuroTron):
            return trainer
        return dataclasses.replace(trainer, step_size=self.step_size, weighting=self.weighting)

    @property
    def facts(self) -> dict[str, str]:
        """The main numbers as text, each with its name."""
        steps = "ever more" if self.steps is None else f"{self.steps:,}"
        facts = {"trainer": repr(self.trainer), "steps": steps, **super().facts}
        if math.isfinite(self.prediction_error):
            facts["prediction error"] = f"at most {up(self.prediction_error)}"
        return facts | {"probability": f"at least {self.confidence_text}"} if self.holds else facts

    @property
    def _title(self) -> str:
        """The basis of the statement: a theorem, a plug-in estimate or a measurement."""
        name = METHOD_NAMES[self.method]
        if not self.holds:
            return f"No guarantee ({name})."
        about = {
            "law": "the law of the inputs",
            "table": "this table, whose rows are drawn with replacement",
        }
        title = {
            "theorem": f"Guaranteed ({name}, a theorem about {about[self.about]}).",
            "plug-in": (
                f"Plug-in estimate ({name} with constants computed from rows of data, as if the "
                "rows were the whole law and met every assumption)."
            ),
            "measured": "Measured, not proved.",
        }[self.kind]
        useless = " It is useless, because no bound is better than the start."
        return title if self.useful else title + useless

    @property
    def _work(self) -> str:
        return f"{self.trainer!r} with batches of {self.batch_size}"

    @property
    def _claim(self) -> str:
        if not self.holds:
            return self._refusal
        sure = f"with probability at least {self.confidence_text}"
        root = up(self.root_mean_square)
        if self.kind == "measured":
            under = "honest labels" if self.arm.attack is None else repr(self.arm.attack)
            return (
                f"After {self.steps:,} steps of {self._work} under {under}, the error ‖w − w*‖ of "
                f"a new run is at most {up(self.radius)} {sure}{self._predictions}. The number is "
                "the largest error of enough runs for that probability. It says nothing about "
                "other attacks."
            )
        if self.steps is None:
            text = (
                f"As the number of steps of {self._work} grows, the bound on the {self._error} "
                f"that holds {sure} tends to {up(self.radius)} (root mean square {root})"
                f"{self._predictions}."
            )
        else:
            text = (
                f"After {self.steps:,} steps of {self._work}, the {self._error} is at most "
                f"{up(self.radius)} {sure} (root mean square at most {root}){self._predictions}."
            )
        kind = "error" if self.centre is None else "distance"
        start = f"at {'an' if kind == 'error' else 'a'} {kind} of at most"
        if self.random_start:
            start = f"at random, with a root mean squared {kind} of at most"
        text += f" Training starts {start} {up(self.initial_error)}."
        return f"{text} {self._against}{self._remarks}"

    @property
    def _error(self) -> str:
        if self.centre is None:
            return self.quantity
        labels = "" if not self.budget.rows else " with its unchanged labels"
        fit = "least-squares fit w° of the table"
        if self.leak < 1.0:
            fit = "fit w° of the table at which the mean update without an attack is zero"
        return f"{self.quantity} to the {fit}{labels}"

    @property
    def _refusal(self) -> str:
        """What is not guaranteed, and why."""
        names = [a.name for a in self.failed if a.blocking] or [a.name for a in self.failed]
        why = "the error did not stay bounded"
        if names:
            why = f"this does not hold: {', '.join(names)}"
        return f"Nothing is guaranteed for {self._work}, because {why}."

    @property
    def _predictions(self) -> str:
        if not math.isfinite(self.prediction_error):
            return ""
        off = "are off by" if self.centre is None else "differ from those of the fit by"
        start = f"with the same probability predictions {off} at most"
        if self.steps is None:
            of = "error of predictions" if self.centre is None else "difference from the fit"
            start = f"the bound on the {of} tends to"
        over = "the rows of the table" if self.about == "table" else "new inputs"
        return (
            f", and {start} {up(self.prediction_error)} (root mean square over {over}, in label "
            "units)"
        )

    @property
    def _against(self) -> str:
        """The attacks against which the statement holds."""
        theta, beta, rows = self.budget.bound, self.budget.probability, self.budget.rows
        if theta and rows:
            return (
                f"This holds if at most {rows} labels of the table were changed before training, "
                f"each by at most θ = {theta!r}."
            )
        if theta == 0.0 or beta == 0.0:
            return "Labels are honest." if self.centre is None else "No label is changed."
        if theta is None or self.this_attack:
            return f"This holds against {self.arm.attack!r}" + " alone" * self.this_attack + "."
        sees = "its own sample" if self.budget.scope == "query" else "the whole batch"
        return (
            f"This holds against every attack that changes each label by at most θ = {theta!r}, "
            f"attacks each label independently with probability at most β = {beta!r}, and sees "
            f"no more than {sees} and the past."
        )

    @property
    def _remarks(self) -> str:
        if not self.useful:
            return ""
        text = ""
        if self.is_rounding:
            text += (
                " The radius is what floating point is certain to resolve: the theorem's own "
                "number is smaller, and not resolved by floating point."
            )
        if self.any_time:
            text += (
                " Up to rounding errors, the bounds along the way (`radii`) hold for all steps at "
                "once."
            )
        if self.root_mean_square >= self.initial_error:
            text += " The bound on the weights is no better than the start."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; infinite numbers become None."""
        return super().to_dict() | {"trainer": repr(self.trainer), "arm": self.arm.name}
