"""README and docs are up to date: their numbers are those of docs/evidence, or computed here."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from research import evidence, verdicts
from research.evidence_page import claims_of, judgements
from research.pages import ROOT, filled, rounds_to, with_blocks, written
from research.pages import __main__ as pages
from research.tests.documents import PROOFS, assert_says

import neurotron as nt
from neurotron.guarantees.request import Request
from neurotron.guarantees.theorems import certified, certify_sharply
from neurotron.lab.claims.model import tally
from neurotron.solvers.rivals import least_squares

README = ROOT / "README.md"


@pytest.mark.parametrize("page", pages.PAGES | pages.BLOCKS)
def test_a_page_is_up_to_date(page):
    """If it is not: python -m research.pages."""
    assert pages.written(page) == (ROOT / page).read_text()


def test_a_table_that_a_page_has_no_place_for_is_named():
    text = "a\n<!-- one -->\n\n| old |\n\n<!-- end -->\n"
    assert with_blocks(text, {"one": "| new |"}) == text.replace("old", "new")
    with pytest.raises(ValueError, match="no marks <!-- two -->"):
        with_blocks(text, {"two": ""})


def test_a_number_is_written_with_the_decimals_of_its_page():
    page = "On all {} runs\nthe error is {} of it | – |"
    before, after = page.format("1,200", "0.31"), page.format("13,000", "0.27")
    words = ("On all {} runs the error is {} of it | {} |", 13_000, 0.2718)
    assert filled(before, iter([(*words, "–")])) == after
    assert filled(after, iter([(*words, "3")])) == after.replace("–", "3")
    assert written(3.14159e-7, "2.7e-14") == "3.1e-7"
    with pytest.raises(ValueError, match="2 times and not once: run"):
        filled("run 1, run 2", iter([("run {}", 1.0)]))


@pytest.mark.parametrize(
    ("number", "printed", "right"),
    [(0.608, "0.61", True), (0.608, "0.60", False), (1.74e-14, "1.7e-14", True),
     (1.76e-14, "1.7e-14", False), (-0.6026, "−0.603", True), (7079.0, "7,079", True)],
)  # fmt: skip
def test_a_number_is_right_if_all_printed_digits_are(number, printed, right):
    assert rounds_to(number, printed) is right


def test_the_readme_counts_the_claims_of_the_paper_and_ours_as_stored():
    claims = claims_of(evidence.study_of("paper"))
    told = tally([*judgements(verdicts.read()["paper"], claims)])
    assert told in " ".join(README.read_text().split())


@pytest.mark.parametrize(
    ("row", "beta", "theta", "noise", "step_size"),
    [("β = 0.5, θ = 1, ς = 0", 0.5, 1.0, 0.0, "scheduled"),
     ("β = 0.05, θ = 0.25, ς = 1", 0.05, 0.25, 1.0, "scheduled"),
     ("no attack, ς = 1", 0.0, 0.0, 1.0, "scheduled"),
     ("no attack, ς = 1, steps of size 0.002", 0.0, 0.0, 1.0, 0.002)],
)  # fmt: skip
def test_radii_that_docs_compare_with_certified_errors(row, beta, theta, noise, step_size):
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=0)
    problem = nt.Problem.draw(network, nt.Normal(), noise=noise, seed=0)
    attack = nt.attacks.OddDirection(theta, beta, direction=np.eye(25)[0])
    arm = nt.Arm(nt.NeuroTron(step_size), attack)
    found = [nt.certify(problem, arm, steps=12_000, confidence=one) for one in (0.95, 0.99)]
    ratios = [one.radius / one.root_mean_square for one in found]
    assert_says(PROOFS, f"| {row} |" + " {} |" * 2, *ratios)


def test_makefile_and_readme_say_the_same_about_how_long_it_takes():
    told = re.findall(r'echo "make (\w+) .*\(([^)]*)\)', (ROOT / "Makefile").read_text())
    readme = dict(re.findall(r"^make (\w+) +# .*: (.*)$", (ROOT / "README.md").read_text(), re.M))
    assert {"paper", "test"} <= readme.keys()
    assert readme.items() <= dict(told).items()


def test_what_the_readme_says_of_25_tables():
    ours, theirs, network = [], [], nt.networks.relu_gate(8)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, true = rng.standard_normal((500, 8)), rng.standard_normal(8)
        poisoned = rng.random(500) < 0.2
        y = np.maximum(X @ true, 0.0) + 0.1 * rng.standard_normal(500) + 5.0 * poisoned
        solution = nt.solve(network, X, y)
        assert (solution.rejected == poisoned).all()
        for found, fitted in ((ours, solution), (theirs, least_squares(network, X, y))):
            found.append(100 * np.linalg.norm(fitted.weights - true) / np.linalg.norm(true))
    readme = " ".join(README.read_text().split())
    said = re.search(r"at most (\d+) % away .*? least squares ended (\d+) to (\d+) %", readme)
    assert said is not None
    ends = (math.ceil(max(ours)), math.floor(min(theirs)), math.ceil(max(theirs)))
    assert said.groups() == tuple(map(str, ends))
    assert f"# least squares is {theirs[0]:.0f} % off" in readme


def test_what_other_coordinates_gain():
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=2)
    problem = nt.Problem.draw(network, nt.Normal(), seed=2)
    planned = nt.plan(problem, nt.Budget(1.0, 0.5), radius=1.0).certificate
    assert_says(PROOFS, "the prediction error is {} instead", planned.prediction_error)
    law = nt.laws.Correlated(nt.Normal(), np.diag([10.0, 1.0, 0.2]))
    problem = nt.Problem.draw(nt.networks.linear(3), law, seed=1)
    request = Request(
        problem, nt.Arm(nt.NeuroTron(0.01)), 16, 3000, 0.95, None, nt.Budget(0.1, 0.5), "sharp"
    )
    before, after = certify_sharply(request), certified(request)
    assert_says(PROOFS, "the prediction error is at most {} instead", after.prediction_error)
    assert_says(PROOFS, "instead of {}, and the error", before.prediction_error)
    assert_says(PROOFS, "the error of the weights at most {} instead", after.radius)
    assert_says(PROOFS, "at most 0.25 instead of {}.", before.radius)
