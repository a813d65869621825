"""Neuro-Tron with the certificate's step schedule, all numbers filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from neurotron import _check
from neurotron.theory.recursion import Recursion, best_step, bound_after
from neurotron.trainers.neuro_tron import NeuroTron

if TYPE_CHECKING:
    from neurotron.attacks import Attack
    from neurotron.problem import Problem

__all__ = ["ScheduledTron"]


@dataclass(frozen=True, eq=False, repr=False)
class ScheduledTron(NeuroTron):
    """What ``NeuroTron(step_size="scheduled")`` becomes once problem and attack are known.

    Its state is the certified Δ_t and the numbers of the recursion F; every step has the η that
    makes F(Δ_t) smallest, and `adapt` moves on to Δ_{t+1} = F(Δ_t). The weights and the data play
    no part in it.

    Parameters
    ----------
    start
        Δ_1, a bound on E‖w_1 − w*‖².
    recursion
        F.
    """

    start: float = field(kw_only=True)
    recursion: Recursion = field(kw_only=True)

    state_fields: ClassVar[tuple[str, ...]] = ("delta", "p", "q", "d2", "d1", "d0")

    @classmethod
    def of(cls, trainer: NeuroTron, recursion: Recursion, start: float) -> ScheduledTron:
        """Return the schedule of a trainer whose sensing matrix is known."""
        return cls(
            1.0, trainer.sensing, weighting=trainer.weighting, averaging=trainer.averaging,
            start=start, recursion=recursion,
        )  # fmt: skip

    @property
    def initial_state(self) -> tuple[float, ...]:
        """(Δ_1, p, q, d₂, d₁, d₀)."""
        return (self.start, *self.recursion.numbers)

    @staticmethod
    def influence(residual: Any, state: tuple[Any, ...]) -> Any:
        """Return η_t · residual."""
        delta, p, q, d2, d1, d0 = state
        return best_step(delta, p, q, d2, d1, d0) * residual

    @staticmethod
    def adapt(state: tuple[Any, ...], mean: tuple[Any, ...], step: Any) -> tuple[Any, ...]:
        """Return the state with Δ_{t+1} = F(Δ_t)."""
        delta, p, q, d2, d1, d0 = state
        eta = best_step(delta, p, q, d2, d1, d0)
        return bound_after(delta, eta, p, q, d2, d1, d0), p, q, d2, d1, d0

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> ScheduledTron:
        """Return itself, if it fits: everything is known."""
        network = problem.network
        _check.array("sensing", self.sensing, (network.filter_size, network.n_inputs))
        return self

    @property
    def shown_settings(self) -> dict[str, object]:
        """Those of the trainer it was made of."""
        return super().shown_settings | {"step_size": "scheduled"}

    def __repr__(self) -> str:
        return self.shown_as(NeuroTron.__name__)
