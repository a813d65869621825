"""A real Dask cluster, whose processes die."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from tests.support import units
from tests.support.audited import BUDGET, small_table
from tests.support.clusters import cluster as cluster_of
from tests.support.clusters import on_cluster
from tests.support.commands import finish, hashes, shards, start, wait_until, write_study
from tests.support.messages import says

import neurotron as nt
from neurotron._check import InputError
from neurotron.auditing.job import job_of
from neurotron.auditing.splits import AuditedTable
from neurotron.lab.audits import load_audit, study_of
from neurotron.work import Progress, cluster

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    return write_study(tmp_path_factory.mktemp("study"), steps=15_000, replicates=5)


@pytest.fixture(scope="module")
def undisturbed(file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    nt.lab.run(nt.lab.read(file), folder)
    return hashes(folder)


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


@pytest.fixture(scope="module")
def dask():
    """A cluster of two workers."""
    with cluster_of(2) as processes:
        yield processes


def test_a_cluster_computes_the_same(dask, file, undisturbed, out):
    with cluster.connected(dask.address) as (executor, workers):
        nt.lab.run(nt.lab.read(file), out, executor=executor, workers=workers)
    assert hashes(out) == undisturbed


def test_a_cluster_audits_the_same(dask, tmp_path):
    X, y = small_table(40)
    asked = {"remedies": ("huber",), "splits": 2, "attacks": ("constant", "linear-surrogate")}
    job = job_of("ridge", AuditedTable.of(X, y), budget=BUDGET, **asked)
    with cluster.connected(dask.address) as (executor, workers):
        nt.lab.run(study_of(job), tmp_path / "cluster", executor=executor, workers=workers)
        direct = nt.audit("ridge", X, y, budget=BUDGET, executor=executor, **asked)
    nt.lab.run(study_of(job), tmp_path / "thread", workers=1)
    assert hashes(tmp_path / "cluster") == hashes(tmp_path / "thread")
    assert load_audit(job, tmp_path / "cluster").to_dict() == direct.to_dict()


def test_a_cluster_runs_a_function_of_ones_own_once_its_workers_have_it(
    dask, out, tmp_path, monkeypatch
):
    shutil.copy(units.__file__, tmp_path / "sums_elsewhere.py")
    monkeypatch.syspath_prepend(tmp_path)
    study = import_module("sums_elsewhere").study()
    with cluster.connected(dask.address) as (executor, workers):
        with pytest.raises(InputError, match=r"the workers cannot be used \("):
            nt.lab.run(study, out, executor=executor, workers=workers)
        assert not out.exists()
        with distributed.Client(dask.address) as client:
            client.upload_file(str(tmp_path / "sums_elsewhere.py"))
        nt.lab.run(study, out, executor=executor, workers=workers)
    nt.lab.run(study, tmp_path / "here")
    assert hashes(out) == hashes(tmp_path / "here")
    assert len(hashes(out)) == 4


def test_a_second_try_is_not_given_the_error_of_the_first(dask, tmp_path):
    with cluster.connected(dask.address) as (executor, _):
        first = executor.submit(os.stat, str(tmp_path / "file"))
        assert isinstance(first.exception(60), FileNotFoundError)
        (tmp_path / "file").touch()
        assert executor.submit(os.stat, str(tmp_path / "file")).result(60).st_size == 0


def test_a_worker_that_is_killed_costs_nothing_but_time(dask, file, undisturbed, out):
    on_cluster(dask, file, out, kills=1)
    assert hashes(out) == undisturbed


@pytest.mark.long
def test_a_scheduler_that_dies_is_told_in_one_sentence(file, undisturbed, out):
    with cluster_of(1) as dask:
        process = start("run", file, "--out", out, "--dask", dask.address)
        wait_until(lambda: shards(out) > 0 or process.poll() is not None)
        dask.scheduler.kill()
        code, _, errors = finish(process)
    assert code == 2
    *progress, error = errors.splitlines()
    assert all(" of 10 units" in line for line in progress)
    assert error.startswith("error: the workers are gone (")
    assert "units are kept: run again" in error
    kept = hashes(out)
    assert 0 < len(kept) < len(undisturbed)
    assert kept.items() <= undisturbed.items()


@pytest.mark.long
def test_a_cluster_whose_workers_are_all_gone_is_given_up(file, undisturbed, out, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_ALONE", 1)
    with cluster_of(1) as dask:

        def kill(state: Progress) -> None:
            if state.units_done:
                dask.workers[0].kill()

        with (
            cluster.connected(dask.address) as (executor, workers),
            pytest.raises(InputError, match="the workers are gone"),
        ):
            nt.lab.run(nt.lab.read(file), out, executor=executor, workers=workers, progress=kill)
    assert hashes(out).items() <= undisturbed.items()
    assert shards(out) > 0


def test_a_cluster_without_workers_is_told(file, out):
    with cluster_of(0) as dask:
        code, _, errors = finish(start("run", file, "--out", out, "--dask", dask.address))
    assert (code, len(errors.splitlines())) == (2, 1)
    assert says(errors, "error", dask.address, "no workers")
    assert not out.exists()


@pytest.mark.parametrize("address", ["nowhere", "tls://127.0.0.1:1"])
def test_a_wrong_address_is_told(file, out, address):
    code, _, errors = finish(start("run", file, "--out", out, "--dask", address))
    assert (code, errors.count("\n")) == (2, 1)
    assert errors.startswith(f"error: no Dask scheduler answers at '{address}': ")
    assert not out.exists()


@pytest.mark.slow("the last test counts what the scheduler and the workers of the others took")
def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_ANSWER", 1)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        cluster.connected("tcp://127.0.0.1:1").__enter__()
