"""Lower layers never import higher ones."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import neurotron

ROOT = Path(neurotron.__file__).parent

LAYERS = [
    ["_announce", "_digits", "_interrupts", "_types"],
    ["_check", "_formula", "_extras", "_environment", "_jit"],
    ["_seeds", "_registry", "_threads", "_pickling"],
    ["networks"],
    ["laws"],
    ["problem"],
    ["theory.recursion", "theory.constants"],
    ["theory.course"],
    ["attacks"],
    ["theory.exposure"],
    ["theory.sharp"],
    ["trainers"],
    ["engine"],
    ["trajectories"],
    ["simulation"],
    ["theory"],
    ["checks"],
    ["results"],
    ["studies"],
    ["claims"],
    ["figures"],
    ["report"],
    ["cli", "_names"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def layer(module: str) -> str | None:
    """Return the layer of a module such as ``neurotron.theory.constants``."""
    parts = module.split(".")[1:]
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in RANK:
            return ".".join(parts[:length])
    return None


def imports(path: Path) -> set[str]:
    """Return the package's own modules that `path` imports at once (not for types, not later)."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("neurotron"):
            if node.module == "neurotron":
                found |= {f"neurotron.{alias.name}" for alias in node.names}
            else:
                found.add(node.module)
    return found


MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_its_own_layer_or_lower_ones(path):
    relative = path.relative_to(ROOT).with_suffix("")
    own = layer(".".join(["neurotron", *relative.parts]).removesuffix(".__init__"))
    assert own is not None, f"{relative} has no layer: add it to LAYERS"
    for module in imports(path):
        other = layer(module)
        assert other is not None, f"{relative} imports {module}, which has no layer"
        assert RANK[other] <= RANK[own], f"{relative} ({own}) imports {module} ({other})"


def test_no_source_file_is_longer_than_350_lines():
    lengths = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > 350} == {}
