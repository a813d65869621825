"""The numbers of docs/rows.md are those of the stored study `rows`; a sample is computed again."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from tests.support.documents import ROOT
from tools import evidence

import neurotron as nt
from neurotron.lab.results.fits import SOLVED
from neurotron.lab.studies.fit import _Sample
from neurotron.lab.studies.row_solvers import answer

PAGE = (ROOT / "docs" / "rows.md").read_text()
ENTRY = evidence.stored()["rows"]
with open(evidence.STORE / "rows.csv", newline="") as file:
    TABLE = list(csv.DictReader(file))

NETWORKS = {
    "the paper's (n = 100, r = 25, k = 10)": "paper",
    "convolution, n = 40, r = 7, stride 7": "convolution-7",
    "convolution, n = 40, r = 7, stride 1": "convolution-1",
    "single gate, n = 20": "gate",
    "the paper's, N(0, 9)": "paper-normal-9",
    "the paper's, Laplace(2)": "paper-laplace-2",
    "the paper's, t(4)": "paper-student-t-4",
    "the paper's, N/r = 20": "paper-rivals",
    "convolution, stride 1, N/r = 20": "convolution-1-rivals",
    "single gate, N/r = 40": "gate-rivals",
}
RIVALS = (
    "solve", "trim", "trim-half", "l1", "huber", "least-squares", "soft-l1", "cauchy",
)  # fmt: skip


def rows(**fields: str) -> list[dict[str, str]]:
    return [row for row in TABLE if all(row[name] == value for name, value in fields.items())]


def one(**fields: str) -> dict[str, str]:
    (row,) = rows(**fields)
    return row


def lines(columns: int) -> list[list[str]]:
    """Return the tables of the page with so many columns, without their headers."""
    cells = [line.strip("| \n").split(" | ") for line in PAGE.splitlines() if line[:2] == "| "]
    found = [[cell.strip(" |") for cell in line] for line in cells]
    return [line for line in found if len(line) == columns and line[0] not in ("network", "N/r")]


def test_the_rows_that_are_enough_are_the_stored_ones():
    found = {(line[0], line[1]): line[2:] for line in _needed_lines()}
    stored = {
        (setting, row["attack"]) for row in rows(solver="solve") if row["rows_per_weight"] == ""
        for setting in [row["setting"]] if row["attack"] != "none"
    }  # fmt: skip
    assert {(NETWORKS[network], attack) for network, attack in found} == stored
    for (network, attack), cells in found.items():
        for beta, cell in zip(("0.1", "0.2", "0.3", "0.4"), cells, strict=True):
            kept = rows(setting=NETWORKS[network], attack=attack, probability=beta, solver="solve")
            assert cell == (kept[0]["smallest"] or "–" if kept else ""), (network, attack, beta)


def _needed_lines() -> list[list[str]]:
    block = PAGE.partition("| network | attack | β = 0.1 |")[2].partition("\n\n")[0]
    parts = [line.split("|")[1:-1] for line in block.splitlines()[2:]]
    return [[cell.strip() for cell in line] for line in parts]


def test_the_shares_of_the_rivals_are_the_stored_ones():
    found = lines(10)
    assert len(found) == 3 * 6
    for network, under, *shares in found:
        attack, beta = under.split(", ")
        for solver, share in zip(RIVALS, shares, strict=True):
            row = one(
                setting=NETWORKS[network], attack=attack, probability=beta, solver=solver,
            )  # fmt: skip
            assert share == f"{round(100 * float(row['exact']))} %"


def test_the_ratios_with_noise_are_the_stored_ones():
    bounds = ("0.05", "0.1", "0.3", "0.5", "1", "10")
    found = lines(11)
    assert len(found) == 8
    for many, attack, *numbers in found:
        where = {"setting": "noise", "attack": attack, "probability": "0.4"}
        where["rows_per_weight"] = many
        kept = [one(**where, bound=bound, solver="solve")["ratio"] for bound in bounds]
        kept += [
            one(**where, bound="1", solver=solver)["ratio"]
            for solver in ("l1", "trim", "least-squares")
        ]
        assert numbers == kept


def test_the_words_about_noise_and_proofs_are_those_of_the_stored_numbers():
    text = " ".join(PAGE.split())
    large = [
        row for row in rows(setting="noise", solver="solve")
        if row["attack"] == "none" or float(row["bound"]) >= 1.0
    ]  # fmt: skip
    ratios, largest = ([float(row[name]) for row in large] for name in ("ratio", "largest"))
    words = f"is {min(ratios):.3g} to {max(ratios):.3g} times that error"
    assert words in text
    assert f"the largest on any network is {max(largest):.3g} times" in text
    (proof,) = ENTRY["claims"]["proof-is-never-wrong"]["findings"]
    assert proof["count"] == 0
    assert f"{proof['total']:,} fits ended at a wrong filter" in text
    (networks,) = {row["problems"] for row in rows(setting="noise")}
    assert f"with {ENTRY['replicates']} problems for each number, and {networks} networks" in text
    honest = [
        one(setting=name, attack="none", solver="solve")["smallest"]
        for name in ("paper", "convolution-7", "convolution-1", "gate")
    ]
    paper, seven, overlap, gate = honest
    assert f"{paper} rows for each weight are enough on the paper's network, {seven} and" in text
    assert f"and {overlap} on the convolutions, and {gate} on the single gate" in text


def test_where_it_fails_is_what_the_table_says():
    text = " ".join(PAGE.split())
    assert "under `impostor` from β = 0.2 on, and under `picked-rows` and `high-leverage`" in text
    for attack, first in (("picked-rows", 0.3), ("impostor", 0.2), ("high-leverage", 0.3)):
        for row in rows(setting="gate", attack=attack):
            assert (row["smallest"] == "") == (float(row["probability"]) >= first)
    for probability, enough in (("0.3", True), ("0.4", False)):
        conv = rows(setting="convolution-1", probability=probability)
        needed = {row["attack"]: float(row["smallest"] or "inf") for row in conv}
        picked = needed.pop("picked-rows")
        assert picked >= 2.0 * max(needed.values())
        assert (picked <= 96.0) == enough


def linear_near(off: float, beta: float) -> int:
    """Return on how many of 10 tables the filter is found if picked rows fit one so near to it."""
    network, found = nt.networks.linear(14), 0
    for seed in range(900, 910):
        draw = np.random.default_rng(seed)
        true, X = draw.standard_normal(14), draw.standard_normal((280, 14))
        away = draw.standard_normal(14)
        near = true + off * np.linalg.norm(true) * away / np.linalg.norm(away)
        attack = nt.attacks.PickedRows(weights=near, probability=beta)
        labels, _ = nt.poison(X, network(true, X), attack, model=(network, true))
        found += np.allclose(nt.solve(network, X, labels).weights, true, rtol=0.0, atol=1e-8)
    return found


@pytest.mark.long
@pytest.mark.quick
def test_labels_of_a_filter_close_to_the_true_one_win_as_the_page_says():
    text = " ".join(PAGE.split())
    assert f"at β = 0.4 the solver found the true filter on {linear_near(0.01, 0.4)} of 10" in text
    assert f"At β = 0.3 it found the filter on {linear_near(0.01, 0.3)} of the 10 linear" in text
    assert "at β = 0.2 on all 16, and with weights that were moved by 10 % always" in text
    assert linear_near(0.01, 0.2) == linear_near(0.1, 0.4) == 10


@pytest.mark.parametrize(("beta", "at_mirror"), [(0.4, True), (0.3, False)])
def test_a_minority_without_noise_wins_at_40_per_cent_as_the_page_says(beta, at_mirror):
    network, draw = nt.networks.symmetric(100, 25, 10, seed=900), np.random.default_rng(900)
    true, X = draw.standard_normal(25), draw.standard_normal((500, 100))
    honest = network(true, X)
    labels = honest + 0.3 * honest.std() * draw.standard_normal(500)
    labels[: int(500 * beta)] = network(-true, X)[: int(500 * beta)]
    found = nt.solve(network, X, labels)
    assert bool(np.linalg.norm(found.weights + true) < 1e-6) is at_mirror
    assert ("the filter may be the attacker's" in " ".join(str(found).split())) is at_mirror


def test_every_picture_of_the_study_is_shown():
    pictures = {path.name for path in (ROOT / "docs" / "images" / "rows").iterdir()}
    assert pictures == set(re.findall(r"\(images/rows/([^)]+)\)", PAGE))


# --- a sample, computed again

SAMPLE = [
    ("paper", "constant", 4.0, 0.4), ("paper", "adaptive", 4.0, 0.2),
    ("paper", "picked-rows", 1e6, 0.4), ("convolution-7", "impersonation", 1e6, 0.4),
    ("gate", "random-sign", 4.0, 0.3), ("paper-student-t-4", "constant", 4.0, 0.4),
]  # fmt: skip


def solved(setting: str, attack: str, bound: float, beta: float, replicates: int) -> list[bool]:
    """Return which problems are solved from the stored smallest number of rows."""
    study = nt.lab.studies.read("rows")
    spec = study.setting(setting)
    ratio = float(
        one(setting=setting, attack=attack, probability=f"{beta:g}", solver="solve")["smallest"]
    )
    found = []
    for replicate in range(replicates):
        sample = _Sample(study, spec, replicate)
        task = sample.task(round(ratio * spec.filter_size), attack, bound, beta)
        off = np.linalg.norm(answer("solve", task).weights - task.true_weights)
        found.append(bool(off <= SOLVED * np.linalg.norm(task.true_weights)))
    return found


@pytest.mark.filterwarnings("ignore:only .* rows say something")
def test_the_stored_numbers_of_rows_are_enough_when_computed_again():
    found = [solved(*cell, replicates=1) for cell in SAMPLE]
    assert sum(map(sum, found)) >= 5  # of 6: each of them has at least 95 %


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:only .* rows say something")
@pytest.mark.filterwarnings("ignore:.* of the labels are equal")  # up to 5 % fail, and may say so
@pytest.mark.parametrize("setting", ["paper", "convolution-7", "convolution-1", "gate"])
def test_the_stored_numbers_of_rows_are_enough_on_many_problems(setting):
    kept = [
        row for row in rows(setting=setting, solver="solve")
        if row["smallest"] and row["attack"] != "none"
    ]  # fmt: skip
    found = [
        solved(setting, row["attack"], float(row["bound"]), float(row["probability"]), 6)
        for row in kept
    ]
    total = sum(map(len, found))
    assert sum(map(sum, found)) >= 0.93 * total
