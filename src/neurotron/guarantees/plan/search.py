"""The four searches behind `plan`: each stays on the safe side and is sure to end."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from neurotron import _check
from neurotron._digits import counted, up
from neurotron._types import Array
from neurotron.attacks.budget import NO_ATTACK, Budget
from neurotron.guarantees.plan.models import SharpModel
from neurotron.guarantees.plan.paper_model import PaperModel

SMALLEST = -15.0
"""The logarithm of the smallest step size that is tried, relative to the largest one."""
SIZES, FEWER = 129, 17
"""Step sizes that are tried at once in each view."""
FINE, LESS_FINE = 1e-4, 3e-4
"""How much the last ones differ."""

ABOVE = 1.01
"""A radius that is larger than the best one by this factor is suggested instead of it."""
LARGEST = 1e70
"""The largest bound θ of an attack."""
MOST_ROUNDS = 8
"""How often step sizes are tried: where many are equally good, they need not come closer."""
CLOSEST, FARTHER, MOST_MOVED = 0.005, 2.0, 1.0
"""How far step sizes are tried around those that are best against a budget not far from it."""
MOST_TRIED = 60
"""Budgets that are tried to find the strongest one that is tolerated."""


Model = SharpModel | PaperModel


class NotAchievable(_check.InputError):
    """What was asked for cannot be guaranteed. The message says why, and what can be.

    It has the number of `steps` that would suffice, if that is the reason; else infinity.
    """

    def __init__(self, message: str, steps: float = math.inf) -> None:
        super().__init__(message)
        self.steps = steps


class Reached(NamedTuple):
    """What can be guaranteed: against which attack, with which step size, in how many steps."""

    budget: Budget
    step_size: float
    steps: int
    radius: float


class StepSizes:
    """The step sizes to try next in each view: around the best ones so far, closer and closer."""

    def __init__(self, views: int) -> None:
        self.centres, self.half = np.zeros((2, views, 1))
        self.widen(math.inf)

    def widen(self, half: float) -> None:
        """Try step sizes that are so far from the best ones, or all of them."""
        if half > MOST_MOVED:
            half = -SMALLEST / 2.0
            self.centres[:] = -half
        self.half[:] = half
        self.apart = math.inf
        """How much the last ones differed around the best of all."""

    def sizes(self, largest: Array, *, long: bool) -> Array:
        """Return the step sizes, with six digits, (views, sizes)."""
        places = np.linspace(-1.0, 1.0, FEWER if long else SIZES)
        self.logarithms = (self.centres + self.half * places).clip(SMALLEST, 0.0)
        sizes = largest[:, None] * np.exp(self.logarithms)
        return np.array([[float(f"{size:.6g}") for size in row] for row in sizes.tolist()])

    def narrow(self, scores: Array) -> None:
        """Go on around the best step size of each view, as close as those that were next to it.

        If it was an outermost one of these, but not of all, go on farther away.
        """
        count, best = scores.shape[1], scores.argmin(axis=1)[:, None]
        apart = 2.0 * self.half / (count - 1)
        self.centres = np.take_along_axis(self.logarithms, best, axis=1)
        inner = (self.centres > SMALLEST) & (self.centres < 0.0)
        outermost = inner & ((best == 0) | (best == count - 1))
        self.half = np.where(outermost, 2.0 * self.half, 1.5 * apart)
        view = int(scores.argmin()) // count
        self.apart = math.inf if outermost[view, 0] else float(apart[view, 0])

    def fine(self, *, long: bool) -> bool:
        """Return whether the last step sizes hardly differed."""
        return self.apart <= (LESS_FINE if long else FINE)


class Search:
    """The searches, named after what they find.

    Parameters
    ----------
    model
        How far a guarantee reaches.
    budget
        The attacker's, without what is asked.
    radius, steps
        ε and the number of steps; None for what is asked.
    """

    def __init__(
        self, model: Model, budget: Budget, radius: float | None, steps: int | None
    ) -> None:
        self.model, self.budget = model, budget
        self.wanted = math.inf if radius is None else radius
        self.most = model.most if steps is None else steps

    def run(self, asked: str) -> Reached:
        """Find what is asked: steps, radius, bound or probability."""
        if self.most > self.model.most:
            raise NotAchievable(
                f"not achievable, because guarantees are only known for up to {self.model.most:,} "
                f"steps.{self._floor} Use fewer steps."
            )
        if asked != "radius":
            self._require_possible()
        found = getattr(self, asked)()
        assert isinstance(found, Reached)
        return found

    @property
    def _floor(self) -> str:
        """Say what no number of steps can improve, if the attack is known."""
        if self.budget.bound is None or self.budget.probability is None:
            return ""
        limit = up(self.model.resolution(self.budget))
        return f" No number of steps can guarantee an error below {limit}."

    def _require_possible(self) -> None:
        """Refuse a radius that no attack and no number of steps make possible."""
        model = self.model
        known = self._with(
            bound=self.budget.bound or 0.0, probability=self.budget.probability or 0.0
        )
        if self.wanted <= model.shift(known):
            complete = self.budget.bound is not None and self.budget.probability is not None
            raise NotAchievable(
                "not achievable, because the fit of the unchanged labels of the table is only "
                f"known to within {up(model.shift(known))}. "
                f"{_ask(model.limit(self.budget) if complete else model.shift(known))}"
            )
        if self.wanted >= model.most_wanted:
            raise NotAchievable(
                "not achievable, because Theorem 1 needs a radius that is better than the "
                f"start: ε²δ < ‖w₁ − w*‖². Ask for a radius below {model.most_wanted:.4g}."
            )
        self._require_resolved(NO_ATTACK)

    def steps(self) -> Reached:
        """Find the step size that needs the fewest steps."""
        limit = self.model.limit(self.budget)
        if self.wanted <= limit:  # even for a start within it: training would be free to leave
            raise NotAchievable(
                f"not achievable, because an attack with {self._attack} can keep the guaranteed "
                f"error at {limit:.4g}. {_ask(self.model.easy(self.budget))}"
            )
        self._require_resolved(self.budget)
        found = self._fewest(self.budget, self.most)
        if found is None:
            raise NotAchievable(
                f"not achievable, because it would take more than {self.most:,} steps, or so many "
                f"that their rounding errors become too large.{self._floor} "
                f"{_ask(self.model.easy(self.budget))}"
            )
        given = found.step_size, self.wanted, found.steps
        return found._replace(steps=self.model.sooner(self.budget, *given))

    def radius(self) -> Reached:
        """Find the smallest radius within the steps."""
        found, start = self._best(self.budget), self.model.start
        if found.radius < start + self.model.shift(self.budget):
            return found
        limit = self.model.limit(self.budget)
        if start <= limit:
            raise NotAchievable(
                f"not achievable: training starts at an error of {start:.4g}, which is "
                f"already better than the {limit:.4g} at which an attack with "
                f"{self._attack} can keep the guaranteed error. Plan against a weaker attack."
            )
        raise NotAchievable(
            "not achievable, because no step size is certain to reduce the error within "
            f"{counted(self.most, 'step')}. Use more steps."
        )

    def bound(self) -> Reached:
        """Find the largest θ, between 0 and where the limit is the radius."""
        nothing, one = (self.model.limit(self._with(bound=theta)) for theta in (0.0, 1.0))
        if one == nothing:
            what = (
                "no label is changed: give more `rows`"
                if self.budget.rows is not None
                else "the probability of an attack is 0: give a probability above 0"
            )
            raise NotAchievable(f"every bound is tolerated, because {what}")
        if one == math.inf:
            raise NotAchievable(
                "not achievable, because no bound above 0 is tolerated: with probability "
                f"{self.budget.probability:g}, c_trade is not positive. Use a smaller probability, "
                "or method='sharp'."
            )
        return self._largest("bound", min((self.wanted - nothing) / (one - nothing), LARGEST))

    def probability(self) -> Reached:
        """Find the largest β in [0, 1]."""
        return self._largest("probability", 1.0)

    def _largest(self, name: str, top: float) -> Reached:
        """Find the largest number up to `top` that the attacker's budget may have.

        The best radius is nearly linear in it, so the line through two radii, one too large, finds
        it fast. A radius that stays on the same side counts half (the Illinois method).
        """
        near = StepSizes(self.model.views)
        best = self._best(NO_ATTACK, near)
        self._require_enough(best)
        low, spare, high, lacking = 0.0, self.wanted - best.radius, top, math.nan
        at, side = _legible(top), 0
        for _ in range(MOST_TRIED):
            moved = abs(math.log(at / low)) if low > 0.0 else math.inf
            near.widen(max(FARTHER * moved, CLOSEST))
            found = self._best(self._with(**{name: at}), near)
            over = found.radius - self.wanted
            if over <= 0.0:
                best, low, spare = found, at, -over
                lacking, side = lacking / 2.0 if side > 0 else lacking, 1
            else:
                high, lacking = at, over
                spare, side = spare / 2.0 if side < 0 else spare, -1
            if low == _legible(top):
                break
            part = 0.5 if math.isinf(lacking) else spare / (spare + lacking)
            at = min(_legible(low + (high - low) * part), _legible(high, -1))
            at = max(at, _legible(low, 1))
            if not low < at < high:
                break
        return best._replace(budget=self._with(**{name: low}))

    def _require_resolved(self, budget: Budget) -> None:
        """Refuse a radius that rounding errors alone could spoil."""
        resolved = self.model.resolution(budget)
        if self.wanted <= resolved and math.isfinite(resolved):
            units = ""
            if self.model.of_rows:
                units = " Standardise columns whose values are of very different sizes."
            raise NotAchievable(
                "not achievable, because floating point is not certain to resolve it: rounding "
                f"errors alone may keep the guaranteed error at {up(resolved)}. "
                f"{_ask(resolved)}{units}"
            )

    def _require_enough(self, clean: Reached) -> None:
        """Refuse what is impossible even with honest labels."""
        if clean.radius <= self.wanted:
            return
        found = self._fewest(NO_ATTACK, self.model.most)
        remedy = "" if found is None else f" {found.steps:,.0f} steps suffice."
        raise NotAchievable(
            f"not achievable, because {self.most:,} steps are not enough even with honest labels."
            f"{remedy}",
            math.inf if found is None else found.steps,
        )

    def _best(self, budget: Budget, tried: StepSizes | None = None) -> Reached:
        """Return the step size with the smallest radius after the steps that are given.

        With `tried`, it only matters on which side of the wanted radius it is.
        """
        largest, best, near = self.model.largest(budget), None, tried or StepSizes(self.model.views)
        long = self.most > self.model.long
        for _ in range(MOST_ROUNDS):
            sizes = self.model.schedules
            if sizes is None:
                sizes = near.sizes(largest, long=long)
            radii = self.model.radii(budget, sizes, self.most)
            found = _found(budget, sizes, radii, self.most)
            if best is None or found.radius < best.radius:
                best = found
            if self.model.schedules is not None:
                return best
            near.narrow(radii)
            if near.fine(long=long) or not math.isfinite(best.radius):
                break
            if tried and abs(best.radius / self.wanted - 1.0) > near.apart:
                break
        assert best is not None
        return best

    def _fewest(self, budget: Budget, most: int) -> Reached | None:
        """Return the step size that needs the fewest steps, None if they are too many."""
        largest, best, near = self.model.largest(budget), None, StepSizes(self.model.views)
        long = self.model.long < math.inf
        for _ in range(MOST_ROUNDS):
            sizes = self.model.schedules
            if sizes is None:
                sizes = near.sizes(largest, long=long)
            first = self.model.first(budget, sizes, self.wanted, most)
            if first is None:
                break
            found = _found(budget, sizes, first.scores, first.steps)
            if best is None or (found.steps, found.radius) < (best.steps, best.radius):
                best = found
            most, long = best.steps, best.steps > self.model.long
            if self.model.schedules is not None or near.fine(long=long):
                break
            near.narrow(first.scores)
        return best

    def _with(self, *, bound: float | None = None, probability: float | None = None) -> Budget:
        return dataclasses.replace(
            self.budget,
            bound=self.budget.bound if bound is None else bound,
            probability=self.budget.probability if probability is None else probability,
        )

    @property
    def _attack(self) -> str:
        return f"θ = {self.budget.bound:g}, β = {self.budget.probability:g}"


def _found(budget: Budget, sizes: Array, scores: Array, steps: int) -> Reached:
    best = int(scores.argmin())
    return Reached(budget, float(sizes.flat[best]), steps, float(scores.flat[best]))


def _ask(least: float) -> str:
    """Say which radius to ask for, above the radius that cannot be reached."""
    return f"Ask for a radius above {up(least)}, such as {up(ABOVE * least)}."


def _legible(number: float, more: int = 0) -> float:
    """Return a number as it is printed, and not above; or with so much `more` in its last digit."""
    if number < 1e-300:
        return 0.0
    digit = 10.0 ** (math.floor(math.log10(number)) - 5)
    return float(f"{(math.floor(number / digit * (1.0 + 1e-12)) + more) * digit:.6g}")
