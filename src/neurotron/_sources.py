"""Hashes of source code: results and compiled code of other sources are stale."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from neurotron._check import InputError

PACKAGE = Path(__file__).parent
US = PACKAGE.name
SHOWING = ("cli", "lab/claims", "lab/figures", "lab/pages")
"""The folders of this package that only judge and show results."""
INSTALLED = ("site-packages", "dist-packages")
"""Packages in a folder of this name are unrelated to each other."""


@cache
def package_hash(left_out: tuple[str, ...]) -> str:
    """Return a hash of this package's source files without those of some folders."""
    folders = {PACKAGE / name for name in left_out}
    return _hash_of(PACKAGE, (f for f in PACKAGE.rglob("*.py") if folders.isdisjoint(f.parents)))


def source_hash(*things: Callable[..., Any]) -> str:
    """Return a hash of the code of functions and classes: of their modules' files, and of ours.

    A module's files are those that it imports from its own folder, or from the folder that
    contains its package. What is in a notebook, which has no file, is known by its bytecode.
    Packages that are installed beside it, and the parts of ours that only show results, do not
    count.

    Editing a file does not change what the running process computes, but reloading a module does.
    So the hash is computed again when another module of these files has been loaded.
    """
    return _hash(package_hash(SHOWING), *map(_own_hash, things))


def _own_hash(thing: Callable[..., Any]) -> str:
    function = inspect.unwrap(getattr(thing, "func", thing))
    module = function.__module__
    if module.partition(".")[0] == US:
        return ""
    if module == "__main__" and file_of(sys.modules[module]) is None:
        parts = vars(function).values() if isinstance(function, type) else [function]
        codes = [each.__code__ for each in map(inspect.unwrap, parts) if hasattr(each, "__code__")]
        return _hash(*map(_bytecode, codes))
    file, root = _home(module)
    specs = map(_spec, [*sys.modules.values()])
    loads = [one for one in specs if str(getattr(one, "origin", "")).startswith(str(root))]
    known = _known.get(module)
    if known is None or [*map(id, known[0])] != [*map(id, loads)]:
        known = _known[module] = loads, _hash_of(root, _files(file, root))
    return known[1]


_known: dict[str, tuple[list[Any], str]] = {}
"""For each module what was loaded when its hash was computed, and the hash."""


def _spec(module: Any) -> Any:
    """Return an object that changes identity when a module is imported or reloaded."""
    return getattr(module, "__spec__", None)


def file_of(module: Any) -> Path | None:
    """Return the file of a module; None for a notebook, a prompt or the standard input."""
    file = Path(getattr(module, "__file__", None) or "")
    return file if file.is_file() else None


def _home(module: str) -> tuple[Path, Path]:
    """Return the file of a module, and the folder that contains its outermost package."""
    loaded = sys.modules.get(module)
    file = file_of(loaded)
    if file is None or file.suffix != ".py":
        raise InputError(f"the module {module!r} has no readable file of Python code")
    spec = _spec(loaded)  # None for a script that is run
    packages = 0 if spec is None else str(spec.name).count(".") + (file.name == "__init__.py")
    return file, file.parents[packages]


def _files(file: Path, root: Path) -> Iterable[Path]:
    """Return the file of a module, and those of the modules that it imports from its root."""
    if root.name in INSTALLED:
        top = root / file.relative_to(root).parts[0]
        return top.rglob("*.py") if top.is_dir() else [file]
    found: set[Path] = set()
    waiting = [file, *_with_packages(file.parent, root)]
    while waiting:
        file = waiting.pop()
        if file not in found and PACKAGE not in file.parents and file.is_file():
            found.add(file)
            waiting += [
                one for place in _imports(file, root) for one in _with_packages(place, root)
            ]
    return found


def _imports(file: Path, root: Path) -> Iterator[Path]:
    """Yield where modules would be that a file imports anywhere, as paths without their suffix."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (root.joinpath(*alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else root
            base = folder.joinpath(*(node.module or "").split("."))
            yield base
            yield from (base / alias.name for alias in node.names)  # a name may be a module


def _with_packages(place: Path, root: Path) -> list[Path]:
    """Return the files that a module may have, and those of the packages that contain it."""
    packages = [folder for folder in (place, *place.parents) if root in folder.parents]
    return [place.with_name(f"{place.name}.py"), *(one / "__init__.py" for one in packages)]


def _hash_of(root: Path, files: Iterable[Path]) -> str:
    """Return a hash of the content of files and of their names in `root`."""
    found = {f.relative_to(root).as_posix(): hashlib.sha256(f.read_bytes()) for f in files}
    return _hash(*(f"{name} {found[name].hexdigest()}" for name in sorted(found)))


def _hash(*parts: str) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _bytecode(code: CodeType) -> str:
    """Return what code does as text, without the place where it stands."""
    constants = [_bytecode(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return repr((code.co_code, code.co_names, constants))
