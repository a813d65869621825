"""What an attack looks at: whether it keeps to one sample at a time, as it says."""

from __future__ import annotations

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks.base import Attack, Query

__all__ = ["looks_beyond", "sample_queries"]

ROWS, ARMS = 64, 3


def sample_queries(attack: Attack, seed: int, rows: int = ROWS, arms: int = ARMS) -> Query:
    """Return made-up queries to try an attack's formulas on."""
    draw = np.random.default_rng(seed)

    def shared(values: Array) -> Array:
        return values[:, None]

    return Query(
        label=shared(draw.standard_normal(rows)),
        output=draw.standard_normal((rows, arms)),
        sign=shared(np.where(np.arange(rows) % 2, 1.0, -1.0)),
        uniform=shared(draw.random(rows)),
        push=draw.standard_normal((rows, arms)),
        probe=draw.standard_normal((rows, arms)),
        probe_output=draw.standard_normal((rows, arms)),
        norm=shared(np.abs(draw.standard_normal(rows)) + 0.1),
        step=np.full((1, 1), 3.0),
        setting=np.full((1, arms), np.nan if attack.setting is None else attack.setting),
    )


def looks_beyond(attack: Attack, formula: str, seed: int = 0) -> bool:
    """Return whether "distort" or "chance" of one sample depends on other samples or arms.

    Every sample is answered with all the others and alone, and so is every arm: the answers must
    be the same.
    """
    query = sample_queries(attack, seed)
    most = attack.bound if formula == "distort" else attack.probability
    whole = _answers(attack, formula, most, query, (ROWS, ARMS))
    full = [np.broadcast_to(field, (ROWS, ARMS)) for field in query]
    parts = [np.s_[i : i + 1, :] for i in range(ROWS)] + [np.s_[:, j : j + 1] for j in range(ARMS)]
    for part in parts:
        alone = Query(*(field[part] for field in full))
        found = _answers(attack, formula, most, alone, whole[part].shape)
        if not np.allclose(
            found, whole[part], rtol=1e-9, atol=1e-12 * min(most, 1.0), equal_nan=True
        ):
            return True
    return False


def _answers(
    attack: Attack, formula: str, most: float, query: Query, shape: tuple[int, ...]
) -> Array:
    try:
        value = getattr(attack, formula)(np.full((1, shape[1]), most), query)
        return np.broadcast_to(np.asarray(value, np.float64), shape)
    except (TypeError, ValueError):
        raise _check.InputError(
            f"{formula} of {type(attack).__name__} must return one number for each sample"
        ) from None
