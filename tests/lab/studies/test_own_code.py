"""Studies that name code: a file needs a permission, a notebook its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.cli import in_this_process
from tests.support.commands import hashes
from tests.support.messages import refused, says
from tests.support.units import COLUMNS, study, sums

import neurotron as nt
from neurotron._check import InputError
from neurotron.lab.pages.writing import to_toml
from neurotron.lab.store.folder import Folder

CODE = '''
import numpy as np

import neurotron as nt
from neurotron import lab


def measure(setting, replicate, seed):
    return {"size": abs(np.random.default_rng(seed).normal(setting["centre"]))}


def is_large(results):
    """The sizes are
    above 1.

    This is not part of the statement.
    """
    sizes = results.table["size"]
    found = lab.bootstrap(sizes)
    return [lab.Finding.of("all", "size", found, len(sizes), holds=lab.above(1.0, found))]


def sizes(results):
    return lab.TextTable("sizes", "The sizes", ("count", "nothing"), [(len(results.table), None)])


def summary(results):
    return lab.Headline("Sizes are large.", "They are.")


STUDY = nt.Study(
    "mine", [{"name": "a", "centre": 9.0}], measure, {"size": float}, claims=[is_large],
    tables=[sizes], headline=summary, replicates=6,
)
'''
FILE = """
name = "mine"
unit = "MODULE:measure"
columns = { size = "float" }
claims = ["MODULE:is_large"]
tables = ["MODULE:sizes"]
headline = "MODULE:summary"
replicates = 6
settings = [{ name = "a", centre = 9.0 }]
"""


@pytest.fixture
def mine(tmp_path, request):
    """A folder with the code and the file of a study, whose module has a name of its own."""
    module = f"own_{abs(hash(request.node.name))}"
    (tmp_path / f"{module}.py").write_text(CODE)
    (tmp_path / "mine.toml").write_text(FILE.replace("MODULE", module))
    yield tmp_path / "mine.toml"
    sys.modules.pop(module, None)


def test_a_file_that_names_code_is_read_with_permission_only(mine):
    with pytest.raises(InputError, match=r"mine\.toml: .*:is_large' names code of .*--allow-code"):
        nt.lab.read(mine)
    read = nt.lab.read(mine, allow_code=True)
    assert (read.unit.__name__, read.units()[0]) == ("measure", ("a", 0))


def test_a_file_is_run_judged_and_shown_also_by_another_process_if_that_is_allowed(
    mine, monkeypatch
):
    out = mine.parent / "out"
    nt.lab.run(nt.lab.read(mine, allow_code=True), out)
    before = (out / "manifest.json").read_bytes()
    (judged,) = nt.lab.report(out, allow_code=True)
    assert (judged.claim.name, judged.verdict) == ("is-large", "holds")
    assert judged.claim.statement == "The sizes are above 1."
    page = (out / "report.html").read_text()
    assert "Sizes are large." in page
    assert "The sizes" in page
    (module,) = (path.stem for path in mine.parent.glob("own_*.py"))
    del sys.modules[module]  # as in another process
    monkeypatch.setattr("neurotron._references._given", {})
    with pytest.raises(InputError, match="allow it with --allow-code"):
        nt.lab.report(out)
    for words in (["report", out, "--verdicts"], ["report", out]):
        refused = in_this_process(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "allow it with --allow-code" in refused.stderr
        assert in_this_process(*words, "--allow-code").returncode == 0
    done = in_this_process("run", mine, "--out", out, "--allow-code")
    assert done.returncode == 0
    assert "(6 of them from before)" in done.stdout
    assert "✓  The sizes are above 1." in done.stdout
    assert (out / "manifest.json").read_bytes() == before


def test_names_of_what_is_not_there_are_refused_before_anything_is_computed(tmp_path):
    def asked(**changes):
        return nt.Study("mine", [{"name": "a"}], sums, COLUMNS, **changes)

    out = tmp_path / "out"
    for changes, parts in (
        ({"claims": ["sizes"]}, ("unknown claim", "'sizes'")),
        ({"claims": ["certificate-holds"]}, ("'certificate-holds'", "training runs")),
        ({"claims": ["neurotron:nothing"]}, ("neurotron", "'nothing'")),
        ({"charts": ["nowhere:sizes"]}, ("'nowhere:sizes'", "--allow-code")),
        ({"headline": "nowhere:sizes"}, ("'nowhere:sizes'", "--allow-code")),
    ):
        with refused(*parts):
            nt.lab.run(asked(**changes), out)
    assert not out.exists()


def test_a_study_that_has_no_result_yet_may_change_in_its_folder(mine):
    text, out = mine.read_text(), mine.parent / "out"
    command = ("run", mine, "--out", out, "--allow-code")
    mine.write_text(text.replace('size = "float"', 'length = "float"'))
    refused_run = in_this_process(*command)
    assert refused_run.returncode == 2
    assert says(refused_run.stderr, "setting 'a'", "'size'", "does not declare")
    mine.write_text(text)
    assert in_this_process(*command).returncode == 0
    assert Folder.read(out).columns == {"size": "float"}


def python(code: str, folder: Path, *, as_argument: bool = True) -> str:
    """Run code as a notebook does, whose functions have no file; return what it prints."""
    command = [sys.executable, *(["-c", code] if as_argument else ["-"])]
    done = subprocess.run(
        command, input=code, capture_output=True, text=True, cwd=folder, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


NOTEBOOK = """
from concurrent.futures import ProcessPoolExecutor
print(lab.run(STUDY, "out", workers=2).computed)
(judged,) = lab.report("out")
print(judged.verdict)
try:
    lab.run(STUDY, "elsewhere", executor=ProcessPoolExecutor(1))
except nt.InputError as error:
    print(error)
"""


@pytest.mark.parametrize("as_argument", [True, False], ids=["no file", "standard input"])
def test_functions_of_a_notebook_run_in_threads_and_are_judged_by_their_process_only(
    as_argument, tmp_path
):
    printed = python(CODE + NOTEBOOK, tmp_path, as_argument=as_argument)
    count, verdict, sentence = printed.splitlines()
    assert (count, verdict) == ("6", "holds")
    assert sentence.startswith("measure is defined in a notebook or at a prompt, where other pro")
    assert sentence.endswith("put it into a file, or use threads")
    assert not (tmp_path / "elsewhere").exists()
    assert nt.lab.load(tmp_path / "out").table.height == 6
    with pytest.raises(InputError, match=r"'is_large' was defined in a notebook .*into a file"):
        nt.lab.report(tmp_path / "out", allow_code=True)


def test_a_function_of_this_process_is_refused_by_workers_that_must_import_it(tmp_path):
    def local(setting, replicate, seed):
        return {"size": 1.0}

    asked = nt.Study("mine", [{"name": "a"}], local, {"size": float})
    with ThreadPoolExecutor(1) as executor, pytest.raises(InputError, match="top level of a file"):
        nt.work.run(asked, nt.work.Memory(), executor=executor)


def test_a_script_that_is_run_and_a_file_that_names_it_continue_each_other(mine):
    (module,) = (path.stem for path in mine.parent.glob("own_*.py"))
    script = mine.parent / f"{module}.py"
    script.write_text(CODE + "if __name__ == '__main__':\n    lab.run(STUDY, 'out', replicates=3)")
    subprocess.run([sys.executable, script.name], cwd=mine.parent, check=True, timeout=120)
    before = hashes(mine.parent / "out")
    report = nt.lab.run(nt.lab.read(mine, allow_code=True), mine.parent / "out")
    assert (report.kept, report.computed) == (3, 3)
    assert hashes(mine.parent / "out").items() >= before.items()


WRONG = {
    "no such function": (("MODULE:measure", "MODULE:mesure"), "'mesure': did you mean 'measure'"),
    "no such module": (("MODULE:measure", "nowhere:measure"), "there is no module 'nowhere'"),
    "no function": (("MODULE:measure", "MODULE:np"), r"`unit` must be a function"),
    "no form": (("MODULE:measure", "measure"), 'must have the form "module:name"'),
    "a chart by a word": (("replicates = 6", 'charts = ["sizes"]'), 'form "module:name"'),
    "a headline by a word": (("MODULE:summary", "summary"), 'form "module:name"'),
    "a claim about training": (("MODULE:is_large", "certificate-holds"), "about training runs"),
    "an unknown claim": (("MODULE:is_large", "is-large"), "unknown claim 'is-large'"),
    "a claim twice": (('["MODULE:is_large"]', '["MODULE:is_large", "MODULE:is_large"]'), "twice"),
    "no columns": (('columns = { size = "float" }', ""), "`columns` must say what a unit returns"),
    "a column of no type": (('"float"', '"real"'), "column 'size' must be declared as one of"),
    "columns that are none": (('{ size = "float" }', "3"), "`columns` must be a table, got 3"),
    "columns of training": (("unit =", "# unit ="), "`columns` are for studies with a `unit`"),
    "a date": (("centre = 9.0", "replicates = 1979-05-27"), "`settings` must be a list of tables"),
    "like nobody": (("centre = 9.0", 'like = "b"'), "unknown setting in `like` of 'a' 'b'"),
    "no setting": (('[{ name = "a", centre = 9.0 }]', "[]"), "`settings` must not be empty"),
    "a bad name": (('name = "a"', 'name = "a/b"'), r"`settings\[0\].name` must be 1 to 64"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_a_study_of_ones_own_is_one_sentence(case, mine):
    (old, new), sentence = WRONG[case]
    (module,) = (path.stem for path in mine.parent.glob("own_*.py"))
    old, new = (each.replace("MODULE", module) for each in (old, new))
    text = mine.read_text()
    assert old in text
    mine.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=sentence) as caught:
        nt.lab.read(mine, allow_code=True)
    assert str(caught.value).startswith(f"{mine}: ")
    assert str(caught.value).isprintable()


def test_the_file_of_a_study_made_in_python_is_the_same_study():
    more = {"seed": 0, "my key": {"a": [1, 2.5]}, "title": "T", "columns": 3, "all": True}
    settings = [{"name": f"n{i}", "n": n} | more for i, n in enumerate((1, True, 1.0))]
    made = study(settings=settings, description='two\nlines "quoted"', seed=7, claims=[sums])
    again = nt.lab.parse(to_toml(made.spec(), 2).encode(), "again", code=".")
    one, other = (
        json.dumps(each.spec() | {"code": None}, sort_keys=True) for each in (made, again)
    )
    assert one == other
