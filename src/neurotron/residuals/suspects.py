r"""Which labels are suspicious: the law of the honest noise, p-values, and how many are attacked.

Two explanations of the residuals are compared. Without an attack, all of them follow Student's law,
whose tails may be heavy, or one such law above zero and another one below, or one whose scale grows
with an input. With an attack, a part
of them is normal around two levels ±δ with a spread τ: labels that were shifted have a small
spread, those of another model have δ = 0. The attack has to be far from the noise and to explain
the residuals clearly better, so that heavy or skewed tails of honest noise are not mistaken for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import betainc, betaincinv, betaln, gammaln

from neurotron._types import Array, Mask
from neurotron.residuals.patterns import growing
from neurotron.residuals.robust import NORMAL_MEDIAN
from neurotron.residuals.shares import information, interval, rows_in

NORMAL, HEAVIEST = 200.0, 2.0
"""Degrees of freedom of Student's law: as good as normal, and the heaviest tails allowed."""
TAILS = (NORMAL, 10.0, 5.0, 3.0)
"""Tails of the honest noise that are tried together with an attack."""
SAMPLE = 2_000
"""Most residuals that decide between the explanations, spread evenly over their sizes."""
FAR, APART = 4.0, 4.0
"""An attack begins with the residuals beyond 4 honest scales, and its typical size must be as
large at the end. Smaller ones are the business of the solver's own test."""
MARGIN = 3.0
"""Log-likelihood that an attack needs beyond ½ log N for its share, and beyond ½ log n for each of
level, spread and sign, where n is the number of attacked labels."""
LEAST_FAR = 2
"""Labels that are far off, with which the search for an attack begins."""
POSSIBLE = 1.92
"""Half of the 95 % quantile of χ²: an attack that lacks less log-likelihood cannot be excluded."""
LEAST, MOST = 1e-6, 1e12
"""Honest scales are at least this part of the guess, and sizes count up to so many guesses, so that
labels that are all equal, or of very different sizes, do no harm."""
ROUNDS, SETTLED = 200, 0.01
TINY = 1e-200
"""Smaller residuals, and what of them is rounding, all count as this."""
MANY, USUAL = 4_000, 8.0
"""Of more residuals, those up to 8 scales get their suspicion from a table with so many entries,
which is right to 10⁻⁶."""
EXACT = 16.0
"""Least suspicion of a label that is wrong, if honest labels are exact."""


@dataclass(frozen=True)
class HonestNoise:
    """The law of the honest noise: Student's, with a scale and tails as the residuals show them.

    Parameters
    ----------
    scale
        The unit of the noise, in units of the label. It is 0 if honest labels are exact.
    tail
        The degrees of freedom, from 2 for heavy tails to 200 for normal noise.
    """

    scale: float
    tail: float

    def suspicion(self, sizes: Array, rounding: Array) -> Array:
        """Return −log₁₀ of the probability that honest noise is larger than these |residuals|.

        Residuals up to `rounding` are none. If honest labels are exact, all others are suspicious.
        """
        wrong = sizes > rounding
        if self.scale == 0.0:
            least = np.maximum(rounding, TINY)
            ratios = np.where(wrong, np.maximum(sizes, TINY) / least, 1.0)
            return np.where(wrong, EXACT + np.log10(ratios), 0.0)
        ratios = np.minimum(sizes / self.scale, 1e100)
        if len(ratios) <= MANY:
            rarity = self._rarity(ratios)
        else:
            grid = np.linspace(0.0, USUAL, MANY)
            rarity = _between(self._rarity(grid), ratios * ((MANY - 1) / USUAL))
            far = np.flatnonzero(ratios >= USUAL)
            rarity[far] = self._rarity(ratios[far])
        return np.where(wrong, rarity, 0.0)

    def _rarity(self, ratios: Array) -> Array:
        """Return −log₁₀ of the probability that honest noise exceeds so many scales."""
        inside = self.tail / (self.tail + ratios**2)
        a = 0.5 * self.tail
        values = betainc(a, 0.5, inside)
        tiny = values < 1e-250  # where the first term of the series is enough
        logs = a * np.log(inside) - math.log(a) - betaln(a, 0.5)
        logs = np.where(tiny, logs, np.log(np.where(tiny, 1.0, values)))
        return np.maximum(-logs / math.log(10.0), 0.0)

    def size_beyond(self, probability: float) -> float:
        """Return the size that honest noise exceeds with this probability."""
        inside = float(betaincinv(0.5 * self.tail, 0.5, probability))
        return self.scale * math.sqrt(self.tail * (1.0 - inside) / inside)

    def shares_beyond(self, sizes: Array) -> Array:
        """Return the probability that honest noise is larger than these sizes."""
        return np.asarray(10.0 ** -self.suspicion(sizes, np.zeros(len(sizes))))


def _between(values: Array, places: Array) -> Array:
    """Return values of a table between its entries; places beyond the end get the last one."""
    left = np.minimum(places, len(values) - 1.5).astype(np.intp)
    part = np.minimum(places - left, 1.0)
    return values[left] + part * (values[left + 1] - values[left])


class Residuals(NamedTuple):
    """How the residuals are explained."""

    noise: HonestNoise
    share: float | None
    """The share of attacked labels; None if no attack is needed to explain the residuals."""
    rows: float
    """To how many rows with known attacks the estimate of the share is equivalent."""
    evidence: float
    """The log-likelihood of the residuals, less what the numbers of an attack would gain by
    chance. It compares explanations of the residuals of different filters."""
    possible: float = 0.0
    """The largest share of an attack that cannot be excluded, if there is none."""


class _Attack(NamedTuple):
    """An attack and the honest noise: share, level, spread; scale, tail."""

    share: float
    level: float
    spread: float
    scale: float
    tail: float

    def logs(self, sizes: Array) -> tuple[Array, Array]:
        """Return the log-densities of honest and attacked labels, with their shares."""
        return (
            math.log(1.0 - self.share) + _student(sizes, self.scale, self.tail),
            math.log(self.share) + _two_levels(sizes, self.level, self.spread),
        )


def explain(
    residuals: Array, scale: float, counts: Array | None = None, rows: Array | None = None
) -> Residuals:
    """Return the better explanation of residuals, where `scale` is a robust guess of the noise.

    Every residual counts as often as `counts` says, if that is given. With the inputs `rows`,
    honest noise may also grow with a column.

    >>> residuals = np.random.default_rng(0).standard_normal(500)
    >>> explain(residuals, 1.0).share is None
    True
    >>> residuals[:100] += 10.0
    >>> round(explain(residuals, 1.0).share, 3)
    0.2
    """
    count, order = rows_in(counts, len(residuals)), _sample(np.abs(residuals), counts)
    with np.errstate(over="ignore"):
        ordered = np.minimum(np.abs(residuals[order]) / scale, MOST)
    above = residuals[order] > 0.0
    honest, noise = _without_attack(ordered)
    noise = HonestNoise(scale * noise.scale, noise.tail)
    attack, _, beliefs = max(
        (_em(ordered, start) for start in _starts(ordered)),
        key=lambda found: found[1],
        default=(None, -math.inf, ordered),
    )
    unit = len(ordered) * math.log(scale)
    plain = Residuals(noise, None, count, honest - len(ordered) * math.log(2.0) - unit)
    if attack is None or math.hypot(attack.level, attack.spread) < APART * attack.scale:
        return plain
    known, believed = count * information(beliefs), _with_signs(attack, ordered, above, beliefs)
    others = max(honest - len(ordered) * math.log(2.0), _skewed(ordered, above))
    needed = _needed(attack, len(ordered))
    if rows is not None and believed - needed >= others:
        others = max(others, growing(rows[order], np.where(above, ordered, -ordered)))
    if believed - needed < others:
        possible = believed > others - POSSIBLE
        return plain._replace(possible=interval(attack.share, known)[1] if possible else 0.0)
    law = HonestNoise(scale * attack.scale, attack.tail)
    found = Residuals(law, attack.share, known, believed - needed - unit)
    near = order[beliefs < 0.5]
    return found if len(near) == len(order) else _with_nearer(found, residuals[near], count)


def _with_nearer(found: Residuals, residuals: Array, count: float) -> Residuals:
    """Return the explanation with a second attack, if the residuals that are left show one.

    Far errors would hide moderate ones: the tails of the honest law would reach out for these.
    """
    rest = explain(residuals, found.noise.scale)
    if found.share is None or rest.share is None:
        return found
    share = found.share + (1.0 - found.share) * rest.share
    rows = count * rest.rows / len(residuals)
    return found._replace(noise=rest.noise, share=share, rows=min(found.rows, rows))


def _sample(sizes: Array, counts: Array | None) -> npt.NDArray[np.intp]:
    """Return the places of some sizes, ascending, spread evenly over them as they count."""
    order, rows = np.argsort(sizes), min(len(sizes), SAMPLE)
    if counts is not None:
        total = np.cumsum(counts[order])
        middles = (np.arange(rows) + 0.5) * (total[-1] / rows)
        return order[np.searchsorted(total, middles)]
    return order[np.linspace(0, len(sizes) - 1, rows).round().astype(np.intp)]


def suspects_among(suspicion: Array, rate: float) -> Mask:
    """Return the rows that Benjamini and Hochberg's procedure calls suspects.

    Among them, a share of at most `rate` is honest on average. If all rows are honest, there is any
    suspect with at most this probability.
    """
    values = 10.0 ** -np.sort(suspicion)[::-1]
    passed = np.flatnonzero(values <= rate * np.arange(1, len(values) + 1) / len(values))
    limit = values[passed[-1]] if len(passed) else -1.0
    return np.asarray(10.0**-suspicion <= limit)


def _with_signs(attack: _Attack, sizes: Array, above: Mask, beliefs: Array) -> float:
    """Return the log-likelihood of sizes and signs, where an attack may prefer one sign.

    Honest noise has both signs equally often.
    """
    upwards = min(max(float(beliefs @ above) / max(float(beliefs.sum()), 1e-9), 1e-3), 0.999)
    honest, attacked = attack.logs(sizes)
    signs = np.log(np.where(above, upwards, 1.0 - upwards))
    return float(np.logaddexp(honest - math.log(2.0), attacked + signs).sum())


def _skewed(sizes: Array, above: Mask) -> float:
    """Return the log-likelihood of honest noise with one law above zero and another one below.

    It is less by ½ log N for each of the three numbers that this adds.
    """
    total, rows = -1.5 * math.log(len(sizes)), len(sizes)
    for side in (sizes[above], sizes[~above]):
        if len(side):
            total += _without_attack(side)[0] + len(side) * math.log(len(side) / rows)
    return total


def _needed(attack: _Attack, rows: int) -> float:
    """Return the log-likelihood that an attack must gain to be believed."""
    return 0.5 * math.log(rows) + 1.5 * math.log(max(attack.share * rows, 2.0)) + MARGIN


def _student(sizes: Array, scale: float, tail: float) -> Array:
    level = gammaln(0.5 * tail + 0.5) - gammaln(0.5 * tail) - 0.5 * math.log(math.pi * tail)
    ratios = (sizes / scale) ** 2
    return np.asarray(level + math.log(2.0 / scale) - 0.5 * (tail + 1.0) * np.log1p(ratios / tail))


def _two_levels(sizes: Array, level: float, spread: float) -> Array:
    below, above = (-0.5 * ((sizes + way * level) / spread) ** 2 for way in (-1.0, 1.0))
    return np.logaddexp(below, above) - math.log(spread) - 0.5 * math.log(2.0 * math.pi)


def _without_attack(sizes: Array) -> tuple[float, HonestNoise]:
    """Return the log-likelihood of the most likely Student law, and the law."""

    def fitted(log_tail: float) -> tuple[float, HonestNoise]:
        tail = math.exp(log_tail)
        scale = max(float(np.median(sizes)) / NORMAL_MEDIAN, LEAST)
        for _ in range(ROUNDS):
            before, scale = scale, _scale(sizes, np.ones(len(sizes)), scale, tail)
            if abs(scale - before) <= 1e-4 * scale:
                break
        return float(_student(sizes, scale, tail).sum()), HonestNoise(scale, tail)

    ends = math.log(HEAVIEST), math.log(NORMAL)
    best = minimize_scalar(
        lambda log_tail: -fitted(log_tail)[0],
        bounds=ends,
        method="bounded",
        options={"xatol": 0.05},
    )
    return max((fitted(at) for at in (best.x, *ends)), key=lambda found: found[0])


def _scale(sizes: Array, beliefs: Array, scale: float, tail: float) -> float:
    """Return the next scale of Student's law in the iteration to the most likely one."""
    weights = beliefs * (tail + 1.0) / (tail + (sizes / scale) ** 2)
    square = float(weights @ sizes**2) / max(float(beliefs.sum()), 1e-9)
    return max(math.sqrt(square), LEAST)


def _starts(sizes: Array) -> Iterator[_Attack]:
    """Yield where the search for an attack begins, with sizes in units of the guessed noise."""
    far = sizes[sizes > FAR]
    if len(far) < LEAST_FAR or len(far) > 0.6 * len(sizes):
        return
    share, root = len(far) / len(sizes), math.sqrt(float((far**2).mean()))
    for tail in TAILS:
        yield _Attack(share, 0.0, root, 1.0, tail)
        yield _Attack(share, float(far.mean()), max(float(far.std()), 1.0), 1.0, tail)


def _em(sizes: Array, attack: _Attack) -> tuple[_Attack, float, Array]:
    """Return the attack after EM, its log-likelihood, and how likely each label is attacked."""
    before, wide = -math.inf, attack.level == 0.0
    for _ in range(ROUNDS):
        honest, attacked = attack.logs(sizes)
        both = np.logaddexp(honest, attacked)
        likelihood = float(both.sum())
        beliefs = np.exp(attacked - both)
        if likelihood - before < SETTLED:
            break
        before = likelihood
        total = max(float(beliefs.sum()), 1e-9)
        scale = _scale(sizes, 1.0 - beliefs, attack.scale, attack.tail)
        level, spread = attack.level, attack.spread
        signed = sizes if wide else np.tanh(sizes * level / spread**2) * sizes
        level = 0.0 if wide else float(beliefs @ signed) / total
        square = float(beliefs @ (sizes**2 - 2.0 * level * signed + level**2)) / total
        spread = max(math.sqrt(max(square, 0.0)), scale)
        share = min(max(total / len(sizes), 1e-4), 0.9)
        attack = _Attack(share, level, spread, scale, attack.tail)
    return attack, likelihood, beliefs
