"""Neuro-Tron with clipped residuals: a baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from neurotron.trainers.neuro_tron import NeuroTron
from neurotron.trainers.tracking import (
    Tracked,
    check_tracking,
    clipped,
    listened,
    observed,
    tracked,
)

__all__ = ["ClippedTron"]


@dataclass(frozen=True, eq=False, repr=False)
class ClippedTron(NeuroTron):
    r"""Neuro-Tron with residuals clipped at a quantile of their size.

    .. math:: w \leftarrow w + \eta\, M\, \frac1b \sum_{i=1}^b
              \mathrm{clip}(v_i - f_w(x_i),\, \pm\tau)\, x_i

    An attacked label counts at most τ, but a clipped residual is no longer linear in w: no
    certificate covers it.

    Parameters
    ----------
    step_size, sensing, weighting
        See `NeuroTron`; "scheduled" is not for it.
    quantile, speed
        See `ClippedSGD`; by default τ is the median of |residual|.
    averaging
        Whether weights are averaged (see `Trainer`).
    """

    step_size: float | str = "fastest"
    quantile: float = field(default=0.5, kw_only=True)
    speed: float = field(default=0.05, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tracking(self.quantile, self.speed)

    @property
    def initial_state(self) -> tuple[float, ...]:  # type: ignore[override]
        """What it has tracked before the first step: nothing."""
        return Tracked(quantile=self.quantile, speed=self.speed)

    @staticmethod
    def influence(residual: Any, state: tuple[Any, ...]) -> Any:
        """Return the residual cut to ±τ."""
        return listened(state[0], clipped(residual, state[1]))

    @staticmethod
    def observe(residual: Any, length: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what `adapt` tracks."""
        return observed(residual, length, state[1])

    @staticmethod
    def adapt(state: tuple[Any, ...], mean: tuple[Any, ...], step: Any) -> tuple[Any, ...]:
        """Return the state with the threshold moved on."""
        return tracked(state, mean)

    def __repr__(self) -> str:
        plain = super().__repr__().removesuffix(")")
        defaults = {"quantile": 0.5, "speed": 0.05}
        changed = [
            f", {name}={getattr(self, name):g}"
            for name, default in defaults.items()
            if getattr(self, name) != default
        ]
        return f"{plain}{''.join(changed)})"
