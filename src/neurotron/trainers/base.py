r"""What a trainer is: how the weights move, by a direction and an influence.

.. math:: w \leftarrow w + \frac{\eta}{b} \sum_{i=1}^b \mathrm{influence}(v_i - f_w(x_i))\, g_i

with v_i the label as received and g_i the direction of sample i:

- ``"sensing"``: M x_i, with the trainer's own matrix M;
- ``"gradient"``: the network's gradient at x_i;
- ``"first_gradient"``: the network's gradient at x_1, for every i.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from neurotron import _check
from neurotron._formula import formula_group
from neurotron._pickling import Pickled

if TYPE_CHECKING:
    from neurotron.attacks import Attack
    from neurotron.problem import Problem

Direction = Literal["sensing", "gradient", "first_gradient"]


@dataclass(frozen=True, eq=False)
class Trainer(Pickled):
    """Base of all trainers.

    To write your own, name a `direction` and give the formula `influence`, in plain NumPy. A
    trainer that adapts also gives `initial_state` (a tuple of numbers), `observe` and `adapt`:

    >>> import numpy as np, neurotron as nt
    >>> class MedianClipped(nt.Trainer):
    ...     '''Clips residuals at a running estimate of the median residual.'''
    ...     direction = "gradient"
    ...     initial_state = (1.0,)
    ...     def influence(self, residual, state):
    ...         return np.clip(residual, -state[0], state[0])
    ...     def observe(self, residual, length, state):
    ...         return (np.abs(residual) <= state[0],)
    ...     def adapt(self, state, mean, step):
    ...         return (state[0] * np.exp(0.05 * (0.5 - mean[0])),)
    >>> nt.check_trainer(MedianClipped(step_size=1e-3))

    Parameters
    ----------
    step_size
        η > 0, how far a step goes.
    averaging
        Whether the result is an average of the weights after each step (Polyak averaging). Step t
        counts in proportion to t³, so the last half of the steps makes up 94 %.
    """

    step_size: float | str
    averaging: bool = field(default=False, kw_only=True)

    short_name: ClassVar[str] = "Trainer"
    """What tables and figures call it: the name of its class, unless the class gives another."""

    direction: ClassVar[Direction] = "gradient"
    """What a residual is multiplied with."""

    state_fields: ClassVar[tuple[str, ...]] = ()
    """The names of the numbers in `initial_state`, if it is a built-in trainer that adapts."""

    step_words: ClassVar[tuple[str, ...]] = ()
    """What `step_size` may say instead of a number; `resolve` finds the number."""

    def __init_subclass__(cls) -> None:
        if "short_name" not in vars(cls):
            cls.short_name = cls.__name__

    def __post_init__(self) -> None:
        if isinstance(self.step_size, str) and self.step_words:
            _check.choice("step_size", self.step_size, self.step_words)
        else:
            step_size = _check.number("step_size", self.step_size, "(0, inf)")
            object.__setattr__(self, "step_size", step_size)
        _check.instance("averaging", self.averaging, bool)
        _check.choice(f"{type(self).__name__}.direction", self.direction, get_args(Direction))

    @property
    def initial_state(self) -> tuple[float, ...]:
        """Numbers the trainer carries from step to step, if it adapts."""
        return ()

    @property
    def weighting(self) -> str | None:
        """How samples count: ω(x) = ‖x‖⁻² times for "inverse-norm", all the same for None."""
        return None

    @staticmethod
    def influence(residual: Any, state: tuple[Any, ...]) -> Any:
        """Return how much a residual counts, elementwise over (batch, arms)."""
        return residual

    @staticmethod
    def observe(residual: Any, length: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what `adapt` needs from a sample; the engine averages it over the batch.

        `length` is the squared length ‖g_i‖² of the sample's direction.
        """
        return ()

    @staticmethod
    def adapt(state: tuple[Any, ...], mean: tuple[Any, ...], step: int) -> tuple[Any, ...]:
        """Return the state after step number `step`, from the averaged observation."""
        return state

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> Trainer:
        """Return the trainer with everything filled in that depends on the rest of the run."""
        return self

    @property
    def parts(self) -> tuple[Trainer, ...]:
        """The trainers it is made of; a trainer without stages is made of itself."""
        return (self,)

    @property
    def adapts(self) -> bool:
        """Whether the trainer carries a state."""
        return len(self.initial_state) > 0

    @property
    def formula_group(self) -> object:
        """A key: arms with equal keys can be computed by one call of the formulas."""
        return formula_group(self, "influence", "observe", "adapt")

    @property
    def shown_parameters(self) -> dict[str, object]:
        """The parameters that its text shows, unless they are None; `averaging` is added later."""
        return {"step_size": self.step_size}

    @property
    def parameter_texts(self) -> dict[str, str]:
        """The parameters that are set, each as text such as "step_size=0.1"."""
        given = self.shown_parameters | {"averaging": self.averaging or None}
        return {
            name: f"{name}={_text(value)}" for name, value in given.items() if value is not None
        }

    def shown_as(self, name: str) -> str:
        """Return the text of the trainer under the name of a class."""
        return f"{name}({', '.join(self.parameter_texts.values())})"

    def __repr__(self) -> str:
        return self.shown_as(type(self).__name__)


def _text(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "array"
    return f"{value:g}" if isinstance(value, float) else repr(value)
