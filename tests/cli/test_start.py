"""Commands start fast because they import only what they need."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """
import sys
from neurotron.cli import main
try:
    main()
finally:
    print("loaded:", *sys.modules, file=sys.stderr)
"""

DRAWING = {"matplotlib", "plotly", "jinja2"}
STUDIES = {
    "polars",
    "distributed",
    "neurotron.lab.studies",
    "neurotron.lab.results",
    "neurotron.lab.figures",
}
COMPILER = {"numba", "llvmlite", "scipy", "neurotron.engine.compiled"}
FORMULAS = {f"neurotron.{name}" for name in ("attacks", "guarantees", "laws", "theory", "trainers")}


def loaded_by(*command: str) -> set[str]:
    """Run a command; return the names of all modules that are imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", START, *command], capture_output=True, text=True, check=True
    )
    return set(done.stderr.partition("loaded:")[2].split())


def test_the_package_is_a_command_of_python():
    command = [sys.executable, "-m", "neurotron", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("neurotron ")


@pytest.mark.parametrize(
    "command", [["--help"], ["--version"], ["simulate", "--help"], ["clean", "--help"]]
)
def test_help_loads_nothing_that_computes(command):
    loaded = loaded_by(*command)
    assert "neurotron.cli.app" in loaded
    assert not loaded & (FORMULAS | COMPILER | STUDIES | DRAWING)


@pytest.mark.parametrize(
    "command",
    [
        ["plan", "--bound", "1", "--probability", "0.05", "--steps", "10000"],
        ["certify", "--steps", "10000"],
        ["list", "attacks"],
    ],
    ids=" ".join,
)
def test_guarantees_and_lists_load_neither_the_compiler_nor_results(command):
    loaded = loaded_by(*command)
    assert "neurotron.attacks" in loaded
    assert not loaded & (COMPILER | STUDIES | DRAWING)


def test_heavy_tails_are_certified_with_scipy_but_without_the_compiler():
    """The variances of Student t inputs given their lengths need the inverse gamma function."""
    weighted = ["--trainer", "neuro-tron:weighting=inverse-norm"]
    loaded = loaded_by("certify", "--law", "student-t:dof=4", *weighted)
    assert "neurotron.attacks" in loaded
    assert not loaded & (COMPILER - {"scipy"} | STUDIES | DRAWING)


def test_a_table_is_fitted_without_studies_and_pictures(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(9)))
    loaded = loaded_by("clean", str(path), "--label", "b")
    assert {"polars", "sklearn"} <= loaded
    assert not loaded & (STUDIES - {"polars"} | DRAWING | {"neurotron.engine.compiled"})


def test_training_loads_the_compiler_but_no_results():
    loaded = loaded_by("simulate", "--n-inputs", "4", "--steps", "1")
    assert "neurotron.engine.compiled" in loaded
    assert not loaded & (STUDIES | DRAWING | {"scipy.special", "scipy.stats", "scipy.integrate"})
