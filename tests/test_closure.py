"""A module's code is known by what it imports: no less, and nothing else."""

from __future__ import annotations

import ast
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import neurotron
from neurotron import _closure
from neurotron._check import InputError
from neurotron._closure import closure, home_of, source_hash

ROOT = Path(neurotron.__file__).parent
UNIT = "neurotron.lab.studies.unit"


def test_a_training_unit_needs_what_trains_and_certifies_and_not_what_shows():
    found = {name.removeprefix("neurotron.") for name in closure(UNIT)}
    assert {
        "_seeds", "attacks.adaptive", "engine.compiled.step", "guarantees.certify", "laws.normal",
        "simulation", "studies.building", "studies.unit", "theory.recursion", "trainers",
    } <= found  # fmt: skip
    packages = {name.partition(".")[0] for name in found}
    assert not packages & {"claims", "cli", "conformance", "figures", "report"}
    assert not {"results", "results.tables", "studies", "studies.runner", "studies.work"} & found
    assert not {"studies.claim_names", "studies.reading"} & found  # a new claim voids nothing


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the package."""
    place = tmp_path_factory.mktemp("copy") / "neurotron"
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns("__pycache__", "*.toml"))
    return place


def hash_with(tree: Path, **texts: str) -> str:
    """Return the hash of the training unit while files have these texts."""
    files = {tree / f"{name.replace('__', '/')}.py": text for name, text in texts.items()}
    old = {file: file.read_text() for file in files if file.exists()}
    try:
        for file, text in files.items():
            file.write_text(old.get(file, "") + text)
        _closure._known.pop((UNIT, tree), None)
        return source_hash(UNIT, tree)
    finally:
        for file in files:
            file.write_text(old[file]) if file in old else file.unlink()


def test_new_files_that_nobody_imports_comments_and_docstrings_change_nothing(tree):
    new = dict.fromkeys(["new", "attacks__new", "studies__new"], "from neurotron import laws\n")
    words = {"attacks__adaptive": '\n\n# a remark\n"""And a text."""\n'}
    assert hash_with(tree, **new, **words) == source_hash(UNIT)


@pytest.mark.parametrize("name", ["attacks__adaptive", "guarantees__certify", "lab__results__rows"])
def test_other_code_that_computes_or_stores_a_unit_changes_its_hash(tree, name):
    assert hash_with(tree, **{name: "\nMORE = 1\n"}) != source_hash(UNIT)


# --- what counts as an import


@pytest.fixture
def small(tmp_path):
    """A package of a few files that bears our name."""
    place = tmp_path / "neurotron"
    for name in ("__init__", "seeds", "cards", "laws/__init__", "laws/normal", "figures/__init__"):
        (place / name).parent.mkdir(exist_ok=True, parents=True)
        (place / f"{name}.py").touch()
    (place / "laws/__init__.py").write_text("from neurotron.laws.normal import Normal")
    return place


def needs(small: Path, text: str) -> set[str]:
    """Return what a module with this text needs, besides itself."""
    (small / "fresh.py").write_text(text)
    found = closure("neurotron.fresh", small)
    return {name.removeprefix("neurotron.") for name in found} - {"fresh"}


@pytest.mark.parametrize(
    "text",
    [
        "from neurotron.seeds import key",
        "from neurotron import seeds",
        "import neurotron.seeds as seeds",
        "from .seeds import key",
        "from . import seeds",
        "def f():\n    try:\n        pass\n    except OSError:\n        from . import seeds",
        "async def f():\n    with x:\n        from . import seeds",
        "match x:\n    case 1:\n        from . import seeds",
        "if TYPE_CHECKING:\n    from . import cards\nelse:\n    from . import seeds",
        "if typing.TYPE_CHECKING:\n    from . import cards\nelse:\n    from . import seeds",
        "if not TYPE_CHECKING:\n    from . import seeds",
        "from . import seeds\ndef plot():\n    from neurotron import figures",
        "import numpy, os.path\nfrom . import seeds",
    ],
)
def test_imports_are_followed_wherever_they_stand_but_for_types_and_plots(small, text):
    assert needs(small, text) == {"seeds"}


def test_a_package_is_followed_if_it_is_what_is_wanted(small):
    assert needs(small, "from neurotron.laws import Normal") == {"laws", "laws.normal"}
    assert needs(small, "from neurotron import laws") == {"laws", "laws.normal"}
    assert needs(small, "from neurotron.laws.normal import Normal") == {"laws.normal"}


@pytest.mark.parametrize(
    "text",
    ["import neurotron as nt", "import neurotron", "import neurotron.laws",
     "from neurotron import *", "from neurotron import simulate", "from . import simulate"],
)  # fmt: skip
def test_whoever_imports_the_whole_package_needs_all_of_it(small, text):
    assert needs(small, text) == {"seeds", "cards", "laws", "laws.normal", "figures"}


# --- modules of somebody else


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder from which modules can be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def test_a_file_of_ones_own_counts_with_the_files_beside_it(elsewhere):
    (elsewhere / "mine_alone.py").write_text(
        "import mine_beside, json\nfrom neurotron import _seeds"
    )
    (elsewhere / "mine_beside.py").write_text("X = 1")
    (elsewhere / "mine_other.py").write_text("X = 1")
    importlib.import_module("mine_alone")
    found = closure("mine_alone")
    assert {"mine_alone", "mine_beside", "neurotron._seeds"} <= set(found)
    assert not {"mine_other", "json", "neurotron.laws"} & set(found)


def test_a_file_of_ones_own_counts_with_the_packages_beside_it(elsewhere):
    (elsewhere / "mine_helpers").mkdir()
    (elsewhere / "mine_helpers/__init__.py").write_text("from .inner import X")
    (elsewhere / "mine_helpers/inner.py").write_text("X = 1")
    (elsewhere / "mine_user.py").write_text("import mine_helpers")
    importlib.import_module("mine_user")
    assert {"mine_user", "mine_helpers", "mine_helpers.inner"} <= set(closure("mine_user"))


def test_a_package_that_is_installed_counts_without_the_packages_beside_it(elsewhere, monkeypatch):
    place = elsewhere / "site-packages"
    for name in ("mine_installed", "mine_foreign"):
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").touch()
    (place / "mine_installed/__init__.py").write_text("from . import part\nimport mine_foreign")
    (place / "mine_installed/part.py").touch()
    monkeypatch.syspath_prepend(place)
    importlib.import_module("mine_installed")
    found = {name for name in closure("mine_installed") if name.startswith("mine")}
    assert found == {"mine_installed", "mine_installed.part"}


def test_a_function_called_plot_of_somebody_else_may_compute(elsewhere):
    (elsewhere / "mine_plot.py").write_text("def plot():\n    import mine_plotted")
    (elsewhere / "mine_plotted.py").touch()
    importlib.import_module("mine_plot")
    assert "mine_plotted" in closure("mine_plot")


def test_the_hash_is_that_of_what_was_loaded_so_it_changes_with_a_reload(elsewhere):
    beside = elsewhere / "mine_edited.py"
    beside.write_text("X = 1")
    (elsewhere / "mine_editor.py").write_text("import mine_edited")
    importlib.import_module("mine_editor")
    before = source_hash("mine_editor")
    beside.write_text("X = 2000")  # of another size, so that Python reads it again
    assert source_hash("mine_editor") == before
    importlib.reload(sys.modules["mine_edited"])
    assert source_hash("mine_editor") != before


def test_a_package_of_ones_own_counts_with_the_packages_it_is_in(elsewhere):
    inner = elsewhere / "mine_package" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("from mine_package import effect")
    (inner.parent / "effect.py").touch()
    (inner.parent / "unrelated.py").touch()
    (inner / "__init__.py").touch()
    (inner / "unit.py").write_text("from ..inner import __name__\nfrom .beside import X")
    (inner / "beside.py").write_text("X = 1")
    importlib.import_module("mine_package.inner.unit")
    names = {"", ".effect", ".inner", ".inner.beside", ".inner.unit"}
    found = {name for name in closure("mine_package.inner.unit") if name.startswith("mine")}
    assert found == {f"mine_package{name}" for name in names}


def test_a_script_is_known_by_the_name_of_its_file(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from neurotron._closure import *\nprint(home_of('__main__').name)")
    for command in ([script], ["-m", "script"]):
        told = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True
        )
        assert told.stdout == "script\n", told.stderr


@pytest.mark.parametrize("module", ["sys", "math", "no_such_module", "neurotron.no_such_module"])
def test_a_module_without_a_file_of_code_is_refused(module):
    with pytest.raises(InputError, match=f"module '{module}' has no readable file"):
        home_of(module)


def test_our_packages_only_list_names():
    """One that is merely on the way to a module is not followed, so it may not do anything."""
    for file in ROOT.rglob("__init__.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.Expr) and not _closure._is_text(node):
                assert ast.unparse(node).startswith("require("), (file, ast.unparse(node))
            assert not isinstance(node, (ast.For, ast.While, ast.With, ast.Delete)), file
