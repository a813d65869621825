r"""B and V of the mean path after very many steps, without following them one by one.

The bounds Δ fall through levels Δ⁰ > Δ¹ > …, and `Recursion` knows by when each level is reached.
Between two levels, Δ is at most the upper one, and V moves geometrically towards a value that is
known (docs/theory.md (e), "Very many steps").
"""

from __future__ import annotations

import math

import numpy as np

from neurotron._types import Array, Index
from neurotron.theory.mean_path import Deviation, MeanPath
from neurotron.theory.one_step import best_step
from neurotron.theory.recursion import Recursion

__all__ = [
    "FOLLOWED",
    "after_constant_steps",
    "after_scheduled_steps",
    "deviations",
    "in_the_long_run",
]

FOLLOWED = 2000
"""Steps of a schedule that are followed one by one where many schedules are compared."""

LEVELS, CLOSEST = 256, 1e-7
"""Levels for a constant step size, and the last one as a part of the first one's distance."""
BLOCKS, CELLS = 400, 40
"""Levels for a schedule, and cells of the integral between two levels."""

NOTHING_KNOWN = Deviation(math.inf, math.inf)


def in_the_long_run(
    recursion: Recursion, path: MeanPath, eta: float, rounding: float = 0.0
) -> Deviation:
    """Return what B and V tend to with a constant step size.

    `rounding` is what rounding errors add to √Δ; the same for the functions below.
    """
    gap, floor = path.gap(eta), recursion.floor(eta)
    if gap <= 0.0 or not math.isfinite(floor + rounding):
        return NOTHING_KNOWN
    end = path.added(eta, (floor + rounding) ** 2) / (gap * (2.0 - gap))
    return Deviation(eta * path.push / gap, float(end))


def after_constant_steps(
    recursion: Recursion,
    path: MeanPath,
    start: Deviation,
    delta: float,
    eta: float,
    steps: float,
    rounding: float = 0.0,
) -> Deviation:
    """Return B and V after further steps of one size, from where Δ ≤ `delta`."""
    gap, floor = path.gap(eta), recursion.floor(eta)
    if gap <= 0.0 or not math.isfinite(floor + rounding):
        return NOTHING_KNOWN
    root = math.sqrt(delta)
    if root > floor:
        roots = floor + (root - floor) * np.geomspace(1.0, CLOSEST, LEVELS)
        times = 1.0 + np.floor(recursion.constant_times(delta, roots, eta))
        times[0] = 0.0
    else:
        roots, times = np.array([floor]), np.zeros(1)
    left = steps - np.minimum(np.append(times, math.inf), steps)  # steps after each level
    ends = path.added(eta, (roots + rounding) ** 2) / (gap * (2.0 - gap))
    rate = math.log1p(-gap)
    kept = math.exp(steps * rate)
    end = eta * path.push / gap
    spread = kept**2 * start.spread + float(ends @ np.diff(np.exp(2.0 * rate * left)))
    return Deviation(end + kept * (start.path - end), spread)


def after_scheduled_steps(
    recursion: Recursion,
    path: MeanPath,
    start: Deviation,
    delta: float,
    steps: float,
    rounding: float = 0.0,
) -> Deviation:
    r"""Return B and V after further steps of the schedule, from where its Δ is `delta`.

    The steps of a schedule depend on its own Δ, so it must also be known how fast Δ falls at most.
    With h(Δ) = Δ − F(Δ), a step covers at most h(Δ)/h(F(Δ)) ≤ R of ∫dΔ/h.
    """
    limit = recursion.limit
    first = math.sqrt(delta) - limit
    if first <= 0.0 and recursion.step_for(delta) == 0.0:
        return start  # no step is taken
    ratio = _largest_ratio(recursion, first) if first > 0.0 else math.inf
    if not math.isfinite(ratio) or path.low <= 0.0:
        return NOTHING_KNOWN
    above = first * np.geomspace(1.0, CLOSEST, BLOCKS * CELLS + 1)
    latest, earliest = (times[::CELLS] for times in recursion.scheduled_times(above))
    roots = limit + above[::CELLS]
    etas = np.asarray(best_step(roots**2, *recursion.numbers))
    if not float(etas[0]) * (path.low + path.high) <= 2.0:  # f = 1 − ηℓ is needed below
        return NOTHING_KNOWN
    reached = max(int((latest + 1.0 <= steps).sum()), 1)
    lengths = np.maximum(earliest[1:] / ratio - latest[:-1] - 1.0, 0.0)
    gaps = etas * path.low
    sizes = path.added(etas, (roots + rounding) ** 2)
    ends = sizes[:-1] / (gaps[1:] * (2.0 - gaps[1:]))
    kept = np.exp(lengths * np.log1p(-gaps[1:]))
    excess, spread = start.path - path.limit, float(start.spread)
    for share, end in zip(kept[: reached - 1].tolist(), ends.tolist(), strict=False):
        excess *= share
        spread = end + max(spread - end, 0.0) * share**2
    here = sizes[reached - 1] / (gaps[reached - 1] * (2.0 - gaps[reached - 1]))
    # f ≤ 1, and both η and Δ only fall: no step adds more than the first one
    most = start.path + steps * float(etas[0]) * path.push, start.spread + steps * float(sizes[0])
    return Deviation(
        min(path.limit + max(excess, 0.0), most[0]), min(max(spread, float(here)), most[1])
    )


def deviations(
    recursion: Recursion,
    path: MeanPath,
    first: Deviation,
    deltas: Array,
    step_size: float | None,
    steps: Index,
    rounding: float = 0.0,
) -> Deviation:
    """Return B and V after each number of `steps`, from `first` at the start.

    `deltas` are the bounds Δ after 0, 1, … steps, as far as they are followed one by one.
    """
    if step_size is None:
        etas = np.asarray(best_step(deltas[:-1], *recursion.numbers))
    else:
        etas = np.full(len(deltas) - 1, step_size)
    near = path.follow(first, (np.sqrt(deltas) + rounding) ** 2, etas)
    exact = len(etas)
    found = [part[np.minimum(steps, exact)] for part in near]
    for i in np.flatnonzero(steps > exact):
        guesses = [
            _later(recursion, path, Deviation(near.path[done], near.spread[done]), deltas[done],
                   step_size, float(steps[i] - done), rounding)
            for done in {exact, min(exact, FOLLOWED if step_size is None else 0)}
        ]  # fmt: skip
        found[0][i], found[1][i] = min(guesses, key=lambda one: one.path + math.sqrt(one.spread))
    return Deviation(*found)


def _later(
    recursion: Recursion, path: MeanPath, start: Deviation, delta: float, eta: float | None,
    steps: float, rounding: float,
) -> Deviation:  # fmt: skip
    if eta is None:
        return after_scheduled_steps(recursion, path, start, delta, steps, rounding)
    return after_constant_steps(recursion, path, start, delta, eta, steps, rounding)


def _largest_ratio(recursion: Recursion, above: float) -> float:
    """Return R ≥ h(Δ)/h(F(Δ)) for all √Δ between the limit and `above` it; inf if not known.

    With s = √Δ and a = s − q/p, h = p²s²a²/(4S(s)) where S(s) = d₂s² + (d₁ − qℓ)s + d₀, as long as
    the step is not capped. In a step, a and s fall by at most the part e = pη/2.
    """
    p, q, d2, d1, d0, low, high = recursion.numbers
    s, d = recursion.limit + above, d1 - q * low
    eta = recursion.step_for(s**2)
    grows = (p * d + q * d2) * s**2 + 2.0 * p * d0 * s - q * d0 >= 0.0
    part = p * eta / 2.0
    if not (grows and part < 1.0 and eta * max(low + high, 0.0) < 2.0 and eta > 0.0):
        return math.inf
    lowest = min(max(-d / (2.0 * d2), recursion.limit), s)
    smallest = d2 * lowest**2 + d * lowest + d0
    if smallest <= 0.0:
        return math.inf
    return (1.0 - part) ** -4 * (1.0 + part * above * max(-d, 0.0) / smallest)
