"""The hash of the code that computes a result: a module, and the modules that it imports.

What a function returns can change only if its module changes, or a module that it imports. So a
stored result carries the hash of these files. A new file that none of them imports does not
invalidate it.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from neurotron._check import InputError

__all__ = ["closure", "home_of", "source_hash"]

PACKAGE = Path(__file__).parent
US = PACKAGE.name
DRAWS = "plot"
"""A function of this name only draws results, so its imports do not affect them."""
STORES = f"{US}.results.rows"
"""This module converts what a unit returns, so it is part of every closure."""
TYPES_ONLY = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
INSTALLED = ("site-packages", "dist-packages")
"""Packages in a folder of this name are unrelated to each other."""


class Home(NamedTuple):
    """The location of a module."""

    name: str
    file: Path
    root: Path
    """The folder that contains the first part of its name."""


class Known(NamedTuple):
    """A hash, and the modules that were loaded when it was computed."""

    loads: dict[str, object]
    digest: str


_known: dict[tuple[str, Path], Known] = {}


def source_hash(module: str, package: Path = PACKAGE) -> str:
    """Return a hash of the code in the `closure` of a module, without comments and docstrings.

    It is cached until a module outside this package is reloaded. Editing a file does not change
    what the running process computes; reloading the module does.
    """
    known = _known.get((module, package))
    if known is None or any(_load(name) is not load for name, load in known.loads.items()):
        parts = closure(module, package)
        text = repr(sorted(parts.items()))
        loads = {name: _load(name) for name in (module, *parts) if not _is_ours(name)}
        known = Known(loads, hashlib.sha256(text.encode()).hexdigest())
        _known[module, package] = known
    return known.digest


def _load(name: str) -> object:
    """Return an object that changes identity when a module is imported or reloaded."""
    loaded = sys.modules.get(name)
    return getattr(loaded, "__spec__", None) or loaded


def closure(module: str, package: Path = PACKAGE) -> dict[str, str]:
    """Return a module, what it imports and what stores results, each with the hash of its code.

    Imports are followed into this package, which is in the folder `package`, and into the code that
    belongs to the module: the rest of its own package, or the files and packages in its folder if
    it is in no package. Imports are found by parsing, at the top of a file and inside functions.
    Imports for type checkers only are skipped, and so are those of functions called `plot` in this
    package.

    Importing a module also runs the packages that contain it. In this package they only list names,
    so they are followed only if they are imported themselves. An import of `neurotron` as a whole
    depends on all of it.
    """
    home = home_of(module, package)
    roots = _roots(home) | {US: package.parent}
    found: dict[str, str] = {}
    waiting = [*_with_parents(home.name), STORES]
    seen = {US, *waiting}
    while waiting:
        name = waiting.pop()
        file = home.file if name == home.name else _file_of(name, roots)
        if file is None:
            continue
        tree = ast.parse(file.read_bytes())
        _drop_texts(tree.body)
        found[name] = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
        for wanted in _imports_of(name, file, tree):
            whole = wanted == US or (
                wanted.rpartition(".")[0] == US and not _file_of(wanted, roots)
            )
            for each in _modules_of(package) if whole else _with_parents(wanted):
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
    return found


def _roots(home: Home) -> dict[str, Path]:
    """Return the top-level names that belong to a module, each with its folder."""
    names = {home.name.partition(".")[0]}
    if "." not in home.name:
        beside = "*.py" if home.root.name in INSTALLED else "*"
        names |= {path.stem for path in home.root.glob(beside)}
    return dict.fromkeys(names, home.root)


def home_of(module: str, package: Path = PACKAGE) -> Home:
    """Return the location of a module; one outside this package must have been imported."""
    ours = _file_of(module, {US: package.parent})
    if ours is not None:
        return Home(module, ours, package.parent)
    loaded = sys.modules.get(module)
    file = Path(getattr(loaded, "__file__", None) or "")
    if file.suffix != ".py" or not file.is_file():
        raise InputError(f"the module {module!r} has no readable file of Python code")
    spec = getattr(loaded, "__spec__", None)
    name = file.stem if spec is None else str(spec.name)  # a script that is run is called __main__
    tail = Path(*name.split("."))
    for inside in (Path(f"{tail}.py"), tail / "__init__.py"):
        if file.parts[-len(inside.parts) :] == inside.parts:
            return Home(name, file, file.parents[len(inside.parts) - 1])
    return Home(file.stem, file, file.parent)


def _with_parents(name: str) -> Iterator[str]:
    """Yield a module, preceded by the packages that contain it if they are not ours."""
    if _is_ours(name):
        return iter([name])
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == US


def _modules_of(package: Path) -> Iterator[str]:
    """Yield the names of all modules of this package."""
    for file in package.rglob("*.py"):
        parts = file.relative_to(package).with_suffix("").parts
        yield ".".join([US, *(part for part in parts if part != "__init__")])


def _file_of(name: str, roots: dict[str, Path]) -> Path | None:
    """Return the file of a module; None if its imports are not to be followed."""
    top, *rest = name.split(".")
    if top not in roots:
        return None
    place = roots[top].joinpath(top, *rest)
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _imports_of(name: str, file: Path, tree: ast.Module) -> Iterator[str]:
    """Yield the full names of what a module imports: modules, and names inside modules."""
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in _import_statements(tree.body, DRAWS if _is_ours(name) else None):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                if alias.asname is None:  # `import a.b` also binds the name of the package a
                    yield alias.name.partition(".")[0]
            continue
        above = package[: len(package) + 1 - node.level] if node.level else []
        origin = ".".join([*above, *([node.module] if node.module else [])])
        if origin != US:
            yield origin
        yield from (f"{origin}.{alias.name}" for alias in node.names)


def _import_statements(
    body: list[ast.stmt], left_out: str | None
) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements in a block, nested ones included, except in `left_out`."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) in TYPES_ONLY:
            yield from _import_statements(node.orelse, left_out)
        elif not (isinstance(node, ast.FunctionDef) and node.name == left_out):
            for inner in _bodies(node):
                yield from _import_statements(inner, left_out)


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks inside a statement."""
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
    for field in ("handlers", "cases"):
        for branch in getattr(node, field, []):
            yield branch.body


def _drop_texts(body: list[ast.stmt]) -> None:
    """Remove docstrings and other statements that are only text from a block."""
    body[:] = [node for node in body if not _is_text(node)]
    for node in body:
        for inner in _bodies(node):
            _drop_texts(inner)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
