"""Studies of rows: how they are read, computed, resumed, and shown by commands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.support.fits import ROWS, rows_study

import neurotron as nt
from neurotron.cli import claims_command, report_command, study_commands
from neurotron.lab.results.fits import load_fits, sound_fits
from neurotron.lab.results.manifest import FITTING, study_hash
from neurotron.lab.studies.fit import _Sample, fit
from neurotron.lab.studies.fitting import check_rows
from neurotron.lab.studies.row_solvers import BY_NAME, Task, answer
from neurotron.lab.studies.rows_spec import SOLVERS
from neurotron.lab.studies.work import name_of
from neurotron.lab.studies.writing import to_toml

STUDY = rows_study()
SMALL = """
name = "small"
kind = "rows"
replicates = 2
[[settings]]
name = "a"
network = "symmetric:width=4"
n_inputs = 8
filter_size = 2
rows_per_weight = [4, 8, 16, 32]
sweeps = [
  { attack = "none" },
  { attack = "constant", bound = 4, probability = 0.3 },
  { attack = "picked-rows", bound = 1e6, probability = 0.2 },
]
[[settings]]
name = "noisy"
like = "a"
replicates = 1
noise = 0.1
rows_per_weight = [10, 20]
solvers = ["honest", "solve", "least-squares"]
sweeps = [{ attack = "constant", bound = 2, probability = 0.2 }]
"""


def parse(text: str) -> nt.lab.studies.RowsStudy:
    study = nt.lab.studies.parse(text.encode(), "mine.toml")
    assert isinstance(study, nt.lab.studies.RowsStudy)
    return study


# --- reading


def test_a_study_says_of_which_kind_it_is():
    study = parse(SMALL)
    assert study.setting("noisy").n_inputs == 8  # by `like`
    assert study.setting("a").sizes == [8, 16, 32, 64]
    assert [*study.units()] == [("a", 0), ("noisy", 0), ("a", 1)]
    assert study.identity()["kind"] == "rows"
    assert isinstance(nt.lab.studies.read("smoke"), nt.lab.studies.Study)


def test_a_study_of_rows_can_be_written_and_read_again():
    study = parse(SMALL)
    again = parse(to_toml({**study.identity(), "replicates": 2}))
    assert study_hash(again.identity()) == study_hash(study.identity())
    assert nt.lab.studies.RowsStudy.model_validate_json(study.model_dump_json()) == study


BAD = {
    "kind": (('kind = "rows"', 'kind = "row"'), "`kind` must be 'rows' or", "'row'"),
    "kind of a number": (('kind = "rows"', "kind = 3"), "`kind` must be", "3"),
    "key of the study": (
        ('kind = "rows"', 'kind = "rows"\nsteps = 3'), "key in the study", "'steps'"),
    "key of a setting": (
        ("n_inputs = 8", "n_inputs = 8\nbatch_size = 3"), "settings[0]", "'batch_size'"),
    "key of a sweep": (
        ('attack = "none" }', 'attack = "none", trainers = ["x"] }'), "sweeps[0]", "'trainers'"),
    "rows that fall": (("[4, 8, 16, 32]", "[8, 4]"), "must increase", "setting 'a'"),
    "rows that are the same": (("[4, 8, 16, 32]", "[4, 4.01]"), "must increase", "[8, 8]"),
    "no rows": (("[4, 8, 16, 32]", "[]"), "rows_per_weight", "empty"),
    "negative rows": (("[4, 8, 16, 32]", "-2"), "rows_per_weight[0]", "above 0"),
    "solver": (
        ('["honest", "solve", ', '["honest", "solv", '), "solver of setting 'noisy'", "'solve'"),
    "solver twice": (('["honest", "solve", ', '["solve", "solve", '), "'solve' twice"),
    "like nothing": (('like = "a"', 'like = "b"'), "`like` of 'noisy'", "'b'"),
    "replicates": (
        ("replicates = 1\n", "replicates = 0\n"), "settings[1].replicates", "at least 1"),
    "claim": (
        ('kind = "rows"', 'kind = "rows"\nclaims = ["few-row-suffice"]'),
        "unknown claim", "'few-rows-suffice'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_nonsense_is_refused_in_one_sentence_when_a_study_is_read(case):
    (old, new), *words = BAD[case]
    assert old in SMALL
    with pytest.raises(nt.InputError) as caught:
        parse(SMALL.replace(old, new))
    for word in ("mine.toml", *words):
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


UNBUILT = {
    "attack": (('"constant"', '"constnt"'), "setting 'a'", "'constant'"),
    "network": (('"symmetric:width=4"', '"symmetric:widht=4"'), "setting 'a'", "'width'"),
    "bound inside": (('"constant"', '"constant:bound=3"'), "setting 'a'", "`bound`", "sweep"),
    "sizes inside": (
        ('"symmetric:width=4"', '"symmetric:n_inputs=4"'), "setting 'a'", "`n_inputs`"),
    "noise without honest": (('["honest", "solve"', '["huber", "solve"'), "'noisy'", "'honest'"),
    "too many rows": (("[4, 8, 16, 32]", "[9999]"), "rows × n_inputs", "100,000,000"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNBUILT)
def test_what_cannot_be_built_is_refused_before_anything_is_computed(case, tmp_path):
    (old, new), *words = UNBUILT[case]
    text = SMALL.replace(old, new)
    if case == "too many rows":
        text = text.replace("n_inputs = 8", "n_inputs = 3000").replace(
            "filter_size = 2", "filter_size = 30"
        )
    study = parse(text)
    with pytest.raises(nt.InputError) as caught:
        nt.lab.studies.run(study, tmp_path / "out")
    for word in words:
        assert word in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_the_schema_describes_every_key(capsys):
    study_commands.schema("rows")
    schema = json.loads(capsys.readouterr().out)
    for table in (schema, *schema["$defs"].values()):
        for key, value in table["properties"].items():
            assert value.get("description"), f"{table['title']}.{key}"
    with pytest.raises(nt.InputError, match="unknown kind of studies 'row'"):
        study_commands.schema("row")


# --- units


def unit(setting="a", replicate=0):
    return fit(json.dumps(parse(SMALL).identity() | {"replicates": 1}), setting, replicate)


def test_a_unit_is_a_pure_function_whose_name_manifests_know():
    assert name_of(fit) == FITTING
    assert unit() == unit()
    assert unit() != unit(replicate=1)


def test_a_walk_ends_when_the_filter_was_found_twice():
    rows = [row for row in unit() if row["attack"] == "none"]
    assert [row["rows"] for row in rows] == [8, 16]
    assert max(row["error"] for row in rows) <= 1e-10
    assert {row["tampered"] for row in rows} == {0}
    assert all(row["starts"] >= 1 for row in rows)


def test_with_noise_every_number_of_rows_is_fitted_by_every_solver():
    rows = unit("noisy")
    assert [row["rows"] for row in rows] == [20, 40] * 3
    assert [row["solver"] for row in rows] == [
        name for name in ("honest", "solve", "least-squares") for _ in range(2)
    ]
    assert {row["starts"] for row in rows if row["solver"] != "solve"} == {None}
    assert min(row["error"] for row in rows) > 1e-5


def test_exactly_the_share_of_the_labels_is_tampered_with():
    study = parse(SMALL)
    sample = _Sample(study, study.setting("a"), 0)
    for attack, bound in (("constant", 4.0), ("picked-rows", 1e6), ("random-sign", 4.0)):
        task = sample.task(64, attack, bound, 0.3)
        honest = task.network(task.true_weights, task.X)
        assert task.tampered.sum() == 19  # ⌊0.3 · 64⌋
        assert np.array_equal(task.y[~task.tampered], honest[~task.tampered])
        assert np.abs(task.y - honest)[task.tampered].min() > 0.0
    constant = sample.task(64, "constant", 4.0, 0.3)
    assert np.allclose(
        (constant.y - constant.network(constant.true_weights, constant.X)).max(), 4.0
    )


def test_rows_are_the_first_ones_of_one_sample():
    study = parse(SMALL)
    sample = _Sample(study, study.setting("a"), 0)
    few, many = (sample.task(size, "constant", 4.0, 0.3) for size in (8, 64))
    assert np.array_equal(few.X, many.X[:8])


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_filter_of_honest_rows(solver):
    network = nt.networks.symmetric(12, 3, 4, seed=2)
    draw = np.random.default_rng(0)
    true, X = draw.standard_normal(3), draw.standard_normal((60, 12))
    task = Task(network, X, network(true, X), np.zeros(60, bool), true)
    assert np.allclose(answer(solver, task).weights, true, atol=1e-6)
    assert set(BY_NAME) == set(SOLVERS)


def test_a_solver_that_cannot_answer_has_an_infinite_error():
    network = nt.networks.linear(3)
    task = Task(network, np.ones((2, 3)), np.ones(2), np.zeros(2, bool), np.ones(3))
    assert np.isnan(answer("solve", task).weights).all()


# --- running, resuming and showing


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows") / "out"
    nt.lab.studies.run(parse(SMALL), folder, replicates=1, workers=1)
    return folder


def test_a_run_is_resumed_and_damage_is_computed_again(out):
    report = nt.lab.studies.run(parse(SMALL), out, workers=1)
    assert (report.kept, report.computed, report.wanted) == (2, 1, 3)
    before = load_fits(out).fits
    shard = out / "shards" / "a" / "1.parquet"
    shard.write_bytes(shard.read_bytes()[:-7])
    assert len(load_fits(out).damaged) == 1
    again = nt.lab.studies.run(parse(SMALL), out, workers=1)
    assert (again.computed, len(again.set_aside)) == (1, 1)
    assert load_fits(out).fits.equals(before)


def test_what_a_unit_returns_is_sound(out):
    setting = parse(SMALL).identity()["settings"][0]
    table = load_fits(out).fits.filter(setting="a", replicate=0).drop("setting", "replicate")
    assert sound_fits(setting, table).equals(table)


def test_commands_run_judge_and_report_a_study_of_rows(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    claims = 'claims = ["proof-is-never-wrong"]'
    file = tmp_path / "mine.toml"
    file.write_text(SMALL.replace('kind = "rows"', f'kind = "rows"\n{claims}'))
    study_commands.run(str(file), out=tmp_path / "out", replicates=1, threads=1)
    told = capsys.readouterr().out
    assert "rows for each weight" in told
    assert "β=0.3" in told
    assert "Report:" in told
    claims_command.claims(tmp_path / "out")
    assert "5 replicates" in " ".join(capsys.readouterr().out.split())
    report_command.report(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    for words in (
        "How many rows are enough",
        "nt.solve found the filter",
        "rows-needed",
        "noise-20",
    ):
        assert words in page


def test_a_picture_shows_what_noise_costs(out):
    charts = {chart.name: chart for chart in nt.lab.figures.charts(load_fits(out))}
    assert list(charts) == ["rows-needed", "noise-10", "noise-20"]
    (panel,) = charts["noise-20"].panels
    assert panel.title == "constant"
    assert [line.name for line in panel.lines] == ["nt.solve", "least squares"]
    assert panel.ticks == ("20",)


def test_the_made_up_study_of_other_tests_can_be_built():
    check_rows(STUDY)
    assert "CLAIMS" in ROWS
