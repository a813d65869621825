"""Long tests in pieces: a piece takes a minute or so, and the first one is quick enough for CI."""

from __future__ import annotations

from typing import Any

import pytest


def pieces(count: int, parts: int) -> list[Any]:
    """Return the numbers below `count` as ranges for `parametrize`; the first is marked quick."""
    size, left_over = divmod(count, parts)
    assert left_over == 0, f"{count} numbers do not make {parts} equal pieces"
    ranges = [range(first, first + size) for first in range(0, count, size)]
    return [pytest.param(ranges[0], marks=pytest.mark.quick), *ranges[1:]]
