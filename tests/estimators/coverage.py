"""Coverage of intervals under the attacks that attain what is guaranteed.

Scores are uniform, so the coverage of an interval, given the calibration rows, is its half-width.
"""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.estimators import TrimRegressor
from neurotron.theory.conformal import coin_coverage

__all__ = ["TrimRegressor", "Zero", "check_budget", "check_coins", "check_given", "check_same"]
LEVEL = 0.9
CHECKED = 100
"""Of so many draws, the half-width is that of the package itself."""
BLOCK = 5_000_000


class Zero:
    """A model that predicts 0, so that scores are the sizes of labels."""

    def predict(self, X):
        return np.zeros(len(X))


def check_budget(rows, m, draws):
    """With index k + m the worst attack leaves k/(n + 1); with one less it leaves too little."""
    asked = {"poisoned": m, "confidence_level": LEVEL}

    widths, smaller, band = _half_widths(rows, draws, _hiding(m), asked)
    assert band.guaranteed == (band.index - m) / (rows + 1) >= LEVEL
    _require(widths, band.guaranteed)
    _require(smaller, band.guaranteed - 1.0 / (rows + 1))
    assert smaller.mean() < LEVEL - 3.0 * _error(smaller)


def check_coins(rows, chance, draws):
    """With index j the worst attack by coins leaves c(j); with one less it leaves too little."""
    asked = {"coin": chance, "confidence_level": LEVEL}

    def attacked(scores, draw):
        scores[draw.random(scores.shape) < chance] = 0.0

    widths, smaller, band = _half_widths(rows, draws, attacked, asked)
    assert band.guaranteed >= LEVEL
    _require(widths, band.guaranteed)
    _require(smaller, coin_coverage(band.index - 1, rows, chance))
    assert smaller.mean() < LEVEL - 3.0 * _error(smaller)


def check_given(rows, m, given, draws):
    """The calibration rows are good enough with the confidence that was given."""
    asked = {"poisoned": m, "confidence_level": LEVEL, "given_calibration": given}

    widths, smaller, _ = _half_widths(rows, draws, _hiding(m), asked)
    good, too_few = (found >= LEVEL for found in (widths, smaller))
    assert good.mean() > given - 3.0 * _error(good)
    assert too_few.mean() < given - 3.0 * _error(too_few)


def _hiding(m):
    """Return the attack that gives m rows with the largest scores the label that is predicted."""

    def attack(scores, draw):
        first = scores.shape[1] - m
        largest = np.argpartition(scores, first - 1, axis=1)[:, first:]
        np.put_along_axis(scores, largest, 0.0, axis=1)

    return attack


def _half_widths(rows, draws, attack, asked):
    """Return the half-widths after the attack, those of one index less, and the first intervals."""
    draw, block = np.random.default_rng(rows), max(1, BLOCK // rows)
    first, widths, smaller = None, [], []
    for start in range(0, draws, block):
        scores = draw.random((min(block, draws - start), rows))
        attack(scores, draw)
        if first is None:
            first = [
                nt.intervals(Zero(), np.zeros((rows, 1)), one, **asked) for one in scores[:CHECKED]
            ]
        index = first[0].index
        scores.partition((index - 2, index - 1), axis=1)
        widths.append(scores[:, index - 1].copy())
        smaller.append(scores[:, index - 2].copy())
    found = np.concatenate(widths)
    assert found[:CHECKED].tolist() == [band.half_width for band in first]
    return found, np.concatenate(smaller), first[0]


def _require(found, stated):
    assert found.mean() == pytest.approx(stated, abs=3.0 * _error(found))


def _error(values):
    return float(values.std() / np.sqrt(len(values)))


# ---- an attacker who sees everything -------------------------------------------------------------

MOVED = 0.3
"""How far all changed training labels together move any prediction."""


class Moved:
    """The worst model within its ceilings: `a` changed training labels move all its predictions.

    Those for calibration rows (marked by 0 in the second column) move towards the labels, which are
    in the first column, and those for new rows away from it. From clean labels it predicts 0.
    """

    def __init__(self, a, step, factor):
        self.away, self.step, self.factor = a * step, step, factor

    def predict(self, X):
        away, labels = self.away, X[:, 0]
        return np.where(X[:, 1] == 0.0, np.clip(labels, -away, away), -np.sign(labels) * away)

    def predict_bounds(self, X, m, *, bound=np.inf):
        ends = self.factor * m * self.step * np.array([-1.0, 1.0])
        return self.predict(X)[:, None] + ends


def check_same(rows, m, draws):
    """Whoever sees all rows is withstood, and only just so; with half the ceilings he is not."""
    asked = {"poisoned": m, "confidence_level": LEVEL, "training_attacker": "same"}
    draw, new = np.random.default_rng(rows), np.ones((1, 2))
    found = {1.0: np.empty(draws), 0.5: np.empty(draws)}
    for trial in range(draws):
        scores = draw.random(rows)
        X = np.column_stack([scores, np.zeros(rows)])
        order = np.argsort(scores)
        for factor, covered in found.items():
            ways = []
            for a in range(m + 1):  # changed labels to fit; the others hide the largest scores
                model, labels = Moved(a, MOVED / m, factor), scores.copy()
                hidden = order[rows - (m - a) :]
                labels[hidden] = model.predict(X[hidden])
                band = nt.intervals(model, X, labels, **asked)
                ways.append(band.half_widths(new)[0] - model.away)
            covered[trial] = min(ways)
    assert band.guaranteed == (band.index - m) / (rows + 1) >= LEVEL
    assert found[1.0].mean() >= LEVEL - 3.0 * _error(found[1.0])
    _require(found[1.0], band.guaranteed)
    assert found[0.5].mean() < LEVEL - 3.0 * _error(found[0.5])
