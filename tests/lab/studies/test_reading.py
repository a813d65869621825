"""From TOML to a study: what is read, taken from another setting, and told of itself."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.training import settings_of

import neurotron as nt
from neurotron.lab.pages.page import _toml
from neurotron.lab.store.folder import Folder
from neurotron.lab.store.manifest import study_hash
from neurotron.lab.studies.completion import schema_of_studies
from neurotron.lab.studies.reading import CATALOG
from neurotron.lab.training.building import arm_rows
from neurotron.lab.training.spec import Setting, Sweep

HEAD = 'name = "s"\nsteps = 60\n[trainers]\nT = "neuro-tron"\nS = "sgd"\n'


def parsed(*settings: str) -> list[Setting]:
    return settings_of(HEAD + "".join(settings))


def setting(**values: object) -> str:
    lines = (f"{name} = {json.dumps(value)}" for name, value in values.items())
    return "\n".join(["[[settings]]", *lines, ""])


def test_what_is_left_out_is_the_studys_or_the_papers_first_column():
    (only,) = parsed(setting(name="a"))
    assert (only.n_inputs, only.filter_size, only.batch_size) == (100, 25, 16)
    assert (only.law, only.step_size, only.noise, only.title) == ("normal", 1e-4, 0.0, None)
    assert (only.steps, only.verify, only.sweeps) == (60, 0, (Sweep(),))
    assert only.trainers == {"T": "neuro-tron", "S": "sgd"}


def test_a_setting_takes_from_another_what_it_leaves_out():
    sweeps = '[[settings.sweeps]]\nattack = "constant"\nbound = [1, 2]\n'
    model = setting(name="a", title="A", law="laplace", n_inputs=7, trainers=["S"], steps=3)
    one, other = parsed(model, sweeps, setting(name="b", like="a", n_inputs=9))
    assert (other.name, other.n_inputs, other.law, other.steps) == ("b", 9, "laplace", 3)
    assert other.trainers == {"S": "sgd"}
    assert other.sweeps == one.sweeps
    assert other.sweeps[0].bound == (1.0, 2.0)
    assert other.title is None  # which is not taken


def test_a_value_that_equals_the_default_still_wins_over_the_model():
    _, other = parsed(setting(name="a", n_inputs=7), setting(name="b", like="a", n_inputs=100))
    assert other.n_inputs == 100


@given(st.permutations(range(5)))
def test_a_chain_of_models_may_stand_in_any_order(order):
    chain = [
        setting(name=f"c{i}", noise=i, **({"like": f"c{i - 1}"} if i else {"n_inputs": 31}))
        for i in range(5)
    ]
    found = parsed(*(chain[i] for i in order))
    assert [c.name for c in found] == [f"c{i}" for i in order]
    assert {c.n_inputs for c in found} == {31}
    assert [c.noise for c in found] == list(order)


def test_a_long_chain_is_filled_in_once():
    links = [setting(name=f"c{i}", like=f"c{i + 1}") for i in range(400)]
    assert parsed(*links, setting(name="c400", n_inputs=31))[0].n_inputs == 31


def test_one_level_is_a_list_of_one():
    text = "[[settings.sweeps]]\nbound = 3\nprobability = 1\n"
    assert parsed(setting(name="a") + text)[0].sweeps[0].levels == [(3.0, 1.0)]


def test_trainers_of_a_sweep_are_added_to_those_of_its_setting():
    text = setting(name="a", trainers=["S"]) + '[[settings.sweeps]]\ntrainers = ["T"]\n'
    (only,) = parsed(text + "[[settings.sweeps]]\nbound = 1\n")
    assert [(row["trainer"], row["bound"]) for row in arm_rows(only)] == [("T", 0.25), ("S", 1.0)]


def test_a_file_is_read_wherever_it_is(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_bytes((CATALOG / "smoke.toml").read_bytes())
    wanted = nt.lab.read("smoke").spec()
    assert nt.lab.read(file).spec() == nt.lab.read(str(file)).spec() == wanted


def test_the_template_is_a_study_that_can_be_built():
    study = nt.lab.parse(nt.lab.template().encode(), "template")
    study.validate()
    assert [len(arm_rows(one)) for one in settings_of(study)] == [2 * 4 + 3] * 2


@pytest.mark.parametrize("name", nt.lab.catalog())
def test_a_study_of_the_catalog_can_be_run_as_it_is_and_shares_draws_by_pairs_only(name):
    study = nt.lab.read(name)
    study.validate()
    assert (study.name, study.title, study.note) == (name, nt.lab.catalog()[name], "")
    assert len(study.units()) <= 450
    settings = settings_of(study)
    alone = [one for one in settings if one.paired_with is None]
    assert len({one.stream_seed() for one in settings}) == len(alone)


def test_claims_of_the_paper_in_another_study_are_said_to_be_such():
    smoke = (CATALOG / "smoke.toml").read_text()
    paper = (CATALOG / "paper.toml").read_text()
    other = 'claims = ["impersonation-wins"]\n' + HEAD + setting(name="a")
    assert "not in the catalog" in nt.lab.parse(other.encode(), "s").note
    for text, note in ((smoke, ""), (paper, ""), (paper.replace("40_000", "50_000"), "differs")):
        assert note in nt.lab.parse(text.encode(), "s").note
        assert bool(note) == bool(nt.lab.parse(text.encode(), "s").note)


def test_every_key_has_a_description_in_the_schema():
    schema = schema_of_studies()
    json.dumps(schema)
    settings = schema["properties"]["settings"]["items"]
    for table in (schema, settings, *schema["$defs"].values()):
        for key, value in table["properties"].items():
            assert value.get("description") or key == "trainers", key


CHANGES = {
    "name": "other", "law": "laplace", "paired_with": "b", "record": "all", "confidence": 0.5,
    "trainers": ["S"], "same_problem": True, "network": "relu-gate", "noise": 0.5,
}  # fmt: skip


@pytest.mark.parametrize("key", [name for name in Setting.model_fields if name != "sweeps"])
def test_every_key_of_a_setting_but_words_and_replicates_makes_another_study(key):
    def hashed(**values: object) -> str:
        text = HEAD + setting(**{"name": "a"} | values) + setting(name="b")
        return study_hash(nt.lab.parse(text.encode(), "s").spec())

    words = {"title": "other", "replicates": 3}
    same = hashed(**{key: words.get(key, CHANGES.get(key, 9))}) == hashed()
    assert same == (key in words)


def test_numbers_that_are_the_studys_own_do_not_make_another_study():
    one, other = (
        nt.lab.parse((HEAD + setting(name="a", **more)).encode(), "s").spec()
        for more in ({}, {"steps": 60, "verify": 0, "seed": 0})
    )
    assert one == other


@pytest.mark.parametrize("name", nt.lab.catalog())
def test_the_file_that_a_page_offers_is_the_same_study(name, tmp_path):
    study = nt.lab.read(name)
    with Folder.written(tmp_path / "out", study, {}):
        pass
    again = nt.lab.parse(_toml(nt.lab.load(tmp_path / "out")).encode(), "again")
    assert again.spec() == study.spec()


PAPER = {one.name: one for one in settings_of(nt.lab.read("paper"))}
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
    column = PAPER[name]
    assert (column.law, column.step_size, column.n_inputs) == (law, step_size, n_inputs)
    assert (column.filter_size, column.batch_size) == (25, 16)
    assert column.network == "symmetric:width=10"
    assert column.noise == 0.0
    rows = [row for row in arm_rows(column) if row["attack"] == "alternating-sign"]
    wanted = {(bound, 0.5) for bound in BOUNDS} | {(0.25, chance) for chance in CHANCES}
    for algorithm in ("neuro-tron", "first-sample-sgd", "sgd"):
        mine = [row for row in rows if row["algorithm"] == algorithm]
        assert {(row["bound"], row["probability"]) for row in mine} == wanted
        assert len(mine) == len(wanted)
        assert {row["step_size"] for row in mine} == {step_size}
    assert column.trainers["Neuro-Tron"] == "neuro-tron:sensing=center"
    assert column.steps == 40_000


def test_the_paper_study_has_nothing_beside_but_batch_sizes_and_its_sections_3_4_to_3_6():
    table = [name for name, *_ in TABLE_1]
    batches = [f"{name}-b{b}" for name in table for b in (1, 4, 16)]
    others = ["prediction-risk", "outer-weights-1", "outer-weights-10", "impersonation"]
    assert [*PAPER] == table + batches + others
    assert nt.lab.read("paper").replicates == 20


def test_the_paper_study_has_the_outer_weights_as_they_were_published():
    for weight in (1, 10):
        chosen = PAPER[f"outer-weights-{weight}"]
        assert (chosen.n_inputs, chosen.filter_size, chosen.batch_size) == (50, 20, 64)
        assert chosen.network == f"symmetric:width=100,outer_weights={weight}"
        assert chosen.law == "normal"
        rows = arm_rows(chosen)
        assert {(row["bound"], row["probability"]) for row in rows} == {
            (bound, 0.05) for bound in (0.0, 0.5, 1.0)
        }
        assert {row["step_size"] for row in rows} == {1e-4, 2e-5}
        assert {row["outer_weights"] for row in rows} == {float(weight)}
