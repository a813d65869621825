"""`neurotron verify`, and `neurotron simulate --verify`."""

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

MODEL = "model.safetensors"
LABEL = ("--label", "price")
STATED = ("--probability", "0.05")
TRUE = np.array([2.0, 3.0])


def price(X: np.ndarray, seed: int) -> np.ndarray:
    """Return labels 2 size + 3 age + 1 with a little noise, of which one in twenty-five is off."""
    draw = np.random.default_rng(seed)
    honest = X @ TRUE + 1.0 + 0.01 * draw.standard_normal(len(X))
    return honest + 50.0 * (np.arange(len(X)) % 25 == 3)


def write(name: str, rows: int, seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((rows, 2))
    columns = {"size": X[:, 0], "age": X[:, 1], "price": price(X, seed)}
    frame = pl.DataFrame(columns)
    frame.write_parquet(name) if name.endswith("parquet") else frame.write_csv(name)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with a model, and with fresh rows for it."""
    monkeypatch.chdir(tmp_path)
    write("old.csv", 200, seed=0)
    write("new.csv", 3000, seed=1)
    frame = pl.read_csv("old.csv")
    nt.NeuroTronRegressor().fit(frame.drop("price"), frame["price"]).save(MODEL)
    return tmp_path


def verified(*arguments: object) -> dict:
    """Run the command, which succeeds; return its JSON."""
    done = in_this_process("verify", MODEL, *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def refused(*arguments: object) -> str:
    """Run a command that is refused; return the sentence."""
    done = in_this_process("verify", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def error() -> float:
    return float(np.linalg.norm(nt.load_model(MODEL).coef_ - TRUE))


def test_the_installed_command_prints_a_radius_and_what_it_assumes(folder):
    done = installed("verify", MODEL, "new.csv", *LABEL, *STATED, "--plot", "p.png", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert says(text, "3,000 from new.csv", "Estimated", "0.999", "intercept", "Picture: p.png")
    assert says(text, "column coefficient off by at most size", "age")
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_what_python_finds(folder):
    found = verified("new.csv", *LABEL, *STATED, "--law", "normal", "--attacker", "coin")
    frame = pl.read_csv("new.csv")
    expected = nt.load_model(MODEL).verify(
        frame.drop("price"), frame["price"], probability=0.05, attacker="coin", law=nt.Normal()
    )
    assert found["radius"] == expected.radius
    assert found["radius"] > error()
    assert (found["kind"], found["about"]) == ("theorem", "law")
    assert (found["rows"], found["label"], found["columns"]) == (3000, "price", ["size", "age"])


def test_what_is_stated_reaches_the_verification(folder):
    radius = verified("new.csv", *LABEL, *STATED)["radius"]
    known = verified("new.csv", *LABEL, *STATED, "--law", "normal")["radius"]
    surer = verified("new.csv", *LABEL, *STATED, "--confidence", "0.999999999")["radius"]
    more = verified("new.csv", *LABEL, "--probability", "0.1")["radius"]
    assert error() < known < radius < min(surer, more)
    bounded = verified("new.csv", *LABEL, "--probability", "0.6", "--law", "normal", "--bound", "1")
    assert bounded["radius"] > error()


def test_parquet_and_left_out_rows(folder):
    write("new.parquet", 3000, seed=1)
    frame = pl.read_parquet("new.parquet")
    gaps = frame.with_columns(size=pl.when(pl.int_range(3000) == 7).then(None).otherwise("size"))
    gaps.with_columns(town=pl.lit("Ulm")).write_parquet("gaps.parquet")
    found = verified("gaps.parquet", *LABEL, *STATED, "--drop", "town", "--skip-missing")
    assert (found["rows"], found["rows_left_out"]) == (2999, 1)


def test_rows_of_the_fit_are_refused_unless_the_model_was_saved_without_their_hashes(folder):
    told = refused(MODEL, "old.csv", *LABEL, *STATED)
    assert says(told, "200 of their 200 rows", "few values", "save the model without row hashes")
    in_this_process("fit", "old.csv", *LABEL, "--out", MODEL, "--overwrite", "--no-row-hashes")
    done = in_this_process("verify", MODEL, "old.csv", *LABEL, *STATED)
    assert says(done.stdout, "nobody checked")


def test_too_few_rows_are_exit_code_1_with_what_would_do(folder):
    write("few.csv", 3, seed=2)
    done = in_this_process("verify", MODEL, "few.csv", *LABEL, *STATED, "--law", "normal")
    assert (done.returncode, done.stderr) == (1, "")
    needed = nt.load_model(MODEL).verify(
        pl.read_csv("few.csv").drop("price"), pl.read_csv("few.csv")["price"], probability=0.05,
        law=nt.Normal(),
    ).rows_needed  # fmt: skip
    assert says(" ".join(done.stdout.split()), f"{needed:,}")
    done = in_this_process("verify", MODEL, "few.csv", *LABEL, *STATED, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["radius"], found["exit_code"]) == (None, 1)
    assert found["table_sha256"] == sha256(Path("few.csv").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((MODEL, "new.csv", *LABEL, "--probability", "2"), ("`--probability`", "2")),
        ((MODEL, "new.csv", *LABEL, *STATED, "--noise", "loud"), ("--noise", "even", "'loud'")),
        ((MODEL, "new.csv", *LABEL, *STATED, "--noise", "-1"), ("`--noise`", "-1")),
        ((MODEL, "new.csv", *LABEL, *STATED, "--law", "norml"), ("'norml'", "'normal'")),
        ((MODEL, "new.csv", *LABEL, *STATED, "--attacker", "cat"), ("`--attacker`", "'cat'")),
        ((MODEL, "new.csv", *LABEL, *STATED, "--plot", "p.gif"), ("`--plot`", ".png")),
        ((MODEL, "new.csv", "--label", "prize", *STATED), ("--label", "'prize'")),
        ((MODEL, "old.csv", *LABEL, *STATED), ("200 of their 200 rows", "leave them out")),
        (("none.safetensors", "new.csv", *LABEL, *STATED), ("none.safetensors",)),
    ],
    ids=str,
)
def test_bad_input_is_one_sentence(arguments, parts, folder):
    assert says(refused(*arguments), *parts)


# ---- simulate --verify ---------------------------------------------------------------------------

RUN = ("simulate", "--n-inputs", "12", "--filter-size", "4", "--steps", "2000")
TRAINERS = ("--trainer", "refined-tron", "--trainer", "sgd:step_size=0.01")
VERIFY = ("--probability", "0.2", "--verify", "2000")


def simulated(*more: str) -> str:
    done = in_this_process(*RUN, *TRAINERS, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_simulate_prints_the_verified_radius_beside_the_error():
    text = " ".join(simulated(*VERIFY).split())
    assert says(text, "verified", "2,000 fresh rows", "0.999", "at most 0.25")
    assert text.count("≤") == 2
    arms = json.loads(simulated(*VERIFY, "--json"))["arms"]
    for arm in arms:
        assert arm["verification"]["rows"] == 2000
        assert arm["verification"]["probability"] == 0.2
        assert arm["error"] <= arm["verification"]["radius"]
    assert arms[0]["verification"]["radius"] < 1e-8


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        (["--attack", "none"], {"probability": 0.0, "noise": 0.0, "bound": None}),
        (["--noise", "0.01"], {"attacker": "coin", "noise": "independent", "bound": 0.25}),
        (["--attack", "sign-flip"], {"probability": 0.2, "bound": None}),
        (["--attack", "half-space"], {"attacker": "any"}),
    ],
    ids=str,
)
def test_what_is_stated_is_what_the_run_has(options, stated):
    for arm in json.loads(simulated(*VERIFY, *options, "--json"))["arms"]:
        assert stated.items() <= arm["verification"].items()
        assert arm["error"] <= arm["verification"]["radius"]


def test_without_the_option_nothing_is_verified():
    assert "verif" not in simulated()
    assert "verification" not in json.loads(simulated("--json"))["arms"][0]


def test_trainers_that_cannot_be_verified_say_what_would_do_once():
    options = ("--attack", "sign-flip", "--probability", "0.5", "--verify", "500")
    text = " ".join(simulated(*options).split())
    assert says(text, "RefinedTron, SGD: Not verified", "Fewer attacked labels")
    assert "≤" not in text
    assert "fresh rows under" not in text


def test_inputs_that_are_corrupted_are_refused_before_any_training():
    done = in_this_process(*RUN, *TRAINERS, *VERIFY, "--law", "corrupted:scale=0.1")
    assert (done.returncode, done.stdout) == (2, "")
    assert says(done.stderr, "--verify", "corrupts inputs")


@pytest.mark.parametrize("rows", ["0", "-3"])
def test_a_number_of_rows_is_checked_before_any_training(rows):
    done = in_this_process(*RUN, "--verify", rows)
    assert (done.returncode, done.stdout) == (2, "")
    assert says(done.stderr, "--verify", rows)
