"""The commands for tables: fit, predict, clean and poison."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.cli import content, in_this_process, refused, run
from tests.support.hostile_tables import HOSTILE
from tests.support.messages import says

import neurotron
from neurotron.estimators import NeuroTronRegressor

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_table_is_one_sentence_and_nothing_is_written(name, tmp_path, monkeypatch):
    hostile = HOSTILE[name]
    monkeypatch.chdir(tmp_path)
    hostile.make(tmp_path)
    before = content(tmp_path)
    done = in_this_process("fit", hostile.name, *hostile.options, "--out", "model.safetensors")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert says(done.stderr, *hostile.says)
    assert content(tmp_path) == before


def test_few_rows_are_said_before_the_fit(data, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(NeuroTronRegressor, "fit", interrupted)
    table = pl.read_csv(data)
    table.head(20).write_csv("few.csv")
    done = in_this_process("fit", "few.csv", *LABEL, "--out", "model.safetensors")
    assert says(done.stderr, "note: 20 rows are few for 3 numbers", "at least 30")


LABEL = ("--label", "price")
POISONED = [17, 42, 5]
"""The poisoned rows, the most suspicious one first."""


def test_a_saved_model_predicts_what_honest_labels_would_be(data, rows):
    printed = run("fit", data, *LABEL, "--out", "model.safetensors")
    assert says(
        printed, "60 from data.csv", "3 of 60 rows", "about 5 %", "Written: model.safetensors"
    )
    run("predict", "model.safetensors", data, "--out", "p.csv")
    found = pl.read_csv("p.csv")
    assert found.columns == ["row", "predicted_label"]
    assert found["row"].to_list() == [*range(1, 61)]
    honest = 2 * rows["size"] + 3 * rows["age"] + 1
    assert np.abs(found["predicted_label"].to_numpy() - honest).max() < 0.1
    assert run("predict", "model.safetensors", data) == Path("p.csv").read_text()


def test_clean_ranks_the_poisoned_rows_and_keeps_the_others_as_they_were(data):
    printed = run("clean", data, *LABEL, "--out", "suspects.csv", "--cleaned", "kept.csv")
    suspects = pl.read_csv("suspects.csv")
    assert suspects["row"].to_list() == POISONED
    assert suspects["is_label_issue"].all()
    assert suspects["label_quality"].is_between(0, 0.05).all()
    assert (suspects["given_label"] - suspects["predicted_label"]).abs().min() > 40
    assert says(printed, "17", "42", "Written: suspects.csv", "Written: kept.csv")
    lines = data.read_text().splitlines()
    kept = [line for row, line in enumerate(lines) if row not in POISONED]
    assert Path("kept.csv").read_text().splitlines() == kept


def write_mostly_wrong(path: str, rows: dict[str, np.ndarray]) -> None:
    """Write a table in which 27 of 60 labels follow a model exactly, and the others none."""
    price = 2 * rows["size"] + 3 * rows["age"] + 1
    price[27:] = np.random.default_rng(0).normal(0, 900, 33).round(2)
    pl.DataFrame(rows | {"price": price}).write_csv(path)


@pytest.mark.parametrize("saved", [False, True], ids=["a new fit", "a saved model"])
def test_clean_does_not_remove_more_than_half_of_the_rows(saved, data, rows):
    write_mostly_wrong("bad.csv", rows)
    model = ("--model", "m.safetensors") if saved else ()
    if saved:
        run("fit", data, *LABEL, "--out", "m.safetensors")
    files = ("--out", "s.csv", "--cleaned", "kept.csv")
    done = in_this_process("clean", "bad.csv", *LABEL, *model, *files)
    assert done.returncode == 1
    assert says(" ".join(done.stderr.split()), "--cleaned", "of 60 rows", "half", "do not trust")
    assert not Path("kept.csv").exists()
    assert pl.read_csv("s.csv").height > 30
    assert says(done.stdout, "Written: s.csv")
    assert "kept.csv" not in done.stdout
    done = in_this_process("clean", "bad.csv", *LABEL, *model)
    assert done.returncode == 0  # without the file, there is nothing to refuse
    done = in_this_process("clean", "bad.csv", *LABEL, *model, *files[2:], "--json")
    assert json.loads(done.stdout)["exit_code"] == done.returncode == 1


def test_tiny_qualities_are_not_told_apart_on_the_screen(data, rows):
    write_mostly_wrong("bad.csv", rows)
    done = in_this_process("clean", "bad.csv", *LABEL)
    printed = done.stdout
    assert says(" ".join(done.stderr.split()), "more than half of the labels", "attacker's")
    assert "< 1e-16" in printed
    assert "e-1" not in printed.replace("< 1e-16", "")


@pytest.mark.parametrize("option", [("--network", "relu-gate"), ("--seed", "0")])
def test_options_of_a_new_fit_are_refused_with_a_saved_model(option, data):
    run("fit", data, *LABEL, "--out", "m.safetensors")
    sentence = refused("clean", data, *LABEL, "--model", "m.safetensors", *option)
    assert says(sentence, option[0], "--model", "leave out")


def test_the_whole_is_a_hundred_percent(data, monkeypatch):
    fit = NeuroTronRegressor.fit

    def all_attacked(model, *given):
        fit(model, *given).attacked_fraction_ = 1.0

    monkeypatch.setattr(NeuroTronRegressor, "fit", all_attacked)
    assert says(run("clean", data, *LABEL), "about 100 %", "of the noise of honest labels")


def test_clean_can_judge_a_table_by_a_saved_model(data):
    run("fit", data, *LABEL, "--out", "model.safetensors")
    pl.read_csv(data).tail(30).write_csv("new.csv")
    run("clean", "new.csv", *LABEL, "--model", "model.safetensors", "--out", "s.parquet")
    assert pl.read_parquet("s.parquet")["row"].to_list() == [42 - 30]
    pl.read_csv(data)[16:17].write_csv("one.csv")
    found = json.loads(run("clean", "one.csv", *LABEL, "--model", "model.safetensors", "--json"))
    assert [suspect["row"] for suspect in found["suspicious_rows"]] == [1]


def test_results_can_be_json(data):
    found = json.loads(run("clean", data, *LABEL, "--out", "s.csv", "--json"))
    assert found["suspicious_rows"] == pl.read_csv("s.csv").drop("is_label_issue").to_dicts()
    assert [suspect["row"] for suspect in found["suspicious_rows"]] == POISONED
    assert (found["rows"], found["columns"], found["label"]) == (60, ["size", "age"], "price")
    found = json.loads(run("fit", data, *LABEL, "--out", "m.safetensors", "--json"))
    assert np.allclose([*found["weights"], found["intercept"]], [2, 3, 1], atol=0.1)


def test_json_says_by_what_it_was_made_and_from_which_file(data):
    for command in (("clean",), ("fit", "--out", "m.safetensors")):
        found = json.loads(run(*command, data, *LABEL, "--json"))
        assert found["table_sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
        assert (found["format"], found["exit_code"]) == (1, 0)
        assert found["software"] == {"name": "neurotron", "version": neurotron.__version__}


def test_poison_changes_labels_only_and_says_which(data):
    options = ("--attack", "random-sign", "--bound", "9", "--probability", "0.2")
    printed = run("poison", data, *LABEL, *options, "--out", "bad.csv", "--changed", "changed.csv")
    before, after = pl.read_csv(data), pl.read_csv("bad.csv")
    assert after.drop("price").equals(before.drop("price"))
    moved = (after["price"] - before["price"]).abs()
    changed = pl.read_csv("changed.csv")
    assert changed["row"].to_list() == [i + 1 for i, size in enumerate(moved) if size > 0]
    assert np.allclose(changed["poisoned_label"] - changed["honest_label"], 9, atol=20)
    assert np.allclose(moved.filter(moved > 0), 9)
    assert 4 <= changed.height <= 20
    assert says(printed, "RandomSign", f"{changed.height} of 60 rows", "Written: bad.csv")


@pytest.mark.parametrize("attack", ["impostor", "constant:bound=3", "sign-flip"])
def test_poison_knows_attacks_that_choose_rows_or_need_no_bound(attack, data):
    assert "Written: bad.csv" in run("poison", data, *LABEL, "--attack", attack, "--out", "bad.csv")
    assert Path("bad.csv").read_text() != data.read_text()


@pytest.mark.parametrize(
    ("attack", "sentence"),
    [("constant", "add --bound"), ("none", "nothing would change"), ("consant", "'constant'")],
)
def test_poison_refuses_an_attack_that_it_cannot_make(attack, sentence, data):
    assert says(refused("poison", data, *LABEL, "--attack", attack, "--out", "bad.csv"), sentence)


def test_parquet_is_read_and_written_with_its_types(data):
    frame = pl.read_csv(data).with_columns(
        pl.col("size").cast(pl.Float32), new=pl.Series([True, False] * 30), city=pl.lit("Paris")
    )
    frame.write_parquet("data.parquet")
    run("clean", "data.parquet", *LABEL, "--drop", "city", "--cleaned", "kept.parquet")
    kept = pl.read_parquet("kept.parquet")
    assert kept.schema == frame.schema
    assert kept.height == 57


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda text: "\ufeff" + text, ()),
        (lambda text: text.replace("\n", "\r\n") + "\r\n\r\n", ()),
        (lambda text: text.replace(",", " , ").replace(" , ", ",", 2), ()),
        (lambda text: text.replace(",", "\t"), ("--separator", "tab")),
        (
            lambda text: text.replace(",", ";").replace(".", ","),
            ("--separator", ";", "--decimal-comma"),
        ),
    ],
    ids=["BOM", "CRLF", "blanks", "tabs", "decimal commas"],
)
def test_harmless_oddities_of_csv_files_change_nothing(change, options, data):
    Path("odd.csv").write_text(change(data.read_text()), newline="")
    expected = json.loads(run("clean", data, *LABEL, "--json"))
    found = json.loads(run("clean", "odd.csv", *LABEL, *options, "--json"))
    assert found | {"table_sha256": expected["table_sha256"]} == expected


def test_a_poisoned_file_keeps_its_separator_and_decimal_comma(data):
    text = data.read_text().replace(",", ";").replace(".", ",")
    data.write_text(text)
    options = ("--separator", ";", "--decimal-comma", "--bound", "1.5", "--probability", "1")
    run("poison", data, *LABEL, *options, "--out", "bad.csv")
    cells = Path("bad.csv").read_text().splitlines()[1].split(";")
    assert cells[:2] == text.splitlines()[1].split(";")[:2]
    assert "." not in "".join(cells)


def test_rows_with_missing_values_are_left_out_but_counted(data):
    lines = data.read_text().splitlines()
    lines[2] = ",1,1"
    lines[10] = "1,NA,1"
    data.write_text("\n".join(lines))
    printed = run("clean", data, *LABEL, "--skip-missing", "--out", "s.csv")
    assert says(printed, "58 from data.csv", "2 of 60 rows")
    assert pl.read_csv("s.csv")["row"].to_list() == POISONED


def test_a_model_finds_its_columns_by_name(data):
    run("fit", data, *LABEL, "--out", "model.safetensors")
    frame = pl.read_csv(data)
    other = frame.select("age", pl.lit("x").alias("note"), "size")
    other.write_csv("other.csv")
    assert run("predict", "model.safetensors", "other.csv") == run(
        "predict", "model.safetensors", data
    )
    frame.select("age").write_csv("short.csv")
    sentence = refused("predict", "model.safetensors", "short.csv", "--out", "p.csv")
    assert says(sentence, "short.csv", "the column 'size'", "missing")
    frame.rename({"size": "Size"}).write_csv("renamed.csv")
    sentence = refused("clean", "renamed.csv", *LABEL, "--model", "model.safetensors")
    assert says(sentence, "renamed.csv", "the column 'size'", "the column 'Size'", "rename")
    frame.with_columns(size=pl.lit("tall")).write_csv("text.csv")
    sentence = refused("predict", "model.safetensors", "text.csv", "--out", "p.csv")
    assert says(sentence, "'size'", "'tall'", "row 1")
    assert "--drop" not in sentence


def test_columns_that_a_model_does_not_know_are_named(data):
    run("fit", data, *LABEL, "--out", "model.safetensors")
    pl.read_csv(data).with_columns(id=1, note=pl.lit("x")).write_csv("wide.csv")
    saved = ("--model", "model.safetensors")
    assert says(run("clean", "wide.csv", *LABEL, *saved), "the columns 'id', 'note'")
    assert "not used" not in run("clean", data, *LABEL, *saved)
    printed = run("predict", "model.safetensors", "wide.csv", "--out", "p.csv")
    assert says(printed, "60 predicted", "the columns 'price', 'id', 'note'", "Written: p.csv")


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("kept.txt", "must end in .csv"),
        ("kept.parquet", "must end in .csv"),
        ("no/kept.csv", "no folder"),
        ("data.csv", "another file of this command"),
        ("there.csv", "exists already"),
        ("link.csv", "exists already"),
        ("folder.csv", "cannot be written"),
        ("suspects.csv", "another file of this command"),
    ],
)
def test_an_output_that_should_not_be_written_is_refused_before_any_work(out, sentence, data):
    Path("there.csv").write_text("mine")
    Path("link.csv").symlink_to("nowhere")
    Path("folder.csv").mkdir()
    options = ("--out", "suspects.csv", "--cleaned", out)
    assert says(refused("clean", data, *LABEL, *options), sentence)


def test_overwrite_replaces_results_but_never_the_table(data):
    Path("there.csv").write_text("mine")
    run("clean", data, *LABEL, "--cleaned", "there.csv", "--overwrite")
    assert Path("there.csv").read_text() != "mine"
    sentence = refused("clean", data, *LABEL, "--cleaned", data, "--overwrite")
    assert says(sentence, "--cleaned", "'data.csv'", "another name")


def test_a_file_that_is_no_model_is_never_replaced_by_one(data, monkeypatch):
    monkeypatch.setattr(NeuroTronRegressor, "fit", lambda *_: pytest.fail("work before the check"))
    Path("m.safetensors").write_text("mine")
    sentence = refused("fit", data, *LABEL, "--out", "m.safetensors", "--overwrite")
    assert says(sentence, "m.safetensors", "not a model file")
    assert says(refused("predict", "m.safetensors", data), "m.safetensors", "damaged")


def test_a_file_without_permission_is_refused(data, monkeypatch):
    def deny(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("neurotron._files.os.open", deny)
    assert says(refused("clean", data, *LABEL), "data.csv", "Permission denied")


def test_a_file_that_is_too_large_is_not_read(data, monkeypatch):
    monkeypatch.setattr("neurotron.cli.table_file.MOST_BYTES", 100)
    assert says(refused("clean", data, *LABEL), "data.csv", "more than 100 bytes")


def test_a_table_that_is_too_large_is_refused_before_it_is_unpacked(data, monkeypatch):
    monkeypatch.setattr("neurotron.cli.table_file.MOST_CELLS", 60 * 3 - 1)
    sentence = refused("clean", data, *LABEL)
    assert says(sentence, "data.csv", "more than 59 rows", "3 columns", "give a part of its rows")
    pl.read_csv(data).write_parquet("data.parquet")
    monkeypatch.setattr(pl, "read_parquet", lambda *_: pytest.fail("unpacked"))
    assert says(refused("clean", "data.parquet", *LABEL), "more than 59 rows")
    monkeypatch.setattr("neurotron.cli.table_file.MOST_CELLS", 60 * 3)
    run("clean", data, *LABEL)


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        ("lineer", "'linear'"),
        ("convolution:size=3", "filter_size"),
        ("convolution", "filter_size"),
        ("convolution2d:filter_size=1", "height"),
        ("linear:leak=0.5", "'leak'"),
        ("relu-gate:leak=2", "[0, 1]"),
    ],
)
def test_a_network_that_is_not_known_or_incomplete_is_refused(network, sentence, data):
    assert says(refused("clean", data, *LABEL, "--network", network), sentence)


def test_warnings_are_sentences_on_the_standard_error(data):
    pl.read_csv(data).with_columns(twice=pl.col("size")).write_csv("twice.csv")
    done = in_this_process("clean", "twice.csv", *LABEL, "--json")
    assert json.loads(done.stdout)["suspects"] == len(POISONED)
    assert done.stderr.startswith("warning: the rows determine only 3 of 4 weights")
    assert "columns of the table are" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_fit_without_finite_weights_is_refused_and_not_saved(data, monkeypatch):
    def overflow(model, *_):
        model.weights_ = np.array([np.nan, 1.0])

    monkeypatch.setattr(NeuroTronRegressor, "fit", overflow)
    sentence = refused("fit", data, *LABEL, "--out", "m.safetensors")
    assert says(sentence, "data.csv", "no weights", "units")


def test_a_fit_that_should_not_be_trusted_says_so(data):
    flat = pl.read_csv(data).with_columns(price=pl.Series([*range(25), *[0, 40] * 17, 99]))
    flat.write_csv("flat.csv")
    printed = run("fit", "flat.csv", *LABEL, "--out", "m.safetensors")
    assert says(" ".join(printed.split()), "Do not trust this fit")
    found = json.loads(run("clean", "flat.csv", *LABEL, "--json"))
    assert found["reasons_to_doubt"]


def test_doubts_number_rows_as_the_file_does(data):
    lines = data.read_text().splitlines()
    lines[3] = "900000,7,1800022"
    data.write_text("\n".join([lines[0], ",1,1", *lines[1:]]))
    printed = run("fit", data, *LABEL, "--skip-missing", "--out", "m.safetensors")
    assert says(" ".join(printed.split()), "row 4")


def test_networks_for_signals_are_written_with_their_sizes(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((200, 6))
    windows = np.stack([X[:, i : i + 3] for i in range(4)], axis=1)
    y = np.maximum(windows @ [1.0, -2.0, 0.5], 0.0).mean(axis=1)
    y[:20] += 5.0
    columns = {f"t{i}": column for i, column in enumerate(X.T)}
    pl.DataFrame(columns | {"rate": y}).write_csv("signal.csv")
    network = ("--network", "convolution:filter_size=3")
    found = json.loads(
        run("fit", "signal.csv", "--label", "rate", *network, "--out", "m.safetensors", "--json")
    )
    assert np.allclose(found["weights"], [1.0, -2.0, 0.5], atol=1e-6)
    assert found["suspects"] == 20


def test_the_commands_of_the_page_can_be_copied(data):
    page = (ROOT / "docs" / "poisoned-labels.md").read_text()
    (block,) = re.findall(r"```sh\n(neurotron .*?)```", page.partition("\n## Commands")[2], re.S)
    Path("new.csv").write_text(data.read_text())
    for line in block.splitlines():
        assert "Written: " in run(*shlex.split(line)[1:])
    assert len(block.splitlines()) == 4


def test_the_commands_of_the_readme_find_every_tenth_price(tmp_path, monkeypatch):
    readme = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"```sh\n(neurotron .*?)```", readme, re.S)
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    shutil.copy(ROOT / "docs" / "houses.csv", "docs")
    printed = [run(*shlex.split(line)[1:]) for line in block.splitlines()]
    assert sorted(pl.read_csv("suspects.csv")["row"]) == [*range(10, 301, 10)]
    assert "The first command ranks 30 suspects in 296 rows" in " ".join(readme.split())
    assert says(printed[0], "30 of 296 rows")
    assert "not shown:" not in printed[0]  # because they are saved
    assert all("Do not trust" not in text for text in printed)
    assert pl.read_csv("predictions.csv").height == 296


def test_unusable_columns_are_dropped_and_incomplete_rows_skipped(data):
    frame = pl.read_csv(data)
    frame.with_columns(
        age=pl.when(pl.col("age") > 2).then("age"), town=pl.lit("Ulm"), street=pl.lit("?!")
    ).write_csv("mixed.csv")
    assert says(refused("clean", "mixed.csv", *LABEL), "'age'", "2 missing", "--skip-missing")
    sentence = refused("clean", "mixed.csv", *LABEL, "--skip-missing")
    assert says(sentence, "'town'", "'Ulm'", "--drop town --drop street")
