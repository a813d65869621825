"""What docs/signals.md says about filters from poisoned labels is what is stored, and a sample."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.support.documents import assert_says
from tools import signals

PAGE = signals.ROOT / "docs" / "signals.md"
STORED, CODE = signals.stored()
OURS = STORED.filter(method=signals.OURS)
NOISY = pl.col("noise") > 0.0
ATTACKED = pl.col("share") > 0.0


def median(method: str, **fields: object) -> pl.DataFrame:
    """Return the median errors of a method, by case."""
    found = STORED.filter(pl.col("method") == method, **fields)
    return found.select("setting", *signals.Case._fields, "median")


def ratios(method: str) -> pl.Series:
    """Return the median errors of a method over ours, under attack with noise."""
    both = median(method).join(
        median(signals.OURS), on=["setting", *signals.Case._fields], suffix="_ours"
    )
    return both.filter(NOISY & ATTACKED)["median"] / both.filter(NOISY & ATTACKED)["median_ours"]


def above_clean() -> pl.Series:
    """Return our errors with 25 % from another filter over least squares without an attack."""
    clean = median(signals.SQUARES, attack="none").select("setting", clean="median")
    attacked = median(signals.OURS, attack="other filter", share=0.25).join(clean, on="setting")
    return attacked["median"] / attacked["clean"]


def test_every_case_is_stored_with_twenty_replicates():
    assert len(STORED) == 6 * len(signals.CASES) * len(signals.METHODS)
    assert set(STORED["replicates"]) == {signals.REPLICATES} == {20}


def test_without_noise_every_filter_is_found_to_one_millionth_at_forty_per_cent():
    exact = OURS.filter(~NOISY)
    assert set(exact["share"]) == {0.4}
    assert exact["largest"].max() < 1e-6
    assert_says(PAGE, "exactly on all {} replicates", exact["replicates"].sum())
    assert_says(PAGE, "the largest relative error was {}.", exact["largest"].max())


def test_with_noise_ours_is_near_the_fit_of_honest_rows_and_before_huber():
    assert above_clean().max() < 1.6
    assert ratios("Huber").min() > 1.0
    assert_says(PAGE, "the median error is at most {} times that", above_clean().max())
    huber = ratios("Huber")
    assert_says(PAGE, "its median error is {} to {} times ours", huber.min(), huber.max())
    worst = OURS.filter(NOISY & ATTACKED)["largest"].max()
    assert_says(PAGE, "On no replicate, under either attack, was the error larger than {}.", worst)
    other = STORED.filter(attack="other filter")
    largest = [
        other.filter(pl.col("method") == method)["largest"].max()
        for method in ("Huber", "TRIM, told β")
    ]
    assert_says(PAGE, "with errors of up to {} and {}", *largest)
    near = STORED.filter(~NOISY, method="Huber")["median"].max()
    assert_says(PAGE, "(within {})", near)
    (trim,) = median("TRIM, told β", setting="cell-white", attack="one side", share=0.4)["median"]
    assert_says(PAGE, "its median error is {} for white inputs", trim)


def test_suspects_are_right_and_alarms_rare():
    other = OURS.filter(NOISY, attack="other filter")
    right = 100 * OURS.filter(NOISY & ATTACKED)["right"]
    clean = OURS.filter(attack="none")
    assert right.min() > 95.0
    assert OURS.filter(pl.col("attack") == "one side")["found"].min() == 1.0
    assert OURS.filter(~NOISY)["found"].min() == OURS.filter(~NOISY)["right"].min() == 1.0
    assert clean["alarms"].sum() <= 0.05 * clean["replicates"].sum()
    found = 100 * other["found"]
    assert_says(PAGE, "With noise, {} to {} % of the labels of another", found.min(), found.max())
    assert_says(PAGE, "With noise, {} to {} % of the suspects are", right.min(), right.max())
    assert_says(
        PAGE, "{} of {} replicates had any suspect", clean["alarms"].sum(),
        clean["replicates"].sum(),
    )  # fmt: skip


def test_the_pages_are_written_from_the_table():
    assert (signals.STORE / "signals.md").read_text() == signals.page(STORED, CODE)
    assert signals.page_table(STORED) in PAGE.read_text()


@pytest.mark.parametrize("inputs", signals.INPUTS)
def test_a_replicate_of_a_signal_is_computed_again(inputs):
    case = signals.Case("other filter", 0.4, 0.0)
    rows = signals.measure("signal", inputs, case, 3)
    assert rows[0]["error"] < 1e-6
    assert (rows[0]["found"], rows[0]["right"]) == (1.0, 1.0)
    for row in rows:
        stored = STORED.filter(
            pl.col("method") == row["method"], setting=f"signal-{inputs}", **case._asdict()
        )
        assert row["error"] <= stored["largest"].item() * 1.01 + 1e-14


def test_the_linear_part_of_a_network_is_half_of_its_filter():
    """Every row comes with its mirror image, so the even part cancels exactly."""
    network = signals.KINDS["signal"].network
    half = np.random.default_rng(0).standard_normal((200, 60))
    weights, X = np.arange(12.0), np.concatenate([half, -half])
    found = signals.linear_part(network, X, network(weights, X))
    np.testing.assert_allclose(found, weights, atol=1e-9)
    white = np.linalg.qr(half)[0] * np.sqrt(200.0)
    X = np.concatenate([white, -white])
    found = signals.spike_triggered_average(network, X, network(weights, X))
    np.testing.assert_allclose(found, weights, atol=1e-9)


def test_the_picture_shows_every_filter_with_its_error():
    true = np.linspace(-1.0, 1.0, 36)
    figure = signals.draw({"true filter": true, "half of it": 0.5 * true})
    left, right = figure.axes[:2]
    assert (left.get_xlabel(), right.get_xlabel()) == ("", "error 50 %")
