"""Computes one unit of a study of rows: fits to more and more rows of one problem."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from neurotron import _check, _seeds, attacks
from neurotron._streams import Stream
from neurotron._threads import one_blas_thread
from neurotron._types import Array, Mask
from neurotron.lab.results.fits import SOLVED, cells_of
from neurotron.lab.studies.building import build_problem, problem_seed, seed_of
from neurotron.lab.studies.completion import complete
from neurotron.lab.studies.row_solvers import Task, answer
from neurotron.lab.studies.rows_spec import RowsSetting, RowsStudy
from neurotron.poisoning import poison
from neurotron.problem import Problem

__all__ = ["fit"]


def fit(
    text: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Let every solver of a setting look for the filter of one problem; return a row per fit.

    `text` is the study as JSON. This is a pure function: what it returns depends on its first three
    arguments alone.
    """
    _check.text("setting", setting)
    study = complete(text, RowsStudy)
    spec = study.setting(setting)
    _check.integer("replicate", replicate, 0)
    rows: list[dict[str, Any]] = []
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rows may say too little, as is measured
        sample = _Sample(study, spec, replicate)
        cells = cells_of(spec.model_dump(mode="json"))
        for done, cell in enumerate(cells, 1):
            rows += _walk(spec, sample, *cell)
            if progress is not None:
                progress(done, len(cells))
    return rows


def _walk(
    spec: RowsSetting, sample: _Sample, attack: str, bound: float, probability: float, solver: str
) -> Iterator[dict[str, Any]]:
    """Yield fits to more and more rows, until the filter was found exactly twice in a row.

    With honest noise no filter is exact, so all numbers of rows are tried.
    """
    solved = 0
    for ratio, size in zip(spec.rows_per_weight, spec.sizes, strict=True):
        task = sample.task(size, attack, bound, probability)
        found = answer(solver, task)
        error = float(np.linalg.norm(found.weights - task.true_weights))
        error /= float(np.linalg.norm(task.true_weights))
        error = error if np.isfinite(error) else np.inf
        yield {
            "attack": attack,
            "bound": bound,
            "probability": probability,
            "solver": solver,
            "rows_per_weight": ratio,
            "rows": size,
            "tampered": int(task.tampered.sum()),
            "error": error,
            "starts": found.starts,
            "proven": found.proven,
        }
        solved = solved + 1 if spec.noise == 0.0 and error <= SOLVED else 0
        if solved == 2:
            return


class _Sample:
    """The rows of a problem with honest labels, of which tasks have the first ones."""

    def __init__(self, study: RowsStudy, spec: RowsSetting, replicate: int) -> None:
        self.problem: Problem = build_problem(study, spec, replicate)
        self.seed = problem_seed(study, spec, replicate)
        stream = Stream.of(seed_of(study, spec), replicate)
        batch = self.problem.data.batch(self.problem.network, stream, 0, max(spec.sizes))
        self.X, self.y = batch.inputs, batch.labels
        self.coins = _seeds.generator(self.seed, "tampered rows", replicate).random(len(self.y))

    def task(self, size: int, attack: str, bound: float, probability: float) -> Task:
        """Return the first rows with exactly ⌊βN⌋ labels attacked, fewer if some stay the same."""
        network, true_weights = self.problem.network, self.problem.true_weights
        assert true_weights is not None
        X, y = self.X[:size], self.y[:size]
        labels, tampered = self._poisoned(X, y, attack, bound, probability)
        return Task(network, X, labels, tampered, true_weights)

    def _poisoned(
        self, X: Array, y: Array, attack: str, bound: float, probability: float
    ) -> tuple[Array, Mask]:
        """Return attacked labels, and which they are.

        An attack that does not choose rows itself gets the rows with the smallest coins, so that
        the number of tampered labels is as fixed as that of attacks which choose.
        """
        problem = self.problem
        by_coin = attacks.build(attack, problem, bound=bound, probability=1.0, seed=self.seed)
        if by_coin is None:
            return y, np.zeros(len(y), bool)
        model = (problem.network, problem.true_weights)
        if by_coin.scope == "rows":
            chosen = attacks.build(
                attack, problem, bound=bound, probability=probability, seed=self.seed
            )
            assert chosen is not None
            try:
                return poison(X, y, chosen, seed=self.seed, model=model)
            except _check.InputError:  # there may be too few rows for an impostor
                return y, np.zeros(len(y), bool)
        changed, mask = poison(X, y, by_coin, seed=self.seed, model=model)
        first = np.argsort(self.coins[: len(y)], kind="stable")[: int(probability * len(y) + 1e-9)]
        tampered = np.zeros(len(y), bool)
        tampered[first] = mask[first]
        return np.where(tampered, changed, y), tampered
