"""`neurotron audit`: exit codes, what it prints and stores, and what it refuses."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.cli import in_this_process, installed
from tests.support.messages import says

import neurotron as nt
from neurotron.auditing import audit
from neurotron.estimators import catalog
from neurotron.lab import audits
from neurotron.work import Failure, Report, Unit

HOUSES = Path(__file__).parents[2] / "docs" / "houses.csv"
LABEL = ("--label", "price")
RIDGE = ("--estimator", "ridge")
BUDGET = ("--bound", "2", "--probability", "0.1")
FAST = ("--no-remedies", "--splits", "3", "--attack", "constant", "--attack", "worst-error")
PLAIN = (*LABEL, *RIDGE, *BUDGET, *FAST)


def rows() -> pl.DataFrame:
    draw = np.random.default_rng(0)
    size, age = draw.standard_normal((2, 60))
    price = 2.0 * size - age + 0.5 * draw.standard_normal(60) + 5.0
    return pl.DataFrame({"size": size, "age": age, "price": price})


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A folder with a table, which is the current one."""
    monkeypatch.chdir(tmp_path)
    rows().write_csv("data.csv")
    return tmp_path


def audited(*arguments: object, code: int = 0) -> dict:
    """Run the command; return its JSON."""
    done = in_this_process("audit", "data.csv", *arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# ---- what it does --------------------------------------------------------------------------------


@pytest.mark.slow("a new process loads scikit-learn, and finds and draws everything")
@pytest.mark.parametrize(
    ("tolerance", "code"),
    [
        pytest.param("9", 0, id="within", marks=[pytest.mark.long, pytest.mark.quick]),
        pytest.param("0.0001", 3, id="exceeded"),
    ],
)
def test_the_installed_command_tells_its_verdict_by_its_exit_code(tolerance, code, data):
    done = installed("audit", "data.csv", *PLAIN, "--max-damage", tolerance, cwd=data)
    assert done.returncode == code, done.stderr
    assert "3 of 3 units" in done.stderr
    text = " ".join(done.stdout.split())
    verdict = "within" if code == 0 else "exceeded"
    assert says(text, "60 from data.csv", f"Verdict: {verdict}", "worst-error 4", "Page")
    place = Path(text.partition("Page: ")[2].split()[0])
    assert (data / place).read_text("utf-8").startswith("<!doctype html>")
    assert place.parts[:2] == ("out", "audits")
    assert place.parts[2].startswith("data-")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_an_undecided_verdict_is_exit_code_3(data):
    found = audited(*PLAIN)
    worst = found["worst"]["relative"]
    assert found["verdict"] == "not asked"
    between = 0.5 * (worst["estimate"] + worst["high"])
    assert audited(*PLAIN, "--max-damage", between, code=3)["verdict"] == "undecided"


def test_a_poisoned_table_is_undecided_and_its_cleaned_copy_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reading = (*LABEL, "--drop", "town", "--skip-missing")
    assert in_this_process("clean", HOUSES, *reading, "--cleaned", "data.csv").returncode == 0
    gate = (*reading, *RIDGE, "--bound", "100", "--rows", "20", *FAST, "--max-damage", "0.1")
    done = in_this_process("audit", HOUSES, *gate)
    text = " ".join(done.stdout.split())
    assert done.returncode == 3
    assert says(text, "Verdict: undecided", "30 labels are suspects", "--accept-suspects 30")
    cleaned = audited(*gate, code=3)
    assert (cleaned["verdict"], cleaned["suspects"]["count"]) == ("exceeded", 0)
    assert audited(*gate[:-2], "--max-change", "1000")["verdict"] == "within"


def test_json_is_what_python_finds_and_what_is_stored(data):
    found = audited(*PLAIN, "--max-damage", "9", "--out", "here", "--seed", "3")
    frame = rows()
    expected = audit(
        "ridge", frame.drop("price").to_numpy(), frame["price"].to_numpy(),
        budget=nt.Budget(bound=2.0, probability=0.1), attacks=["constant", "worst-error"],
        tolerance=9.0, remedies=[], splits=3, seed=3,
    ).to_dict()  # fmt: skip
    for name in expected.keys() - {"influential", "flips", "table_sha256"}:
        assert found[name] == expected[name], name
    assert found["table_sha256"] == sha256(Path("data.csv").read_bytes()).hexdigest()
    assert (found["format"], found["software"]["name"]) == (1, "neurotron")
    assert (found["exit_code"], found["suspects"]["count"]) == (0, 0)
    assert [one["row"] for one in found["influential"]] == [
        one["row"] + 1 for one in expected["influential"]
    ]
    assert (found["label"], found["columns"]) == ("price", ["size", "age"])
    assert [one["name"] for one in found["flips"]] == found["columns"]
    assert [one["rows"] for one in found["flips"]] == [
        [row + 1 for row in one["rows"]] for one in expected["flips"]
    ]
    assert json.loads(Path("here/audit.json").read_text("utf-8")) == found
    assert found["page"] == "here/audit.html"


def test_the_table_has_the_numbers_of_the_json_and_nothing_is_computed_twice(data):
    found = audited(*PLAIN, "--out", "here")
    shards = {path: path.stat().st_mtime_ns for path in Path("here").rglob("*.parquet")}
    assert len(shards) == 3
    done = in_this_process("audit", "data.csv", *PLAIN, "--out", "here")
    assert done.returncode == 0
    assert {path: path.stat().st_mtime_ns for path in Path("here").rglob("*.parquet")} == shards
    for damage in found["damages"]:
        (line,) = (x for x in done.stdout.splitlines() if x.startswith(f"{damage['attack']} "))
        assert f"+{100 * damage['relative']['estimate']:.2g} %" in line
        assert line.split()[1] == str(damage["rows"])


def test_the_page_repeats_the_command_and_counts_rows_as_the_file_does(data):
    gaps = rows().with_columns(age=pl.when(pl.int_range(60) == 0).then(None).otherwise("age"))
    gaps.write_csv("data.csv")
    found = audited(*PLAIN, "--skip-missing", "--out", "my place")
    page = Path("my place/audit.html").read_text("utf-8")
    assert "--out &#39;my place&#39;" in page
    numbers = [one["row"] for one in found["influential"]]
    kept = rows()[1:]
    alone = audit(
        "ridge", kept.drop("price").to_numpy(), kept["price"].to_numpy(),
        budget=nt.Budget(bound=2.0, probability=0.1), attacks="constant", remedies=[], splits=3,
    )  # fmt: skip
    assert numbers == [one.row + 2 for one in alone.influential]
    assert found["rows_left_out"] == 1
    assert f'<th scope="row" class="n">{numbers[0]}</th>' in page


def test_rows_instead_of_a_share_and_a_range_instead_of_a_bound(data):
    low, high = rows()["price"].min(), rows()["price"].max()
    more = ("--rows", "4", "--label-range", low, high)
    found = audited(*LABEL, *RIDGE, *FAST, *more)
    (ceiling,) = found["ceilings"]
    assert ceiling["rows"] == 3  # of the 45 that are fitted
    assert found["label_range"] == [low, high]


def test_a_sample_is_drawn_by_the_seed(data):
    found = audited(*PLAIN, "--sample", "40", "--seed", "1")
    assert found["n_rows"] == 40
    assert found["clean_error"]["estimate"] < 0.8  # rows still have their own labels
    assert found["damages"] != audited(*PLAIN, "--sample", "40", "--seed", "2")["damages"]


def test_a_saved_model_is_audited_on_its_own_columns(data):
    frame = rows()
    nt.NeuroTronRegressor().fit(frame.drop("price"), frame["price"]).save("model.safetensors")
    frame.with_columns(other=pl.lit(1.0)).write_csv("data.csv")
    found = audited(*LABEL, "--estimator", "model.safetensors", *BUDGET, *FAST, "--splits", "1")
    assert (found["estimator"], found["n_columns"]) == ("model.safetensors", 2)


def test_remedies_are_compared_unless_they_are_not_wanted(data, monkeypatch):
    monkeypatch.setattr(catalog, "REMEDIES", ("huber", "ridge:alpha=9"))
    found = audited(*PLAIN[: -len(FAST)], "--splits", "2", "--attack", "constant")
    assert {one["name"] for one in found["remedies"]} == {"huber", "ridge:alpha=9"}
    exact = audited(*LABEL, *RIDGE, *BUDGET, "--splits", "2", "--attack", "worst-error")
    assert [one["name"] for one in exact["remedies"]] == ["ridge:alpha=9"]
    assert "huber: none of these attacks is possible" in exact["failures"][0]


@pytest.mark.parametrize(
    ("report", "code", "parts"),
    [
        ({"interrupted": True, "present": 1}, 130, ("1 of 3", "same command")),
        ({"present": 2}, 1, ("2 of 3", "same command")),
        ({"present": 2, "failures": [Failure(Unit("audited", 0), "no memory")]}, 1, ("no memory",)),
    ],
    ids=["Ctrl-C", "removed by someone", "failed"],
)
def test_an_audit_that_is_not_complete_says_how_to_go_on(report, code, parts, data, monkeypatch):
    unfinished = Report(3, Path("here"), **report)
    monkeypatch.setattr(nt.lab, "run", lambda *_, **__: unfinished)
    done = in_this_process("audit", "data.csv", *PLAIN)
    assert (done.returncode, done.stdout) == (code, "")
    assert says(done.stderr, *parts)


def test_names_of_columns_are_shown_as_they_are_written(data):
    evil = "<script>hacked=1</script>"
    rows().rename({"price": evil, "age": "<b>"}).write_csv("data.csv")
    found = audited("--label", evil, *PLAIN[2:], "--out", "here")
    page = Path("here/audit.html").read_text("utf-8")
    assert (found["label"], found["columns"]) == (evil, ["size", "<b>"])
    assert evil not in page
    assert "units of &lt;script&gt;hacked=1" in page


def test_a_table_that_is_too_large_is_refused_with_the_sample_that_is_not(data, monkeypatch):
    monkeypatch.setattr(audits, "MOST_ENTRIES", 90)
    done = in_this_process("audit", "data.csv", *PLAIN)
    assert (done.returncode, done.stdout) == (2, "")
    assert says(done.stderr, "data.csv", "120", "90", "--sample 45")
    assert audited(*PLAIN, "--sample", "45")["n_rows"] == 45


# ---- what it refuses -----------------------------------------------------------------------------

HOSTILE: dict[str, tuple[tuple[object, ...], tuple[str, ...]]] = {
    "no bound or range": ((*LABEL, *RIDGE, "--probability", "0.1"), ("--bound`", "--label-range`")),
    "no share and no number": ((*LABEL, *RIDGE, "--bound", "1"), ("--probability", "--rows")),
    "share and number": ((*PLAIN, "--rows", "3"), ("--probability", "--rows")),
    "a negative bound": ((*PLAIN, "--bound", "-1"), ("`--bound`", "-1")),
    "an infinite bound": ((*PLAIN, "--bound", "inf"), ("`--bound`", "inf")),
    "a bound that is no number": ((*PLAIN, "--bound", "nan"), ("`--bound`", "nan")),
    "a bound of zero": ((*PLAIN, "--bound", "0"), ("bound",)),
    "a share above one": ((*PLAIN, "--probability", "2"), ("`--probability`", "2")),
    "a share of nobody": ((*PLAIN, "--probability", "0.001"), ("0.001",)),
    "more rows than there are": ((*LABEL, *RIDGE, "--bound", "1", "--rows", "61"), ("61", "60")),
    "no rows": ((*LABEL, *RIDGE, "--bound", "1", "--rows", "0"), ("rows",)),
    "no splits": ((*PLAIN, "--splits", "0"), ("`--splits`", "0")),
    "a million splits": ((*PLAIN, "--splits", "1000000"), ("`--splits`", "1000000")),
    "no replicates": ((*PLAIN, "--replicates", "0"), ("`--replicates`", "0")),
    "a negative seed": ((*PLAIN, "--seed", "-1"), ("seed", "-1")),
    "a negative tolerance": ((*PLAIN, "--max-damage", "-0.1"), ("`--max-damage`", "-0.1")),
    "a tolerance that is no number": ((*PLAIN, "--max-damage", "nan"), ("`--max-damage`", "nan")),
    "a negative change": ((*PLAIN, "--max-change", "-1"), ("`--max-change`", "-1")),
    "an endless change": ((*PLAIN, "--max-change", "inf"), ("`--max-change`", "inf")),
    "fewer than no suspects": ((*PLAIN, "--accept-suspects", "-1"), ("`--accept-suspects`", "-1")),
    "an unknown estimator": ((*PLAIN, "--estimator", "rigde"), ("'rigde'", "'ridge'")),
    "a wrong setting": ((*PLAIN, "--estimator", "ridge:alpha=-1"), ("`alpha`", "-1")),
    "an unknown setting": ((*PLAIN, "--estimator", "ridge:gamma=1"), ("'gamma'", "alpha")),
    "code for an estimator": (
        (*PLAIN, "--estimator", "__import__('os').system('touch hacked')"), ("unknown estimator",)
    ),
    "a path for an estimator": ((*PLAIN, "--estimator", "../../passwd"), ("unknown estimator",)),
    "a pickled model": ((*PLAIN, "--estimator", "pipe.joblib"), ("'pipe.joblib'", "nt.audit(")),
    "a model that is not there": ((*PLAIN, "--estimator", "no.safetensors"), ("no.safetensors",)),
    "a damaged model": ((*PLAIN, "--estimator", "bad.safetensors"), ("bad.safetensors",)),
    "an unknown attack": ((*PLAIN, "--attack", "magic"), ("'magic'",)),
    "an attack twice": ((*PLAIN, "--attack", "constant"), ("constant",)),
    "a range that excludes labels": ((*PLAIN, "--label-range", "0", "1"), ("label",)),
    "a range upside down": ((*PLAIN, "--label-range", "9", "-9"), ("`--label-range`",)),
    "an empty sample": ((*PLAIN, "--sample", "0"), ("`--sample`", "0")),
    "a sample that is too small": ((*PLAIN, "--sample", "3"), ("3",)),
    "no threads": ((*PLAIN, "--threads", "0"), ("--threads", "0")),
    "threads and a cluster": ((*PLAIN, "--threads", "1", "--dask", "x"), ("--threads", "--dask")),
    "a file for a folder": ((*PLAIN, "--out", "data.csv"), ("--out", "'data.csv'")),
    "a folder of something else": ((*PLAIN, "--out", "full"), ("full",)),
    "a place where nothing can be written": ((*PLAIN, "--out", "/proc/audit"), ("/proc/audit",)),
    "a label twice": ((*PLAIN, "--label", "age"), ("--label", "once")),
    "an unknown label": ((*RIDGE, *BUDGET, "--label", "prise"), ("'prise'", "'price'")),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_request_is_one_sentence_and_nothing_is_written(name, data):
    arguments, parts = HOSTILE[name]
    Path("bad.safetensors").write_bytes(b"\x00" * 100)
    Path("full").mkdir()
    Path("full", "mine.txt").write_text("mine")
    before = files(data)
    done = in_this_process("audit", "data.csv", *arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert all(part in done.stderr for part in parts), done.stderr
    assert files(data) == before


@pytest.mark.parametrize("pair", ["huber worst-error", "ridge linear-surrogate"])
def test_an_attack_that_is_not_possible_is_said(pair, data):
    estimator, attack = pair.split()
    more = ("--no-remedies", "--splits", "2", "--attack", attack)
    done = in_this_process("audit", "data.csv", *LABEL, "--estimator", estimator, *BUDGET, *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert says(done.stderr, attack, "all attacks")


TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "an empty file": ("", ("empty",)),
    "one row": ("size,price\n1,2\n", ("price",)),
    "a few rows": ("size,price\n" + "".join(f"{i},{i}\n" for i in range(5)), ("rows", "5")),
    "constant labels": ("size,price\n" + "".join(f"{i},3\n" for i in range(20)), ("3", "label")),
    "missing values": ("size,price\n1,\n2,3\n", ("'price'", "--skip-missing")),
    "text": ("size,town,price\n1,Ulm,2\n2,Bonn,3\n", ("'town'", "--drop town")),
    "the label twice": ("price,size,price\n1,2,3\n", ("'price'", "twice")),
    "an endless label": ("size,price\n1,2\n2,inf\n", ("'price'", "inf")),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_cannot_be_audited_is_one_sentence(name, data):
    content, parts = TABLES[name]
    Path("data.csv").write_text(content)
    before = files(data)
    done = in_this_process("audit", "data.csv", *PLAIN)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr
    assert files(data) == before


def test_the_installed_command_refuses_with_exit_code_2(data):
    done = installed("audit", "data.csv", *PLAIN, "--bound", "-1", cwd=data)
    assert (done.returncode, done.stdout) == (2, "")
    assert says(done.stderr, "`--bound`", "-1")
