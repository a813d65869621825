"""Certified and measured errors on tables: a sample of docs/evidence/table-certificates.csv."""

from __future__ import annotations

import polars as pl
import pytest
from tests.support.documents import PROOFS, assert_says
from tools import table_certificates as tool

import neurotron as nt

STORED, CODE = tool.stored()
WHITENED = STORED.filter(inputs="whitened")


def stored(case: tool.Case) -> pl.DataFrame:
    """Return the stored rows of a case."""
    return STORED.filter(table=case.table, network=case.network, inputs=case.inputs)


def test_every_case_is_stored_and_the_page_is_written_from_the_table():
    assert len(STORED) == len(tool.CASES) * len(tool.arms_of(tool.CASES[0]))
    assert set(STORED["runs"]) == {tool.RUNS}
    assert (tool.STORE / f"{tool.NAME}.md").read_text() == tool.page(STORED, CODE)


def test_no_measured_error_is_above_what_is_certified():
    assert (STORED["low"] <= STORED["certified"]).all()
    assert (STORED["largest"] <= STORED["radius"]).all()
    assert (STORED["largest prediction error"] <= STORED["certified prediction error"]).all()


def test_an_attack_on_the_intercept_reaches_what_is_certified_for_linear_networks():
    ratios = WHITENED.filter(network="linear", attack="intercept")["ratio"]
    assert len(ratios) == len(tool.TABLES)
    assert ratios.max() <= 1.03


def test_runs_on_a_skewed_table_are_as_far_off_as_is_stored():
    case = tool.Case("skewed", inputs="whitened")
    found = pl.DataFrame(list(tool.rows_of(case, runs=5)))
    exact = ["attack", "certified", "radius", "certified prediction error"]
    assert found.select(exact).equals(stored(case).select(exact))
    attacked = pl.col("attack") != "none"
    off = found.filter(attacked)["measured"] / stored(case).filter(attacked)["measured"] - 1.0
    assert off.abs().max() < 0.05


@pytest.mark.parametrize(
    "case", [tool.Case("diabetes"), tool.Case("skewed", tool.LEAK, "whitened")]
)
def test_certificates_of_tables_are_those_that_are_stored(case):
    arm = tool.arms_of(case)["adaptive"]
    found = nt.certify(tool.problem_of(case), arm, steps=case.steps, batch_size=tool.BATCH_SIZE)
    assert found.kind == "theorem (table)"
    row = stored(case).row(by_predicate=pl.col("attack") == "adaptive", named=True)
    assert row["certified"] == pytest.approx(found.root_mean_square, rel=5e-3)
    assert row["certified prediction error"] == pytest.approx(found.prediction_error, rel=5e-3)


@pytest.mark.parametrize("case", [case for case in tool.CASES if case.inputs == "whitened"])
def test_docs_show_the_stored_ratios_and_prediction_errors(case):
    rows = stored(case)
    certified = rows.filter(attack="adaptive")["certified prediction error"].item()
    name = case.table if case.leak == 1.0 else f"{case.table}, one gate with leak {case.leak:g}"
    numbers = [*rows["ratio"], certified, rows["largest prediction error"].max()]
    assert_says(PROOFS, f"| {name} |" + " {} |" * 5, *numbers)
