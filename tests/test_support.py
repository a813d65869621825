"""What the tests themselves lean on: covers that miss nothing, messages that say everything."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import combinations, product
from types import SimpleNamespace

import pytest
from tests.support import cpu
from tests.support.cover import pairwise, spread
from tests.support.messages import says

AXES = [
    (range(2), "ab", "xyz"),
    (range(4), range(14), "ab"),
    (range(5), range(3), range(4), range(2)),
]


@pytest.mark.parametrize("axes", AXES)
def test_a_pairwise_cover_has_all_pairs_in_few_rows(axes):
    rows = pairwise(*axes)
    for i, j in combinations(range(len(axes)), 2):
        assert {(row[i], row[j]) for row in rows} == set(product(axes[i], axes[j]))
    sizes = sorted(len(axis) for axis in axes)
    assert len(rows) <= 1.3 * sizes[-1] * sizes[-2]


@pytest.mark.parametrize(
    ("rows", "columns", "each_row", "each_column"),
    [(range(11), range(8), 2, 3), (range(3), range(8), 2, 2), (range(4), range(6), 5, 1)],
)
def test_a_spread_has_each_row_and_column_often_enough_and_no_pair_twice(
    rows, columns, each_row, each_column
):
    pairs = spread(rows, columns, each_row=each_row, each_column=each_column)
    assert len(set(pairs)) == len(pairs) <= len(rows) * each_row + len(columns) * each_column
    assert min(Counter(row for row, _ in pairs)[row] for row in rows) >= each_row
    assert min(Counter(column for _, column in pairs)[column] for column in columns) >= each_column


def test_a_spread_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="not that many"):
        spread("ab", "xy", each_row=3, each_column=1)


SENTENCE = "`rate` must be in [0, 1], got 1: write rate=0.1"


def test_a_message_that_has_name_value_and_remedy_says_it():
    assert says(SENTENCE, "rate", "[0, 1]", "1", "rate=0.1")
    assert says(
        ValueError("give rate=0.1; a `rate` of 1 is not in [0, 1]"), "rate", "1", "rate=0.1"
    )


@pytest.mark.parametrize(
    "parts",
    [("rates",), ("rat",), ("[0, 1]", "1", "1"), ("rate=0.2",), ("rate", "rate", "rate")],
)
def test_a_part_that_is_missing_or_there_too_seldom_is_not_said(parts):
    with pytest.raises(AssertionError, match="does not say"):
        says(SENTENCE, *parts)


def test_the_limit_is_stated_for_the_tests_it_is_for():
    assert cpu.summary(371.4, "not long") == f"CPU: 371 s of at most {cpu.AT_MOST} s"
    assert cpu.summary(3710.0, "long") == "CPU: 3710 s"


def test_seconds_and_slow_tests_of_children_and_of_all_workers_are_counted():
    before = cpu.seconds()
    program = "import time; sum(range(3_000_000)); print(time.process_time())"
    child = subprocess.check_output([sys.executable, "-c", program])
    assert cpu.seconds() - before >= float(child)
    meter, printed = cpu.CpuMeter(), []
    for line in ("2.5 s tests/a.py::b: not argued", "11.0 s tests/c.py::d: it kills a process"):
        worker = {"cpu": 500.0, "slow": [line]}
        meter.pytest_testnodedown(SimpleNamespace(workeroutput=worker))
    assert 1000.0 < meter.total() < 1000.0 + cpu.seconds()
    config = SimpleNamespace(option=SimpleNamespace(markexpr="not long"))
    meter.pytest_terminal_summary(SimpleNamespace(write_line=printed.append), config)
    assert [line.split()[0] for line in printed[1:-1]] == ["11.0", "2.5"]
    assert "it kills a process" in printed[1]
