"""Code by name is imported with permission only, and every failure is one sentence."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from neurotron._check import InputError
from neurotron._references import code_allowed, is_allowed, reference_of, resolve

ATTACK = "class Mine:\n    pass\n\n\ndef unit():\n    pass\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a module, which is forgotten after the test."""

    def write(name: str, text: str = ATTACK, folder: str = ".") -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    path = [*sys.path]
    loaded = {*sys.modules}
    yield write
    assert sys.path == path
    for name in {*sys.modules} - loaded:
        del sys.modules[name]


def test_a_module_is_imported_with_permission_only(write, tmp_path):
    name = write("own_module", "raise RuntimeError('imported')")
    with pytest.raises(InputError, match=r"names code of the module 'own_module'.*--allow-code"):
        resolve(f"{name}:Mine")
    assert name not in sys.modules
    write(name)
    with code_allowed(tmp_path):
        assert resolve(f"{name}:Mine").__name__ == "Mine"
    assert not is_allowed()


def test_of_loaded_modules_only_classes_of_the_wanted_kind_need_no_permission(write, tmp_path):
    name = write("own_module", f"{ATTACK}\n\nclass Error(ValueError):\n    pass\n")
    with code_allowed(tmp_path):
        kind, function = resolve(f"{name}:Error"), resolve(f"{name}:unit")
    assert resolve(f"{name}:Error", ValueError) is kind
    for text, base in ((f"{name}:unit", None), (f"{name}:Mine", ValueError), ("os:system", object)):
        with pytest.raises(InputError, match="--allow-code"):
            resolve(text, base)
    assert reference_of(kind) == "own_module:Error"
    assert reference_of(function) == "own_module:unit"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "own_module:Mime",
            "unknown name in the module 'own_module': 'Mime': did you mean 'Mine'?",
        ),
        ("own_modul:Mine", "there is no module 'own_modul'"),
        ("own_module.part:Mine", "there is no module 'own_module.part'"),
        ("broken:Mine", "the module 'broken' fails when it is imported: ZeroDivisionError"),
        ("exits:Mine", "the module 'exits' fails when it is imported: SystemExit: 3"),
        ("needs:Mine", "the module 'needs' fails when it is imported: ModuleNotFoundError: No"),
        ("own_module", "must have the form"),
        ("own_module:Mine.inner", "must have the form"),
        (".own_module:Mine", "must have the form"),
    ],
)
def test_a_name_that_cannot_be_imported_is_one_sentence(write, tmp_path, text, sentence):
    write("own_module")
    write("broken", "1 / 0")
    write("exits", "import sys\nsys.exit(3)")
    write("needs", "import no_such_package")
    with code_allowed(tmp_path), pytest.raises(InputError) as error:
        resolve(text)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_two_modules_of_one_name_are_not_confused(write, tmp_path):
    write("own_module", folder="one")
    write("own_module", folder="two")
    with code_allowed(tmp_path / "one"):
        resolve("own_module:Mine")
    with code_allowed(tmp_path / "two"), pytest.raises(InputError, match="rename one of them"):
        resolve("own_module:Mine")


def test_a_thread_has_no_permission_of_its_own():
    said = []
    with code_allowed():
        thread = threading.Thread(target=lambda: said.append(is_allowed()))
        thread.start()
        thread.join()
    assert said == [False]


@pytest.mark.parametrize("thing", [lambda: 0, "text", test_a_thread_has_no_permission_of_its_own])
def test_only_what_is_at_the_top_of_a_file_has_a_name(thing, monkeypatch):
    monkeypatch.delitem(globals(), "test_a_thread_has_no_permission_of_its_own")
    with pytest.raises(InputError, match="at the top level of a file"):
        reference_of(thing)


@pytest.mark.parametrize(
    ("how", "name"),
    [(["script.py"], "script"), (["-m", "script"], "script"), (["-c", "{}"], "__main__")],
)
def test_a_file_that_is_run_is_called_as_when_it_is_imported(tmp_path, how, name):
    code = (
        "from neurotron._references import reference_of, resolve\n"
        "class Mine: pass\n"
        "text = reference_of(Mine)\n"
        "print(text, resolve(text, object) is Mine)\n"
    )
    Path(tmp_path, "script.py").write_text(code)
    command = [sys.executable, *(part.replace("{}", code) for part in how)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [f"{name}:Mine", "True"]
