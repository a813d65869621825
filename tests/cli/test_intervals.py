"""`neurotron predict --interval`: a band around predictions, from calibration rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.support.cli import in_this_process, refused, run
from tests.support.messages import says

import neurotron as nt

ASKED = ("--interval", "0.9", "--calibration", "c.csv", "--label", "price")
PREDICT = ("predict", "m.safetensors", "new.csv")


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    found = {}
    for name, rows in (("fit", 100), ("c", 200), ("new", 5)):
        X = draw.standard_normal((rows, 2))
        y = X @ [1.0, -2.0] + draw.standard_normal(rows)
        found[name] = pl.DataFrame({"size": X[:, 0], "age": X[:, 1], "price": y})
        found[name].write_csv(f"{name}.csv")
    inputs = found["fit"].drop("price")
    nt.NeuroTronRegressor().fit(inputs, found["fit"]["price"]).save("m.safetensors")
    return found


@pytest.mark.parametrize("against", [("--poisoned", "9"), ("--coin", "0.05")])
def test_a_prediction_has_the_ends_of_its_interval_as_in_python(tables, against):
    printed = run(*PREDICT, *ASKED, *against, "--out", "p.csv")
    found = pl.read_csv("p.csv")
    assert found.columns == ["row", "predicted_label", "lower", "upper"]
    model, calibration = nt.load_model("m.safetensors"), tables["c"]
    asked = {against[0][2:]: float(against[1]) if "coin" in against[0] else int(against[1])}
    band = nt.intervals(model, calibration.drop("price"), calibration["price"], **asked)
    _, ends = band.predict_interval(tables["new"].drop("price"))
    assert found.select("lower", "upper").to_numpy() == pytest.approx(ends[:, :, 0])
    assert " ".join(printed.split()).startswith(band.statement)


def test_without_a_file_the_table_is_printed_and_what_it_means_stands_beside(tables):
    done = in_this_process(*PREDICT, *ASKED, "--poisoned", "9")
    assert done.stdout.startswith("row,predicted_label,lower,upper\n")
    assert says(" ".join(done.stderr.split()), "clean", "0.9004", "9 of the 200 calibration rows")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (ASKED[:2], ("`--interval`", "`--calibration`", "`--label`")),
        (ASKED[2:], ("`--calibration`", "`--interval`")),
        (("--poisoned", "9"), ("`--poisoned`", "`--interval`")),
        (ASKED, ("`--poisoned`", "`--coin`")),
        ((*ASKED, "--poisoned", "90"), ("200 calibration rows", "909")),
        (("--interval", "2", *ASKED[2:], "--poisoned", "1"), ("`--interval`", "2")),
        ((*ASKED[:3], "fit.csv", *ASKED[4:], "--poisoned", "1"), ("100 rows in common",)),
        ((*ASKED, "--poisoned", "9", "--out", "c.csv", "--overwrite"), ("`--out`", "'c.csv'")),
    ],
)
def test_what_has_no_answer_is_refused_in_the_names_of_options(tables, options, parts):
    assert says(refused(*PREDICT, *options), *parts)
