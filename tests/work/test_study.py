"""A study: settings, seeds that belong to its units, and what cannot be one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce

import numpy as np
import pytest
from tests.support.units import SETTINGS, of_seeds, seen, study, sums, weighted

import neurotron as nt
from neurotron._check import InputError
from neurotron.work import Memory, Unit, run
from neurotron.work.study import is_spec, without_words

PAIRED = [{"name": "a"}, {"name": "b"}, {"name": "c", "paired_with": "a"}]


def seeds(asked: nt.Study) -> dict[Unit, int]:
    """The seed that the function gets for each unit."""
    memory = Memory()
    run(asked, memory, workers=1)
    return {unit: row["seed"] for unit, (row,) in memory.rows.items()}


def test_no_two_units_have_the_same_seed_but_those_that_are_paired():
    found = seeds(of_seeds(settings=PAIRED, replicates=3))
    assert len({*found.values()}) == 6
    assert all(found["a", i] == found["c", i] for i in range(3))


def test_seeds_depend_on_the_seed_of_the_study_and_on_names_alone():
    one = of_seeds(settings=PAIRED)
    other = replace(one, settings=[{"name": "b", "more": 1, "title": "B"}], replicates=5)
    found = seeds(one)
    assert {unit: seed for unit, seed in seeds(other).items() if unit in found} == {
        unit: seed for unit, seed in found.items() if unit.setting == "b"
    }
    assert {*found.values()}.isdisjoint(seeds(replace(one, seed=1)).values())


def test_every_setting_of_a_replicate_comes_before_the_next_replicate():
    settings = [SETTINGS[0], SETTINGS[1] | {"replicates": 1}, {"name": "z", "replicates": 9}]
    wanted = [("few", 0), ("many", 0), ("z", 0), ("few", 1), ("z", 1)]
    assert study(settings=settings).units() == wanted


def test_what_a_study_computes_does_not_depend_on_its_words():
    spec = study().spec()
    words = {"title": "T", "description": "D", "claims": ["a:b"], "charts": [sums], "note": "N"}
    settings = [{"name": "few", "title": "F", "count": 3, "replicates": 1}, SETTINGS[1]]
    reworded = study(settings=settings, tables=(sums,), headline=sums, **words).spec()
    assert reworded["charts"] == ["tests.support.units:sums"]
    assert without_words(reworded) == without_words(spec)
    assert is_spec(spec)
    assert is_spec(reworded)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"}, {"seed": 1}, {"columns": {"sum": float}}, {"unit": seen},
        {"settings": SETTINGS[:1]}, {"data": {"weights": np.ones(2)}},
        *({"settings": [SETTINGS[0] | {name: "more"}, SETTINGS[1]]}
          for name in ("count", "note", "code", "tables", "description")),
    ],
)  # fmt: skip
def test_another_function_setting_or_array_is_another_study(changes):
    assert without_words(study(**changes).spec()) != without_words(study().spec())


def test_arrays_are_handed_to_the_function_and_cannot_be_changed():
    weights = np.ones(3)
    asked = study(weighted, columns={"sum": float}, data={"weights": weights})
    before = asked.spec()["data"]
    weights[0] = 7.0
    memory = Memory()
    run(asked, memory)
    assert {row["sum"] for (row,) in memory.rows.values()} == {3.0}
    assert asked.spec()["data"] == before
    with pytest.raises(ValueError, match="read-only"):
        asked.data["weights"][0] = 7.0


class Callable:
    """An object that can be called, which no worker can import."""

    def __call__(self, setting, replicate, seed):
        """Return nothing."""


@pytest.mark.parametrize(
    "function",
    [lambda *_: [], partial(sums), sums.__call__, Callable(), str.upper],
    ids=["lambda", "partial", "method of an object", "object", "method"],
)
def test_a_function_without_a_name_is_refused_before_anything_is_stored(function, tmp_path):
    with pytest.raises(InputError, match="top level of a file"):
        nt.lab.run(study(function), tmp_path / "out")
    assert not (tmp_path / "out").exists()


DEEP = reduce(lambda inner, _: [inner], range(5000), [])
WRONG = [
    ({"name": "a/b"}, "`name` must be 1 to 64 letters.* got 'a/b'"),
    ({"name": 3}, "`name` must be"),
    ({"unit": "sums"}, r"`unit` must be a function of \(setting, replicate, seed\), got 'sums'"),
    ({"replicates": 0}, "`replicates` must be a whole number"),
    ({"seed": -1}, "`seed` must be a whole number"),
    ({"seed": True}, "`seed` must be a whole number"),
    ({"title": None}, "`title` must be a str, got None"),
    ({"settings": []}, '`settings` must be a list of tables, each with a different "name"'),
    ({"settings": {"name": "a"}}, "`settings` must be a list of tables"),
    ({"settings": [3]}, "`settings` must be a list of tables"),
    ({"settings": [{"count": 3}]}, "`settings` must be a list of tables"),
    ({"settings": [{"name": "../x"}]}, "`settings` must be a list of tables"),
    ({"settings": [{"name": "a"}] * 2}, 'different "name"'),
    ({"settings": [{"name": "a", "title": 3}]}, '"title" must be text'),
    ({"settings": [{"name": "a", "x": {1}}]}, "plain JSON"),
    ({"settings": [{"name": "a", "x": float("nan")}]}, "plain JSON"),
    ({"settings": [{"name": "a", "x": DEEP}]}, "plain JSON"),
    ({"settings": [{"name": "a", "x": "\ud800"}]}, "plain JSON"),
    ({"settings": [{"name": "a", "x": 10**5000}]}, "plain JSON"),
    ({"settings": [{"name": "a", "replicates": 0}]}, "`replicates` of `a` must be a whole number"),
    ({"settings": [{"name": "a", "replicates": True}]}, "`replicates` of `a` must be a whole"),
    ({"settings": [{"name": "a", "paired_with": "b"}]}, "`paired_with` of 'a' 'b'"),
    ({"settings": [{"name": "a", "paired_with": "a"}]}, "not paired itself"),
    ({"settings": [*PAIRED, {"name": "d", "paired_with": "c"}]}, "not paired itself, got 'c'"),
    ({"replicates": 600_000}, "settings × replicates must be at most 1,000,000, got 1,200,000"),
    ({"columns": {"x": "real"}}, "column 'x' must be declared"),
    ({"claims": "holds"}, "`claims` must be a list of functions or names, got 'holds'"),
    ({"charts": [3]}, "`charts` must be a list"),
    ({"tables": None}, "`tables` must be a list"),
    ({"costs": 3}, "`costs` must be a Mapping"),
    ({"costs": {"fw": 1.0}}, "unknown setting in `costs` 'fw': did you mean 'few'"),
    ({"costs": {"few": 0.0}}, r"costs\['few'\]` must be"),
    ({"data": [1]}, "`data` must be a Mapping"),
    ({"data": {"../x": np.ones(1)}}, "names of `data` must be those of parameters"),
    ({"data": {"x": [1]}}, r"data\['x'\]` must be a NumPy array"),
    ({"data": {"x": np.array([None])}}, r"data\['x'\]` must be a NumPy array of numbers or text"),
    ({"data": {"x": np.broadcast_to(1.0, (10**6,) * 2)}}, "at most 100,000,000 entries"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "sentence"), WRONG)
def test_what_cannot_be_a_study_is_refused_in_one_sentence(changes, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        study(**changes)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500
