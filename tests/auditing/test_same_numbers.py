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
from neurotron.auditing.stored import Request, audit_in, load_audit, name_of
from neurotron.lab.results.rows import plain_rows

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


@pytest.fixture(scope="module")
def spec():
    return Request(estimator="ridge", budgets=(BUDGET,), **ASKED).spec(X, Y)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads_gives_the_same_numbers(threads, numbers):
    with ThreadPoolExecutor(threads) as pool:
        found = nt.audit("ridge", X, Y, budget=BUDGET, **ASKED, executor=pool)
    assert found.to_dict() == numbers


def test_processes_give_the_same_numbers(numbers):
    with ProcessPoolExecutor(1) as pool:
        found = nt.audit("ridge", X, Y, budget=BUDGET, **ASKED, executor=pool)
    assert found.to_dict() == numbers


def test_a_stored_audit_has_the_same_numbers_and_is_resumed(tmp_path, spec, numbers):
    first = audit_in(spec, tmp_path / "audit", workers=2)
    assert first.computed == 4
    assert load_audit(spec, tmp_path / "audit").to_dict() == numbers
    again = audit_in(spec, tmp_path / "audit", workers=1)
    assert (again.kept, again.computed) == (4, 0)


FORGED = {
    "other columns": lambda rows: [{"x": 1}],
    "nothing about the fit": lambda rows: rows[1:],
    "no ceiling": lambda rows: [row for row in rows if row["kind"] != "limit"],
    "another budget": lambda rows: [row | {"bound": 2.0} for row in rows],
    "text for numbers": lambda rows: [row | {"error": "much"} for row in rows],
    "no numbers": lambda rows: [row | {"error": None} for row in rows],
    "attacks only": lambda rows: [row | {"kind": "attempt"} for row in rows],
    "rows that the table has not": lambda rows: [
        row | {"training": None if row["training"] is None else [99] * 30} for row in rows
    ],
    "fewer effects than rows": lambda rows: [
        row | {"sizes": None if row["sizes"] is None else [1.0, 1.0]} for row in rows
    ],
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_part_with_a_right_seal_is_set_aside_and_computed_again(name, tmp_path, stored):
    spec, whole, numbers = stored
    shutil.copytree(whole, tmp_path / "audit")
    folder = nt.lab.results.Folder.read(tmp_path / "audit")
    rows = [*folder.load("audited", 1).iter_rows(named=True)]
    folder.save("audited", 1, plain_rows(FORGED[name](rows)))
    again = audit_in(spec, folder.path, workers=1)
    assert (again.computed, len(again.set_aside)) == (1, 1)
    assert load_audit(spec, folder.path).to_dict() == numbers


def test_numbers_of_rows_that_one_split_lacks_are_not_compared(tmp_path, stored):
    spec, whole, numbers = stored
    shutil.copytree(whole, tmp_path / "audit")
    folder = nt.lab.results.Folder.read(tmp_path / "audit")
    rows = folder.load("audited", 1).iter_rows(named=True)
    folder.save("audited", 1, plain_rows([row for row in rows if not row["searched"]]))
    assert audit_in(spec, folder.path, workers=1).computed == 0
    assert load_audit(spec, folder.path).to_dict()["damages"] == numbers["damages"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A small audit: what is asked, its folder, and what it found."""
    asked = Request(estimator="ridge", budgets=(BUDGET,), **ASKED | {"remedies": ()}).spec(X, Y)
    folder = tmp_path_factory.mktemp("stored") / "audit"
    audit_in(asked, folder, workers=1)
    return asked, folder, load_audit(asked, folder).to_dict()


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
    few = ASKED | {"remedies": (), "tolerance": None, "label_range": (-100.0, np.inf)}
    spec = Request(estimator="ridge", budgets=(BUDGET,), **few).spec(X, Y)
    audit_in(spec, tmp_path / "audit", workers=1)
    direct = nt.audit("ridge", X, Y, budget=BUDGET, **few)
    assert load_audit(spec, tmp_path / "audit").damages == direct.damages


def test_different_audits_have_different_names(spec):
    other = Request(estimator="ridge", budgets=(BUDGET,), **ASKED | {"splits": 3}).spec(X, Y)
    assert name_of(spec) != name_of(other)
    assert name_of(spec) == name_of(dict(reversed(spec.items())))


def test_a_saved_model_is_audited_by_its_parameters(tmp_path):
    model = nt.NeuroTronRegressor(fit_intercept=False).fit(X, Y)
    model.save(tmp_path / "model.safetensors")
    few = ASKED | {"remedies": (), "tolerance": None, "attacks": "constant"}
    asked = Request(estimator=str(tmp_path / "model.safetensors"), budgets=(BUDGET,), **few)
    spec = asked.spec(X, Y)
    audit_in(spec, tmp_path / "audit", workers=1)
    stored = load_audit(spec, tmp_path / "audit")
    direct = nt.audit(nt.NeuroTronRegressor(fit_intercept=False), X, Y, budget=BUDGET, **few)
    assert stored.estimator == "model.safetensors"
    assert stored.damages == direct.damages
