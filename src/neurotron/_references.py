"""Code by name: ``"module:name"`` is a class or function that Python can import.

Studies and commands are text, and text from anywhere must do no harm. So code that text names needs
a permission, which `code_allowed` gives. This package's own code needs none, nor what the program
itself has given to a study in this process.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

from neurotron import _check
from neurotron._sources import file_of

FORM = re.compile(r"[\w-]+(\.[\w-]+)*:[^\W\d]\w*")
SCRIPTS = ("__main__", "__mp_main__")
"""What a file that is run is called, in its process and in the worker processes of this one."""

_allowed: ContextVar[bool] = ContextVar("code_allowed", default=False)
_given: dict[str, object] = {}
"""What this program named itself, by `reference_of`."""


@contextmanager
def code_allowed(folder: str | Path | None = None) -> Iterator[None]:
    """Allow code by name inside a ``with`` block; modules in `folder` are found first.

    A thread or process that is started inside has no permission: it must ask for its own.
    """
    places = [] if folder is None else [str(Path(folder).resolve())]
    token = _allowed.set(True)
    sys.path[:0] = places
    try:
        yield
    finally:
        for place in places:
            if place in sys.path:
                sys.path.remove(place)
        _allowed.reset(token)


def is_allowed() -> bool:
    """Return whether code by name is allowed here."""
    return _allowed.get()


def is_reference(text: str) -> bool:
    """Return whether a text has the form "module:name".

    >>> is_reference("mine:TowardsZero"), is_reference("ridge:alpha=2"), is_reference("student-t:4")
    (True, False, False)
    """
    return FORM.fullmatch(text) is not None


def resolve(text: str, base: type | None = None) -> Any:
    """Return the class or function that "module:name" means.

    A class that derives from `base` needs no permission if the program has imported it already.

    >>> resolve("neurotron.laws.normal:Normal")
    <class 'neurotron.laws.normal.Normal'>
    >>> resolve("mine:TowardsZero")
    Traceback (most recent call last):
    neurotron._check.InputError: 'mine:TowardsZero' names code of the module 'mine': allow it ...
    """
    if not is_reference(_check.text("text", text)):
        raise _check.InputError(f'{_check.shown(text)} must have the form "module:name"')
    if text in _given:
        return _given[text]
    module, _, name = text.partition(":")
    ours = module.partition(".")[0] == __package__
    loaded = _loaded(module)
    if not (ours or is_allowed() or _derives(getattr(loaded, name, None), base)):
        raise _check.InputError(
            f"{_check.shown(text)} names code of the module {_check.shown(module)}: allow it with "
            "--allow-code (in Python: allow_code=True) if you trust it"
        )
    home = _import(module) if loaded is None else loaded
    _require_found_first(module, home)
    if not hasattr(home, name):
        if module == "__main__":
            raise _check.InputError(
                f"{name!r} was defined in a notebook or at a prompt, where only its own process "
                "finds it: put it into a file, and run the study again"
            )
        known = [each for each in vars(home) if not each.startswith("_")]
        raise _check.unknown(f"name in the module {module!r}:", name, known)
    return getattr(home, name)


def _derives(found: object, base: type | None) -> bool:
    return base is not None and isinstance(found, type) and issubclass(found, base)


def reference_of(thing: object) -> str:
    """Return the "module:name" of a class or function that is defined at the top of a file.

    In a file that is run, the module is called as the file; in a notebook, "__main__".

    >>> reference_of(_check.InputError)
    'neurotron._check:InputError'
    """
    home = sys.modules.get(getattr(thing, "__module__", None) or "")
    name = str(getattr(thing, "__qualname__", ""))
    if home is None or not name.isidentifier() or getattr(home, name, None) is not thing:
        raise _check.InputError(
            f"{_check.shown(thing)} must be defined at the top level of a file, under its own "
            "name, so that workers can import it"
        )
    text = f"{_importable_name(home)}:{name}"
    _given[text] = thing
    return text


def _importable_name(home: ModuleType) -> str:
    """Return the name of a module, also of a file that is run."""
    if home.__name__ not in SCRIPTS:
        return home.__name__
    spec, file = getattr(home, "__spec__", None), file_of(home)
    return str(spec.name) if spec else file.stem if file else "__main__"


def _loaded(module: str) -> ModuleType | None:
    """Return a module if it is loaded already, perhaps as the file that is run."""
    script = sys.modules["__main__"]
    named = module if module in sys.modules or module != _importable_name(script) else "__main__"
    return sys.modules.get(named)


def _import(module: str) -> ModuleType:
    """Import a module, or say in one sentence why that fails."""
    importlib.invalidate_caches()  # the file may have been written a moment ago
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{module}.".startswith(f"{missing}."):
            raise _check.InputError(
                f"there is no module {_check.shown(missing)}: neither beside the study or in the "
                "current folder, nor among the installed packages"
            ) from None
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        raise _check.InputError(
            f"the module {module!r} fails when it is imported: {said}"
        ) from error


def _require_found_first(module: str, home: ModuleType) -> None:
    """Refuse a loaded module if another one of the same name would be found now."""
    first = Path(sys.path[0], f"{module}.py").resolve()
    file = Path(getattr(home, "__file__", None) or first).resolve()
    if is_allowed() and first.is_file() and file != first:
        raise _check.InputError(
            f"{str(first)!r} is not the module {module!r} of this process, which is "
            f"{str(file)!r}: rename one of them"
        )
