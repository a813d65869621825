"""The damage of label poisoning on real tables, as it is stored in docs/evidence/tables.csv."""

from __future__ import annotations

import polars as pl
import pytest
from tools.tables import neurotron, summary
from tools.tables.neurotron import OURS, WITHOUT_MIXTURE

pytestmark = pytest.mark.long

STORED, _ = summary.stored()


def medians(method):
    """Return the median damage of a method for each table, attack and probability."""
    rows = STORED.filter(method=method).select("table", "attack", "probability", "damage")
    return {tuple(key): damage for *key, damage in rows.rows()}


@pytest.mark.parametrize("name", ["star98", "diabetes"])
def test_labels_shifted_to_one_side_cost_little_more_than_if_their_share_were_known(name):
    case = (name, "one side", 0.3)
    assert medians(OURS)[case] < medians("TRIM, told β")[case] + 5.0
    assert medians(OURS)[case] < medians(WITHOUT_MIXTURE)[case] - 5.0


def test_the_mixture_never_raises_the_median_damage_by_more_than_a_point():
    plain = medians(WITHOUT_MIXTURE)
    assert all(damage < plain[case] + 1.0 for case, damage in medians(OURS).items())


def test_a_split_of_diabetes_is_computed_again():
    """No damage exceeds the largest that is stored. Diabetes needs no package of an extra."""
    for row in neurotron.damages("", "diabetes", 3):
        chosen = {name: row[name] for name in ("attack", "probability", "method")}
        found = STORED.filter(pl.col("table") == "diabetes", **chosen)
        assert row["damage"] <= found["largest"].item() + 0.1
