"""The same content of every unit, however a study is run: threads, order, Dask, and kill −9."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.clusters import cluster, on_cluster
from tests.support.commands import (
    Hashes,
    finish,
    hashes,
    in_reversed_order,
    kill_and_resume,
    leftovers,
    start,
    write_study,
)

import neurotron as nt

pytestmark = pytest.mark.long

REPLICATES, STEPS, KILLS = 20, 100_000, 20


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return write_study(tmp_path_factory.mktemp("study"), steps=STEPS, replicates=REPLICATES)


@pytest.fixture(scope="module")
def undisturbed(file) -> Hashes:
    """The hashes of the study as computed here, in this process."""
    folder = file.parent / "undisturbed"
    nt.lab.run(nt.lab.read(file), folder, workers=1)
    found = hashes(folder)
    assert len(found) == 2 * REPLICATES
    return found


@pytest.fixture
def out(tmp_path, undisturbed) -> Path:
    """A folder whose results must be those of the undisturbed run, and nothing else."""
    folder = tmp_path / "out"
    yield folder
    assert hashes(folder) == undisturbed
    assert leftovers(folder) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_by_threads(file, out, threads):
    code, _, errors = finish(start("run", file, "--out", out, "--threads", threads))
    assert code == 0, errors


def test_last_unit_first(file, out):
    in_reversed_order(file, out)


@pytest.mark.parametrize("kills", [0, pytest.param(1, marks=pytest.mark.quick)])
def test_on_a_cluster_of_two_workers_of_which_some_are_killed(file, out, kills):
    pytest.importorskip("distributed")
    with cluster(2) as dask:
        on_cluster(dask, file, out, kills)


def test_killed_at_random_moments_and_resumed(file, out):
    assert kill_and_resume(file, out, KILLS, seed=0) == KILLS
