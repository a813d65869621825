"""Neuro-Tron with clipped residuals: a baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from neurotron.trainers import tracking
from neurotron.trainers.neuro_tron import NeuroTron
from neurotron.trainers.tracking import Tracked, check_tracking


@dataclass(frozen=True, eq=False, repr=False)
class ClippedTron(NeuroTron):
    r"""Neuro-Tron with residuals clipped at a quantile of their size.

    .. math:: w \leftarrow w + \eta\, M\, \frac1b \sum_{i=1}^b
              \mathrm{clip}(v_i - f_w(x_i),\, \pm\tau)\, x_i

    An attacked label counts at most τ. But a clipped residual is no longer linear in w, so the
    theorems behind `certify` do not cover this trainer.

    Parameters
    ----------
    step_size, sensing, weighting
        See `NeuroTron`; the step size cannot be "scheduled".
    quantile, speed
        See `ClippedSGD`; by default τ is the median of |residual|.
    averaging
        Whether weights are averaged (see `Trainer`).
    """

    step_size: float | str = "fastest"
    quantile: float = field(default=0.5, kw_only=True)
    speed: float = field(default=0.05, kw_only=True)

    state_fields: ClassVar[tuple[str, ...]] = Tracked._fields

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tracking(self.quantile, self.speed)

    @property
    def initial_state(self) -> tuple[float, ...]:
        """The state before the first step, when nothing has been tracked yet."""
        return Tracked(quantile=self.quantile, speed=self.speed)

    influence = staticmethod(tracking.influence)
    observe = staticmethod(tracking.observe)
    adapt = staticmethod(tracking.adapt)

    @property
    def shown_parameters(self) -> dict[str, object]:
        """The parameters of `NeuroTron`, and quantile and speed."""
        return super().shown_parameters | {"quantile": self.quantile, "speed": self.speed}
