"""What is said of many runs at once, against closed forms and cases made up by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.support.results import INITIAL, TRUE, ending_at, made

import neurotron as nt
from neurotron.lab.results.summary import OUTCOMES, bootstrap, median, rate, steps_to, summarise

STUDY = nt.lab.studies.parse(
    b"""
name = "s"
[trainers]
T = "neuro-tron"
S = "sgd"
[[settings]]
name = "a"
n_inputs = 4
filter_size = 2
""",
    "s",
)
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


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 10, 0.0, 1.0 - 0.025 ** (1 / 10)),
        (10, 10, 0.025 ** (1 / 10), 1.0),
        (1, 1, 0.025, 1.0),
        (5, 10, 0.1870860, 0.8129140),
        (2, 20, 0.0123485, 0.3169827),
    ],
)
def test_a_rate_has_the_clopper_pearson_interval(successes, trials, low, high):
    assert rate(successes, trials) == pytest.approx((successes / trials, low, high), abs=1e-6)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_rate_is_as_beta_quantiles_say(counts):
    k, n = counts
    found = rate(k, n)
    assert found.low == pytest.approx(stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0)
    assert found.high == pytest.approx(stats.beta.ppf(0.975, k + 1, n - k) if k < n else 1.0)


def test_outcomes_are_told_apart(tmp_path):
    true = np.array(TRUE)  # of length 5
    ends = [
        (true, "recovered"),
        (0.51 * true, "recovered"),
        (0.49 * true, "other"),
        (0.0 * true, "other"),  # no direction at all
        (-true, "mirror"),
        (-3.0 * true, "mirror"),
        (-0.01 * true, "mirror"),
        (np.array([-4.0, 3.0]), "other"),  # at a right angle
        (np.array([-4.0, 1.0]), "other"),  # the cosine with −w* is 0.39
        (np.array([-4.0, 0.0]), "mirror"),  # 0.6
        (2.0 * true, "other"),
    ]

    def outcome(setting, replicate, arm):
        if arm["algorithm"] == "sgd":
            return {"status": "diverged", "stopped_at": 7, "errors": ending_at(math.inf)}
        weights = ends[replicate][0]
        return {"weights": weights, "errors": ending_at(float(np.linalg.norm(weights - true)))}

    runs = made(tmp_path / "r", STUDY, outcome, len(ends)).runs
    tron = runs.filter(algorithm="neuro-tron").sort("replicate")
    assert tron["outcome"].to_list() == [name for _, name in ends]
    assert tron["cosine"][4] == pytest.approx(1.0)
    assert set(runs.filter(algorithm="sgd")["outcome"]) == {"diverged"}
    assert set(runs["outcome"]) <= set(OUTCOMES)


def test_runs_have_the_ends_of_their_courses_and_the_words_of_their_arms(tmp_path):
    def outcome(setting, replicate, arm):
        vector = (TRUE[0], TRUE[1] + 2.0) if arm["algorithm"] == "sgd" else None
        losses = (4.0, 3.0, 2.0, 1.5)
        return {"errors": ending_at(replicate), "losses": losses, "attack_vector": vector}

    results = made(tmp_path / "r", STUDY, outcome, 3)
    run = results.runs.row(-1, named=True)
    assert (run["setting"], run["replicate"], run["trainer"], run["law"]) == ("a", 2, "S", "normal")
    assert (run["initial_error"], run["error"], run["loss"]) == (INITIAL, 2.0, 1.5)
    assert (run["distance"], run["bound"], run["probability"]) == (2.0, 0.25, 0.5)
    assert results.runs["distance"].null_count() == 3
    assert results.trajectories.filter(replicate=2, arm=run["arm"])["error"].to_list() == ending_at(
        2
    )
    assert len(results.trajectories) == 2 * 3 * 4


def hand_made(folder):
    """Neuro-Tron ends at 1 … 5, SGD recovers twice, ends at the mirror twice, diverges once."""

    def outcome(setting, replicate, arm):
        if arm["algorithm"] == "neuro-tron":
            return {"errors": ending_at(replicate + 1.0, 100)}
        if replicate == 4:
            return {"status": "diverged", "stopped_at": 5, "errors": ending_at(math.inf)}
        if replicate >= 2:
            return {"weights": (-3.0, -4.0), "errors": ending_at(10.0)}
        return {"errors": ending_at(0.5, 10)}

    return made(folder, STUDY, outcome, 5)


def test_a_summary_has_medians_quantiles_and_shares(tmp_path):
    tron, sgd = summarise(hand_made(tmp_path / "r")).iter_rows(named=True)
    assert (tron["trainer"], tron["replicates"], tron["median"]) == ("T", 5, 3.0)
    assert (tron["low"], tron["high"]) == tuple(bootstrap([1.0, 2.0, 3.0, 4.0, 5.0])[1:])
    assert [tron[name] for name in ("q10", "q25", "q75", "q90")] == [1.0, 2.0, 4.0, 5.0]
    assert [tron[name] for name in OUTCOMES] == [0.4, 0.0, 0.6, 0.0]
    assert [sgd[name] for name in OUTCOMES] == [0.4, 0.4, 0.0, 0.2]
    assert (sgd["median"], sgd["q90"]) == (10.0, math.inf)
    assert (sgd["recovered_low"], sgd["recovered_high"]) == rate(2, 5)[1:]


def test_steps_to_an_error_are_those_of_its_first_record(tmp_path):
    results = hand_made(tmp_path / "r")

    def reached(error):
        table = steps_to(results, error)
        assert table.columns == ["setting", "replicate", "arm", "steps"]
        tron = pl.col("arm").str.starts_with("T")
        return table.filter(tron)["steps"].to_list(), table.filter(~tron)["steps"].to_list()

    assert reached(2.0) == ([100, 100, None, None, None], [10, 10, None, None, None])
    assert reached("0.2×") == reached(2.0)
    assert reached(10.0) == ([0] * 5, [0] * 5)
    assert reached("0.01×") == ([None] * 5, [None] * 5)


@pytest.mark.parametrize("error", ["0.1", "a×", "×", "0.1×2", -1.0, 0.0, math.nan, "-1×", None])
def test_an_error_to_reach_is_a_positive_number(error, tmp_path):
    with pytest.raises(nt.InputError, match="`error` must be"):
        steps_to(hand_made(tmp_path / "r"), error)


def test_a_folder_without_shards_gives_empty_tables_and_no_verdicts(tmp_path):
    results = made(tmp_path / "r", STUDY, lambda *_: {}, 0)
    full = made(tmp_path / "full", STUDY, lambda *_: {}, 1)
    assert results.runs.schema == full.runs.schema
    assert results.trajectories.schema == full.trajectories.schema
    assert summarise(results).schema == summarise(full).schema
    assert steps_to(results, "0.1×").schema == steps_to(full, "0.1×").schema
    for table in (results.runs, results.trajectories, summarise(results), steps_to(results, 1.0)):
        assert len(table) == 0
    assert repr(results) == "Results of 's': 1 settings, 2 arms, 0 units"
    assert results.failures == []
    claims = nt.lab.claims.evaluate(results)
    assert {claim.verdict for claim in claims} == {"not tested"}
    nt.lab.claims.write(results, claims)
    assert json.loads((tmp_path / "r" / "claims.json").read_text())["units"] == 0


def test_errors_at_some_steps_are_columns_of_all_errors(tmp_path):
    results = made(tmp_path / "r", STUDY, lambda c, r, a: {"errors": ending_at(r + a["bound"])}, 3)
    (setting,) = results.steps
    rows = results.trajectories_at(results.steps[setting][[0, 2]])
    errors = rows["error"].to_numpy().reshape(-1, 2)
    assert np.array_equal(errors, results.errors[setting][:, [0, 2]])


@pytest.mark.parametrize("count", range(1, 8))
def test_the_median_is_the_lower_middle_value_and_nan_if_one_is(count):
    values = np.random.default_rng(count).normal(size=(3, count))
    expected = np.quantile(values, 0.5, axis=1, method="inverted_cdf")
    assert np.array_equal(median(values, axis=1), expected)
    values[1, -1] = np.nan
    assert np.isnan(median(values, axis=1)).tolist() == [False, True, False]
