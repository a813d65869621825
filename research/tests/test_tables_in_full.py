"""The damage of label poisoning on public tables, as it is stored in docs/evidence/tables.csv."""

from __future__ import annotations

import polars as pl
import pytest
from tests.support.clusters import cluster, on_cluster
from tests.support.commands import finish, hashes, kill_and_resume, leftovers, start
from tests.support.damages import need_packages
from tools import mixture, tables_guide
from tools.tables_guide import CELL, OURS, TOLD

import neurotron as nt
from neurotron.lab.studies.table_unit import damage
from neurotron.lab.studies.table_work import work_of_tables

pytestmark = pytest.mark.long

STORED, PLAIN = tables_guide.stored(), tables_guide.without_mixture()
KEYS = ("setting", "attack", "probability")


def medians(rows):
    """Return the median damage for each table, attack and probability."""
    return {tuple(key): damage for *key, damage in rows.select(*KEYS, "damage").rows()}


def of(method):
    return medians(STORED.filter(pl.col("setting") != CELL, method=method))


@pytest.mark.parametrize("name", ["star98", "diabetes"])
def test_labels_shifted_to_one_side_cost_little_more_than_if_their_share_were_known(name):
    case = (name, "one side", 0.3)
    assert of(OURS)[case] < of(TOLD)[case] + 5.0
    assert of(OURS)[case] < medians(PLAIN)[case] - 5.0


def test_the_mixture_never_raises_the_median_damage_by_more_than_a_point():
    plain = medians(PLAIN)
    assert all(value < plain[case] + 1.0 for case, value in of(OURS).items())


def test_a_split_of_diabetes_is_computed_again_as_it_is_stored():
    """No damage exceeds the largest that is stored. Diabetes needs no package of an extra."""
    spec = nt.lab.studies.read("tables").model_dump_json(exclude={"replicates"})
    for row in damage(spec, "diabetes", 3):
        attack = row["attack"].replace("-", " ")
        chosen = {name: row[name] for name in ("probability", "method")} | {"attack": attack}
        found = STORED.filter(pl.col("setting") == "diabetes", **chosen)
        value = 100.0 * (row["error"] / row["reference"] - 1.0)
        assert value <= found["largest"].item() + 0.1


def test_without_the_mixture_a_split_of_diabetes_is_as_it_is_stored():
    stored = medians(PLAIN)["diabetes", "one side", 0.3]
    rows = [row for split in range(20) for row in mixture.damages("", "diabetes", split)
            if (row["name"], row["probability"]) == ("one-side", 0.3)]  # fmt: skip
    assert 100.0 * pl.Series([row["damage"] for row in rows]).median() == pytest.approx(
        stored, abs=0.1
    )


# ---- the same content, however it is run ---------------------------------------------------------

FILE = """
name = "some-tables"
kind = "tables"
replicates = 6
[methods]
NeuroTron = "neurotron"
Huber = "huber"
[[settings]]
name = "diabetes"
sweeps = [{ attack = "none" }, { attack = "one-side" }, { attack = "large-leverage" }]
[[settings]]
name = "cell"
like = "diabetes"
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "some-tables.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def undisturbed(file):
    folder = file.parent / "undisturbed"
    nt.lab.studies.run(nt.lab.studies.read(file), folder, workers=1)
    found = hashes(folder)
    assert len(found) == 12
    return found


@pytest.mark.parametrize("threads", [1, 2])
def test_by_threads(file, tmp_path, undisturbed, threads):
    code, _, errors = finish(start("run", file, "--out", tmp_path / "out", "--threads", threads))
    assert code == 0, errors
    assert hashes(tmp_path / "out") == undisturbed


def test_after_kills_and_on_a_cluster(file, tmp_path, undisturbed):
    folder = tmp_path / "killed"
    kill_and_resume(file, folder, 3, seed=0)
    assert hashes(folder) == undisturbed
    assert leftovers(folder) == []
    pytest.importorskip("distributed")
    with cluster(2) as dask:
        on_cluster(dask, file, tmp_path / "dask", 0)
    assert hashes(tmp_path / "dask") == undisturbed


def test_the_study_of_the_catalog_can_be_run_here():
    need_packages()
    assert len(work_of_tables(nt.lab.studies.read("tables")).units) == 160
