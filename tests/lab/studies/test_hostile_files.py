"""Studies that cannot be run: each gets one clear sentence, before anything is written."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest
from tests.support.cli import in_this_process
from tests.support.messages import says

import neurotron as nt
from neurotron import _waiting

GOOD = """
name = "s"
steps = 10
replicates = 2
#STUDY
[trainers]
Tron = "neuro-tron:step_size=0.01"
SGD = "sgd"
#TRAINERS
[[settings]]
name = "a"
law = "normal"
network = "symmetric:width=4"
n_inputs = 6
filter_size = 2
batch_size = 4
step_size = 0.02
#SETTING
[[settings.sweeps]]
attack = "alternating-sign"
bound = [0, 1]
probability = 0.5
#SWEEP
[[settings]]
name = "b"
like = "a"
"""


def also(place: str, line: str) -> str:
    """The good study with one more line at a place."""
    return GOOD.replace(f"#{place}", line)


def but(**values: str) -> str:
    """The good study with other values of keys (of the first that is called so)."""
    text = GOOD
    for key, value in values.items():
        text, count = re.subn(rf"(?m)^{key} = .*$", lambda _: f"{key} = {value}", text, count=1)  # noqa: B023
        assert count == 1
    return text


def setting(name: str, like: str) -> str:
    return f'[[settings]]\nname = "{name}"\nlike = "{like}"\n'


def named(name: str) -> str:
    """The good study with another name of its first setting."""
    return GOOD.replace('name = "a"', f'name = "{name}"')


NAME = "1 to 64 letters, digits, dots, dashes or underscores"
ROW = str(list(range(1000)))

HOSTILE: dict[str, tuple[str | bytes, *tuple[str, ...]]] = {
    # typing mistakes, at every level
    "key of the study": (also("STUDY", "step = 3"), "study", "'step'", "'steps'"),
    "key of a setting": (also("SETTING", "n_input = 3"), "settings[0]", "'n_input'", "'n_inputs'"),
    "key of a sweep": (also("SWEEP", "bounds = 3"),
        "settings[0].sweeps[0]", "'bounds'", "'bound'", "attack, bound"),
    "key like nothing": (also("STUDY", "zzz = 3"), "study", "'zzz'", "description", "trainers"),
    "key of 5000 letters": (also("STUDY", "x" * 5000 + " = 1"), "key in the study"),
    "key with a line break": (also("STUDY", '"a\\nb" = 1'), "study", r"'a\nb'"),
    "law": (but(law='"norml"'), "setting 'a'", "law", "'norml'", "'normal'"),
    "parameter of a law": (but(law='"normal:scal=2"'), "normal", "'scal'", "'scale'"),
    "needed parameter": (but(law='"student-t"'), "'student-t'", "dof", "student-t:dof=…"),
    "network": (but(network='"symetric"'), "network", "'symetric'", "'symmetric'"),
    "parameter of a network": (
        but(network='"symmetric:witdh=4"'), "symmetric", "'witdh'", "'width'"),
    "half a parameter": (but(network='"symmetric:width"'), "symmetric:parameter=value"),
    "attack": (but(attack='"adaptiv"'), "attack", "'adaptiv'", "'adaptive'"),
    "parameter of an attack": (but(attack='"constant:size=2"'), "constant", "'size'"),
    "trainer": (but(SGD='"sdg"'), "trainer", "'sdg'", "'sgd'"),
    "parameter of a trainer": (but(SGD='"sgd:lr=1"'), "sgd", "'lr'", "step_size"),
    "label in a setting": (also("SETTING", 'trainers = ["SDG"]'), "setting 'a'", "'SDG'", "'SGD'"),
    "label in a sweep": (also("SWEEP", 'trainers = ["Trom"]'), "setting 'a'", "'Trom'", "'Tron'"),
    # wrong types
    "text for a number": (but(steps='"10"'), "steps", "whole number", "'10'"),
    "a fraction of a step": (but(steps="10.5"), "steps", "whole number", "10.5"),
    "true for a number": (but(steps="true"), "steps", "whole number", "True"),
    "text for a level": (but(bound='[0, "1"]'), "settings[0].sweeps[0].bound[1]", "number", "'1'"),
    "a date for a number": (but(steps="1979-05-27"), "steps", "whole number"),
    "a number for a trainer": (but(SGD="3"), "trainers.SGD", "text", "3"),
    "a number for a name": (but(name="3"), "name", NAME),
    "text for a list": (
        also("SWEEP", 'trainers = "SGD"'), "settings[0].sweeps[0].trainers", "list", "'SGD'"),
    "a list for a table": (
        'name = "s"\ntrainers = ["sgd"]\n[[settings]]\nname = "a"\n', "trainers", "table"),
    "a table for settings": (
        'name = "s"\n[trainers]\nS = "sgd"\n[settings]\nname = "a"\n', "[[settings]]"),
    "labels and a number for a sweep": (
        'name = "s"\n[trainers]\nS = "sgd"\nT = "sgd"\n[[settings]]\nname = "a"\n'
        'trainers = ["S"]\nsweeps = [{ trainers = ["T"] }, 3]\n', "settings[0].sweeps[1]", "table"),
    "labels and a number for others": (
        also("SETTING", 'trainers = ["SGD"]').replace("#SWEEP", "trainers = 3"),
        "settings[0].sweeps[0].trainers", "list", "3"),
    "a table for sweeps": (GOOD + "[settings.sweeps]\nbound = 1", "[[settings.sweeps]]"),
    "numbers for settings": (
        'settings = [1]\nname = "s"\n[trainers]\nS = "sgd"', "settings[0]", "table", "1"),
    "record": (also("STUDY", 'record = "often"'), "record", '"log"', '"all"', "whole number",
        "'often'"),
    # out of range
    "record beyond numbers": (
        also("STUDY", "record = 99999999999999999999999"), "record", "whole number", "1",
        "1,000,000,000,000"),
    "fewer than no steps": (but(steps="-1"), "steps", "0", "-1"),
    "endless steps": (but(steps="10_000_000_000_000"), "steps", "1,000,000,000,000"),
    "no replicates": (but(replicates="0"), "replicates", "1", "0"),
    "seed of 5000 digits": (also("STUDY", "seed = " + "1" * 5000), "digits"),
    "seed of 9000 hexits": (also("STUDY", "seed = 0x" + "f" * 9000), "digits"),
    "confidence": (also("STUDY", "confidence = 1"), "confidence", "1", "1"),
    "no inputs": (but(n_inputs="0"), "settings[0].n_inputs", "1", "0"),
    "too many inputs": (but(n_inputs="100_000"), "settings[0].n_inputs", "3,000", "100000"),
    "a filter larger than its input": (
        but(filter_size="7"), "setting 'a'", "filter_size", "6", "7"),
    "a batch that does not fit": (but(batch_size="1_000_000", n_inputs="100"),
        "batch_size × n_inputs", "10,000,000", "100,000,000"),
    "no step size": (but(step_size="0"), "settings[0].step_size", "0", "0"),
    "step size without end": (but(step_size="inf"), "settings[0].step_size", "finite", "inf"),
    "noise that is none": (also("SETTING", "noise = nan"), "settings[0].noise", "finite", "nan"),
    "negative bound": (but(bound="[1, -1]"), "settings[0].sweeps[0].bound[1]", "0", "-1"),
    "bound beyond numbers": (but(bound="1e400"), "settings[0].sweeps[0].bound[0]", "finite", "inf"),
    "bound beyond certificates": (but(bound="1e200"), "settings[0].sweeps[0].bound[0]", "1e+70",
        "1e+200"),
    "probability": (but(probability="1.5"), "settings[0].sweeps[0].probability[0]", "1", "1.5"),
    "odd width": (but(network='"symmetric:width=5"'), "width", "even", "5"),
    "width": (but(network='"symmetric:width=1e9"'), "width", "whole number", "2"),
    "scale": (but(law='"normal:scale=nan"'), "setting 'a'", "scale", "[1e-70, 1e70]", "nan"),
    "step size of SGD": (but(SGD='"sgd:step_size=fastest"'), "step_size", "number", "'fastest'"),
    "a law without variance": (
        but(law='"student-t:dof=1"'), "setting 'a'", "sensing='optimal'", "finite variance",
        "sensing='mean'"),
    # too much
    "a grid of a million": (but(bound=ROW, probability=str([i / 1000 for i in range(1000)])),
        "setting 'a'", "4,096 arms", "make the sweeps smaller"),
    "a thousand and one levels": (but(bound=str(list(range(1001)))),
        "settings[0].sweeps[0].bound", "1,000 entries"),
    "a thousand settings more": (
        GOOD + "".join(setting(f"c{i}", "a") for i in range(1000)), "settings", "1,000 entries"),
    "a million arms in all": (but(bound=ROW) + "".join(setting(f"c{i}", "a") for i in range(99)),
        "100,000 arms", "settings", "make the sweeps smaller"),
    "a million of everything": (
        but(replicates="1_000_000"), "settings × replicates", "1,000,000", "2,000,000"),
    "records of every step": (
        also("STUDY", 'record = "all"').replace("steps = 10", "steps = 1_000_000_000"),
        "record='all'", "1,000,000,000 records", "record=100"),
    "records of every arm": (also("STUDY", "record = 1").replace("steps = 10", "steps = 9_000_000"),
        "arms × records", "10,000,000", "36,000,004"),
    "levels that look the same": (but(bound="[1, 1.0000000000000002]"), "first 12 digits"),
    "a law of 5000 letters": (but(law=f'"{"x" * 5000}"'), "settings[0].law", "200 characters"),
    # who is who
    "two of one name": (named("b"), "settings", "'b'"),
    "like nobody": (GOOD + setting("c", "bb"), "like", "'c'", "'bb'", "'b'"),
    "like in a circle": (GOOD + setting("c", "d") + setting("d", "e") + setting("e", "c"),
        "like", "circle", "c → d → e → c"),
    "like in a large circle": (
        GOOD + "".join(setting(f"{'c' * 50}{i}", f"{'c' * 50}{(i + 1) % 99}") for i in range(99)),
        "like", "circle"),
    "like nobody of many": (
        GOOD + "".join(setting(f"{'c' * 50}{i}", "nobody") for i in range(400)), "like",
        "'nobody'", "known"),
    "paired with nobody": (
        GOOD + setting("c", "b") + 'paired_with = "bb"\n', "paired_with", "'c'", "'bb'", "'b'"),
    "paired with itself": (GOOD + setting("c", "b") + 'paired_with = "c"\n', "paired_with", "'c'",
        "not paired itself"),
    "paired with a pair": (GOOD + setting("c", "b") + 'paired_with = "b"\n'
        + setting("d", "b") + 'paired_with = "c"\n',
        "paired_with", "'d'", "not paired itself", "'c'"),
    "bound in the attack": (but(attack='"constant:bound=2"'),
        "setting 'a'", "bound", "key of the sweep", "'constant:bound=2'"),
    "size in the network": (but(network='"symmetric:n_inputs=1000000,filter_size=100000"'),
        "setting 'a'", "n_inputs", "key of the setting"),
    # names of folders
    "name with a slash": (named("a/b"), "settings[0].name", NAME),
    "name of a parent": (named(".."), "settings[0].name", NAME),
    "name with a NUL": (named("a\\u0000"), "settings[0].name", NAME),
    "name with a line break": (named("a\\n"), "settings[0].name", NAME),
    "name of the study": (but(name='"../s"'), "name", NAME, "'../s'"),
    "label with a line break": (also("TRAINERS", '"a\\nb" = "sgd"'), r"trainers.a\nb", "control",
        "invisible"),
    "label of 61 letters": (also("TRAINERS", f'{"x" * 61} = "sgd"'),
        f"`trainers.{'x' * 57}...`", "60 characters"),
    "title with a line break": (also("SETTING", 'title = "a\\nb"'), "settings[0].title",
        "control", "invisible"),
    "label that turns": (also("TRAINERS", '"a\\u202eb" = "sgd"'), r"trainers.a\u202eb", "control",
        "invisible"),
    **{
        f"{place} with the invisible U+{code}": (
            also(where, text.format(f"a\\u{code}b")), "control", "invisible")
        for code in ("061c", "200b", "200e", "200f", "feff") for place, where, text in (
            ("label", "TRAINERS", '"{}" = "sgd"'), ("title", "SETTING", 'title = "{}"'))
    },
    "unknown label beside an invisible one": (
        also("TRAINERS", '"a\\ufeffb" = "sgd"').replace("#SETTING", 'trainers = ["SDG"]'),
        "setting 'a'", "'SDG'", "SGD", "a?b"),
    "description with ESC": (also("STUDY", 'description = "\\u001b[2J"'), "description",
        "control", "invisible"),
    # something is missing
    "nothing": ("", "name", "missing"),
    "no trainers": ('name = "s"\n[[settings]]\nname = "a"\n', "trainers", "missing"),
    "an empty table": ('name = "s"\n[trainers]\n[[settings]]\nname="a"', "trainers", "empty"),
    "an old study": (GOOD.replace("settings", "cohorts"), "study", "'cohorts'"),
    "no settings": ('name = "s"\n[trainers]\nS = "sgd"\n', "settings", "missing"),
    "a setting without a name": (GOOD + "[[settings]]\n", "settings[2].name", "missing"),
    "no levels": (but(bound="[]"), "settings[0].sweeps[0].bound", "empty"),
    "no sweeps": (GOOD + "sweeps = []", "settings[1].sweeps", "empty"),
    # not a study at all
    "prose": ("hello world", "not TOML", "line 1"),
    "JSON": ('{"name": "paper"}', "not TOML", "line 1, column 1"),
    "a key twice": ('name = "a"\nname = "b"', "not TOML", "overwrite"),
    "Latin-1": ('name = "é"'.encode("latin-1"), "not UTF-8"),
    "binary": (bytes(range(256)) * 9, "not UTF-8"),
    "5 MB": (b"#" * 5_000_000, "1,000,000 bytes"),
    "5000 brackets": ("x = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
    "300 brackets": ("title = " + "[" * 300 + "]" * 300, "nested too deeply"),
    "200,000 dots": (b"a." * 200_000 + b"a = 1", "nested too deeply"),
    "200,000 quoted dots": (b'"a" . ' * 150_000 + b"a = 1", "nested too deeply"),
}  # fmt: skip


def written(folder: Path, name: str) -> Path:
    file, content = folder / "study.toml", HOSTILE[name][0]
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def complaint(name_or_file: str | Path) -> str:
    """What a user is told, as the runner would."""
    with pytest.raises(nt.InputError) as caught:
        nt.lab.read(name_or_file).validate()
    return str(caught.value)


def assert_one_sentence(text: str) -> None:
    assert text.isprintable()
    assert len(text) < 400


def test_the_good_study_is_good():
    nt.lab.parse(GOOD.encode(), "good").validate()


def test_dots_that_are_not_in_keys_do_no_harm():
    title, rows = "a" + ".b" * 500, ", ".join(f"0.{i}" for i in range(1, 1000))
    text = also("STUDY", f'title = "{title}" # {title}\ndescription = """\n{title}\n"""')
    text = text.replace("bound = [0, 1]", f"bound = [{rows}]")
    assert nt.lab.parse(text.encode(), "dots").title == title


def test_a_study_with_a_byte_order_mark_is_read():
    assert nt.lab.parse(b"\xef\xbb\xbf" + GOOD.encode(), "marked").name == "s"


def test_a_description_may_have_lines_and_tabs():
    text = also("STUDY", 'description = "one\\n\\ttwo"')
    assert nt.lab.parse(text.encode(), "lines").description == "one\n\ttwo"


def test_a_long_check_says_that_it_checks(capsys, monkeypatch):
    said = threading.Event()

    def say(message: str) -> None:
        announcing(message)
        said.set()

    announcing = _waiting.say
    monkeypatch.setattr(_waiting, "say", say)
    monkeypatch.setattr(_waiting, "PATIENCE", 0.0)
    monkeypatch.setattr("neurotron.lab.training.building.check", lambda _: said.wait(60.0))
    nt.lab.read("smoke").validate()
    assert capsys.readouterr().err == "neurotron: checking the study smoke ...\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_study_gets_one_clear_sentence_at_once(name, tmp_path):
    file, began = written(tmp_path, name), time.process_time()
    text = complaint(file)
    assert says(text.removeprefix(f"{file}: "), *HOSTILE[name][1:])
    assert text.startswith((f"{file}: ", "setting 'a': ", "settings × replicates", "the study has"))
    assert_one_sentence(text.removeprefix(f"{file}: "))
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "papr",
            "unknown study 'papr': did you mean 'paper'? known: batch-size, paper",
        ),
        ("_template", "unknown study '_template'"),
        ("no/such/file.toml", "there is no file 'no/such/file.toml'"),
        ("missing.toml", "there is no file 'missing.toml'"),
        ("a\0b.toml", "there is no file"),
        ("a" * 5000, "cannot be read: File name too long"),
        ("", "unknown study ''"),
    ],
)
def test_a_study_that_is_not_there_is_named(name, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = complaint(name)
    assert sentence in text
    assert_one_sentence(text)


def test_a_folder_is_not_a_study(tmp_path):
    assert complaint(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"


@pytest.mark.parametrize(
    "name",
    ["key of a sweep", "seed of 5000 digits", "a grid of a million", "like in a circle",
     "a batch that does not fit", "binary", "5000 brackets"],
)  # fmt: skip
def test_the_command_says_it_in_one_line_and_writes_nothing(name, tmp_path, monkeypatch):
    file = written(tmp_path, name)
    monkeypatch.chdir(tmp_path)
    result = in_this_process("run", file, "--out", tmp_path / "out" / "here")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "error: " in result.stderr
    assert result.stderr.endswith("\n")
    lines = result.stderr.splitlines()
    assert len([line for line in lines if not line.startswith("neurotron: checking")]) == 1
    assert says(result.stderr, *HOSTILE[name][1:])
    assert list(tmp_path.iterdir()) == [file]
