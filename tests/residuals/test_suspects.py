"""Suspects: few false alarms whatever the honest noise, and most of the attacked labels."""

from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.tables import table

import neurotron as nt
from neurotron.residuals.shares import information, interval
from neurotron.residuals.suspects import HonestNoise, explain, suspects_among

NOISE = {
    "normal": lambda draw, rows: draw.standard_normal(rows),
    "uniform": lambda draw, rows: draw.uniform(-2.0, 2.0, rows),
    "Laplace": lambda draw, rows: draw.laplace(size=rows),
    "Student 5": lambda draw, rows: draw.standard_t(5, rows),
    "Student 3": lambda draw, rows: draw.standard_t(3, rows),
    "skewed": lambda draw, rows: np.exp(0.5 * draw.standard_normal(rows)) - 1.0,
    "very skewed": lambda draw, rows: draw.exponential(size=rows),
}
ATTACK = {
    "one side": lambda draw, rows: np.full(rows, 8.0),
    "both sides": lambda draw, rows: 8.0 * draw.choice([-1.0, 1.0], rows),
    "wild": lambda draw, rows: 10.0 ** draw.uniform(1.0, 6.0, rows),
    "another model": lambda draw, rows: 30.0 * draw.standard_normal(rows),
    "upwards by any size": lambda draw, rows: 30.0 * np.abs(draw.standard_normal(rows)),
}


@pytest.mark.parametrize("law", NOISE)
@pytest.mark.parametrize("rows", [60, 200])
def test_tables_without_an_attack_rarely_have_a_suspect(law, rows):
    """The rate is 5 %: more than 4 of 16 tables would have a probability of 0.001."""
    draw, alarms = np.random.default_rng(0), 0
    for _ in range(16):
        residuals = NOISE[law](draw, rows)
        residuals -= np.median(residuals)
        sizes = np.abs(residuals)
        noise = explain(residuals, np.median(sizes) / 0.6745).noise
        alarms += suspects_among(noise.suspicion(sizes, np.zeros(rows)), 0.05).any()
    assert alarms <= 4


@pytest.mark.parametrize("law", ["normal", "Student 3"])
def test_the_regressor_rarely_suspects_honest_rows(law):
    alarms = [
        nt.NeuroTronRegressor().fit(*table(draw_noise=NOISE[law], seed=seed)[:2]).suspects_.sum()
        for seed in range(4)
    ]
    assert np.count_nonzero(alarms) <= 1
    assert sum(alarms) <= 3


@pytest.mark.parametrize("attack", ATTACK)
@pytest.mark.parametrize(("rows", "share"), [(100, 0.3), (400, 0.1)])
def test_attacked_labels_are_found_with_few_false_alarms(attack, rows, share):
    draw, found, false = np.random.default_rng(1), [], []
    attacked = np.arange(rows) < share * rows
    for _ in range(6):
        residuals = draw.standard_normal(rows)
        residuals[attacked] += ATTACK[attack](draw, attacked.sum())
        explained = explain(residuals, 1.0)
        suspicion = explained.noise.suspicion(np.abs(residuals), np.zeros(rows))
        suspects = suspects_among(suspicion, 0.05)
        found.append(suspects[attacked].mean())
        false.append((suspects & ~attacked).sum() / suspects.sum())
    near = 0.12 if attack in ("another model", "upwards by any size") else 0.0  # almost honest
    assert np.mean(found) >= 0.97 - near
    assert np.mean(false) <= 0.06


def test_two_labels_that_are_far_off_are_found_in_a_small_table():
    draw, found = np.random.default_rng(2), []
    for _ in range(20):
        residuals = draw.standard_normal(100)
        residuals[:2] = 10.0
        noise = explain(residuals, 1.0).noise
        found.append(
            suspects_among(noise.suspicion(np.abs(residuals), np.zeros(100)), 0.05)[:2].mean()
        )
    assert np.mean(found) > 0.8


def test_an_attack_that_heavy_tails_explain_as_well_remains_possible():
    """A tenth of the labels is from another model, which 100 rows hardly tell from heavy tails."""
    draw, held = np.random.default_rng(3), []
    for _ in range(20):
        residuals = draw.standard_normal(100)
        residuals[:10] *= 10.0
        found = explain(residuals, 1.0)
        share = found.share or 0.0
        held.append(max(interval(share, found.rows)[1], found.possible) >= 0.1)
    assert sum(held) >= 14


def test_suspicion_is_the_rarity_of_a_label_among_honest_ones():
    X, y, _ = table(rows=4000)
    suspicion = nt.NeuroTronRegressor().fit(X, y).suspicion_
    for level in (0.5, 1.0, 2.0):
        assert (suspicion >= level).mean() == pytest.approx(10**-level, rel=0.25)


def test_suspicion_ranks_labels_by_their_distance_from_the_model_however_far_they_are():
    sizes = 10.0 ** np.arange(-3.0, 30.0)
    for noise in (HonestNoise(1.0, 200.0), HonestNoise(1.0, 2.0)):
        assert (np.diff(noise.suspicion(sizes, np.zeros(len(sizes)))) > 0.0).all()


def test_the_share_of_attacked_labels_has_an_interval_that_holds_it():
    held = []
    for seed in range(6):
        X, y, mask = table(rows=200, attacked=0.3, seed=seed)
        model = nt.NeuroTronRegressor().fit(X, y)
        low, high = model.attacked_fraction_interval_
        assert low <= model.attacked_fraction_ <= high <= low + 0.16
        held.append(low <= mask.mean() <= high)
        assert model.attack_size_ == pytest.approx(5.0, abs=0.1)
    assert sum(held) >= 5


def test_a_table_without_an_attack_has_an_interval_from_zero():
    model = nt.NeuroTronRegressor().fit(*table()[:2])
    assert model.attacked_fraction_ == model.attack_size_ == 0.0
    assert model.attacked_fraction_interval_ == pytest.approx((0.0, 1.0 - 0.025 ** (1 / 300)))


def test_an_attack_that_hides_in_the_noise_has_suspects_and_a_share():
    X, y, mask = table(rows=2000, noise=1.0, attacked=0.3, shift=3.5)
    model = nt.NeuroTronRegressor().fit(X, y)
    assert model.solution_.hidden_share > 0.0
    low, high = model.attacked_fraction_interval_
    assert low <= 0.3 <= high
    assert model.suspects_[mask].mean() > 0.7
    assert (model.suspects_ & ~mask).sum() <= 0.1 * model.suspects_.sum()


def test_exact_labels_make_every_other_label_a_suspect():
    X, y, mask = table(noise=0.0, attacked=0.3, shift=1e-6)
    model = nt.NeuroTronRegressor().fit(X, y)
    assert np.array_equal(model.suspects_, mask)
    assert model.scale_ == 0.0
    assert model.attacked_fraction_ == pytest.approx(0.3)
    assert model.proven_against_ == model.certificate_.tampered > 90


def test_with_noise_nothing_is_proved():
    model = nt.NeuroTronRegressor().fit(*table()[:2])
    assert (model.proven_against_, model.certificate_) == (-1, None)


def test_a_larger_rate_of_false_alarms_gives_more_suspects():
    X, y, _ = table(attacked=0.2, shift=0.5)
    few, many = (
        nt.NeuroTronRegressor(false_alarm_rate=rate).fit(X, y).suspects_ for rate in (0.001, 0.3)
    )
    assert (few <= many).all()
    assert few.sum() < many.sum()


def test_a_label_report_has_the_columns_of_cleanlab():
    X, y, mask = table(attacked=0.2)
    model = nt.NeuroTronRegressor().fit(X, y)
    report = model.label_report(X, y)
    assert list(report) == ["is_label_issue", "label_quality", "given_label", "predicted_label"]
    assert np.array_equal(report["is_label_issue"], model.suspects_)
    assert np.array_equal(report["given_label"], y)
    assert np.array_equal(report["predicted_label"], model.predict(X))
    quality = report["label_quality"]
    assert 0.0 <= quality.min() <= quality[mask].max() < 0.01 < quality[~mask].mean() <= 1.0
    assert np.median(quality[~mask]) == pytest.approx(0.5, abs=0.1)


def test_new_rows_are_judged_by_the_noise_of_the_fit():
    X, y, _ = table(attacked=0.2)
    model = nt.NeuroTronRegressor().fit(X, y)
    fresh, labels, mask = table(rows=40, attacked=0.1, seed=1)
    issues = model.label_report(fresh, labels)["is_label_issue"]
    assert issues[mask].all()
    assert issues.sum() <= mask.sum() + 1


def test_information_is_all_if_beliefs_are_certain():
    assert information(np.array([0.0, 1.0, 0.0, 0.0])) == pytest.approx(1.0)
    assert information(np.full(10, 0.3)) <= 0.01


@pytest.mark.parametrize(("share", "ends"), [(0.0, (0.0, 0.0362)), (1.0, (0.9638, 1.0))])
def test_an_interval_is_that_of_clopper_and_pearson(share, ends):
    assert interval(share, 100) == pytest.approx(ends, abs=1e-4)


@pytest.mark.parametrize("tail", [2.0, 5.0, 200.0])
def test_the_suspicion_of_many_labels_is_that_of_few(tail):
    noise = HonestNoise(0.5, tail)
    sizes = np.random.default_rng(0).exponential(1.0, 20_000)
    many = noise.suspicion(sizes, np.zeros(20_000))
    few = noise.suspicion(sizes[:1_000], np.zeros(1_000))
    assert sizes[:1_000].max() > 4.0  # beyond the table
    assert many[:1_000] == pytest.approx(few, abs=1e-6)


@pytest.mark.parametrize("size", [6.7, 8.0])
@pytest.mark.parametrize("far", [50.0, 1e4])
def test_far_errors_do_not_hide_moderate_ones(size, far):
    draw = np.random.default_rng(1)
    residuals = draw.standard_normal(1_500)
    residuals[:30] += size
    residuals[30:60] += far * draw.choice([-1.0, 1.0], 30) * draw.uniform(1.0, 8.0, 30)
    found = explain(residuals, 1.0)
    assert found.share == pytest.approx(0.04, abs=0.01)
    assert found.noise.tail > 10.0
    suspects = suspects_among(found.noise.suspicion(np.abs(residuals), np.zeros(1_500)), 0.05)
    assert suspects[:60].mean() > 0.95
    assert suspects[60:].mean() < 0.01
