r"""The recursion behind the sharp certificate, in terms of numbers only (docs/theory.md (e)).

With Δ a bound on E‖w − w*‖² before a step of size η, and s = √Δ, the bound after it is

.. math:: F(\Delta) = \Delta - \eta (p \Delta - q f(\eta) s)
          + \eta^2 (d_2 \Delta + d_1 s + d_0), \quad
          f(\eta) = \max_{\ell \le \lambda \le h} |1 - \eta\lambda| .

F is concave and non-decreasing in Δ, so it may be iterated from any bound on the initial error. Up
to η = 2/(ℓ + h) it is quadratic in η, so the best step size at every Δ is known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._types import Array, Index
from neurotron.theory.one_step import TINY, best_step, largest_factor

EXACT_STEPS = 20_000
"""Up to this many steps the recursion is iterated; beyond, a bound is computed directly."""

HALVINGS, GRID = 45, 16_001
"""Halvings to a bound after very many steps, and points between it and the start."""
NOTHING, NOWHERE = 1e-100, 1e-150
"""Smallest distance of a root mean squared error from its floor, and smallest floor."""


@dataclass(frozen=True)
class Recursion:
    """The recursion F for bounds on E‖w − w*‖², given by seven numbers.

    Parameters
    ----------
    pull
        p = (1+α)λ1, the strength with which honest labels pull towards w*.
    push
        q = 2θτ, the strength with which an attacker can push away from w*.
    square, linear, constant
        The coefficients d₂, d₁, d₀ of the second moment of a step's direction.
    low, high
        ℓ and h: between them are the eigenvalues of the pull of the other samples of the batch,
        which takes a part of an attacker's push back in the same step. If an attacker sees the
        whole batch they are negative, and the push is larger instead.

    Examples
    --------
    >>> clean = Recursion(pull=1.0, push=0.0, square=4.0, linear=0.0, constant=0.0)
    >>> clean.fastest
    0.125
    >>> clean.steps_to(1.0, target=1e-6, step_size=clean.fastest)
    215
    >>> clean.after(1.0, [214, 215], step_size=clean.fastest) > 1e-6
    array([ True, False])
    """

    pull: float
    push: float
    square: float
    linear: float
    constant: float
    low: float = 0.0
    high: float = 0.0

    @property
    def numbers(self) -> tuple[float, float, float, float, float, float, float]:
        """The seven numbers (p, q, d₂, d₁, d₀, ℓ, h)."""
        return (
            self.pull, self.push, self.square, self.linear, self.constant, self.low, self.high,
        )  # fmt: skip

    @property
    def fastest(self) -> float:
        """The step size p/(2d₂), with which the error falls fastest without an attack."""
        return self.pull / (2.0 * self.square)

    @property
    def limit(self) -> float:
        """The bound q/p on the root mean squared error that no step size can improve."""
        return self.push / self.pull

    def floor(self, step_size: float) -> float:
        """Return √Δ∞ with F(Δ∞) = Δ∞, the final bound of a constant step size.

        It is inf if the bound grows without limit.
        """
        square, linear, constant = self._decrease(step_size)
        if square <= 0.0:
            return math.inf
        return float(linear + math.sqrt(linear**2 + 4.0 * square * constant)) / (2.0 * square)

    def step_for(self, delta: float) -> float:
        """Return the step size that makes F(Δ) smallest at this Δ."""
        with np.errstate(over="ignore", invalid="ignore"):
            step = float(best_step(delta, *self.numbers))
        return step if math.isfinite(step) else 0.0

    @property
    def longest_step(self) -> float:
        """The largest step of the schedule, whatever its start: the best step at any Δ at most."""
        p, q, d2, d1, d0, low, _ = self.numbers
        bend = p * (d1 - q * low) + q * d2
        if bend >= 0.0:  # the best step grows with Δ
            return self.fastest
        # Δ where the derivative of the best step is zero: bend·s² + 2 p d₀ s − q d₀ = 0
        half = p * d0
        s = (half + math.sqrt(max(half**2 + bend * q * d0, 0.0))) / -bend
        return max(self.step_for(s**2), self.fastest)

    def slopes(self, deltas: Array, etas: Array) -> Array:
        """Return the largest factor by which an excess over √Δ grows in each step of size η."""
        with np.errstate(all="ignore"):
            falls, linear, _ = self._decrease(etas)
            straight = np.sqrt(np.maximum(1.0 - falls, 0.0))
            bent = (2.0 * (1.0 - falls) * np.sqrt(deltas[:-1]) + linear) / (
                2.0 * np.sqrt(deltas[1:])
            )
            bent = np.where(np.isnan(bent), math.inf, bent)  # after a bound that overflowed
        return np.where(deltas[1:] > 0.0, np.maximum(straight, bent), straight)

    def follow(self, start: float, etas: Array) -> Array:
        """Return the bounds Δ after 0, 1, … steps of the given sizes."""
        falls, linear, constant = self._decrease(etas)
        delta, deltas = float(start), [float(start)]
        for left, push, more in zip(
            (1.0 - falls).tolist(), linear.tolist(), constant.tolist(), strict=True
        ):
            delta = left * delta + push * math.sqrt(delta) + more
            delta = delta if delta < math.inf else math.inf  # inf − inf is not a number
            deltas.append(delta)
        return np.maximum(np.array(deltas), 0.0)

    def after(self, start: float, steps: Any, step_size: float | None) -> Array:
        """Return a bound on Δ after each number of `steps`, which must increase.

        The recursion is iterated up to `EXACT_STEPS` and bounded from above beyond. A `step_size`
        of None is the schedule that takes the best step every time.
        """
        wanted: Index = np.asarray(steps, dtype=np.int64)
        exact = min(int(wanted[-1]), EXACT_STEPS) if wanted.size else 0
        return self.continued(self.iterate(start, exact, step_size), wanted, step_size)

    def continued(self, deltas: Array, steps: Index, step_size: float | None) -> Array:
        """Return bounds on Δ after `steps` steps, given those after the first ones."""
        exact = len(deltas) - 1
        bounds = deltas[np.minimum(steps, exact)]
        later = steps > exact
        bounds[later] = self._much_later(float(deltas[-1]), steps[later] - exact, step_size)
        return bounds

    def iterate(self, start: float, steps: int, step_size: float | None) -> Array:
        """Return the bounds Δ after 0, 1, … `steps` steps.

        The loop is compiled if the compiler is loaded anyway, as in a study with its thousands of
        certificates. To load it only for this would take longer than the loop takes in Python. The
        bounds are the same to the last bit.
        """
        deltas = np.full(steps + 1, float(start))
        if "numba" in sys.modules:
            from neurotron.theory.iteration import SCHEDULED, fill

            fill(SCHEDULED if step_size is None else float(step_size), *self.numbers, deltas)
        else:
            self.fill_in_python(deltas, step_size)
        return deltas

    def fill_in_python(self, deltas: Array, step_size: float | None) -> None:
        """Fill an array with bounds, starting from its first number, without the compiler.

        These are the formulas of `best_step` and `bound_after`, which are slow for one number.
        """
        p, q, d2, d1, d0, low, high = self.numbers
        bend, cap = d1 - q * low, 2.0 / max(low + high, TINY)
        sqrt, tiny, inf = math.sqrt, TINY, math.inf  # local names are faster
        delta = float(deltas[0])
        found = [delta]
        for _ in range(deltas.size - 1):
            s = sqrt(delta)
            step = step_size
            if step is None:
                gain, spread = p * delta - q * s, d2 * delta + bend * s + d0
                step = (gain if gain > 0.0 else 0.0) / (2.0 * (spread if spread > tiny else tiny))
                step = step if step < cap else cap
            one, other = abs(1.0 - step * low), abs(1.0 - step * high)
            pushed = q * (one if one > other else other) * s
            spread = d2 * delta + d1 * s + d0
            delta = delta - step * (p * delta - pushed) + step * step * spread
            delta = delta if 0.0 < delta < inf else 0.0 if delta <= 0.0 else inf
            found.append(delta)
        deltas[:] = found

    def steps_to(self, start: float, target: float, step_size: float | None) -> int | None:
        """Return the number of steps after which Δ ≤ `target`, None if there is none.

        Up to `EXACT_STEPS` it is the smallest such number. Beyond, it is an upper bound on it,
        whose relative error is at most of order η(p − ηd₂).
        """
        if start <= target:
            return 0
        steps = self.time(start, target, step_size)
        if steps is None:
            return None
        most = 1 + math.floor(steps)
        if most > EXACT_STEPS:
            return most
        # the target is reached within `most` steps by a theorem, but rounding may need one more
        reached = self.iterate(start, most + 1, step_size) <= target
        return int(reached.argmax()) if reached.any() else None

    # ---- a bound without iterating ---------------------------------------------------------------
    #
    # h(Δ) = Δ − F(Δ) is convex and zero at the floor, hence increasing above it. So each step down
    # from Δ_t to Δ_t − h(Δ_t) covers at least one unit of ∫ dΔ/h, and fewer than 1 + ∫_{x}^{Δ_1}
    # dΔ/h steps lead below x. The schedule's h is a maximum of convex functions: the same holds.

    def time(self, start: float, target: float, step_size: float | None) -> float | None:
        """Return ∫ dΔ/h from `target` to `start`, None if the floor is in between."""
        high, low = math.sqrt(start), math.sqrt(max(target, 0.0))
        if step_size is None:
            if low <= self.limit:
                return None
            above = np.geomspace(high - self.limit, low - self.limit, 4001)
            return float(self.scheduled_times(above)[0][-1])
        floor = self.floor(step_size)
        square, _, constant = self._decrease(step_size)
        if low <= floor:
            return None
        return float(_constant_time(high, low, max(floor, NOWHERE), square, constant, math.log1p))

    def constant_times(self, start: float, roots: Array, etas: Array, floors: Array) -> Array:
        """Return ∫ dΔ/h from each root² to `start`, (etas, roots); roots are above their floors."""
        square, _, constant = np.array([self._decrease(eta) for eta in etas.tolist()]).T[..., None]
        floor = np.maximum(floors, NOWHERE)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # at the floor, up to rounding: never
            time = _constant_time(math.sqrt(start), roots, floor, square, constant, np.log1p)
        return np.asarray(time)

    def scheduled_times(self, above: Array) -> tuple[Array, Array]:
        """Return bounds on ∫ 2s/h(s²) ds from each s = q/p + `above` to the first one.

        `above` falls. The integrand falls in s, so its values at the lower ends of the cells give
        an upper bound, and those at the upper ends give a lower bound.
        """
        p, q, d2, d1, d0, least, most = self.numbers
        s = self.limit + above
        with np.errstate(all="ignore"):  # a time that overflows is infinite
            gain = p * s * above  # p s² − q s, without cancellation
            spread = d2 * s * s + (d1 - q * least) * s + d0
            step = np.minimum(gain / (2.0 * spread), 2.0 / max(least + most, TINY))
            values = 2.0 * s / (step * (gain - step * spread))
            widths = above[:-1] - above[1:]
            upper, lower = _summed(values[1:] * widths), _summed(values[:-1] * widths)
        return upper, lower

    def _much_later(self, start: float, steps: Index, step_size: float | None) -> Array:
        """Return bounds x on Δ such that ∫ dΔ/h from x to `start` is at most the steps made."""
        if step_size is not None and not math.isfinite(self.floor(step_size)):
            return np.full(len(steps), math.inf)
        lowest = self.limit if step_size is None else self.floor(step_size)
        root = math.sqrt(start)
        if not len(steps) or root - lowest <= NOTHING:  # where a schedule takes no steps
            return np.full(len(steps), start if step_size is None else max(lowest, root) ** 2)
        if step_size is not None:
            square, _, constant = self._decrease(step_size)
            floor = max(lowest, NOWHERE)
            return self._halved(
                start, lowest, steps,
                lambda x: _constant_time(root, np.sqrt(x), floor, square, constant, np.log1p),
            )  # fmt: skip
        # the times of all bounds between the start and the last one are those of one grid
        last = self._halved(
            start, lowest, steps[-1:],
            lambda x: np.array([self.time(start, float(x[0]), None) or math.inf]),
        )  # fmt: skip
        above = np.geomspace(root - lowest, math.sqrt(float(last[0])) - lowest, GRID)
        latest, _ = self.scheduled_times(above)
        return np.minimum((lowest + np.interp(steps, latest, above)) ** 2, start)

    def _halved(
        self, start: float, lowest: float, steps: Index, times: Callable[[Array], Array]
    ) -> Array:
        """Return bounds x whose `times` are at most the steps, by halving log(√x − lowest)."""

        def bounds(logarithms: Array) -> Array:
            return np.minimum((lowest + np.exp(logarithms)) ** 2, start)

        low = np.full(len(steps), math.log(NOTHING))
        high = np.full(len(steps), math.log(math.sqrt(start) - lowest))
        with np.errstate(divide="ignore", invalid="ignore"):  # at the floor, up to rounding: never
            for _ in range(HALVINGS):
                middle = (low + high) / 2.0
                fine = times(bounds(middle)) <= steps
                low, high = np.where(fine, low, middle), np.where(fine, middle, high)
        return bounds(high)

    def _decrease(self, step_size: Any) -> tuple[Any, Any, Any]:
        """Return C, m, c with Δ − F(Δ) = CΔ − m√Δ − c."""
        eta = step_size
        factor: Any
        if isinstance(eta, np.ndarray):
            factor = largest_factor(eta, self.low, self.high)
        else:  # the same without NumPy, which is slow for one number
            factor = max(abs(1.0 - eta * self.low), abs(1.0 - eta * self.high))
        return (
            eta * (self.pull - eta * self.square),
            eta * (self.push * factor + eta * self.linear),
            eta**2 * self.constant,
        )


def _constant_time(
    high: float, low: Any, floor: Any, square: Any, constant: Any, log1p: Any
) -> Any:
    """Return ∫ 2s/(Cs² − ms − c) ds from `low` to `high`, where the larger root is the floor."""
    other = -constant / square / floor  # the product of the two roots is −c/C
    far = high - low
    above, below = floor * log1p(far / (low - floor)), -other * log1p(far / (low - other))
    return 2.0 * (above + below) / (floor - other) / square


def _summed(cells: Array) -> Array:
    """Return the sums of the first 0, 1, … cells; one that is not known is infinite."""
    sums = np.zeros(len(cells) + 1)
    cells[~(cells >= 0.0)] = math.inf
    np.cumsum(cells, out=sums[1:])
    return sums
