"""Counter-based random streams: any batch can be drawn again, in any order.

Philox4x32-10 maps a key and a counter to 128 random bits (`neurotron._philox`). The key comes from
(seed, axis, replicate); the counter is (block, purpose, step low, step high). Each block gives one
pair (u, v) of uniforms on (0, 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from neurotron import _check, _seeds
from neurotron._types import Array


class Purpose(IntEnum):
    """The purpose of a pair of uniforms. All results depend on these numbers: never reuse one."""

    INPUTS = 0
    ATTACK = 1
    NOISE = 2
    ROWS = 3


@dataclass(frozen=True)
class Stream:
    """The random numbers of one replicate, addressed by purpose and step.

    >>> stream = Stream.of(seed=0, replicate=0)
    >>> u, v = stream.pairs(Purpose.INPUTS, step=7, count=3)
    >>> bool((u == stream.pairs(Purpose.INPUTS, step=7, count=2)[0][0]).any())
    True
    """

    key: int

    @classmethod
    def of(cls, seed: int, replicate: int) -> Stream:
        """Return the stream of a replicate of the study with this seed."""
        return cls(_seeds.key(seed, "stream", _check.integer("replicate", replicate, 0)))

    def pairs(self, purpose: Purpose, step: int, count: int) -> tuple[Array, Array]:
        """Return `count` pairs (u, v) of independent uniforms on (0, 1)."""
        from neurotron._philox import fill_from_python  # loads the compiler

        u, v = np.empty(count), np.empty(count)
        fill_from_python(np.uint64(self.key), np.uint64(purpose), np.uint64(step), u, v)
        return u, v
