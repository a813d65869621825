"""What is computed from results is computed once for each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.results import made
from tests.support.studies import SMALL, flat

import neurotron as nt
from neurotron.lab.results.sharing import once


@pytest.fixture
def results(tmp_path):
    return made(tmp_path / "results", nt.lab.studies.parse(SMALL, "small"), flat, 2)


def test_a_value_is_computed_once_for_each_argument_and_each_results(results):
    calls = []

    @once
    def count(results, factor=1):
        calls.append(factor)
        return factor * len(results.runs)

    assert [count(results), count(results), count(results, 2), count(results, factor=3)] == [
        4, 4, 8, 12
    ]  # fmt: skip
    assert calls == [1, 2, 3]
    assert count(replace(results, runs=results.runs.head(1))) == 1


def test_what_could_not_be_computed_is_tried_again(results):
    tried = []

    @once
    def fails(_):
        tried.append(1)
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fails(results)
    assert len(tried) == 2
