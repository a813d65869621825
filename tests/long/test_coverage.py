"""Coverage of prediction intervals with 200,000 draws for every size, attack and budget."""

from __future__ import annotations

import pytest
from tests.estimators import coverage

pytestmark = pytest.mark.long
DRAWS = 200_000


@pytest.mark.parametrize(
    ("rows", "m"),
    [(20, 0), (20, 1), (50, 4), (99, 9), (200, 5), (200, 19), (1_000, 10), (1_000, 99)],
)
def test_the_worst_attack_on_m_rows(rows, m):
    coverage.check_budget(rows, m, DRAWS)


@pytest.mark.parametrize(
    ("rows", "chance"),
    [(20, 0.1), (50, 0.1), (50, 0.4), (99, 0.1), (200, 0.25), (1_000, 0.05), (1_000, 0.6)],
)
def test_the_worst_attack_by_coins(rows, chance):
    coverage.check_coins(rows, chance, DRAWS)


@pytest.mark.parametrize(("rows", "m"), [(29, 0), (50, 0), (100, 2), (1_000, 50)])
def test_calibration_rows_are_good_enough(rows, m):
    coverage.check_given(rows, m, 0.95, DRAWS)


@pytest.mark.parametrize(("rows", "m"), [(20, 1), (50, 2), (99, 3)])
def test_an_attacker_who_sees_all_rows(rows, m):
    coverage.check_same(rows, m, DRAWS)
