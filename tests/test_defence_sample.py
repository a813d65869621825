"""A sample of docs/evidence/defence.md, in full length."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.workloads import FOUR_LAWS
from evidence.defence import BY_KEY, CLOSE, CONSTANT, EXACT, Met, replicate, table


@pytest.mark.parametrize("setting", FOUR_LAWS[2:3], ids=lambda setting: setting.name)
def test_the_defence_recovers_the_filter_under_every_additive_attack(setting):
    found = replicate(setting, 0, attacks=CONSTANT, names=("RefinedTron",))
    assert len(found) == 5 * 8
    for name, error in found.items():
        assert error < (EXACT if BY_KEY[name].beta < 0.45 else CLOSE), name


def test_the_table_counts_runs_over_all_laws():
    low, high = (Met("SGD", "constant", beta, 1.0).key for beta in (0.2, 0.4))
    rows = [{"case": "a", low: 1e-13, high: 1e-7}, {"case": "b", low: 2.0, high: np.inf}]
    first, second = table(rows)
    assert (first["runs"], first["below 1e-12"], first["worst"]) == (2, 0.5, 2.0)
    assert (second["below 1e-12"], second["below 1e-6"], second["worst"]) == (0.0, 0.5, np.inf)
