"""Checks whether an attack really looks at one sample at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks.base import Attack
from neurotron.attacks.budget import Budget
from neurotron.attacks.catalog import BUILT_IN
from neurotron.attacks.query import Query, QueryBuilder, position_signs

ROWS, ARMS = 64, 3
MOST_ROWS = 10_000
"""Largest number of made-up samples, also for larger batches."""
OTHER_ANSWERS = "returns different values when called twice with the same query"
OTHER_SAMPLES = "looks at other samples of the batch"
OTHER_ARMS = "depends on the other arms of the simulation"


def sample_queries(attack: Attack, seed: int, rows: int = ROWS, arms: int = ARMS) -> Query:
    """Return made-up queries to try an attack's formulas on."""
    draw = np.random.default_rng(seed)

    def shared(values: Array) -> Array:
        return values[:, None]

    query = QueryBuilder([attack] * arms).build(
        np.empty((rows, 0)),
        label=shared(draw.standard_normal(rows)),
        output=draw.standard_normal((rows, arms)),
        sign=shared(position_signs(rows)),
        uniform=shared(draw.random(rows)),
        push=draw.standard_normal((rows, arms)),
        probe=draw.standard_normal((rows, arms)),
        probe_output=draw.standard_normal((rows, arms)),
        norm=shared(np.abs(draw.standard_normal(rows)) + 0.1),
        step=np.full((1, 1), 3.0),
    )
    return Query(*map(_check.freeze, query))


def looks_beyond(attack: Attack, formula: str, seed: int = 0, batch_size: int = ROWS) -> str:
    """Return what "distort" or "chance" of one sample wrongly depends on, "" if on nothing.

    The formula is called twice with the same query, then with some samples alone, then with each
    arm alone. The values must agree, in a batch of 64 samples and in one of `batch_size`.
    """
    for rows in {ROWS, min(batch_size, MOST_ROWS)}:
        if found := _looks_beyond(attack, formula, sample_queries(attack, seed, rows), rows):
            return found
    return ""


def misstated(
    attack: Attack | Budget | None, batch_size: int, method: str = "sharp"
) -> tuple[str, str]:
    """Return which formula of a user's attack depends on other samples, and on what, or ("", "").

    No guarantee holds if the probability of an attack depends on other samples. The sharp
    certificate must know whether ξ does; Theorem 1 holds in both cases.
    """
    if not isinstance(attack, Attack) or type(attack) in BUILT_IN:
        return "", ""
    formulas = ["chance"]
    if attack.scope == "query" and method == "sharp":
        formulas.append("distort")
    for formula in formulas:
        if found := looks_beyond(attack, formula, batch_size=batch_size):
            return formula, found
    return "", ""


def _looks_beyond(attack: Attack, formula: str, query: Query, rows: int) -> str:
    most = attack.bound if formula == "distort" else attack.probability
    full = [np.broadcast_to(field, (rows, ARMS)) for field in query]

    def answers(part: Any) -> Array:
        fields = Query(*(field[part] for field in full))
        return _answers(attack, formula, most, fields, full[0][part].shape)

    def same(one: Array, other: Array) -> bool:
        return np.allclose(one, other, rtol=1e-9, atol=1e-12 * min(most, 1.0), equal_nan=True)

    whole = answers(np.s_[:, :])
    if not same(whole, answers(np.s_[:, :])):
        return OTHER_ANSWERS
    column = answers(np.s_[:, :1])
    alone = np.unique(np.linspace(0, rows - 1, ROWS).astype(int))
    if not all(same(column[i : i + 1], answers(np.s_[i : i + 1, :1])) for i in alone):
        return OTHER_SAMPLES
    if not all(same(whole[:, j : j + 1], answers(np.s_[:, j : j + 1])) for j in range(ARMS)):
        return OTHER_ARMS
    return ""


def ask(attack: Attack, formula: str, most: Array, query: Query) -> Any:
    """Return the values of a formula; raise an error if it writes into its arguments."""
    try:
        return getattr(attack, formula)(_check.freeze(most), query)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise _check.InputError(
            f"{formula} of {type(attack).__name__} writes into its arguments, which are read-only "
            "arrays: return new arrays instead"
        ) from None


def _answers(
    attack: Attack, formula: str, most: float, query: Query, shape: tuple[int, ...]
) -> Array:
    try:
        value = ask(attack, formula, np.full((1, shape[1]), most), query)
        return np.broadcast_to(np.asarray(value, np.float64), shape)
    except _check.InputError:
        raise
    except (TypeError, ValueError) as error:
        raise _check.InputError(
            f"{formula} of {type(attack).__name__} must return one number for each sample, but it "
            f"raised {_check.shown(error)}"
        ) from None
