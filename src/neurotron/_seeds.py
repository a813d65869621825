"""Seeds by named axis, so that draws for one purpose never depend on other draws.

A seed and a list of names give a key. Different lists give unrelated keys, so the network, the true
weights and the stream of a replicate each have their own source of randomness.
"""

from __future__ import annotations

import hashlib

import numpy as np

from neurotron import _check


def key(seed: int, *axes: str | int) -> int:
    """Return the 64-bit key of `seed` along the named `axes`.

    >>> key(0, "stream", 0) == key(0, "stream", 0)
    True
    >>> key(0, "stream", 0) == key(0, "stream", 1)
    False
    """
    seed = _check.integer("seed", seed, 0)
    text = "\x1f".join(["neurotron", str(seed), *map(repr, axes)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def generator(seed: int, *axes: str | int) -> np.random.Generator:
    """Return a NumPy generator for values that are drawn once, such as matrices and weights."""
    return np.random.default_rng(key(seed, *axes))
