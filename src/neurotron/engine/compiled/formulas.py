"""The built-in formulas of laws and attacks as compiled kernels, chosen by an integer code.

Those of trainers are in `rules`. Each formula is compiled once, inside a loop that applies it to a
whole block of arms. So the compile time grows with the number of formulas, not with the number of
combinations of laws, attacks and trainers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from neurotron import attacks, laws, trainers
from neurotron._formula import select
from neurotron._jit import inline, jit
from neurotron._types import Array
from neurotron.attacks import Attack, Query
from neurotron.engine.compiled import elementary  # noqa: F401  (compiles what formulas call)
from neurotron.laws import Normal
from neurotron.trainers import Trainer
from neurotron.trainers.catalog import RESOLVED

__all__ = [
    "ATTACKS", "LAWS", "LAW_FORMULAS", "TRAINERS", "Kernel", "attack", "draw", "draw_normal",
    "switch",
]  # fmt: skip

Kernel = Callable[..., None]

ATTACKS = attacks.BUILT_IN
TRAINERS: tuple[type[Trainer], ...] = tuple(
    kind for kind in (*trainers.BUILT_IN, *RESOLVED) if kind.parts is Trainer.parts
)
"""The trainers that make steps themselves; trainers with stages consist of these."""
LAWS = laws.BUILT_IN
LAW_FORMULAS = [formula for law in LAWS for formula in law.formulas()]


def switch(kernels: Sequence[Kernel]) -> Kernel:
    """Return the function that calls ``kernels[code]`` with its five arguments."""
    first, *others = kernels
    if not others:
        return inline(lambda code, a, b, c, d, e: first(a, b, c, d, e))
    rest = switch(others)

    @inline
    def choose(code: int, a: Any, b: Any, c: Any, d: Any, e: Any) -> None:
        if code == 0:
            first(a, b, c, d, e)
        else:
            rest(code - 1, a, b, c, d, e)

    return choose


def _attack_kernel(kind: type[Attack]) -> Kernel:
    distort: Callable[..., Any] = inline(kind.distort)
    chance = inline(kind.chance)

    @jit
    def attack(
        queries: Array, coin: Array, bound: Array, probability: Array, residual: Array
    ) -> None:
        """Set residual = received label − output; a row of `queries` is a field of the query."""
        for e in range(residual.size):
            query = Query(  # fields are written out, in order, so that the loop is vectorised
                queries[0, e], queries[1, e], queries[2, e], queries[3, e], queries[4, e],
                queries[5, e], queries[6, e], queries[7, e], queries[8, e], queries[9, e],
            )  # fmt: skip
            hit = coin[e] <= chance(probability[e], query)
            distortion = select(hit, distort(bound[e], query), 0.0)
            residual[e] = query.label + distortion - query.output

    return attack


def _law_kernel(law: Callable[..., tuple[Any, ...]]) -> Kernel:
    formula = inline(law)
    if len(law(0.5, 0.5, 1.0, 4.0)) == 1:

        @jit
        def draw(u: Array, v: Array, scale: float, shape: float, out: Array) -> None:
            """Turn each pair of uniforms into one number."""
            for i in range(u.size):
                out[i] = formula(u[i], v[i], scale, shape)[0]

        return draw

    @jit
    def draw_two(u: Array, v: Array, scale: float, shape: float, out: Array) -> None:
        """Turn each pair of uniforms into two numbers: the first of all pairs, then the second."""
        first, second = out[: u.size], out[u.size :]
        for i in range(u.size):
            first[i], second[i] = formula(u[i], v[i], scale, shape)

    return draw_two


attack = switch([_attack_kernel(kind) for kind in ATTACKS])
_law_kernels = [_law_kernel(law) for law in LAW_FORMULAS]
draw, draw_normal = switch(_law_kernels), _law_kernels[LAW_FORMULAS.index(Normal.formula)]
