"""The formulas of the built-in laws and attacks as compiled loops.

The loops of trainers are in `rules`. Each formula has its own loop over a whole block of arms, so
what has to be compiled grows with the number of formulas in use, not with the number of
combinations of laws, attacks and trainers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from neurotron import attacks, laws, trainers
from neurotron._formula import select
from neurotron._jit import SUBJECT, inline, jit
from neurotron._types import Array
from neurotron.attacks import Attack, Query
from neurotron.engine.compiled import elementary  # noqa: F401  (compiles what formulas call)
from neurotron.trainers import Trainer
from neurotron.trainers.catalog import RESOLVED

Loop = Callable[..., None]

ATTACKS = tuple(kind for kind in attacks.BUILT_IN if kind.scope != "rows")
TRAINERS: tuple[type[Trainer], ...] = tuple(
    kind for kind in (*trainers.BUILT_IN, *RESOLVED) if kind.parts is Trainer.parts
)
"""The trainers that make steps themselves; trainers with stages consist of these."""
LAWS = laws.BUILT_IN


def named(loop: Loop, *formulas: Callable[..., Any], subject: str = "") -> Loop:
    """Compile a loop, which is kept on disk by its own name and that of its formulas.

    Messages about it name the `subject`.
    """
    name = "_".join([loop.__name__, *(f"{f.__module__}.{f.__qualname__}" for f in formulas)])
    loop.__qualname__ = name
    setattr(loop, SUBJECT, subject)
    return jit(loop)


@cache
def attack_loop(kind: type[Attack]) -> Loop:
    """Return the loop that sets residual = received label − output under an attack."""
    distort: Callable[..., Any] = inline(kind.distort)
    chance = inline(kind.chance)

    def attack(
        queries: Array, coin: Array, bound: Array, probability: Array, residual: Array
    ) -> None:
        """Go through the samples and lanes; a row of `queries` is a field of the query."""
        for e in range(residual.size):
            query = Query(  # fields are written out, in order, so that the loop is vectorised
                queries[0, e], queries[1, e], queries[2, e], queries[3, e], queries[4, e],
                queries[5, e], queries[6, e], queries[7, e], queries[8, e], queries[9, e],
            )  # fmt: skip
            hit = coin[e] <= chance(probability[e], query)
            distortion = select(hit, distort(bound[e], query), 0.0)
            residual[e] = query.label + distortion - query.output

    return named(attack, kind.distort, kind.chance, subject=_home(kind))


@cache
def law_loop(law: Callable[..., tuple[Any, ...]]) -> Loop:
    """Return the loop that turns pairs of uniforms into numbers drawn from a law."""
    formula = inline(law)
    if len(law(0.5, 0.5, 1.0, 4.0)) == 1:

        def draw(u: Array, v: Array, scale: float, shape: float, out: Array) -> None:
            """Turn each pair of uniforms into one number."""
            for i in range(u.size):
                out[i] = formula(u[i], v[i], scale, shape)[0]

        return named(draw, law, subject=_home(law))

    def draw_two(u: Array, v: Array, scale: float, shape: float, out: Array) -> None:
        """Turn each pair of uniforms into two numbers: the first of all pairs, then the second."""
        first, second = out[: u.size], out[u.size :]
        for i in range(u.size):
            first[i], second[i] = formula(u[i], v[i], scale, shape)

    return named(draw_two, law, subject=_home(law))


def _home(part: Any) -> str:
    """Return the name of the module of a law or an attack, which is also its name in text."""
    return str(part.__module__).rsplit(".", 1)[-1].replace("_", "-")
