"""The defence: Neuro-Tron, then clipped gradients (docs/defence.md)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.trainers.base import Trainer
from neurotron.trainers.clipped_sgd import ClippedSGD
from neurotron.trainers.neuro_tron import NeuroTron
from neurotron.trainers.stages import FOREVER, ResolvedStages, Snapshot, Stage, StagedTrainer
from neurotron.trainers.tracking import Tracked

if TYPE_CHECKING:
    from neurotron.attacks import Attack
    from neurotron.problem import Problem

NEARER = 1e-3
"""By which the first stage brings w nearer to w*, as certified without an attack.

The second stage only needs a start in the right basin, and an attack keeps the first one at a
distance of the order of βθ in any case: warm-ups from 50 to 5000 steps recover w* as often
(docs/defence.md, its constants).
"""

SHORTEST_TRIAL = 1000
"""Steps of half a trial, at least.

Twice the 500 steps that running means go back (`tracking.MEMORY`), and ten times those in which the
second stage only listens: what is judged is where it stands, not where it came from.
"""

FALLEN = 0.7
"""A threshold that falls to this part in half a trial is on its way to zero.

One that has arrived at a level moves by a few per cent only: its logarithm varies by √(s (1 − p) /
2b), 0.035 with batches of 16. One that falls more slowly would need 77 half trials for 12 digits.
"""

ROUNDING = 1e-12
"""Of the size of outputs: a threshold below has arrived."""


@dataclass(frozen=True, eq=False, repr=False)
class RefinedTron(StagedTrainer):
    r"""The defence: Neuro-Tron, then clipped gradients to w*, with exceptions (docs/defence.md).

    1. `NeuroTron` with the optimal sensing matrix and the fastest certified step size comes near w*
       from any start and under any attack, and stays at a distance of the order of βθ.
    2. `ClippedSGD` goes on from there. Honest labels are exact. If they are the majority at every
       input, the effect of attacked labels shrinks with the error, mostly to machine precision.

    There are exceptions, measured in docs/defence.md: attacks that spend the budget on the largest
    inputs (`TrimmedSGD` does better there), strongly correlated inputs, badly conditioned networks
    (r = n, a single leaky gate, windows that overlap almost completely), and attacks on nearly half
    of the labels, where it is slow. If honest labels have noise, `TrimmedSGD(averaging=True)` has
    far smaller errors under attack.

    The second stage may end in the basin of another filter, often −w*. It is judged after a trial:
    if its threshold no longer falls, it is tried again from −w, every other time after a warm-up,
    as long as that leaves half of the steps. The place with the smallest mean absolute residual is
    kept. If at every input fewer than half of the labels are attacked, that residual is smallest at
    w* under every attack.

    No certificate covers the second stage. A run can only be resumed with the same number of steps,
    because stages are shares of them.

    Parameters
    ----------
    warm_up
        Steps of the first stage. By default it has as many as the certificate needs to reduce the
        error to a thousandth without an attack, but at most an eighth of all steps.
    pace, quantile, speed
        Parameters of the second stage: see `ClippedSGD`.
    averaging
        Whether the weights of the second stage are averaged (see `Trainer`). It helps where honest
        labels are noisy, and it costs accuracy where they are exact.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    >>> attack = nt.attacks.Adaptive(bound=1.0, probability=0.4)
    >>> trainers = [nt.NeuroTron(), nt.RefinedTron()]
    >>> run = nt.simulate(problem, trainers, attack=attack, steps=10_000, batch_size=16)
    >>> bool(run.final_errors[0] > 0.01), bool(run.final_errors[1] < 1e-13)
    (True, True)
    """

    warm_up: int | None = None
    pace: float | None = field(default=None, kw_only=True)
    quantile: float = field(default=0.2, kw_only=True)
    speed: float = field(default=0.05, kw_only=True)
    averaging: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.warm_up is not None:
            object.__setattr__(self, "warm_up", _check.integer("warm_up", self.warm_up, 1))
        self._parts(None)  # the second stage checks its own parameters

    @property
    def parts(self) -> tuple[Trainer, ...]:
        """Both stages, as they are before the problem and the steps are known."""
        return self._parts(None)

    def _parts(self, weighting: str | None) -> tuple[Trainer, ...]:
        """Return both stages; `weighting` is how the second one weights samples."""
        return (
            NeuroTron(),
            ClippedSGD(
                self.pace, quantile=self.quantile, speed=self.speed, weighting=weighting,
                averaging=self.averaging,
            ),
        )  # fmt: skip

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> ResolvedRefinedTron:
        """Return the defence with stage lengths, and with sample weights where needed."""
        if NeuroTron().moments(problem).quartic is None:
            raise _check.InputError(
                f"RefinedTron needs fourth moments of the inputs, which are infinite or not known "
                f"for {problem.law!r}: take Empirical(rows) as the law, with rows drawn from it"
            )
        second = "inverse-norm" if problem.covariance is None else None
        tron, clipped = (
            part.resolve(problem, batch_size=batch_size, steps=steps, attack=attack)
            for part in self._parts(second)
        )
        warm_up = self.warm_up
        if warm_up is None:
            needed = _steps_nearer(float(tron.step_size), problem.network.odd_slope)
            warm_up = max(min(needed, steps // 8), 1)
        return ResolvedRefinedTron(
            trainers=(tron, clipped),
            ends=(warm_up, FOREVER),
            half_trial=max(warm_up // 2, SHORTEST_TRIAL),
            latest=steps // 2,
        )

    @property
    def shown_parameters(self) -> dict[str, object]:
        """The parameters that differ from their defaults."""
        names = ("warm_up", "pace", "quantile", "speed")
        given = {name: getattr(self, name) for name in names}
        return {
            field.name: given[field.name]
            for field in dataclasses.fields(self)
            if field.name in given and given[field.name] != field.default
        }


class Notes(NamedTuple):
    """What the defence remembers from stage to stage."""

    best: Snapshot | None = None
    """The place with the smallest mean absolute residual of all that were tried."""
    tries: int = 0
    """How often it has begun again."""
    mark: float = 0.0
    """The threshold in the middle of this trial, 0 before that."""


@dataclass(frozen=True, eq=False)
class ResolvedRefinedTron(ResolvedStages):
    """The defence in a run that is known: a warm-up, then trials of the second stage."""

    half_trial: int
    """Half the steps after which the second stage is judged."""
    latest: int
    """The last step at which it may be judged."""

    def next_stage(self, stage: Stage, snapshot: Snapshot) -> tuple[Stage, Snapshot]:
        """Start a trial after the warm-up, note its threshold halfway, and judge it at its end."""
        now, notes = stage.until, Notes(*stage.notes)
        if stage.part == 0:
            return self._trial(now, snapshot.weights, notes)
        if notes.mark == 0.0:
            marked = notes._replace(mark=Tracked(*snapshot.memory).threshold)
            return stage._replace(until=now + self.half_trial, notes=marked), snapshot
        if _converges(snapshot, notes.mark):
            return Stage(1, now), snapshot
        best = snapshot
        if notes.best is not None and _absolute(notes.best) < _absolute(snapshot):
            best = notes.best
        if now + self.ends[0] + 2 * self.half_trial > self.latest:
            return Stage(1, now), best
        return self._try_again(now, -snapshot.weights, Notes(best, notes.tries + 1))

    def _try_again(self, now: int, weights: Array, notes: Notes) -> tuple[Stage, Snapshot]:
        """Return the next trial, or every other time the warm-up that precedes it."""
        if notes.tries % 2:
            return self._trial(now, weights, notes)
        warm_up = Stage(0, now, now + self.ends[0], notes)
        return warm_up, Snapshot(weights, self.parts[0].initial_state)

    def _trial(self, now: int, weights: Array, notes: Notes) -> tuple[Stage, Snapshot]:
        """Return the first half of a trial of the second stage."""
        trial = Stage(1, now, now + self.half_trial, notes)
        return trial, Snapshot(weights, self.parts[1].initial_state)


def _converges(snapshot: Snapshot, mark: float) -> bool:
    """Return whether the threshold still falls, or is already as small as rounding errors."""
    tracked = Tracked(*snapshot.memory)
    output = math.sqrt(tracked.length) * float(np.linalg.norm(snapshot.weights))
    return tracked.threshold <= max(FALLEN * mark, ROUNDING * output)


def _absolute(snapshot: Snapshot) -> float:
    """Return the mean absolute residual at the end of a trial."""
    return Tracked(*snapshot.memory).absolute


def _steps_nearer(step_size: float, slope: float) -> int:
    """Return after how many steps w is certified to be nearer to w*, without attack and noise.

    With the fastest step size F(Δ) = (1 − ηp/2) Δ, and the optimal matrix has p = 2c
    for activations whose odd part has the slope c.
    """
    rate = min(step_size * slope, 0.99)
    return math.ceil(2.0 * math.log(1.0 / NEARER) / -math.log1p(-rate))
