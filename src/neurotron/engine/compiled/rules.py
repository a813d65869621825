"""The formulas of the built-in trainers as compiled loops.

Trainers with the same formulas have the same loops, whatever their direction. Between steps, a
state is a row of numbers; inside a loop it is a tuple of known size, as formulas expect.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba.extending import register_jitable
from numba.np.unsafe.ndarray import to_fixed_tuple

from neurotron._jit import inline
from neurotron._types import Array, Index
from neurotron.engine.compiled.formulas import Loop, named
from neurotron.engine.compiled.lanes import LANES
from neurotron.theory.one_step import best_step, bound_after, decrease, largest_factor
from neurotron.trainers import Trainer

for helper in (best_step, bound_after, decrease, largest_factor):  # functions that formulas call
    register_jitable(helper)


class Rule(NamedTuple):
    """The formulas of a trainer, and how many numbers its state has."""

    influence: Callable[..., Any]
    observe: Callable[..., Any]
    adapt: Callable[..., Any]
    size: int

    @property
    def observes(self) -> bool:
        """Whether the state depends on the batch."""
        return self.size > 0 and self.observe is not Trainer.observe


def rule_of(kind: type[Trainer]) -> Rule:
    """Return the formulas of a built-in trainer."""
    return Rule(kind.influence, kind.observe, kind.adapt, len(kind.state_fields))


# ---- tuples of known size ------------------------------------------------------------------------


def _reader(size: int) -> Callable[..., tuple[float, ...]]:
    """Return the function that makes a tuple of the first `size` numbers of a row."""
    return inline(lambda row: to_fixed_tuple(row, size))


def _writer(size: int) -> Callable[..., None]:
    """Return the function that writes a tuple of `size` numbers to a row."""

    @inline
    def write(numbers: tuple[float, ...], row: Array) -> None:
        for i in range(size):
            row[i] = numbers[i]

    return write


def _adder(size: int) -> Callable[..., tuple[float, ...]]:
    """Return the function that gives total + factor · numbers for tuples of `size` numbers."""
    if size == 0:
        return inline(lambda total, factor, numbers: ())
    rest, last = _adder(size - 1), size - 1

    @inline
    def add(total: tuple[float, ...], factor: float, numbers: tuple[Any, ...]) -> tuple[float, ...]:
        sums = rest(total, factor, numbers)
        return sums + (total[last] + factor * numbers[last],)  # noqa: RUF005

    return add


# ---- loops ---------------------------------------------------------------------------------------


@cache
def weigh_loop(rule: Rule) -> Loop:
    """Return the loop that sets weight = influence of the residual · sample weight · η/b."""
    influence, read = inline(rule.influence), _reader(rule.size)
    if rule.size == 0:

        def weigh(
            memory: Array, residual: Array, counts: Array, rate: Array, weight: Array
        ) -> None:
            for e in range(weight.size):
                weight[e] = influence(residual[e], ()) * counts[e] * rate[e]

        return named(weigh, rule.influence)

    def weigh_by_state(
        memory: Array, residual: Array, counts: Array, rate: Array, weight: Array
    ) -> None:
        for lane in range(LANES):  # by lane, so that terms of the state only are computed once
            state = read(memory[lane])
            for e in range(lane, weight.size, LANES):
                weight[e] = influence(residual[e], state) * counts[e] * rate[e]

    return named(weigh_by_state, rule.influence)


@cache
def adapt_loop(rule: Rule) -> Loop:
    """Return the loop that updates the state of every running lane from its observations.

    `length` is not valid for a trainer that does not observe.
    """
    observe, adapt = inline(rule.observe), inline(rule.adapt)
    observed = len(rule.observe(1.0, 1.0, (1.0,) * rule.size))
    read, write, add = _reader(rule.size), _writer(rule.size), _adder(observed)
    nothing = (0.0,) * observed

    def learn(
        clock: Index,
        memory: Array,
        stopped_at: Index,
        residual: Array,
        length: Array,
        counts: Array,
    ) -> None:
        share = LANES / counts.size
        for lane in range(LANES):
            if stopped_at[lane] >= 0:
                continue
            state, total = read(memory[lane]), nothing
            for e in range(lane, counts.size, LANES):
                seen = observe(residual[e], length[e], state)
                total = add(total, counts[e], seen)
            write(adapt(state, add(nothing, share, total), clock[0]), memory[lane])

    return named(learn, rule.observe, rule.adapt)
