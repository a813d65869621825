"""Compiled code on disk: kept, seen to be stale, and never in the way."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import neurotron as nt
from neurotron import _jit, _waiting
from neurotron._jit import Compiled, interruptible

PROGRAM = """
import numpy as np
from neurotron._jit import entry

@entry
def twice(x, out):
    out[0] = 2.0 * x

out = np.empty(1)
twice(21.0, out)
print(out[0], twice.kept is not None, sum(twice.function.stats.cache_hits.values()))
"""
KEPT = (
    "neurotron: compiling a function that this run needs, which happens once and\n"
    "takes about 2 seconds ..."
)


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
    assert program() == "42.0 True 0"
    assert program() == "42.0 True 1"


def test_a_folder_that_cannot_be_used_is_no_error(program, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    assert program(NUMBA_CACHE_DIR=str(tmp_path / "file")).startswith("42.0 ")


def test_without_the_compiler_one_sentence_says_so(program):
    answer = program(NUMBA_DISABLE_JIT="1")
    assert answer.endswith("InputError: training needs numba's compiler: unset NUMBA_DISABLE_JIT")


MADE = """
from neurotron._jit import entry, inline

FACTOR = 2.0

def double(x):
    return FACTOR * x

doubled = inline(double)

@entry
def twice(x, out):
    out[0] = doubled(x)
"""
TRIPLING = MADE.replace("FACTOR = 2.0", "FACTOR = 3.0")


@pytest.fixture
def compiled(tmp_path, monkeypatch, capfd):
    """Import a module and call its function; return its result, and what was announced."""
    monkeypatch.setattr(_waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(_jit.config, "CACHE_DIR", str(tmp_path / "kept"))

    def call(source=MADE):
        monkeypatch.setattr(_jit, "package_hash", lambda left_out: source)
        (tmp_path / "made.py").write_text(source)
        place = importlib.util.spec_from_file_location("made", tmp_path / "made.py")
        made = importlib.util.module_from_spec(place)
        exec(compile(source, tmp_path / "made.py", "exec"), vars(made))
        monkeypatch.setattr(_waiting, "_said", set())
        out = np.empty(1)
        made.twice(21.0, out)
        call.twice = made.twice
        return out[0], capfd.readouterr().err.strip()

    return call


def test_only_what_is_compiled_is_announced(compiled):
    """Code that was kept is loaded without a word, however long that takes."""
    assert [compiled(), compiled()] == [(42.0, KEPT), (42.0, "")]


def test_an_edited_formula_is_compiled_again(compiled):
    assert compiled() == (42.0, KEPT)
    assert compiled(TRIPLING) == (63.0, KEPT)
    assert compiled(TRIPLING) == (63.0, "")


def test_stale_code_is_overwritten(compiled, tmp_path):
    for factor in range(2, 6):
        compiled(MADE.replace("FACTOR = 2.0", f"FACTOR = {factor}.0"))
    assert len(list((tmp_path / "kept").rglob("*.nbc"))) == 1


def test_without_a_folder_to_keep_it_in_code_is_compiled_each_time(compiled, monkeypatch):
    monkeypatch.setattr(_jit, "_kept", lambda function: None)
    for _ in range(2):
        result, message = compiled()
        assert result == 42.0
        assert "set NUMBA_CACHE_DIR to a folder to keep the result" in " ".join(message.split())


@pytest.mark.parametrize("error", [OSError("No space left on device"), KeyboardInterrupt()])
def test_old_code_is_not_found_in_place_of_new_code_that_could_not_be_kept(
    compiled, monkeypatch, error
):
    """The index is written before the code: it then names the file of the old code."""

    def fail(*_):
        raise error

    assert compiled() == (42.0, KEPT)
    with monkeypatch.context() as disk, contextlib.suppress(KeyboardInterrupt):
        disk.setattr(_jit.IndexDataCacheFile, "_save_data", fail)
        compiled(TRIPLING)
    result, message = compiled(TRIPLING)
    assert result == 63.0
    assert message.endswith(KEPT)
    assert compiled(TRIPLING) == (63.0, "")


def cut(content, bit):
    return content[: bit // 8]


def flipped(content, bit):
    return content[: bit // 8] + bytes([content[bit // 8] ^ 1 << bit % 8]) + content[bit // 8 + 1 :]


@pytest.mark.parametrize(
    ("kind", "damage", "bit"), [("*.nbi", cut, 80), ("*.nbc", cut, 80), ("*.nbc", flipped, 9_000)]
)
def test_damaged_code_is_compiled_again_and_replaced(compiled, tmp_path, kind, damage, bit):
    assert compiled() == (42.0, KEPT)
    (path,) = (tmp_path / "kept").rglob(kind)
    path.write_bytes(damage(path.read_bytes(), bit))
    assert [compiled(), compiled()] == [(42.0, KEPT), (42.0, "")]


def test_no_wrong_bit_on_disk_reaches_the_code_that_runs(compiled, tmp_path, monkeypatch):
    """Machine code with a wrong bit would run all the same, and give wrong numbers."""
    compiled()
    kept, function = compiled.twice.kept, compiled.twice.function
    monkeypatch.setattr(kept._impl, "rebuild", lambda _, code: code[0])  # the machine code
    whole = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*.nb?")}
    assert len(whole) == 2

    def loaded(changed=None, bit=0):
        for path, content in whole.items():
            path.write_bytes(flipped(content, bit) if path == changed else content)
        return kept.load_overload(function.signatures[0], function.targetctx)

    intact = loaded()
    for path, content in whole.items():
        for bit in range(0, 8 * len(content), 8 * len(content) // 80):
            assert loaded(path, bit) in (None, intact)


def call_back_of_the_compiler():
    """Return a function that presses Ctrl-C and has the file name of the compiler."""
    names: dict = {}
    source = "import signal\ndef call_back(): signal.raise_signal(signal.SIGINT)"
    exec(compile(source, "site-packages/llvmlite/binding.py", "exec"), names)
    return names["call_back"]


@pytest.mark.parametrize("more", [False, True])
def test_ctrl_c_is_not_lost_in_a_function_that_the_compiler_calls_back(more):
    """Nor is it heard only at the end, when there is more to do after the callback."""
    call_back, reached = call_back_of_the_compiler(), []
    with pytest.raises(KeyboardInterrupt), interruptible():  # noqa: PT012
        call_back()
        reached.append("after the callback")
        if more:
            for _ in range(1000):  # the compiler, too, returns to Python again and again
                threading.Event().wait(0.01)
            reached.append("the end")
    assert reached == ["after the callback"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_is_not_lost_while_kept_code_is_loaded(small_problem, monkeypatch):
    call_back, load = call_back_of_the_compiler(), Compiled.load

    def interrupted(function):
        monkeypatch.setattr(Compiled, "load", load)  # it is pressed once
        with contextlib.suppress(KeyboardInterrupt):  # LLVM only prints it
            call_back()
        threading.Event().wait(1.0)
        return load(function)

    monkeypatch.setattr(Compiled, "load", interrupted)
    with pytest.raises(KeyboardInterrupt):
        nt.simulate(small_problem, [nt.Arm(nt.NeuroTron(0.01))], steps=10)


def test_several_functions_are_announced_once(monkeypatch, capfd):
    monkeypatch.setattr(_waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(_waiting, "_said", set())
    for _ in range(2):
        with _waiting.announced("compiling") as _:
            pass
        _waiting._say_once("compiling")
    for timer in threading.enumerate():  # one may be about to write
        if isinstance(timer, threading.Timer):
            timer.join()
    assert capfd.readouterr().err == "compiling\n"
