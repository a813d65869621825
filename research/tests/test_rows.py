"""The study of rows: its unit, what counts as solved, and its claims on made-up fits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import row_claims
from research.pages import ROOT
from row_results import Fits
from row_solvers import RowTask, answer
from rows import SOLVED, Sample, cells_of, fit, listed
from tests.support.results import stored

import neurotron as nt
from neurotron.lab.claims import VERDICTS, Claim, Judgement

HOLDS, _, DOES_NOT_HOLD, UNDECIDED, NOT_TESTED = VERDICTS
CLAIMS = {one.name: one for one in vars(row_claims).values() if isinstance(one, Claim)}
STUDY = nt.lab.read(ROOT / "research" / "rows" / "study.toml", allow_code=True)
PAPER = {
    "name": "paper", "network": "symmetric:width=2", "law": "normal", "n_inputs": 6, "noise": 0.0,
    "filter_size": 2, "rows_per_weight": [2, 4, 8, 16], "solvers": ["solve"],
    "sweeps": [{"attack": "none"}, {"attack": "constant", "bound": 4, "probability": [0.2, 0.4]},
               {"attack": "picked-rows", "bound": 1e6, "probability": [0.2, 0.4]}],
}  # fmt: skip
CONSTANT = {"attack": "constant", "bound": 4, "probability": 0.4}
SETTINGS = [
    PAPER,
    PAPER | {"name": "gate", "network": "relu-gate", "n_inputs": 2,
             "rows_per_weight": [2, 4, 8, 96]},
    PAPER | {"name": "rivals", "rows_per_weight": 8, "solvers": ["solve", "trim"],
             "sweeps": [CONSTANT]},
    PAPER | {"name": "noise", "noise": 0.1, "rows_per_weight": [20, 80],
             "solvers": ["honest", "solve", "least-squares"],
             "sweeps": [{"attack": "none"}, CONSTANT | {"bound": [0.1, 1]}]},
]  # fmt: skip


# ---- the unit ------------------------------------------------------------------------------------


def test_a_walk_ends_when_the_filter_was_found_twice_unless_there_is_noise():
    setting = PAPER | {"network": "symmetric:width=4", "n_inputs": 8, "rows_per_weight": [4, 8, 16]}
    rows = [row for row in fit(setting, 0, 1) if row["attack"] == "none"]
    assert [row["rows"] for row in rows] == [8, 16]
    assert max(row["error"] for row in rows) <= SOLVED
    assert fit(setting, 0, 1) == fit(setting, 0, 1) != fit(setting, 0, 2)
    noisy = fit(SETTINGS[3], 0, 1)
    assert len(noisy) == 3 * 3 * 2
    assert min(row["error"] for row in noisy) > 1e-5


def test_exactly_the_share_of_the_labels_of_the_first_rows_is_tampered_with():
    sample = Sample(PAPER | {"rows_per_weight": 32}, seed=0)
    for attack, bound in (("constant", 4.0), ("picked-rows", 1e6), ("random-sign", 4.0)):
        task = sample.task(64, attack, bound, 0.3)
        honest = task.network(task.true_weights, task.X)
        assert task.tampered.sum() == 19  # ⌊0.3 · 64⌋
        assert np.array_equal(task.y[~task.tampered], honest[~task.tampered])
        assert np.abs(task.y - honest)[task.tampered].min() > 0.0
    assert np.array_equal(sample.task(8, "constant", 4.0, 0.3).X, task.X[:8])


@pytest.mark.parametrize("solver", ["honest", "trim-half", "l1", "huber", "soft-l1", "cauchy"])
def test_every_solver_finds_the_filter_of_honest_rows(solver):
    network, draw = nt.networks.symmetric(12, 3, 4, seed=2), np.random.default_rng(0)
    true, X = draw.standard_normal(3), draw.standard_normal((60, 12))
    task = RowTask(network, X, network(true, X), np.zeros(60, bool), true)
    assert np.allclose(answer(solver, task).weights, true, atol=1e-6)


# ---- made-up fits --------------------------------------------------------------------------------

GOOD, BAD = {"error": 1e-15}, {"error": 0.5, "proven": -1}


def made(folder, world, replicates=40):
    """Return results whose fits are what `world(fit)` says of them."""

    def unit(setting, replicate):
        rows = []
        for cell in cells_of(setting):
            walk = []
            for ratio in map(float, listed(setting["rows_per_weight"])):
                row = dict(zip(("attack", "bound", "probability", "solver"), cell, strict=True))
                row |= {"bound": float(row["bound"]), "probability": float(row["probability"])}
                size = round(ratio * setting["filter_size"])
                row |= {"rows_per_weight": ratio, "rows": size, "error": 1e-15, "starts": None,
                        "tampered": int(row["probability"] * size), "proven": None}  # fmt: skip
                if row["solver"] == "solve":
                    row |= {"starts": 1, "proven": size // 2}
                about = row | {"setting": setting["name"], "replicate": replicate}
                walk.append(row | world(about))
                solved = [one["error"] <= SOLVED for one in walk[-2:]]
                if not setting["noise"] and len(solved) == 2 and all(solved):
                    break
            rows += walk
        return rows

    return stored(folder, replace(STUDY, settings=SETTINGS), unit, replicates)


def as_claimed(fit):
    """A world in which every claim holds."""
    if fit["setting"] == "noise":
        return {"error": {"honest": 0.1, "solve": 0.101, "least-squares": 0.5}[fit["solver"]]}
    if fit["solver"] == "trim":
        return {"error": 0.5}
    return BAD if fit["setting"] == "gate" and fit["attack"] == "picked-rows" else GOOD


def changed(outcome, **where):
    """The world as claimed, but with another outcome of some fits."""
    return lambda fit: (
        as_claimed(fit)
        | (outcome if all(fit[name] == value for name, value in where.items()) else {})
    )


def judged(name, results):
    return Judgement(CLAIMS[name], tuple(CLAIMS[name].check(results))).verdict


def test_every_claim_holds_where_it_is_true_and_four_problems_are_too_few(tmp_path):
    for replicates, verdict in ((40, HOLDS), (4, NOT_TESTED)):
        results = made(tmp_path / str(replicates), as_claimed, replicates)
        assert {name: judged(name, results) for name in CLAIMS} == dict.fromkeys(CLAIMS, verdict)


RIVALS = {"setting": "rivals", "solver": "solve"}
NOISE = {"setting": "noise", "solver": "solve"}
TRIM, LEAST, PROOF = (
    "more-often-exact-than-trim",
    "near-honest-least-squares",
    "proof-is-never-wrong",
)
CASES = [
    ("few-rows-suffice", DOES_NOT_HOLD,
     changed(BAD, setting="paper", attack="constant", probability=0.2)),
    ("few-rows-suffice", DOES_NOT_HOLD,
     changed(BAD, setting="paper", attack="constant", probability=0.4)),
    ("few-rows-suffice", HOLDS, changed(BAD, setting="paper", attack="picked-rows")),
    ("picked-rows-need-more", DOES_NOT_HOLD, changed(GOOD, setting="gate", attack="picked-rows")),
    (LEAST, DOES_NOT_HOLD, changed({"error": 0.12}, **NOISE, bound=1.0)),
    (LEAST, DOES_NOT_HOLD, changed({"error": 0.12}, **NOISE, attack="none")),
    (LEAST, HOLDS, changed({"error": 9.0}, **NOISE, bound=0.1)),
    (TRIM, UNDECIDED, changed(GOOD, setting="rivals", solver="trim")),
    (TRIM, DOES_NOT_HOLD, lambda fit: as_claimed(fit) | (
        {"error": {"solve": 0.5, "trim": 1e-15}[fit["solver"]], "proven": -1}
        if fit["setting"] == "rivals" else {})),
    (PROOF, DOES_NOT_HOLD, changed({"error": 0.5}, **RIVALS)),
    (PROOF, DOES_NOT_HOLD, changed({"error": 0.5, "proven": 6}, **RIVALS, tampered=6)),
    (PROOF, HOLDS, changed({"error": 0.5, "proven": 5}, **RIVALS, tampered=6)),
    (PROOF, HOLDS, changed({"error": 1e-8}, **RIVALS)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "verdict", "world"), CASES)
def test_a_claim_comes_out_as_the_fits_were_made(name, verdict, world, tmp_path):
    assert judged(name, made(tmp_path / "out", world, 20)) == verdict


def test_enough_rows_are_those_from_which_on_problems_are_solved(tmp_path):
    def world(fit):
        if fit["setting"] == "noise":
            return {"error": {"honest": 0.1, "solve": 0.2, "least-squares": 0.5}[fit["solver"]]}
        few = fit["attack"] == "constant" and fit["rows_per_weight"] < 8
        return {"error": 0.5 if few or fit["attack"] == "picked-rows" else 1e-15}

    found = Fits(made(tmp_path / "out", world, 6))
    smallest = found.smallest.filter(setting="paper")
    assert smallest["smallest"].to_list() == [2.0, 8.0, 8.0, None, None]
    shares = found.shares.filter(setting="paper", attack="none")
    assert shares["solved"].to_list() == [6] * 4  # also where it was not run again
    assert set(found.ratios.filter(solver="solve")["ratio"]) == {2.0}
