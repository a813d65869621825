"""The rows of the measurements of minorities and of two sizes of errors."""

from __future__ import annotations

import numpy as np
import pytest
from research import minorities, two_sizes
from research.minorities import GATE, NEAR, NETWORKS, NOISE_FREE, rows_of

CASES = [*minorities.cases()]
FIRST = {
    (case.group, case.network, case.attack): case for case in reversed(CASES)
}  # one of each kind


@pytest.mark.parametrize("case", FIRST.values(), ids=str)
def test_a_minority_of_the_labels_is_tampered_with_and_the_majority_agrees(case):
    rows, network = rows_of(case, 0), NETWORKS[case.network]
    assert len(rows.y) == case.rows_per_weight * network.filter_size
    assert 0.0 < len(rows.tampered) <= case.share * len(rows.y)
    honest = np.delete(np.arange(len(rows.y)), rows.tampered)
    left = rows.y - network(rows.true, rows.X)
    exact = network(rows.true, rows.X).std()
    assert left[honest].std() == pytest.approx(case.noise * exact, rel=0.2, abs=1e-12)
    if rows.other is not None:
        given = network(rows.other, rows.X)[rows.tampered]
        assert np.array_equal(rows.y[rows.tampered], given)
    again = rows_of(case, 0)
    assert np.array_equal(rows.y, again.y)
    assert not np.array_equal(rows.y, rows_of(case, 1).y)


def test_the_near_filter_has_the_rows_where_it_differs_most():
    case = FIRST[NEAR, "linear", "near filter"]
    rows = rows_of(case, 0)
    gap = np.abs(rows.X @ (rows.other - rows.true))
    assert gap[rows.tampered].min() >= np.delete(gap, rows.tampered).max()
    away = np.linalg.norm(rows.other - rows.true) / np.linalg.norm(rows.true)
    assert away == pytest.approx(case.distance)


def test_a_filter_through_honest_rows_explains_one_row_less_than_it_has_weights():
    case = FIRST[GATE, "gate", "shared rows"]
    rows, network = rows_of(case, 0), NETWORKS["gate"]
    honest = np.delete(np.arange(len(rows.y)), rows.tampered)
    agree = np.abs(network(rows.other, rows.X) - rows.y)[honest] < 1e-9
    active = network(rows.true, rows.X)[honest] > 0.0
    assert (agree & active).sum() <= network.filter_size - 1
    everywhere = np.abs(network(rows.other, rows.X) - network(rows.true, rows.X)) < 1e-9
    assert (everywhere & (network(rows.true, rows.X) > 0.0)).sum() == network.filter_size - 1


def test_a_fit_of_a_minority_says_which_filter_was_returned():
    case = FIRST[NOISE_FREE, "linear", "opposite filter"]
    found = minorities.measure(minorities.STUDY.settings[CASES.index(case)], 0, 0)
    assert found.keys() == minorities.STUDY.columns.keys()
    assert not (found[minorities.RECOVERED] and found[minorities.OTHER])


def test_moderate_errors_without_far_ones_are_found():
    alone = next(one for one in two_sizes.STUDY.settings if one["far"] == 0.0)
    found = two_sizes.measure(alone, 0, 1)
    assert found[two_sizes.FOUND] > 0.9
    assert found[two_sizes.FOUND_FAR] is None
    assert found[two_sizes.HONEST] < 0.01
