"""A sample of docs/evidence/defence.md, in full length."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.workloads import FOUR_LAWS
from evidence.defence import CLOSE, CONSTANT, EXACT, replicate, table


@pytest.mark.parametrize("setting", FOUR_LAWS[2:3], ids=lambda setting: setting.name)
def test_the_defence_recovers_the_filter_under_every_additive_attack(setting):
    found = replicate(setting, 0, attacks=CONSTANT, names=("RefinedTron",))
    assert len(found) == 5 * 8
    for name, error in found.items():
        beta = float(name.split(" | ")[2])
        assert error < (EXACT if beta < 0.45 else CLOSE), name


def test_the_table_counts_runs_over_all_laws():
    rows = [
        {"case": "a", "T | x | 0.2 | 1": 1e-13, "T | x | 0.4 | 1": 1e-7},
        {"case": "b", "T | x | 0.2 | 1": 2.0, "T | x | 0.4 | 1": np.inf},
    ]
    first, second = table(rows)
    assert (first["runs"], first["below 1e-12"], first["worst"]) == (2, 0.5, 2.0)
    assert (second["below 1e-12"], second["below 1e-6"], second["worst"]) == (0.0, 0.5, np.inf)
