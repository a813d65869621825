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


@pytest.mark.parametrize("setting", activations.SETTINGS)
@pytest.mark.parametrize("number", [6, 9, 16])
def test_a_sample_is_computed_again(number, setting):
    case = activations.CASES[number]
    stored = STORED.filter(setting=setting, **case._asdict()).to_dicts()[0]
    found = activations.measure(setting, case, 3)
    assert found["recovered"] or stored["recovered"] < 20
    assert found["error"] <= 1.01 * stored["largest"]
