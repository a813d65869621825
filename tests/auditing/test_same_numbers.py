"""The numbers of an audit do not depend on threads, processes, folders or interruptions."""

from __future__ import annotations

import json
import shutil
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from tests.support.audited import BUDGET, small_table
from tests.support.commands import finish, has_grown, hashes, shards, start, wait_until

import neurotron as nt
from neurotron.auditing.job import job_of
from neurotron.auditing.splits import AuditedTable
from neurotron.lab.audits import load_audit, name_of, study_of
from neurotron.lab.store.folder import Folder
from neurotron.work.columns import plain_rows

X, Y = small_table(40)
ASKED = {
    "tolerance": 0.1,
    "remedies": ("huber",),
    "splits": 2,
    "attacks": ("constant", "linear-surrogate"),
}


@pytest.fixture(scope="module")
def numbers():
    return nt.audit("ridge", X, Y, budget=BUDGET, **ASKED).to_dict()


def asked(estimator="ridge", **more):
    return job_of(estimator, AuditedTable.of(X, Y), budget=BUDGET, **ASKED | more)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads_gives_the_same_numbers(threads, numbers):
    with ThreadPoolExecutor(threads) as pool:
        found = nt.audit("ridge", X, Y, budget=BUDGET, **ASKED, executor=pool)
    assert found.to_dict() == numbers


def test_processes_give_the_same_numbers(numbers):
    with ProcessPoolExecutor(1) as pool:
        found = nt.audit("ridge", X, Y, budget=BUDGET, **ASKED, executor=pool)
    assert found.to_dict() == numbers


def test_a_stored_audit_has_the_same_numbers_and_is_resumed(tmp_path, numbers):
    job = asked()
    first = nt.lab.run(study_of(job), tmp_path / "audit", workers=2)
    assert first.computed == 4
    assert load_audit(job, tmp_path / "audit").to_dict() == numbers
    again = nt.lab.run(study_of(job), tmp_path / "audit", workers=1)
    assert (again.kept, again.computed) == (4, 0)


def test_the_rows_of_the_table_are_stored_once_and_not_as_text(tmp_path, stored):
    _, folder, _ = stored
    assert b"base64" not in (folder / "manifest.json").read_bytes()
    held = nt.lab.load(folder).folder
    assert (held.array("X") == X).all()
    assert (held.array("y") == Y).all()


def test_more_splits_go_on_where_fewer_ended(tmp_path, stored):
    _, whole, _ = stored
    shutil.copytree(whole, tmp_path / "audit")
    more = asked(remedies=(), splits=3)
    again = nt.lab.run(study_of(more), tmp_path / "audit", workers=1)
    assert (again.kept, again.computed) == (2, 1)
    assert load_audit(more, tmp_path / "audit").to_dict() == (
        nt.audit("ridge", X, Y, budget=BUDGET, **ASKED | {"remedies": (), "splits": 3}).to_dict()
    )


def test_a_second_audit_into_the_folder_of_one_that_runs_is_refused(tmp_path):
    study = study_of(asked(remedies=()))
    refused = []

    def begin_another(_):
        with ThreadPoolExecutor(1) as other:
            second = other.submit(nt.lab.run, study, tmp_path / "audit")
            refused.append(second.exception())

    assert nt.lab.run(study, tmp_path / "audit", workers=1, progress=begin_another).present == 2
    assert all("another run is writing" in str(error) for error in refused)
    assert refused


def test_numbers_of_rows_that_one_split_lacks_are_not_compared(tmp_path, stored):
    job, whole, numbers = stored
    shutil.copytree(whole, tmp_path / "audit")
    folder = Folder.read(tmp_path / "audit")
    table = folder.load("audited", 1)
    rows = plain_rows(table.filter(~table["searched"].fill_null(False)), folder.columns)
    folder.save("audited", 1, rows)
    assert nt.lab.run(study_of(job), folder.path, workers=1).computed == 0
    assert load_audit(job, folder.path).to_dict()["damages"] == numbers["damages"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A small audit: what is asked, its folder, and what it found."""
    job, folder = asked(remedies=()), tmp_path_factory.mktemp("stored") / "audit"
    nt.lab.run(study_of(job), folder, workers=1)
    return job, folder, load_audit(job, folder).to_dict()


@pytest.mark.long
@pytest.mark.quick
def test_an_audit_that_is_killed_resumes_to_the_same_content(tmp_path):
    """The command is killed −9 once a part is stored, and started again."""
    table = tmp_path / "table.csv"
    np.savetxt(table, np.column_stack([X, Y]), delimiter=",", header="a,b,c,y", comments="")
    command = (
        "audit", table, "--label", "y", "--estimator", "huber", "--bound", "1", "--probability",
        "0.1", "--no-remedies", "--splits", "8", "--max-damage", "0.1", "--threads", "1", "--json",
    )  # fmt: skip
    process = start(*command, "--out", tmp_path / "killed")
    wait_until(has_grown(tmp_path / "killed", process, 1))
    process.kill()
    assert finish(process)[0] == -signal.SIGKILL
    assert 0 < shards(tmp_path / "killed") < 8
    codes, texts, _ = zip(
        *(finish(start(*command, "--out", tmp_path / name)) for name in ("killed", "whole")),
        strict=True,
    )
    assert hashes(tmp_path / "killed") == hashes(tmp_path / "whole")
    numbers = [json.loads(text) | {"page": None} for text in texts]
    assert numbers[0] == numbers[1]
    assert codes[0] == codes[1]
    assert codes[0] in (0, 3)


def test_the_order_of_remedies_and_their_number_do_not_change_the_others(numbers):
    more = nt.audit(
        "ridge", X, Y, budget=BUDGET, **ASKED | {"remedies": ("tree", "huber", "trim")}
    ).to_dict()
    assert more["damages"] == numbers["damages"]
    mine = next(remedy for remedy in more["remedies"] if remedy["name"] == "huber")
    assert mine == numbers["remedies"][0]


def test_a_range_of_labels_may_have_one_end(tmp_path):
    few = {"remedies": (), "tolerance": None, "label_range": (-100.0, np.inf)}
    job = asked(**few)
    nt.lab.run(study_of(job), tmp_path / "audit", workers=1)
    direct = nt.audit("ridge", X, Y, budget=BUDGET, **ASKED | few)
    assert load_audit(job, tmp_path / "audit").damages == direct.damages


def test_different_audits_have_different_names():
    names = {name_of(study_of(asked(**more))) for more in ({}, {"seed": 1}, {"remedies": ()})}
    assert len(names) == 3
    assert name_of(study_of(asked())) in names


def test_a_saved_model_is_audited_by_its_parameters(tmp_path):
    model = nt.NeuroTronRegressor(fit_intercept=False).fit(X, Y)
    model.save(tmp_path / "model.safetensors")
    few = {"remedies": (), "tolerance": None, "attacks": "constant"}
    job = asked(model, **few)
    nt.lab.run(study_of(job, tmp_path / "model.safetensors"), tmp_path / "audit", workers=1)
    direct = nt.audit(
        nt.NeuroTronRegressor(fit_intercept=False), X, Y, budget=BUDGET, **ASKED | few
    )
    assert load_audit(job, tmp_path / "audit").damages == direct.damages
