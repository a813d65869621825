"""Neuro-Tron: the paper's Algorithm 1."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.laws import WEIGHTINGS, EvenMoments
from neurotron.networks.sensing import SENSING
from neurotron.theory.one_step import best_step, bound_after
from neurotron.theory.recursion import Recursion
from neurotron.theory.sharp import fastest_step, sharp_recursion
from neurotron.theory.table import TableFit, has_fit, initial_distance
from neurotron.trainers.base import Direction, Trainer

if TYPE_CHECKING:
    from neurotron.attacks import Attack
    from neurotron.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class NeuroTron(Trainer):
    r"""The paper's gradient-free trainer (Algorithm 1).

    .. math:: w \leftarrow w + \eta\, M\, \frac1b \sum_{i=1}^b (v_i - f_w(x_i))\, x_i

    If x and −x are equally likely, only the odd part of the network's output moves the weights on
    average, and that part is linear in w. So there is a single fixed point, the true filter w*.
    Gradient methods can also end at the mirror filter −w*.

    Parameters
    ----------
    step_size
        The step size η > 0. The default, "fastest", is the one with the fastest certified
        convergence without an attack. With "scheduled", every step has the size that is best for
        the certificate, given the budget of the arm's attack and the error at the start.
    sensing
        The sensing matrix M: "optimal" (smallest error floor), "polar" (best λ1/λ2), "mean" (M = Ā,
        the paper's), "center" (the same without outer weights) or an array of shape (r, n) of full
        rank.
    weighting
        With "inverse-norm", every sample has the weight ω(x) = ‖x‖⁻², so that there is a guarantee
        even for inputs without any moments. With None, all samples count the same; but if the
        trainer has to find its step size and the fourth moments of the inputs are infinite,
        "inverse-norm" is used.
    averaging
        Whether weights are averaged (see `Trainer`).

    Examples
    --------
    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.StudentT(dof=4), seed=1)
    >>> run = nt.simulate(problem, nt.NeuroTron(), steps=1000, batch_size=16)
    >>> bool(run.final_errors[0] < 1e-12)
    True
    """

    step_size: float | str = "fastest"
    sensing: str | Array = "optimal"
    weighting: str | None = field(default=None, kw_only=True)

    short_name: ClassVar[str] = "Neuro-Tron"
    direction: ClassVar[Direction] = "sensing"
    step_words: ClassVar[tuple[str, ...]] = ("fastest", "scheduled")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.sensing, str):
            _check.choice("sensing", self.sensing, SENSING)
        else:
            object.__setattr__(self, "sensing", _check.array("sensing", self.sensing, ("r", "n")))
        if self.weighting is not None:
            _check.choice("weighting", self.weighting, WEIGHTINGS)

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> NeuroTron:
        """Return the trainer with its sensing matrix as an array, its step size as a number."""
        if isinstance(self.step_size, str):
            self._require_moments(problem)
        resolved = self.completed(problem)
        matrix, weighting = np.asarray(resolved.sensing), resolved.weighting
        if self.step_size == "scheduled":
            if type(self) is not NeuroTron:
                raise _check.InputError(
                    f"step_size='scheduled' is for NeuroTron itself, not for {type(self).__name__}"
                )
            fit = TableFit.of(problem, matrix, weighting) if has_fit(problem) else None
            if fit is None and problem.true_weights is None:
                raise _check.InputError(
                    "step_size='scheduled' depends on ‖w_1 − w*‖, and the problem has no "
                    "`true_weights`: take the arm of plan(…, step_size='scheduled', "
                    "initial_error=…), or step_size='fastest'"
                )
            recursion = sharp_recursion(problem, matrix, weighting, attack, batch_size)
            return ScheduledTron.of(resolved, recursion, initial_distance(problem, fit) ** 2)
        if self.step_size == "fastest":  # the same for every attack, even one without a bound
            fastest = fastest_step(problem, matrix, weighting, batch_size)
            object.__setattr__(resolved, "step_size", fastest)
        return resolved

    def completed(self, problem: Problem) -> Self:
        """Return the trainer with its weighting and its sensing matrix, which the problem decides.

        Everything that depends on them, here and in the guarantees, starts from this trainer.
        """
        completed = copy.copy(self)
        object.__setattr__(completed, "weighting", self.weighting_for(problem))
        object.__setattr__(
            completed, "sensing", problem.sensing_matrix(self.sensing, completed.weighting)
        )
        return completed

    def moments(self, problem: Problem) -> EvenMoments:
        """Return the moments of the inputs under the weighting that the trainer will have."""
        return problem.even_moments(self.weighting_for(problem))

    def weighting_for(self, problem: Problem) -> str | None:
        """Return the weighting: where a step size has to be found, one whose moments are known."""
        chosen = self.weighting is not None or not isinstance(self.step_size, str)
        if chosen or problem.even_moments(None).quartic is not None:
            return self.weighting
        weighted = problem.even_moments("inverse-norm").quartic is not None
        return "inverse-norm" if weighted else None

    def _require_moments(self, problem: Problem) -> None:
        """Refuse to find a step size from moments that are infinite or not known."""
        if self.moments(problem).quartic is not None:
            return
        without = f"leave out weighting={self.weighting!r}, " if self.weighting else ""
        raise _check.InputError(
            f"step_size={self.step_size!r} is found from the fourth moments of the inputs, which "
            f"are infinite or not known for {problem.law!r}: {without}give a number, as in "
            f"{type(self).__name__}(step_size=1e-3, sensing='mean'), or take Empirical(rows) as "
            "the law, with rows drawn from it"
        )

    @property
    def shown_parameters(self) -> dict[str, object]:
        """Step size, sensing matrix and weighting."""
        return super().shown_parameters | {"sensing": self.sensing, "weighting": self.weighting}


@dataclass(frozen=True, eq=False, repr=False)
class ScheduledTron(NeuroTron):
    """What ``NeuroTron(step_size="scheduled")`` becomes once problem and attack are known.

    Its state is the certified Δ_t and the numbers of the recursion F. Every step has the η that
    makes F(Δ_t) smallest, and `adapt` moves on to Δ_{t+1} = F(Δ_t). Neither depends on the weights
    or the data.

    Parameters
    ----------
    start
        Δ_1, a bound on E‖w_1 − w*‖².
    recursion
        F.
    purpose
        What the schedule was made for, if not for the error ‖w − w*‖. NeuroTron("scheduled") is
        then another schedule.
    """

    start: float = field(kw_only=True)
    recursion: Recursion = field(kw_only=True)
    purpose: str = field(default="", kw_only=True)

    short_name: ClassVar[str] = NeuroTron.short_name
    state_fields: ClassVar[tuple[str, ...]] = (
        "delta", "p", "q", "d2", "d1", "d0", "low", "high",
    )  # fmt: skip

    @classmethod
    def of(
        cls, trainer: NeuroTron, recursion: Recursion, start: float, purpose: str = ""
    ) -> ScheduledTron:
        """Return the scheduled form of a trainer whose sensing matrix is known."""
        return cls(
            1.0, trainer.sensing, weighting=trainer.weighting, averaging=trainer.averaging,
            start=start, recursion=recursion, purpose=purpose,
        )  # fmt: skip

    @property
    def initial_state(self) -> tuple[float, ...]:
        """Δ_1 and the numbers of the recursion."""
        return (self.start, *self.recursion.numbers)

    @staticmethod
    def influence(residual: Any, state: tuple[Any, ...]) -> Any:
        """Return η_t · residual."""
        delta, p, q, d2, d1, d0, low, high = state
        return best_step(delta, p, q, d2, d1, d0, low, high) * residual

    @staticmethod
    def adapt(state: tuple[Any, ...], mean: tuple[Any, ...], step: Any) -> tuple[Any, ...]:
        """Return the state with Δ_{t+1} = F(Δ_t)."""
        delta, p, q, d2, d1, d0, low, high = state
        eta = best_step(delta, p, q, d2, d1, d0, low, high)
        after = bound_after(delta, eta, p, q, d2, d1, d0, low, high)
        return after, p, q, d2, d1, d0, low, high

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> ScheduledTron:
        """Return this trainer, after checking its matrix; nothing is left to fill in."""
        network = problem.network
        _check.array("sensing", self.sensing, (network.filter_size, network.n_inputs))
        return self

    @property
    def shown_parameters(self) -> dict[str, object]:
        """The parameters of the trainer from which this one was made."""
        step_size = f"scheduled for {self.purpose}" if self.purpose else "scheduled"
        return super().shown_parameters | {"step_size": step_size}

    def __repr__(self) -> str:
        return self.shown_as(NeuroTron.__name__)
