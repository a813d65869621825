"""All bounds of many runs iterated step by step, compiled.

This module loads the compiler. It is imported only if that is loaded anyway, or for many steps.
"""

from __future__ import annotations

from numba.extending import register_jitable

from neurotron._jit import entry, inline
from neurotron._types import Array
from neurotron.theory.one_step import (
    after,
    best_step,
    bound_after,
    coefficients,
    decrease,
    largest_factor,
)

for helper in (largest_factor, decrease):  # which the others call
    register_jitable(helper)
_best_step, _bound_after = inline(best_step), inline(bound_after)
_coefficients, _after = inline(coefficients), inline(after)


@entry
def fill(of_step: Array, state: Array, out: Array) -> None:
    """Fill `out` with the bounds after each step, (steps, 4, runs), and update the `state`.

    `of_step` has the coefficients of every step, (10, runs). Each row is written before the state,
    so that several runs make their steps in one instruction.
    """
    for t in range(out.shape[0]):
        exact, root, path, spread = out[t, 0], out[t, 1], out[t, 2], out[t, 3]
        for k in range(out.shape[2]):
            exact[k], root[k], path[k], spread[k] = _after(
                state[0, k], state[1, k], state[2, k], state[3, k],
                of_step[0, k], of_step[1, k], of_step[2, k], of_step[3, k], of_step[4, k],
                of_step[5, k], of_step[6, k], of_step[7, k], of_step[8, k], of_step[9, k],
            )  # fmt: skip
        for k in range(out.shape[2]):
            state[0, k], state[1, k], state[2, k], state[3, k] = (
                exact[k], root[k], path[k], spread[k],
            )  # fmt: skip


@entry
def fill_scheduled(numbers: Array, own: Array, state: Array, out: Array) -> None:
    """Do the same for schedules: `own` has their Δ, then the numbers of their recursions."""
    for t in range(out.shape[0]):
        for k in range(out.shape[2]):
            p, q, d2, d1, d0, low, high = (
                own[1, k], own[2, k], own[3, k], own[4, k], own[5, k], own[6, k], own[7, k],
            )  # fmt: skip
            eta = _best_step(own[0, k], p, q, d2, d1, d0, low, high)
            own[0, k] = _bound_after(own[0, k], eta, p, q, d2, d1, d0, low, high)
            left, linear, constant, factor, push, v2, v1, v0, rounding, farther = _coefficients(
                eta,
                numbers[0, k], numbers[1, k], numbers[2, k], numbers[3, k], numbers[4, k],
                numbers[5, k], numbers[6, k], numbers[7, k], numbers[8, k], numbers[9, k],
                numbers[10, k], numbers[11, k], numbers[12, k], numbers[13, k], numbers[14, k],
                numbers[15, k], numbers[16, k],
            )  # fmt: skip
            exact, root, path, spread = _after(
                state[0, k], state[1, k], state[2, k], state[3, k],
                left, linear, constant, factor, push, v2, v1, v0, rounding, farther,
            )  # fmt: skip
            state[0, k], state[1, k], state[2, k], state[3, k] = exact, root, path, spread
            out[t, 0, k], out[t, 1, k], out[t, 2, k], out[t, 3, k] = exact, root, path, spread
