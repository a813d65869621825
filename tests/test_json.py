"""Results become plain values that every reader of JSON can read."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neurotron._intervals import Interval
from neurotron._json import plain, record

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@dataclass
class Thing:
    size: float
    parts: Any

    @property
    def twice(self) -> float:
        return 2.0 * self.size


class Own:
    def to_dict(self) -> dict[str, int]:
        return {"own": 1}


@given(VALUES)
def test_strict_json_can_be_written_of_everything_and_is_read_back_the_same(value):
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text) == plain(value) == plain(plain(value))


def test_data_classes_named_tuples_and_arrays_are_written_by_their_parts():
    numbers = (np.float64(math.nan), np.int64(3), np.bool_(True))
    parts = [numbers, np.array([[1.0, math.inf]]), Interval(0.5, -math.inf, 1.0)]
    assert plain(Thing(math.inf, MappingProxyType({"a": parts}))) == {
        "size": None,
        "parts": {
            "a": [[None, 3, True], [[1.0, None]], {"estimate": 0.5, "low": None, "high": 1.0}]
        },
    }


def test_an_object_that_can_tell_itself_is_asked():
    assert plain({"it": [Own()]}) == {"it": [{"own": 1}]}


def test_a_record_has_the_named_attributes_only():
    assert record(Thing(2.0, None), "size", "twice") == {"size": 2.0, "twice": 4.0}
