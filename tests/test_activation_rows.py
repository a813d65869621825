"""The stored rates at which `solve` recovers filters with each activation, and a sample of them."""

from __future__ import annotations

import polars as pl
import pytest
from tools import activations

STORED, ORIGIN = activations.stored()
NOISY = pl.col("noise") > 0.0


def test_every_case_is_stored_with_twenty_networks_and_its_origin():
    assert len(STORED) == len(activations.SETTINGS) * len(activations.CASES)
    assert set(STORED["replicates"]) == {activations.REPLICATES} == {20}
    assert all(f"{part} " in ORIGIN for part in ("code", "numpy", "processor"))


def test_without_noise_only_a_large_attack_on_one_side_of_few_rows_defeats_the_search():
    is_hard = (pl.col("rows") == 200) & (pl.col("attack") == "one side") & (pl.col("share") == 0.4)
    easy = STORED.filter(~NOISY & ~is_hard)
    assert set(easy["recovered"]) == {20}
    assert easy["largest"].max() < 1e-14
    hard = dict(STORED.filter(~NOISY & is_hard).select("setting", "recovered").iter_rows())
    assert hard["softplus"] >= hard["silu"] >= hard["gelu"] > hard["relu"]
    assert min(hard, key=hard.__getitem__) == "relu"


def test_with_noise_the_error_is_near_that_of_least_squares_on_the_honest_rows():
    noisy = STORED.filter(NOISY)
    assert set(noisy["recovered"]) == {20}
    assert noisy["ratio"].max() < 1.25


@pytest.mark.parametrize("setting", activations.SETTINGS)
@pytest.mark.parametrize("number", [6, 9, 16])
def test_a_sample_is_computed_again(number, setting):
    case = activations.CASES[number]
    stored = STORED.filter(setting=setting, **case._asdict()).to_dicts()[0]
    found = activations.measure(setting, case, 3)
    assert found["recovered"] or stored["recovered"] < 20
    assert found["error"] <= 1.01 * stored["largest"]
