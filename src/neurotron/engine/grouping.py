"""Groups of arms that the NumPy engine computes in one call, as columns of arrays (…, arms)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from neurotron._types import Array, Index
from neurotron.attacks import Attack
from neurotron.trainers import Trainer

T = TypeVar("T", Attack, Trainer)


def groups(things: Sequence[T | None]) -> list[tuple[T, Index]]:
    """Return one attack or trainer of each formula group, with the columns of its arms."""
    members: dict[object, list[int]] = {}
    for column, thing in enumerate(things):
        if thing is not None:
            members.setdefault(thing.formula_group, []).append(column)
    return [(things[columns[0]], np.array(columns)) for columns in members.values()]  # type: ignore[misc]


def sensing_groups(trainers: Sequence[Trainer]) -> list[tuple[Array, Index]]:
    """Return each different sensing matrix with the columns of the arms that use it."""
    groups: list[tuple[Array, list[int]]] = []
    for column, trainer in enumerate(trainers):
        if trainer.direction != "sensing":
            continue
        matrix = np.asarray(trainer.sensing)  # type: ignore[attr-defined]
        for known, columns in groups:
            if np.array_equal(known, matrix):
                columns.append(column)
                break
        else:
            groups.append((matrix, [column]))
    return [(matrix, np.array(columns)) for matrix, columns in groups]


def columns_where(trainers: Sequence[Trainer], wanted: Callable[[Trainer], bool]) -> Index:
    """Return the columns of the arms whose trainer satisfies a condition."""
    return np.flatnonzero([wanted(trainer) for trainer in trainers])
