"""Pickling and copying of objects: caches are dropped, and read-only values stay read-only."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from neurotron import _check


class Pickled:
    """Base of classes whose objects are pickled and copied without their caches.

    The values of cached properties are left out: they can be computed again, and may contain
    functions that cannot be pickled. Read-only arrays and mappings are read-only after loading.
    """

    def __getstate__(self) -> tuple[dict[str, Any], list[str]]:
        kept = {
            name: value
            for name, value in vars(self).items()
            if not _check.is_cached(type(self), name)
        }
        read_only = [name for name, value in kept.items() if _is_read_only(value)]
        return {name: _plain(value) for name, value in kept.items()}, read_only

    def __setstate__(self, state: tuple[dict[str, Any], list[str]]) -> None:
        values, read_only = state
        vars(self).update(values, **{name: _read_only(values[name]) for name in read_only})


def _is_read_only(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    if isinstance(value, tuple):
        return any(map(_is_read_only, value))
    return isinstance(value, MappingProxyType)


def _plain(value: Any) -> Any:
    """Return a read-only mapping as a dictionary, which can be pickled."""
    return dict(value) if isinstance(value, MappingProxyType) else value


def _read_only(value: Any) -> Any:
    """Return a read-only value; arrays, also in tuples, are made read-only in place."""
    if isinstance(value, np.ndarray):
        return _check.freeze(value)
    if isinstance(value, tuple):
        for item in value:
            _read_only(item)
        return value
    return MappingProxyType(value) if isinstance(value, dict) else value
