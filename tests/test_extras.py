from __future__ import annotations

import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

from neurotron import cli
from neurotron._extras import MissingExtra, require

ROOT = Path(__file__).parents[1]


def test_what_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingExtra, match=r"needs plotly: pip install '\.\[lab\]' in a checkout"):
        require("plotly")


@pytest.mark.parametrize(
    "error",
    [NameError("name 'PySeries' is not defined"), MemoryError(), ImportError("failed to map\nit")],
)
def test_what_cannot_be_loaded_gets_one_sentence(monkeypatch, error):
    """As the import of polars ends when there is too little memory."""

    def fail(name):
        raise error

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(MissingExtra, match=r"^polars is installed but cannot be loaded \(.*memory"):
        require("polars")


def test_a_package_that_only_warns_that_a_part_of_it_is_missing_is_refused(monkeypatch):
    """As polars is imported when there is too little memory: its first use would fail."""

    def halve(name):
        warnings.warn("Polars binary is missing!", stacklevel=2)

    monkeypatch.delitem(sys.modules, "polars", raising=False)
    monkeypatch.setattr(importlib, "import_module", halve)
    refused = pytest.raises(MissingExtra, match=r"^polars .* cannot be loaded .*binary.*memory")
    with warnings.catch_warnings(action="ignore"), refused:  # as outside of tests
        require("polars")


def test_any_package_that_cannot_be_loaded_is_one_sentence_of_the_command(monkeypatch, capsys):
    def fail():
        raise ImportError("_ufuncs.so: failed to map segment from shared object")

    app = ModuleType("neurotron.cli.app")
    app.run = fail
    monkeypatch.setitem(sys.modules, "neurotron.cli.app", app)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert re.match(r"error: .*cannot be loaded .*_ufuncs.*memory", capsys.readouterr().err)


def test_a_missing_package_is_not_the_answer_no_of_the_command(monkeypatch, capsys):
    """Exit code 1 means that nothing is guaranteed, or that an audit's gate is shut."""

    def fail():
        raise ModuleNotFoundError("No module named 'typer'", name="typer")

    app = ModuleType("neurotron.cli.app")
    app.run = fail
    monkeypatch.setitem(sys.modules, "neurotron.cli.app", app)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert re.match(r"error: the command line needs typer: pip install", capsys.readouterr().err)


@pytest.mark.slow("a new process loads scikit-learn and the compiler")
def test_the_library_needs_nothing_of_the_laboratory():
    code = """
import sys
HIDDEN = {"polars", "pydantic", "plotly", "jinja2", "typer", "rich", "filelock", "matplotlib"}
class Hider:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN or name.startswith("neurotron.lab"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hider())
import numpy as np, neurotron as nt
draw = np.random.default_rng(0)
X = draw.standard_normal((120, 3))
y = X @ [1.0, -2.0, 0.5] + 0.1 * draw.standard_normal(120)
y[:6] += 5.0
assert nt.solve(nt.networks.linear(3), X, y).weights.shape == (3,)
model = nt.NeuroTronRegressor().fit(X, y)
assert model.suspects_[:6].all()
problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(), seed=1)
run = nt.simulate(problem, [nt.NeuroTron()], steps=50, batch_size=4)
assert nt.certify(problem, nt.NeuroTron(), batch_size=4, steps=50).radius > 0.0
budget = nt.Budget(bound=0.1, probability=0.1)
assert nt.plan(problem, budget, radius=0.5, batch_size=4).steps > 0
rows = draw.standard_normal((400, 3))
labels = problem.network(problem.true_weights, rows)
assert nt.verify(problem, run.weights[0], rows, labels, probability=0.1) is not None
found = nt.audit("ridge", X, y, budget=nt.Budget(bound=1.0, rows=4), tolerance=0.1, splits=2,
                 attacks="constant", remedies=["least-squares"])
assert "REMEDIES" in str(found) and found.to_dict()["remedies"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
