"""Random tables with a linear smoother each, and everybody who attacks their labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import neurotron as nt
from neurotron.theory.smoother import (
    Room,
    largest_rise,
    largest_rms,
    room_of,
    worst_change,
    worst_rms_change,
)

SETTINGS = {"multiplicative": ":factor=3", "replacement": ":scale=2"}
"""What an attack cannot do without."""
ATTACKS = [name + SETTINGS.get(name, "") for name in nt.attacks.BY_NAME]
SMOOTHERS = [
    LinearRegression(),
    Ridge(2.0),
    KernelRidge(alpha=0.2, kernel="rbf", gamma=0.3),
    KNeighborsRegressor(3),
    make_pipeline(StandardScaler(), SplineTransformer(4), Ridge(0.1)),
    GaussianProcessRegressor(RBF(1.5), alpha=0.2, optimizer=None),
    DummyRegressor(),
]
ROUNDING = 1e-9


@dataclass(frozen=True)
class RandomTable:
    """The table of a number: rows, labels, test rows, a smoother and what attackers may do."""

    number: int

    @cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng([25, self.number])

    @cached_property
    def data(self) -> tuple[Any, Any, Any, Any]:
        """X, y, the test rows and the errors of clean predictions."""
        rows, columns = self.rng.integers(12, 41), self.rng.integers(1, 5)
        heavy = self.rng.standard_t(3, (rows, columns)) if self.number % 2 else 0.0
        X = self.rng.standard_normal((rows, columns)) + heavy
        test = self.rng.standard_normal((self.rng.integers(1, 16), columns))
        weights = self.rng.standard_normal(columns)
        y = np.tanh(X) @ weights + self.rng.standard_normal(rows) + self.rng.uniform(-3, 3)
        return X, y, test, self.predict(y, X, test) - np.tanh(test) @ weights

    def predict(self, labels: Any, X: Any = None, test: Any = None) -> Any:
        """Return what the smoother predicts from labels, which may have many columns."""
        X, test = (self.data[0], self.data[2]) if X is None else (X, test)
        return SMOOTHERS[self.number % len(SMOOTHERS)].fit(X, labels).predict(test)

    @cached_property
    def matrix(self) -> Any:
        count = len(self.data[1])
        return np.reshape(self.predict(np.eye(count)), (-1, count))

    @cached_property
    def most(self) -> int:
        return int(self.rng.integers(1, len(self.data[1]) // 2))

    @cached_property
    def bound(self) -> float:
        return float(self.rng.choice([0.1, 1.0, 5.0]))

    @cached_property
    def range(self) -> tuple[float, float]:
        """The range of the labels: none, theirs, or a wider one to one side."""
        y = self.data[1]
        return ((-math.inf, math.inf), (y.min(), y.max()), (y.min() - 1.0, math.inf))[
            self.rng.integers(3)
        ]

    @cached_property
    def room(self) -> Room:
        return room_of(self.data[1], self.bound, *self.range)

    # ---- attacks ---------------------------------------------------------------------------------

    def by_library(self) -> list[Any]:
        """Return what every attack of the library changes, at most as many labels as allowed."""
        X, y = self.data[:2]
        network = nt.networks.linear(X.shape[1])
        weights = np.linalg.lstsq(X, y, rcond=None)[0]
        problem = nt.Problem.from_rows(network, X, y)
        budget = {"bound": self.bound, "probability": self.most / len(y), "seed": self.number}
        found = []
        for text in ATTACKS:
            attack = nt.attacks.build(text, problem, **budget)
            labels, mask = nt.poison(
                X, y, attack, seed=self.number, model=(network, weights), label_range=self.range
            )
            kept = self.rng.permutation(np.flatnonzero(mask))[: self.most]
            change = np.zeros(len(y))
            change[kept] = (labels - y)[kept]
            found.append(change)
        return found

    def at_random(self, times: int = 10) -> list[Any]:
        """Return random signs, all up, all down, and random changes, of rows that are chosen so."""
        down, up = self.room
        leverage = np.argsort(-np.linalg.norm(self.data[0], axis=1))
        found = []
        for trial in range(times):
            chosen = leverage if trial % 2 else self.rng.permutation(len(up))
            for values in (
                np.where(self.rng.random(len(up)) < 0.5, up, -down), up, -down,
                self.rng.uniform(-down, up),
            ):  # fmt: skip
                found.append(np.zeros(len(up)))
                found[-1][chosen[: self.most]] = values[chosen[: self.most]]
        return found

    def informed(self) -> list[Any]:
        """Return the worst changes for predictions, for their mean, and for the RMS and RMSE."""
        effects = [*self.matrix, self.matrix.mean(axis=0)]
        single = [worst_change(s * h, self.room, self.most) for h in effects for s in (1.0, -1.0)]
        errors = self.data[3]
        whole = [worst_rms_change(self.matrix, self.room, self.most, e) for e in (None, errors)]
        return single + whole

    @cached_property
    def changes(self) -> Any:
        """All changes, one in a row; each is one that is allowed."""
        changes = np.array([*self.by_library(), *self.at_random(), *self.informed()])
        assert np.count_nonzero(changes, axis=1).max() <= self.most
        slack = 1e-12 * (1.0 + np.abs(self.data[1]).max() + self.bound)
        assert (changes <= self.room.up + slack).all()
        assert (-changes <= self.room.down + slack).all()
        return changes

    # ---- ceilings --------------------------------------------------------------------------------

    def excess(self, part: float = 1.0) -> float:
        """Return by how much an attack exceeds a `part` of a ceiling, in units of the ceiling."""
        H, mean = self.matrix, self.matrix.mean(axis=0, keepdims=True)
        shifts, errors = self.changes @ H.T, self.data[3]
        rise, fall = (part * largest_rise(s * H, self.room, self.most) for s in (1.0, -1.0))
        up, down = (part * largest_rise(s * mean, self.room, self.most) for s in (1.0, -1.0))
        whole = part * largest_rms(H, self.room, self.most)
        size = largest_rms(H, self.room, self.most) + 1e-12
        rmse = _rms(errors + shifts) - _rms(errors)
        over = (
            shifts - rise, -shifts - fall, shifts.mean(axis=1) - up, -shifts.mean(axis=1) - down,
            np.abs(shifts).max(axis=1) - max(rise.max(), fall.max()), _rms(shifts) - whole,
            np.abs(rmse) - whole,
        )  # fmt: skip
        return max(float(one.max()) for one in over) / size

    def refitted(self) -> float:
        """Return how far refits are from the ceilings that they should reach, in their units."""
        H, y = self.matrix, self.data[1]
        clean, away = self.predict(y), 0.0
        for sign in (1.0, -1.0):
            rises = largest_rise(sign * H, self.room, self.most)
            row = int(np.argmax(rises))
            labels = y + worst_change(sign * H[row], self.room, self.most)
            moved = sign * (self.predict(labels) - clean)[row]
            away = max(away, abs(moved - rises[row]) / (rises[row] + 1e-12 + 1e-3 * self.bound))
        return float(away)


def _rms(values: Any) -> Any:
    return np.sqrt((values**2).mean(axis=-1))
