"""Compiled code on disk: kept, seen to be stale, and never in the way."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import neurotron as nt
from neurotron import _announce, _jit
from neurotron._jit import entry, interruptible, source_hash

PROGRAM = """
from neurotron._jit import entry

@entry
def twice(source_hash):
    def function(x):
        _ = source_hash
        return 2.0 * x
    return function

print(twice(21.0), twice.message, twice.function.stats.cache_hits)
"""
KEPT = "neurotron: compiling, which happens once and takes about half a minute ..."


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(**environment):
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")} | environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout.strip() or done.stderr.splitlines()[-1]

    return run


def test_compiled_code_is_found_again(program):
    assert program() == f"42.0 {KEPT} Counter()"
    assert program().endswith(": 1})")


def test_without_a_folder_to_keep_it_in_code_is_compiled_each_time(program, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    answer = program(NUMBA_CACHE_DIR=str(tmp_path / "file"))
    assert answer.startswith("42.0 ")


def test_without_the_compiler_one_sentence_says_so(program):
    answer = program(NUMBA_DISABLE_JIT="1")
    assert answer.endswith("InputError: training needs numba's compiler: unset NUMBA_DISABLE_JIT")


@pytest.fixture
def compiled(tmp_path, monkeypatch, capfd):
    """Build and call a function, kept in a folder of its own; return what was announced."""
    (tmp_path / "made.py").write_text(
        "def build(source_hash):\n    def function(x):\n        _ = source_hash\n"
        "        return 2.0 * x\n"
        "    return function\n"
    )
    monkeypatch.setattr(_announce, "PATIENCE", 0.0)
    monkeypatch.setattr(_jit.config, "CACHE_DIR", str(tmp_path / "kept"))
    place = importlib.util.spec_from_file_location("made", tmp_path / "made.py")
    made = importlib.util.module_from_spec(place)
    place.loader.exec_module(made)

    def call():
        monkeypatch.setattr(_announce, "_said", set())
        assert entry(made.build)(21.0) == 42.0
        return capfd.readouterr().err.strip()

    return call


def test_only_what_is_compiled_is_announced(compiled, monkeypatch):
    """Code that was kept is loaded without a word, however long that takes."""
    assert [compiled(), compiled()] == [KEPT, ""]
    monkeypatch.setattr(_jit, "source_hash", lambda: "of an edited formula")
    assert [compiled(), compiled()] == [KEPT, ""]


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
def test_damaged_code_is_compiled_again_and_replaced(compiled, tmp_path, kind):
    assert compiled() == KEPT
    (path,) = (tmp_path / "kept").rglob(kind)
    path.write_bytes(path.read_bytes()[:10])
    assert [compiled(), compiled()] == [KEPT, ""]


FILES = [
    "_formula.py", "_jit.py", "attacks/constant.py", "laws/normal.py", "trainers/base.py",
    "_philox.py", "_streams.py", "engine/compiled/loops.py", "theory/one_step.py",
]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_the_source_hash_changes_with_any_compiled_code(tmp_path, name):
    copy = Path(shutil.copytree(Path(nt.__file__).parent, tmp_path / "neurotron"))
    assert source_hash(copy) == source_hash(Path(nt.__file__).parent)
    other = Path(shutil.copytree(copy, tmp_path / "edited"))
    (other / name).write_text((other / name).read_text() + "\n")
    assert source_hash(other) != source_hash(copy)


@pytest.mark.parametrize("more", [False, True])
def test_ctrl_c_is_not_lost_in_a_function_that_the_compiler_calls_back(more):
    """Nor is it heard only at the end, when there is more to do after the callback."""
    names: dict = {}
    source = "import signal\ndef call_back(): signal.raise_signal(signal.SIGINT)"
    exec(compile(source, "site-packages/llvmlite/binding.py", "exec"), names)
    reached = []
    with pytest.raises(KeyboardInterrupt), interruptible():  # noqa: PT012
        names["call_back"]()
        reached.append("after the callback")
        if more:
            threading.Event().wait(60.0)
            reached.append("the end")
    assert reached == ["after the callback"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_several_functions_are_announced_once(monkeypatch, capfd):
    monkeypatch.setattr(_announce, "PATIENCE", 0.0)
    monkeypatch.setattr(_announce, "_said", set())
    for _ in range(2):
        with _announce.announced("compiling") as _:
            pass
        _announce._say_once("compiling")
    assert capfd.readouterr().err == "compiling\n"
