r"""B and V of the mean path after very many steps, without following them one by one.

The bounds Δ fall through levels Δ⁰ > Δ¹ > …, and `Recursion` knows by when each level is reached.
Between two levels, Δ is at most the upper one, and V moves geometrically towards a value that is
known (docs/theory.md (e), "Very many steps").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neurotron._types import Array, Index
from neurotron.theory.mean_path import Deviation, MeanPath
from neurotron.theory.one_step import best_step
from neurotron.theory.recursion import Recursion

FOLLOWED = 2000
"""Steps of a schedule that are followed one by one where many schedules are compared."""

LEVELS, CLOSEST = 256, 1e-7
"""Levels for a constant step size, and the last one as a part of the first one's distance."""
BLOCKS, CELLS = 400, 40
"""Levels for a schedule, and cells of the integral between two levels."""
NEARER = np.geomspace(1.0, CLOSEST, LEVELS)
FALLING = np.geomspace(1.0, CLOSEST, BLOCKS * CELLS + 1)
"""Distances of the levels from where they end, as parts of the first one's."""

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
    step_size: Any,
    steps: Any,
    rounding: Any = 0.0,
) -> Deviation:
    """Return B and V after further steps of one size, from where Δ ≤ `delta`, elementwise."""
    shape = np.broadcast_shapes(np.shape(step_size), np.shape(steps))
    etas, steps, rounding = (np.atleast_1d(given) for given in (step_size, steps, rounding))
    gaps = np.array([path.gap(eta) for eta in etas.tolist()])
    floors = np.array([recursion.floor(eta) for eta in etas.tolist()])
    known = (gaps > 0.0) & (floors + rounding < math.inf)
    if not known.all():
        gaps, floors = np.where(gaps > 0.0, gaps, 0.5), np.where(floors < math.inf, floors, 0.0)
    root, rates, ends = math.sqrt(delta), np.log1p(-gaps), etas * path.push / gaps
    with np.errstate(all="ignore"):  # what is not known may overflow
        kept = np.exp(steps * rates)
        roots = floors[:, None] + np.maximum(root - floors, 0.0)[:, None] * NEARER
        times = np.floor(recursion.constant_times(delta, roots, etas, floors)) + 1.0
        times[root <= floors] = 0.0
        times[:, 0] = 0.0
        made = steps[:, None]
        left = made - np.minimum(times, made)  # steps after each level is reached
        shares = np.exp((2.0 * rates)[:, None] * left)
        sizes = path.added(etas[:, None], (roots + rounding[:, None]) ** 2)
        spread = (sizes[:, :-1] * (shares[:, 1:] - shares[:, :-1])).sum(axis=1)
        spread += sizes[:, -1] * (1.0 - shares[:, -1])
        spread = kept**2 * start.spread + spread / (gaps * (2.0 - gaps))
        found = ends + kept * (start.path - ends), spread
    return Deviation(*(np.where(known, part, math.inf).reshape(shape) for part in found))


def after_scheduled_steps(
    recursion: Recursion,
    path: MeanPath,
    start: Deviation,
    delta: float,
    steps: Any,
    rounding: float = 0.0,
) -> Deviation:
    r"""Return B and V after each number of further `steps` of the schedule, whose Δ is `delta`.

    The steps of a schedule depend on its own Δ, so it must also be known how fast Δ falls at most.
    With h(Δ) = Δ − F(Δ), a step covers at most h(Δ)/h(F(Δ)) ≤ R of ∫dΔ/h.
    """
    limit, never = recursion.limit, Deviation(*np.full((2, *np.shape(steps)), math.inf))
    first = math.sqrt(delta) - limit
    if first <= 0.0 and recursion.step_for(delta) == 0.0:
        shape = np.shape(steps)  # no step is taken
        return Deviation(np.full(shape, start.path), np.full(shape, start.spread))
    ratio = _largest_ratio(recursion, first) if first > 0.0 else math.inf
    if not math.isfinite(ratio) or path.low <= 0.0:
        return never
    above = first * FALLING
    latest, earliest = (times[::CELLS] for times in recursion.scheduled_times(above))
    roots = limit + above[::CELLS]
    etas = np.asarray(best_step(roots**2, *recursion.numbers))
    if not float(etas[0]) * (path.low + path.high) <= 2.0:  # f = 1 − ηℓ is needed below
        return never
    lengths = np.maximum(earliest[1:] / ratio - latest[:-1] - 1.0, 0.0)
    gaps = etas * path.low
    sizes = path.added(etas, (roots + rounding) ** 2)
    ends = sizes[:-1] / (gaps[1:] * (2.0 - gaps[1:]))
    kept = np.exp(lengths * np.log1p(-gaps[1:]))
    excess, spread = [float(start.path) - path.limit], [float(start.spread)]
    for share, end in zip(kept.tolist(), ends.tolist(), strict=True):
        excess.append(excess[-1] * share)
        spread.append(end + max(spread[-1] - end, 0.0) * share**2)
    reached = np.maximum(np.searchsorted(latest + 1.0, steps, side="right"), 1) - 1  # levels
    here = sizes[reached] / (gaps[reached] * (2.0 - gaps[reached]))
    beyond = np.maximum(np.array(excess)[reached], 0.0)
    # f ≤ 1, and both η and Δ only fall: no step adds more than the first one
    return Deviation(
        np.minimum(path.limit + beyond, start.path + steps * float(etas[0]) * path.push),
        np.minimum(
            np.maximum(np.array(spread)[reached], here), start.spread + steps * float(sizes[0])
        ),
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
    exact, late = len(etas), steps > len(etas)
    found = Deviation(*(part[np.minimum(steps, exact)] for part in near))
    if not late.any():
        return found
    guesses = [
        _later(recursion, path, Deviation(near.path[done], near.spread[done]), deltas[done],
               step_size, steps[late].astype(np.float64) - done, rounding)
        for done in {exact, min(exact, FOLLOWED if step_size is None else 0)}
    ]  # fmt: skip
    sums = [guess.path + np.sqrt(guess.spread) for guess in guesses]
    better = np.argmin(sums, axis=0)
    for part, parts in zip(found, zip(*guesses, strict=True), strict=True):
        part[late] = np.choose(better, parts)
    return found


def _later(
    recursion: Recursion, path: MeanPath, start: Deviation, delta: float, eta: float | None,
    steps: Any, rounding: float,
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
