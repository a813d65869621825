"""Every package stands on one rank, and a lower one never imports a higher one."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

import neurotron
from neurotron._jit import ABOVE

ROOT = Path(neurotron.__file__).parent

FOUNDATIONS = [
    ["_digits", "_intervals", "_json", "_text", "_types", "_waiting"],
    ["_check", "_extras", "_files", "_environment", "_formula"],
    ["_sources"],
    ["_jit", "_references"],
    ["_philox", "_pickling", "_registry", "_seeds", "_threads", "_tiny"],
    ["_streams"],
]
HOUSE = [
    "guarantee", "networks", "laws", "data", "problem", "attacks", "theory", "residuals", "solvers",
    "trainers", "engine", "trajectories", "simulation", "guarantees", "conformance", "poisoning",
    "model_file", "work", "estimators", "auditing", "lab/store", "lab/results", "lab/training",
    "lab/audits", "lab/claims", "lab/running", "lab/figures", "lab/pages", "lab/studies",
    "lab", "cli",
]  # fmt: skip
TOOLS = ["__main__", "_names"]
LAYERS = [*FOUNDATIONS, *([name] for name in HOUSE), TOOLS]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def room(parts: Sequence[str]) -> str:
    """Return the package of a module, given as the parts of its name: the laboratory has rooms."""
    rooms = parts[0] == "lab" and len(parts) > 1 and parts[1] != "__init__"
    return "/".join(parts[:2] if rooms else parts[:1])


EXCEPTIONS = {
    ("trajectories", "lab/figures"): "Trajectories.plot draws",
    ("guarantee", "lab/figures"): "Guarantee.plot draws",
    ("estimators/diagnosis", "lab/figures"): "Diagnosis.plot draws",
    ("auditing/report", "lab/figures"): "Audit.plot draws",
    ("auditing/report", "lab/pages"): "Audit.save_page writes a page",
}
"""The imports upwards that are wanted, all inside a function; each with its reason."""

MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the own modules that `path` imports, also in functions, but not for types only."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("neurotron."))
        elif isinstance(node, ast.ImportFrom) and node.module == "neurotron":
            yield from (f"neurotron.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("neurotron."):
            yield str(node.module)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_its_own_rank_or_lower_ones(path):
    relative = path.relative_to(ROOT).with_suffix("")
    own = room(relative.parts)
    assert own in RANK, f"{relative} has no rank: add its package to HOUSE"
    for module in imports(path):
        other = room(module.split(".")[1:])
        assert other in RANK, f"{relative} imports {module}, which has no rank"
        if RANK[other] > RANK[own]:
            assert (str(relative), other) in EXCEPTIONS, f"{relative} imports {module}, above it"


def test_modules_import_each_other_in_no_circle():
    """Imports inside functions count, too; what a package exports belongs to the package."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in MODULES}
    edges = {
        name: {
            module.removeprefix("neurotron.")
            for module in imports(path)
            if (name.replace(".", "/"), room(module.split(".")[1:])) not in EXCEPTIONS
        }
        for name, path in names.items()
    }
    while free := [name for name, wanted in edges.items() if not wanted & set(edges)]:
        for name in free:
            del edges[name]
    assert edges == {}


def test_every_exception_is_needed():
    used = {
        (str(path.relative_to(ROOT).with_suffix("")), room(module.split(".")[1:]))
        for path in MODULES
        for module in imports(path)
    }
    assert set(EXCEPTIONS) <= used


def test_compiled_code_needs_no_module_whose_edit_does_not_compile_it_again():
    ours = {".".join(["neurotron", *p.relative_to(ROOT).with_suffix("").parts]): p for p in MODULES}
    ours |= {name.removesuffix(".__init__"): path for name, path in ours.items()}
    waiting = [name for name, path in ours.items() if "neurotron._jit" in imports(path)]
    needed = set()
    while waiting:
        needed.add(name := waiting.pop())
        waiting += [one for one in imports(ours[name]) if one in ours and one not in needed]
    assert "neurotron.attacks.base" in needed
    assert not {name.split(".")[1] for name in needed} & {*ABOVE}


def test_no_source_file_is_longer_than_350_lines():
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > 350} == {}


OF_TWO = {"Fit", "Found", "Mixture"}
"""Names of classes that two packages of the library still have."""


def test_no_two_classes_have_one_name():
    files = (path for part in ("src", "research", "benchmarks")
             for path in (ROOT.parents[1] / part).rglob("*.py"))  # fmt: skip
    names = Counter(
        name for path in files for name in re.findall(r"^class (\w+)", path.read_text(), re.M)
    )
    assert {name for name, count in names.items() if count > 1} <= OF_TWO


def test_nothing_in_the_wheel_imports_research():
    importing = re.compile(r"^\s*(from|import) (research|tests)\b", re.M)
    assert [path for path in MODULES if importing.search(path.read_text())] == []
