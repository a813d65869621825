"""Results and compiled code are known by the sources that made them."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
import types
from pathlib import Path

import pytest

from neurotron import _jit, _seeds, _sources
from neurotron._check import InputError
from neurotron._sources import package_hash, source_hash


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write Python files."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / f"{name}.py").write_text(text)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write files in place of ours; return the hash of the package without two folders."""
    monkeypatch.setattr(_sources, "PACKAGE", tmp_path)

    def hash_with(**texts):
        write(tmp_path, {name.replace("__", "/"): text for name, text in texts.items()})
        package_hash.cache_clear()
        return package_hash(("cli", "lab/claims"))

    yield hash_with
    package_hash.cache_clear()


def test_the_hash_of_the_package_changes_with_every_file_that_is_not_left_out(package):
    hashes = [
        package(attacks__mean="X = 1", cli__app="X = 1", lab__claims__paper="X = 1"),
        package(attacks__mean="X = 2"),
        package(attacks__mean="X = 1", attacks__new=""),
        package(lab__studies__unit=""),
    ]
    assert len({*hashes}) == 4
    assert package(cli__app="X = 2", lab__claims__paper="X = 2") == hashes[3]


def test_what_is_left_out_exists():
    assert all((_sources.PACKAGE / name).is_dir() for name in (*_sources.SHOWING, *_jit.ABOVE))


def test_functions_of_ours_are_known_by_the_hash_of_our_sources():
    assert source_hash(_seeds.key) == source_hash(functools.partial(package_hash, ()))


# --- modules of somebody else


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write files, import a module anew, and return the hash of its function `unit`."""
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)

    def forget():
        for name in set(sys.modules) - known:
            del sys.modules[name]

    def hash_with(module, texts):
        write(tmp_path, texts)
        forget()
        importlib.invalidate_caches()
        return source_hash(importlib.import_module(module).unit)

    yield hash_with
    forget()


UNIT = "import beside, json, neurotron\ndef unit():\n    import later\n"


def test_a_file_of_ones_own_counts_with_the_files_beside_it_that_it_imports(own):
    texts = {"mine": UNIT, "beside": "from parts import one", "later": "", "parts/one": ""}
    edits = [{name: text + "\nX = 1"} for name, text in texts.items()]
    hashes = [own("mine", texts), *(own("mine", texts | edit) for edit in edits)]
    assert len({*hashes}) == 5
    assert own("mine", texts | {"other": "X = 1"}) == hashes[0]


def test_a_package_of_ones_own_counts_with_the_packages_it_is_in(own):
    unit = "from ..inner import beside\ndef unit(): pass"
    texts = {"mine/inner/unit": unit} | dict.fromkeys(
        ["mine/__init__", "mine/inner/__init__", "mine/inner/beside"], ""
    )
    edits = [{name: text + "\nX = 1"} for name, text in texts.items()]
    hashes = [own("mine.inner.unit", texts | edit) for edit in ({}, *edits)]
    assert len({*hashes}) == 5
    assert own("mine.inner.unit", texts | {"mine/other": "X = 1"}) == hashes[0]


def test_a_package_that_is_installed_counts_without_those_beside_it(own, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    texts = {"mine/__init__": "import foreign\ndef unit(): pass", "foreign": "", "mine/part": ""}
    first = own("mine", {f"site-packages/{name}": text for name, text in texts.items()})
    assert own("mine", {"site-packages/foreign": "X = 1"}) == first
    assert own("mine", {"site-packages/mine/part": "X = 1"}) != first


def test_the_hash_is_that_of_what_was_loaded_so_it_changes_with_a_reload(own, tmp_path):
    before = own("mine", {"mine": UNIT, "beside": "X = 1", "later": ""})
    unit = sys.modules["mine"].unit
    write(tmp_path, {"beside": "X = 2000"})  # of another size, so that Python reads it again
    assert source_hash(unit) == before
    importlib.reload(sys.modules["beside"])
    assert source_hash(unit) != before


def test_a_function_of_a_notebook_is_known_by_what_it_does(monkeypatch):
    def defined(text):
        names = {"__name__": "__main__"}
        exec(text, names)
        return source_hash(names["unit"])

    monkeypatch.setitem(sys.modules, "__main__", type(sys)("__main__"))
    text = "def unit(x):\n    return [y + 1 for y in x]"
    assert defined(text) == defined("# a comment\n\n" + text)
    assert defined(text) != defined(text.replace("1", "2"))


def test_a_script_that_is_run_counts_like_a_module(tmp_path):
    write(tmp_path, {"beside": "", "script": UNIT + "from neurotron import _sources\n"
                     "if __name__ == '__main__': print(_sources.source_hash(unit))"})  # fmt: skip
    run = functools.partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True)
    told = [run([sys.executable, *words]).stdout for words in (["script.py"], ["-m", "script"])]
    write(tmp_path, {"beside": "X = 1"})
    told.append(run([sys.executable, "script.py"]).stdout)
    assert told[0] == told[1] != told[2]
    assert len(told[2]) == 65


def test_a_module_without_a_file_of_code_is_refused():
    with pytest.raises(InputError, match="module 'math' has no readable file"):
        source_hash(types.SimpleNamespace(__module__="math"))
