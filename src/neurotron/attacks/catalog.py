"""The list of the built-in attacks, their names, and how text becomes an attack.

To add one, import it here like the others and put it in `BUILT_IN`. Its name in text, its export
from `neurotron.attacks`, its place in the compiled loop and the tests all follow from that.
"""

from __future__ import annotations

from typing import cast

from neurotron import _check
from neurotron._registry import Registry
from neurotron.attacks.adaptive import Adaptive as Adaptive
from neurotron.attacks.alternating_sign import AlternatingSign as AlternatingSign
from neurotron.attacks.base import Attack
from neurotron.attacks.burst import Burst as Burst
from neurotron.attacks.constant import Constant as Constant
from neurotron.attacks.half_space import HalfSpace as HalfSpace
from neurotron.attacks.high_leverage import HighLeverage as HighLeverage
from neurotron.attacks.impersonation import Impersonation as Impersonation
from neurotron.attacks.impostor import Impostor as Impostor
from neurotron.attacks.large_norm import LargeNorm as LargeNorm
from neurotron.attacks.mixture import Mixture as Mixture
from neurotron.attacks.multiplicative import Multiplicative as Multiplicative
from neurotron.attacks.odd_direction import OddDirection as OddDirection
from neurotron.attacks.picked_rows import PickedRows as PickedRows
from neurotron.attacks.random_sign import RandomSign as RandomSign
from neurotron.attacks.replacement import Replacement as Replacement
from neurotron.attacks.sign_flip import SignFlip as SignFlip
from neurotron.attacks.uniform_noise import UniformNoise as UniformNoise
from neurotron.problem import Problem

BUILT_IN: tuple[type[Attack], ...] = (
    AlternatingSign,
    RandomSign,
    UniformNoise,
    Constant,
    OddDirection,
    Impersonation,
    Adaptive,
    Burst,
    LargeNorm,
    HalfSpace,
    Mixture,
    Multiplicative,
    Replacement,
    SignFlip,
    HighLeverage,
    PickedRows,
    Impostor,
)

BY_NAME: Registry[Attack] = Registry.of("attack", BUILT_IN, Attack)


def kind_of(name: str) -> type[Attack]:
    """Return the class of a built-in attack, or of one of your own, such as "mine:TowardsZero"."""
    return cast(type[Attack], BY_NAME.factory(name))


def build(
    text: str, problem: Problem, *, bound: float, probability: float, seed: int
) -> Attack | None:
    """Return the attack on `problem` that `text` describes; None for "none".

    An attack that needs a vector gets one: "odd-direction" takes the direction in which Neuro-Tron
    resists least, "impersonation" and "picked-rows" a filter drawn from `seed`.

    Parameters
    ----------
    text
        The name of an attack, with its parameters if it has any, as in "burst:share=0.5".
    problem
        The problem to attack.
    bound
        The bound θ ≥ 0, the largest change of a label. Attacks that no theorem covers are clipped
        to it; give them infinity if they are not to be clipped.
    probability
        The budget β in [0, 1]: the share of all labels that is attacked, on average. An attack that
        never attacks some samples attacks the others more often. "burst" attacks all labels of a
        share β of the steps, "large-norm" the labels with the largest ‖x‖, and "half-space" one
        side with probability min(1, 2β), which is right for a symmetric law. Parameters in the text
        are kept, and the probability follows from them: "burst:share=0.5" attacks half of the steps
        with probability min(1, 2β).
    seed
        Seed of what the attack draws once.

    Examples
    --------
    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal())
    >>> nt.attacks.build("odd-direction", problem, bound=1.0, probability=0.5, seed=0)
    OddDirection(bound=1, probability=0.5)
    >>> nt.attacks.build("burst", problem, bound=1.0, probability=0.2, seed=0)
    Burst(bound=1, probability=1, share=0.2)
    """
    _check.text("text", text)
    _check.instance("problem", problem, Problem)
    _check.integer("seed", seed, 0)
    bound = _check.number("bound", bound, "[0, inf]")
    probability = _check.number("probability", probability, "[0, 1]")
    if text == "none":
        return None
    name, settings = BY_NAME.read(text)
    return kind_of(name).spending(problem, bound, probability, seed, **settings)
