"""Changes of labels: how far each may go, and which of them moves a linear function most.

A linear function of the labels is a sum over them. So every changed label does best at an end of
its room, and an attacker who may change k labels takes those with the largest contributions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array, Index

BLOCK = 2_000_000
"""Entries of a matrix that are worked on at a time."""


class Room(NamedTuple):
    """How far each label may change."""

    down: Array
    """By how much each label may fall, (N,), from 0 to infinity."""
    up: Array
    """By how much each label may rise, (N,), from 0 to infinity."""


def room_of(
    labels: npt.ArrayLike, bound: float, low: float = -math.inf, high: float = math.inf
) -> Room:
    """Return how far labels may change: by at most `bound`, and to a value in [low, high].

    >>> room_of([0.0, 0.5, 1.0], 0.6, low=0.0, high=1.0)
    Room(down=array([0. , 0.5, 0.6]), up=array([0.6, 0.5, 0. ]))
    """
    y = _check.array("labels", labels, ("N",), _check.LARGEST)
    bound = _check.number("bound", bound, "[0, inf]")
    low = _check.number("low", low, "[-inf, inf]")
    high = _check.number("high", high, "[-inf, inf]")
    outside = np.flatnonzero((y < low) | (y > high))
    if outside.size:
        raise _check.InputError(
            f"`labels` must be in their range [{low:g}, {high:g}], got {y[outside[0]]:g} at row "
            f"{outside[0]}: widen the range, or leave the row out"
        )
    return Room(np.minimum(y - low, bound), np.minimum(high - y, bound))


def worst_change(effect: npt.ArrayLike, room: Room, most: int) -> Array:
    """Return the change of labels that raises one linear function of them most.

    Parameters
    ----------
    effect
        By how much the function rises if a label rises by 1, (N,): a row of H for a prediction.
    room
        How far each label may change.
    most
        The largest number of labels that change.

    Returns
    -------
    change
        The change of each label, (N,). It is infinite where the room is and the effect is not 0.

    Examples
    --------
    >>> worst_change([0.5, -2.0, 0.1], room_of([0.0, 0.0, 0.0], 1.0), 2)
    array([ 1., -1.,  0.])
    """
    h = _check.array("effect", effect, ("N",))
    room = checked_room(room, h.size)
    most = _check.integer("most", most, 0)
    return best_change(h, room, most)


def largest_rise(effects: npt.ArrayLike, room: Room, most: int) -> Array:
    """Return the largest rise of each linear function of the labels, exactly up to rounding.

    The largest falls are ``largest_rise(-effects, room, most)``.

    Parameters
    ----------
    effects
        By how much each function rises if a label rises by 1, (m, N): H for predictions.
    room
        How far each label may change.
    most
        The largest number of labels that change.

    Returns
    -------
    rises
        The largest rise of each function, (m,), each by its own change of labels.

    Examples
    --------
    >>> largest_rise([[0.5, -2.0, 0.1], [0.0, 0.0, 1.0]], room_of([0.0, 0.0, 0.0], 1.0), 2)
    array([2.5, 1. ])
    """
    H = checked_matrix("effects", effects)
    room = checked_room(room, H.shape[1])
    most = _check.integer("most", most, 0)
    return np.concatenate([top_sum(gains(rows, room), most) for rows in _blocks(H)])


def fewest_changes(effect: npt.ArrayLike, room: Room, distance: float) -> Index:
    """Return the fewest labels whose change raises one linear function by more than a distance.

    The sign of a coefficient flips if it moves by more than its size. No choice of one label less
    does so.

    Parameters
    ----------
    effect
        By how much the function rises if a label rises by 1, (N,).
    room
        How far each label may change.
    distance
        The distance, at least 0.

    Returns
    -------
    rows
        The rows of these labels, that with the largest contribution first; none if all together
        are too few.

    Examples
    --------
    >>> fewest_changes([0.5, -2.0, 0.1], room_of([0.0, 0.0, 0.0], 1.0), 2.2)
    array([1, 0])
    """
    h = _check.array("effect", effect, ("N",))
    gain = gains(h, checked_room(room, h.size))
    order = np.argsort(-gain, kind="stable")
    most = np.cumsum(gain[order])
    if most[-1] <= _check.number("distance", distance, "[0, inf)"):
        return order[:0]
    return order[: int(np.searchsorted(most, distance, side="right")) + 1]


# ---- without checks ------------------------------------------------------------------------------


def best_change(effect: Array, room: Room, most: int) -> Array:
    """Return the same as `worst_change`."""
    gain = gains(effect, room)
    chosen = np.argsort(-gain, kind="stable")[:most]
    chosen = chosen[gain[chosen] > 0.0]
    change = np.zeros(effect.size)
    change[chosen] = np.where(effect > 0.0, room.up, -room.down)[chosen]
    return change


def gains(effects: Array, room: Room) -> Array:
    """Return by how much each label can raise each function; 0 · ∞ is 0."""
    return product(np.maximum(effects, 0.0), room.up) + product(
        np.maximum(-effects, 0.0), room.down
    )


def product(sizes: Array, room: Array) -> Array:
    """Return sizes times room, where nothing times an infinite room is nothing."""
    wide = np.isinf(room)
    if not wide.any():
        return sizes * room
    return np.where(wide & (sizes > 0.0), math.inf, sizes * np.where(wide, 0.0, room))


def top_sum(values: Array, most: int) -> Array:
    """Return the sums of the `most` largest values along the last axis."""
    return top(values, most).sum(axis=-1)


def top(values: Array, most: int) -> Array:
    """Return the `most` largest values along the last axis, in any order."""
    rest = values.shape[-1] - most
    if most == 0 or rest <= 0:
        return values if most else values[..., :0]
    return np.partition(values, rest, axis=-1)[..., rest:]


def _blocks(H: Array) -> Iterator[Array]:
    """Yield a matrix in blocks of rows, so that no copy of all of it is made."""
    size = max(1, BLOCK // H.shape[1])
    return (H[start : start + size] for start in range(0, len(H), size))


# ---- checks --------------------------------------------------------------------------------------


def checked_matrix(name: str, value: npt.ArrayLike) -> Array:
    """Return a finite matrix (m, N), not copied if it is one already."""
    return _check.array(name, value, ("m", "N"), _check.LARGEST, copy=False)


def checked_room(room: Room, count: int) -> Room:
    """Return the room of `count` labels, or say what is wrong with it."""
    ends = []
    for name, given in zip(Room._fields, _check.instance("room", room, Room), strict=True):
        end = _check.numbers(f"room.{name}", given)
        large = np.isfinite(end) & (end > _check.LARGEST)
        if end.shape != (count,) or not (end >= 0.0).all() or large.any():
            raise _check.InputError(
                f"`room.{name}` must have shape ({count},) and entries from 0 to "
                f"{_check.LARGEST:g}, or inf, got {_check.shown(given)}: use room_of(labels, bound)"
            )
        ends.append(end)
    return Room(*ends)
