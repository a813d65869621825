"""What is said of many runs at once, against closed forms and cases made up by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.support.results import made
from tests.support.studies import SMALL, flat

import neurotron as nt
from neurotron.lab.results.results import once
from neurotron.lab.results.summary import bootstrap, median, rate

VALUES = np.random.default_rng(0).standard_normal(200) + 3.0


def test_the_bootstrap_of_a_mean_is_its_normal_interval():
    found = bootstrap(VALUES, np.mean)
    error = VALUES.std() / math.sqrt(VALUES.size)
    assert found.estimate == VALUES.mean()
    # the ends of 2000 resamples are known to 0.06 standard errors: five of these
    assert found.low == pytest.approx(VALUES.mean() - 1.96 * error, abs=0.3 * error)
    assert found.high == pytest.approx(VALUES.mean() + 1.96 * error, abs=0.3 * error)


@pytest.mark.parametrize("statistic", [np.mean, np.median])
def test_the_bootstrap_is_that_of_scipy(statistic):
    theirs = stats.bootstrap(
        (VALUES,), statistic, method="percentile", n_resamples=2000, rng=np.random.default_rng(1)
    ).confidence_interval
    ours, error = bootstrap(VALUES, statistic), VALUES.std() / math.sqrt(VALUES.size)
    assert ours.low == pytest.approx(theirs.low, abs=0.4 * error)
    assert ours.high == pytest.approx(theirs.high, abs=0.4 * error)


def test_the_interval_of_a_median_of_20_covers_it_as_often_as_it_says():
    draw, trials = np.random.default_rng(2), 300
    intervals = [bootstrap(draw.standard_normal(20)) for _ in range(trials)]
    hits = sum(found.low <= 0.0 <= found.high for found in intervals)
    # wrong alarms once in a million if the coverage is between 0.91 and 0.985
    assert stats.binomtest(hits, trials, 0.91, "less").pvalue > 1e-6
    assert stats.binomtest(hits, trials, 0.985, "greater").pvalue > 1e-6


@given(st.lists(st.floats(0.0, 1e300) | st.just(math.inf), min_size=1, max_size=9))
def test_an_interval_holds_its_estimate_and_lies_within_the_values(values):
    found = bootstrap(values)
    assert min(values) <= found.low <= found.estimate <= found.high <= max(values)
    assert bootstrap(values) == found


def test_a_diverged_run_counts_as_worse_than_any_other():
    assert bootstrap([math.inf] * 5) == (math.inf,) * 3
    one_of_five = bootstrap([1.0, 1.0, 1.0, 1.0, math.inf])
    assert one_of_five.estimate == 1.0
    most = bootstrap([1.0, 2.0, math.inf, math.inf, math.inf])
    assert (most.estimate, most.high) == (math.inf, math.inf)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [[1.0, 2.0]]])
def test_the_bootstrap_of_no_numbers_is_refused(values):
    with pytest.raises(nt.InputError, match="at least one number, none of them NaN"):
        bootstrap(values)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_rate_is_as_beta_quantiles_say(counts):
    k, n = counts
    found = rate(k, n)
    assert found.low == pytest.approx(stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0)
    assert found.high == pytest.approx(stats.beta.ppf(0.975, k + 1, n - k) if k < n else 1.0)


@pytest.mark.parametrize("count", range(1, 8))
def test_the_median_is_the_lower_middle_value_and_nan_if_one_is(count):
    values = np.random.default_rng(count).normal(size=(3, count))
    expected = np.quantile(values, 0.5, axis=1, method="inverted_cdf")
    assert np.array_equal(median(values, axis=1), expected)
    values[1, -1] = np.nan
    assert np.isnan(median(values, axis=1)).tolist() == [False, True, False]


def test_a_value_is_computed_once_for_each_argument_and_each_results(tmp_path):
    results, calls = made(tmp_path / "r", SMALL, flat, 2), []

    @once
    def count(results, factor=1):
        calls.append(factor)
        return factor * len(results.table) if factor else 1 / 0

    assert [count(results), count(results), count(results, 2), count(results, factor=3)] == [
        4, 4, 8, 12
    ]  # fmt: skip
    for _ in range(2):  # what fails is tried again
        with pytest.raises(ZeroDivisionError):
            count(results, 0)
    assert calls == [1, 2, 3, 0, 0]
    assert count(replace(results, table=results.table.head(1))) == 1
