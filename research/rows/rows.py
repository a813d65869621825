"""How many stored rows `nt.solve` needs for the filter, and what noise costs.

Every solver gets the first N rows of one sample, for each N in turn, with labels that are attacked
anew. If honest labels have no noise, a solver that has found the filter exactly at two successive N
counts as exact at all larger ones, and is not run there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from row_solvers import RowTask, answer

import neurotron as nt

SOLVED = 1e-10
"""A filter is found exactly if its error is at most this part of ‖w*‖."""


def fit(
    setting: dict[str, Any],
    replicate: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Let every solver of a setting look for the filter of one problem; return a row per fit."""
    rows: list[dict[str, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rows may say too little, as is measured
        sample = Sample(setting, seed)
        cells = cells_of(setting)
        for done, cell in enumerate(cells, 1):
            rows += _walk(setting, sample, *cell)
            if progress is not None:
                progress(done, len(cells))
    return rows


def cells_of(setting: dict[str, Any]) -> list[tuple[str, float, float, str]]:
    """Return the attacks at their levels and the solvers of a setting, each once, in order."""
    return list(
        dict.fromkeys(
            (sweep["attack"], bound, chance, solver)
            for sweep in setting["sweeps"]
            for bound in listed(sweep.get("bound", 0.0))
            for chance in listed(sweep.get("probability", 0.0))
            for solver in setting["solvers"]
        )
    )


def listed(value: Any) -> list[Any]:
    """Return one or several values as a list."""
    return value if isinstance(value, list) else [value]


def _walk(
    setting: dict[str, Any],
    sample: Sample,
    attack: str,
    bound: float,
    probability: float,
    solver: str,
) -> Iterator[dict[str, Any]]:
    """Yield fits to more and more rows, until the filter was found exactly twice in a row.

    With honest noise no filter is exact, so all numbers of rows are tried.
    """
    solved = 0
    for ratio in listed(setting["rows_per_weight"]):
        task = sample.task(round(ratio * setting["filter_size"]), attack, bound, probability)
        found = answer(solver, task)
        error = float(np.linalg.norm(found.weights - task.true_weights))
        error /= float(np.linalg.norm(task.true_weights))
        error = error if np.isfinite(error) else np.inf
        yield {
            "attack": attack, "bound": float(bound), "probability": float(probability),
            "solver": solver, "rows_per_weight": float(ratio), "rows": len(task.y),
            "tampered": int(task.tampered.sum()), "error": error, "starts": found.starts,
            "proven": found.proven,
        }  # fmt: skip
        solved = solved + 1 if not setting["noise"] and error <= SOLVED else 0
        if solved == 2:
            return


class Sample:
    """All honest rows of one problem; a task uses the first N."""

    def __init__(self, setting: dict[str, Any], seed: int) -> None:
        n, size = setting["n_inputs"], max(listed(setting["rows_per_weight"]))
        network = nt.networks.BY_NAME.build(
            setting["network"], n_inputs=n, filter_size=setting["filter_size"], seed=seed
        )
        law = nt.laws.BY_NAME.build(setting["law"], n_inputs=n)
        self.problem = nt.Problem.draw(network, law, seed=seed, noise=setting["noise"])
        self.seed, self.truth = seed, self.problem.true_weights
        draw = np.random.default_rng([seed, 1])
        count = round(size * setting["filter_size"])
        self.X = law.inputs(*draw.random((2, law.pairs(count, n))), count, n)
        noise = setting["noise"] * draw.standard_normal(count)
        self.y = network(self.truth, self.X) + noise
        self.coins = draw.random(count)

    def task(self, size: int, attack: str, bound: float, probability: float) -> RowTask:
        """Return the first rows with exactly ⌊βN⌋ labels attacked, fewer if some stay the same."""
        X, y = self.X[:size], self.y[:size]
        labels, tampered = self._poisoned(X, y, attack, bound, probability)
        return RowTask(self.problem.network, X, labels, tampered, self.truth)

    def _poisoned(self, X: Any, y: Any, attack: str, bound: float, probability: float) -> Any:
        """Return attacked labels, and which they are.

        An attack that does not choose rows itself gets the rows with the smallest coins, so that
        the number of tampered labels is as fixed as that of attacks which choose.
        """
        whole = {"bound": bound, "seed": self.seed}
        by_coin = nt.attacks.build(attack, self.problem, probability=1.0, **whole)
        if by_coin is None:
            return y, np.zeros(len(y), bool)
        model = (self.problem.network, self.truth)
        if by_coin.scope == "rows":
            chosen = nt.attacks.build(attack, self.problem, probability=probability, **whole)
            try:
                return nt.poison(X, y, chosen, seed=self.seed, model=model)
            except nt.InputError:  # there may be too few rows for an impostor
                return y, np.zeros(len(y), bool)
        changed, mask = nt.poison(X, y, by_coin, seed=self.seed, model=model)
        first = np.argsort(self.coins[: len(y)], kind="stable")[: int(probability * len(y) + 1e-9)]
        tampered = np.zeros(len(y), bool)
        tampered[first] = mask[first]
        return np.where(tampered, changed, y), tampered
