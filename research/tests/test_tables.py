"""Studies of public tables: how they are read, computed, resumed, and shown by commands."""

from __future__ import annotations

import json
from importlib.metadata import version

import numpy as np
import pytest
from tests.support.damages import need_packages, tables_study
from tests.support.messages import says

import neurotron as nt
from neurotron._extras import MissingExtra
from neurotron.cli import claims_command, report_command, study_commands
from neurotron.lab.results.damages import load_damages, sound_damages
from neurotron.lab.results.manifest import DAMAGING, study_hash
from neurotron.lab.studies import public_tables
from neurotron.lab.studies.public_tables import SHAPES, TABLES, Table, table_of
from neurotron.lab.studies.table_splits import ATTACKS, Attack, attacked, split_of
from neurotron.lab.studies.table_unit import damage, estimator_of
from neurotron.lab.studies.table_work import check_tables, work_of_tables
from neurotron.lab.studies.work import fingerprint, name_of
from neurotron.lab.studies.writing import to_toml

SMALL = """
name = "small"
kind = "tables"
replicates = 2
[methods]
ours = "neurotron"
squares = "least-squares"
told = "trim:share={share}"
[[settings]]
name = "diabetes"
sweeps = [{ attack = "none" }, { attack = "other-model", probability = 0.3 }]
[[settings]]
name = "again"
like = "diabetes"
table = "diabetes"
methods = ["squares"]
"""
"""Diabetes comes with scikit-learn, so this study needs no package of the extra `tables`."""


def parse(text: str) -> nt.lab.studies.TablesStudy:
    study = nt.lab.studies.parse(text.encode(), "mine.toml")
    assert isinstance(study, nt.lab.studies.TablesStudy)
    return study


# --- reading


def test_a_setting_is_a_table_with_methods_and_attacks():
    study = parse(SMALL)
    assert [setting.table_name for setting in study.settings] == ["diabetes", "diabetes"]
    assert [*study.methods_of(study.setting("again"))] == ["squares"]
    assert [*study.methods_of(study.setting("diabetes"))] == ["ours", "squares", "told"]
    assert study.setting("again").sweeps[1].attacks == [Attack("other-model", 0.0, 0.3)]
    assert [*study.units()][:3] == [("diabetes", 0), ("again", 0), ("diabetes", 1)]


def test_a_study_of_tables_can_be_written_and_read_again():
    study = parse(SMALL)
    again = parse(to_toml({**study.identity(), "replicates": 2}))
    assert study_hash(again.identity()) == study_hash(study.identity())
    assert nt.lab.studies.TablesStudy.model_validate_json(study.model_dump_json()) == study


BAD = {
    "kind": (('kind = "tables"', 'kind = "table"'), "`kind` must be 'rows' or 'tables'", "'table'"),
    "table": (('table = "diabetes"', 'table = "diabets"'), "table of setting 'again'", "diabetes"),
    "attack": (('"other-model"', '"other-modl"'), "attack of setting", "'other-model'"),
    "method": (('["squares"]', '["square"]'), "method of setting 'again'", "'squares'"),
    "method twice": (('["squares"]', '["squares", "squares"]'), "'squares' twice"),
    "key of a setting": (('table = "diabetes"', "n_inputs = 3"), "settings[1]", "'n_inputs'"),
    "key of a sweep": (("probability = 0.3", "bound = 0.3"), "sweeps[1]", "'bound'"),
    "share": (("probability = 0.3", "probability = 1.3"), "probability", "at most 1"),
    "shift": (("probability = 0.3", "shift = -1"), "shift", "at least 0"),
    "text of a method": (('told = "trim:share={share}"', "told = 3"), "methods.told", "text"),
    "claim of others": (
        ("replicates = 2", 'replicates = 2\nclaims = ["few-rows-suffice"]'),
        'about studies of the kind "rows"', "leave it out"),
    "unknown claim": (
        ("replicates = 2", 'replicates = 2\nclaims = ["clean-price"]'),
        "unknown claim", "'clean-price-is-small'"),
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
    "estimator": (('"least-squares"', '"least-square"'), "'squares'", "'least-squares'"),
    "setting of it": (('"trim:share={share}"', '"trim:shre=0.1"'), "'told'", "'share'"),
    "share that is told": (("probability = 0.3", "probability = 1"), "'told'", "share"),
}


@pytest.mark.parametrize("case", UNBUILT)
def test_methods_that_cannot_be_built_are_refused_before_anything_is_computed(case, tmp_path):
    (old, new), *words = UNBUILT[case]
    assert old in SMALL
    with pytest.raises(nt.InputError) as caught:
        nt.lab.studies.run(parse(SMALL.replace(old, new)), tmp_path / "out")
    for word in ("setting 'diabetes'", *words):
        assert word in str(caught.value)
    assert not (tmp_path / "out").exists()


# --- the tables


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_rows_that_it_says_and_no_missing_value(name):
    if name not in ("diabetes", "cell"):
        need_packages()
    X, y = table_of(name)
    assert X.shape == SHAPES[name]
    assert len(y) == len(X)
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()
    assert np.ptp(X, axis=0).min() > 0.0


def test_the_labels_of_the_cell_are_those_of_its_filter_up_to_noise():
    X, y = table_of("cell")
    network = nt.networks.convolution(24, 8, 2)
    found = nt.NeuroTronRegressor(network=network).fit(X, y)
    assert np.std(y - found.predict(X)) == pytest.approx(0.1 * np.std(y), rel=0.1)
    least = np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y)[1][0] / len(y)
    assert np.sqrt(least) > 0.3 * np.std(y)  # it is not linear


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr(public_tables.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as error:
        public_tables.diamonds()
    assert says(error.value, "plotnine", "pip install '.[tables]'")
    assert "\n" not in str(error.value)


def test_a_table_of_another_size_is_refused(monkeypatch):
    monkeypatch.setitem(TABLES, "engel", lambda: Table(np.ones((3, 1)), np.ones(3)))
    with pytest.raises(nt.InputError, match=r"'engel'.*235.*constraints.txt"):
        table_of.__wrapped__("engel")


def test_a_file_that_a_package_does_not_have_is_named():
    with pytest.raises(MissingExtra, match=r"sklearn has no file datasets/none.csv.*constraints"):
        public_tables._lines("sklearn", "datasets/none.csv")


# --- splits and attacks


def test_a_split_has_every_row_once_and_depends_on_the_seed():
    split = split_of("diabetes", 3)
    assert sorted([*split.fit.y, *split.test.y]) == sorted(table_of("diabetes").y)
    assert len(split.fit.y) == round(0.75 * 442)
    assert np.array_equal(split.fit.y, split_of("diabetes", 3).fit.y)
    assert not np.array_equal(split.fit.y, split_of("diabetes", 3, 1).fit.y)
    assert not np.array_equal(split.fit.y, split_of("diabetes", 4).fit.y)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_changes_as_many_labels_as_it_says(name):
    rows = split_of("diabetes", 0).fit
    share = 0.0 if name == "none" else 0.3
    y = attacked(rows, Attack(name, 2.0, share), 0)
    assert (y != rows.y).sum() == round(share * len(rows.y))


def test_shifts_are_in_standard_deviations_of_the_labels():
    rows = split_of("diabetes", 0).fit
    moved = attacked(rows, Attack("one-side", 3.0, 0.1), 0) - rows.y
    assert set(moved[moved != 0.0].round(6)) == {round(3.0 * rows.y.std(), 6)}
    signs = attacked(rows, Attack("random-sign", 3.0, 0.1), 0) - rows.y
    assert np.array_equal(signs != 0.0, moved != 0.0)
    assert len(set(signs.round(6))) == 3


def test_another_model_has_the_opposite_slopes_and_the_same_mean():
    rows = split_of("diabetes", 0).fit
    y = attacked(rows, Attack("other-model", 0.0, 1.0), 0)
    columns = np.column_stack([rows.X, np.ones(len(y))])
    honest, other = (np.linalg.lstsq(columns, labels)[0] for labels in (rows.y, y))
    assert np.allclose(other[:-1], -honest[:-1])
    assert y.mean() == pytest.approx(rows.y.mean())


def test_large_leverage_attacks_the_rows_with_the_most_extreme_predictions():
    rows = split_of("diabetes", 0).fit
    bad = attacked(rows, Attack("large-leverage", 0.0, 0.3), 0) != rows.y
    columns = np.column_stack([rows.X, np.ones(len(rows.y))])
    sizes = np.abs(columns @ np.linalg.lstsq(columns, rows.y)[0] - rows.y.mean())
    assert sizes[bad].min() >= sizes[~bad].max()


# --- one unit


def test_a_unit_measures_every_method_against_least_squares_without_an_attack():
    work = work_of_tables(parse(SMALL))
    told: list[tuple[int, int]] = []
    rows = damage(work.text, "diabetes", 0, lambda *step: told.append(step))
    assert told == [(i, 6) for i in range(1, 7)]
    assert name_of(damage) == DAMAGING
    assert fingerprint(damage)["scikit-learn"] == version("scikit-learn")
    by_cell = {(row["attack"], row["method"]): row for row in rows}
    clean = by_cell["none", "squares"]
    assert clean["error"] == pytest.approx(clean["reference"], rel=1e-12)
    assert clean["error"] == pytest.approx(by_cell["none", "told"]["error"], rel=1e-9)
    split = split_of("diabetes", 0)
    columns, tests = (np.column_stack([t.X, np.ones(len(t.y))]) for t in split)
    fitted = tests @ np.linalg.lstsq(columns, split.fit.y)[0]
    assert clean["reference"] == pytest.approx(np.sqrt(np.mean((fitted - split.test.y) ** 2)))
    attacked_rows = by_cell["other-model", "ours"]
    assert attacked_rows["tampered"] == round(0.3 * 332)
    assert attacked_rows["error"] < by_cell["other-model", "squares"]["error"]
    assert (clean["mixture"], by_cell["none", "ours"]["mixture"]) == (None, False)
    assert attacked_rows["mixture"] is True
    assert rows == damage(json.dumps(parse(SMALL).identity()), "diabetes", 0)


def test_a_method_that_is_told_the_share_gets_the_share():
    assert estimator_of("trim:share={share}", 0.3).share == 0.3
    assert estimator_of("trim", 0.3).share is None


def test_a_method_that_cannot_be_fitted_has_an_infinite_error(monkeypatch):
    from neurotron.lab.studies import table_unit

    class Refusing:
        def fit(self, X, y):
            raise ValueError("no rows agree")

    monkeypatch.setattr(table_unit, "estimator_of", lambda text, share: Refusing())
    text = json.dumps(parse(SMALL).identity())
    assert {row["error"] for row in damage(text, "again", 0)} == {np.inf}


# --- running, resuming and showing


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables") / "out"
    nt.lab.studies.run(parse(SMALL), folder, replicates=1, workers=1)
    return folder


def test_a_run_is_resumed_and_damage_is_computed_again(out, tmp_path):
    report = nt.lab.studies.run(parse(SMALL), out, workers=2)
    assert (report.kept, report.computed, report.wanted) == (2, 2, 4)
    before = load_damages(out).fits
    shard = out / "shards" / "again" / "1.parquet"
    shard.write_bytes(shard.read_bytes()[:-7])
    assert len(load_damages(out).damaged) == 1
    again = nt.lab.studies.run(parse(SMALL), out, workers=1)
    assert (again.computed, len(again.set_aside)) == (1, 1)
    assert load_damages(out).fits.equals(before)


def test_what_a_unit_returns_is_sound(out):
    spec = parse(SMALL).identity()
    table = load_damages(out).fits.filter(setting="again", replicate=0)
    table = table.drop("setting", "replicate")
    assert sound_damages(spec, "again", table).equals(table)


def test_commands_run_judge_and_report_a_study_of_tables(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "mine.toml"
    file.write_text(SMALL.replace("replicates", 'claims = ["clean-price-is-small"]\nreplicates'))
    study_commands.run(str(file), out=tmp_path / "out", replicates=1, threads=1)
    told = capsys.readouterr().out
    for words in ("median damage in %", "diabetes: ours", "other model", "squares", "Report:"):
        assert words in told
    claims_command.claims(tmp_path / "out")
    assert "5 replicates" in " ".join(capsys.readouterr().out.split())
    report_command.report(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    for words in ("What attacks cost", "Without an attack, ours", "damage-0.3", "trim:share="):
        assert words in page


def test_the_schema_of_studies_of_tables_names_every_key(capsys):
    study_commands.schema("tables")
    found = json.loads(capsys.readouterr().out)
    assert {"methods", "settings", "kind", "replicates"} <= found["properties"].keys()


def test_the_made_up_study_of_other_tests_can_be_built():
    study = tables_study()
    need_packages()
    check_tables(study)
