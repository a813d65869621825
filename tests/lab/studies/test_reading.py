"""From TOML to a study: what is read, taken from another setting, and told of itself."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neurotron as nt
from neurotron.lab.studies import building
from neurotron.lab.studies.reading import CATALOG

HEAD = 'name = "s"\n[trainers]\nT = "neuro-tron"\nS = "sgd"\n'


def parse(text: str) -> nt.lab.studies.Study:
    return nt.lab.studies.parse((HEAD + text).encode(), "s.toml")


def setting(**values) -> str:
    lines = (f"{name} = {json.dumps(value)}" for name, value in values.items())
    return "\n".join(["[[settings]]", *lines, ""])


def test_what_is_left_out_is_the_papers_first_column():
    only = parse(setting(name="a")).settings[0]
    assert (only.n_inputs, only.filter_size, only.batch_size) == (100, 25, 16)
    assert (only.law, only.step_size, only.noise, only.title) == ("normal", 1e-4, 0.0, None)
    assert only.sweeps == (nt.lab.studies.Sweep(),)


def test_a_setting_takes_from_another_what_it_leaves_out():
    sweeps = '[[settings.sweeps]]\nattack = "constant"\nbound = [1, 2]\n'
    model = setting(name="a", title="A", law="laplace", n_inputs=7, trainers=["S"]) + sweeps
    one, other = parse(model + setting(name="b", like="a", n_inputs=9)).settings
    assert (other.name, other.n_inputs, other.law, other.trainers) == ("b", 9, "laplace", ("S",))
    assert other.sweeps == one.sweeps
    assert other.sweeps[0].bound == (1.0, 2.0)


def test_a_title_and_the_model_are_not_taken():
    other = parse(setting(name="a", title="A") + setting(name="b", like="a")).settings[1]
    assert (other.title, other.heading, other.like) == (None, "b", None)
    own = parse(setting(name="a", title="A") + setting(name="b", like="a", title="B")).settings[1]
    assert own.heading == "B"


def test_a_value_that_equals_the_default_still_wins_over_the_model():
    other = parse(
        setting(name="a", n_inputs=7) + setting(name="b", like="a", n_inputs=100)
    ).settings
    assert other[1].n_inputs == 100


@given(st.permutations(range(5)))
def test_a_chain_of_models_may_stand_in_any_order(order):
    chain = [
        setting(name=f"c{i}", noise=i, **({"like": f"c{i - 1}"} if i else {"n_inputs": 31}))
        for i in range(5)
    ]
    found = parse("".join(chain[i] for i in order)).settings
    assert [c.name for c in found] == [f"c{i}" for i in order]
    assert {c.n_inputs for c in found} == {31}
    assert [c.noise for c in found] == list(order)


def test_a_long_chain_is_filled_in_once():
    links = [setting(name=f"c{i}", like=f"c{i + 1}") for i in range(400)]
    assert parse("".join(links) + setting(name="c400", n_inputs=31)).settings[0].n_inputs == 31


def test_one_level_is_a_list_of_one():
    text = "[[settings.sweeps]]\nbound = 3\nprobability = 1\n"
    assert parse(setting(name="a") + text).settings[0].sweeps[0].levels == [(3.0, 1.0)]


def test_the_catalog_names_every_study_with_its_title():
    titles = nt.lab.studies.catalog()
    assert {"frontier", "mirror", "paper", "smoke"} <= titles.keys()
    assert list(titles) == sorted(titles)
    for name, title in titles.items():
        assert title
        assert nt.lab.studies.read(name).name == name


def test_a_file_is_read_wherever_it_is(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_bytes((CATALOG / "smoke.toml").read_bytes())
    assert (
        nt.lab.studies.read(file) == nt.lab.studies.read(str(file)) == nt.lab.studies.read("smoke")
    )


def test_the_template_is_a_study_that_can_be_built():
    study = nt.lab.studies.parse(nt.lab.studies.template().encode(), "template")
    building.check(study)
    arms = [len(building.arm_rows(study, setting)) for setting in study.settings]
    assert arms == [2 * 4 + 3] * 2


BOUNDS = [0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0]
CHANCES = [0.0, 0.005, 0.05, 0.1, 0.2, 0.5, 0.9]  # 0 as in the published runs (erratum 8)
TABLE_1 = [
    ("normal-1", "normal", 1e-4, 100),
    ("student-t-4", "student-t:dof=4", 1e-4, 100),
    ("normal-9", "normal:scale=3", 5e-5, 50),
    ("laplace-2", "laplace:scale=2", 5e-5, 50),
]


@pytest.mark.parametrize(("name", "law", "step_size", "n_inputs"), TABLE_1)
def test_the_paper_study_has_the_columns_of_table_1(name, law, step_size, n_inputs):
    study = nt.lab.studies.read("paper")
    column = study.setting(name)
    assert (column.law, column.step_size, column.n_inputs) == (law, step_size, n_inputs)
    assert (column.filter_size, column.batch_size) == (25, 16)
    assert column.network == "symmetric:width=10"
    assert column.noise == 0.0
    rows = [row for row in building.arm_rows(study, column) if row["attack"] == "alternating-sign"]
    wanted = {(bound, 0.5) for bound in BOUNDS} | {(0.25, chance) for chance in CHANCES}
    for algorithm in ("neuro-tron", "first-sample-sgd", "sgd"):
        mine = [row for row in rows if row["algorithm"] == algorithm]
        assert {(row["bound"], row["probability"]) for row in mine} == wanted
        assert len(mine) == len(wanted)
        assert {row["step_size"] for row in mine} == {step_size}
    assert study.trainers["Neuro-Tron"] == "neuro-tron:sensing=center"


def test_the_paper_study_has_nothing_beside_but_batch_sizes_and_its_sections_3_4_to_3_6():
    study = nt.lab.studies.read("paper")
    table = [name for name, *_ in TABLE_1]
    batches = [f"{name}-b{b}" for name in table for b in (1, 4, 16)]
    others = ["prediction-risk", "outer-weights-1", "outer-weights-10", "impersonation"]
    assert [setting.name for setting in study.settings] == table + batches + others
    assert (study.steps, study.replicates) == (40_000, 20)


def test_the_paper_study_has_the_outer_weights_as_they_were_published():
    study = nt.lab.studies.read("paper")
    for weight in (1, 10):
        chosen = study.setting(f"outer-weights-{weight}")
        assert (chosen.n_inputs, chosen.filter_size, chosen.batch_size) == (50, 20, 64)
        assert chosen.network == f"symmetric:width=100,outer_weights={weight}"
        assert chosen.law == "normal"
        rows = building.arm_rows(study, chosen)
        assert {(row["bound"], row["probability"]) for row in rows} == {
            (bound, 0.05) for bound in (0.0, 0.5, 1.0)
        }
        assert {row["step_size"] for row in rows} == {1e-4, 2e-5}
        assert {row["outer_weights"] for row in rows} == {float(weight)}


def test_the_schema_describes_every_key():
    schema = nt.lab.studies.Study.model_json_schema()
    json.dumps(schema)
    for table in (schema, *schema["$defs"].values()):
        for key, value in table["properties"].items():
            assert value.get("description"), f"{table['title']}.{key}"


@pytest.mark.parametrize("name", ["frontier", "mirror", "paper", "smoke"])
def test_a_study_survives_being_sent_as_json(name):
    study = nt.lab.studies.read(name)
    assert nt.lab.studies.Study.model_validate_json(study.model_dump_json()) == study


CHANGES = {
    "name": "other", "title": "other", "description": "other", "seed": 9, "steps": 9,
    "record": "all", "failure": 0.5, "claims": (), "trainers": {"SGD": "sgd"}, "settings": (),
}  # fmt: skip


@pytest.mark.parametrize("key", nt.lab.studies.Study.model_fields)
def test_the_identity_of_a_study_is_all_of_it_but_replicates(key):
    study = nt.lab.studies.read("smoke")
    changed = study.model_copy(update={key: CHANGES.get(key, 99)})
    assert changed != study
    assert (changed.identity() == study.identity()) == (key == "replicates")
