"""A study that a page shows as a file reads back as the same study."""

from __future__ import annotations

from dataclasses import replace

import pytest

import neurotron as nt
from neurotron.lab.pages.writing import to_toml

SMOKE = nt.lab.read("smoke")
SEEDS = replace(SMOKE, settings=[one | {"seed": 20} for one in SMOKE.settings])


@pytest.mark.parametrize("study", [*map(nt.lab.read, nt.lab.catalog()), SEEDS])
def test_it_reads_back_with_its_claims_its_seeds_and_without_a_caveat(study):
    again = nt.lab.parse(to_toml(study.spec(), study.replicates).encode(), "again")
    assert again.spec() == study.spec()
    assert again.note == ""
