"""How many rows filters that agree on all others may disagree on, and how far apart they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neurotron.solvers.position import fullest_hyperplane
from neurotron.theory.agreement import Agreement


def lattice(seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    columns, largest = int(draw.integers(1, 4)), int(draw.integers(1, 4))
    rows = draw.integers(-largest, largest + 1, (int(draw.integers(8, 40)), columns)) * 1.0
    rows[: len(rows) // 3, -1] = rows[: len(rows) // 3, 0]
    return rows


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 3000), marks=pytest.mark.long)]
)
def test_no_hyperplane_has_more_rows_than_the_exceptions_leave(seeds):
    said = 0
    for seed in seeds:
        rows = lattice(seed)
        found = Agreement(rows).exceptions
        if np.linalg.matrix_rank(rows) < rows.shape[1]:
            assert found == -1
            continue
        zeros = int((~rows.any(axis=1)).sum())
        most, every = fullest_hyperplane(rows[rows.any(axis=1)])
        assert every
        assert found < len(rows) - most - zeros
        said += found >= 1
    assert said > 0.7 * len(seeds)


def test_the_number_of_exceptions_cannot_be_larger():
    rows = np.where(np.arange(100) < 30, 0.0, 2.0)[:, None]
    assert Agreement(rows).exceptions == 69  # with 70, all rows on which the filters differ


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 2000), marks=pytest.mark.long)]
)
def test_no_two_filters_that_agree_up_to_a_gap_are_further_apart(seeds):
    shares = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        rows = draw.standard_t(5, (int(draw.integers(20, 200)), int(draw.integers(1, 5))))
        away = np.abs(rows @ draw.standard_normal(rows.shape[1]))
        agreement, rho = Agreement(rows), np.sqrt((away**2).mean())
        for exceptions in (0, 1, len(rows) // 10, len(rows) // 4):
            gap = np.sort(away)[-1 - exceptions]  # of the other rows
            mean = np.sqrt((np.sort(away)[: len(rows) - exceptions] ** 2).sum() / len(rows))
            for bound in (
                agreement.within(exceptions, gap), agreement.within_mean(exceptions, mean)
            ):  # fmt: skip
                assert rho <= bound * (1.0 + 1e-12)
                shares.append(rho / bound)
    assert max(shares) > 0.95
    assert np.median(shares) > 0.2


@pytest.mark.parametrize("form", ["within", "within_mean"])
def test_with_half_the_moment_two_filters_would_be_further_apart(form):
    rows = np.where(np.arange(100) < 90, 1.0, 3.0)[:, None]
    agreement, rho = Agreement(rows), np.sqrt(1.8)
    gap = 1.0 if form == "within" else math.sqrt(0.9)
    assert rho <= getattr(agreement, form)(10, gap)
    kurtosis, smallest, leverages = agreement._found
    vars(agreement)["_found"] = (kurtosis / 2.0, smallest, leverages / 2.0)
    assert rho > getattr(agreement, form)(10, gap)


def test_rows_that_do_not_determine_a_filter_say_nothing():
    rows = np.ones((10, 2))
    assert Agreement(rows).exceptions == -1
    assert math.isinf(Agreement(rows).within(0, 1.0))
    assert math.isinf(Agreement(rows).within_mean(0, 1.0))
    assert math.isinf(Agreement(np.empty((0, 1))).within(0, 1.0))


def test_the_smallest_direction_is_never_overstated():
    rows = np.random.default_rng(0).standard_normal((50, 3)) * [1.0, 1e-3, 1e6]
    exact = np.linalg.svd(rows, compute_uv=False)[-1] / math.sqrt(50)
    assert 0.999 * exact < Agreement(rows).smallest <= exact
