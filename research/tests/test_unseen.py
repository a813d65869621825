"""The studies of unseen tables: recipes, attacks, claims on made-up fits, and the held-out list."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import unseen
import unseen_claims
import unseen_tables
from draw_held_out import NAMED, drawn, recipe_in
from public_tables import PublicTable
from research.pages import ROOT
from research.tests.packages import needed
from tests.support.results import stored
from unseen_attacks import ATTACKS, Labels, attacked
from unseen_charts import charts
from unseen_results import Unseen, compact_csv

import neurotron as nt
from neurotron.lab.claims import VERDICTS, Claim, Judgement

HOLDS, _, DOES_NOT_HOLD, UNDECIDED, NOT_TESTED = VERDICTS
CLAIMS = {one.name: one for one in vars(unseen_claims).values() if isinstance(one, Claim)}
MAIN, HELD_OUT = (
    nt.lab.read(ROOT / "research" / "tables" / f"{name}.toml", allow_code=True)
    for name in ("unseen", "unseen-held-out")
)

# ---- attacks -------------------------------------------------------------------------------------


def honest(*, is_logarithm=False):
    draw = np.random.default_rng(0)
    X = draw.standard_normal((200, 3))
    X -= X.mean(axis=0)
    return Labels.of(X, 5.0 + X @ [1.0, 2.0, 3.0] + draw.standard_normal(200),
                     is_logarithm=is_logarithm)  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_changes_its_share_of_the_labels_and_no_more(attack):
    labels = honest()
    changed = attacked(labels, attack, 3.0, 0.3, np.random.default_rng(1))
    assert 58 <= (changed != labels.y).sum() <= 60
    assert np.array_equal(changed, attacked(labels, attack, 3.0, 0.3, np.random.default_rng(1)))
    assert np.array_equal(attacked(labels, "none", 0.0, 0.0, np.random.default_rng(1)), labels.y)


def test_what_attacks_write_into_labels():
    labels, every = honest(), np.arange(200)
    draw = np.random.default_rng(0)
    written = {name: attack(labels, every, 3.0, draw) for name, attack in ATTACKS.items()}
    assert written["shift"] - labels.y == pytest.approx(3.0 * labels.scale)
    assert labels.scale == pytest.approx(1.0, abs=0.15)
    assert written["reversed-scale"] + labels.y == pytest.approx(2.0 * labels.y.mean())
    assert written["unit"] == pytest.approx(3.0 * labels.y)
    logarithms = honest(is_logarithm=True)
    assert ATTACKS["unit"](logarithms, every, 3.0, draw) - labels.y == pytest.approx(np.log(3.0))
    assert sorted(written["swapped"]) == sorted(labels.y)
    assert np.array_equal(written["swapped"][100:], labels.y[:100])
    assert set(written["constant"]) <= set(labels.y)
    assert len(set(written["constant"])) == 1
    assert np.corrcoef(written["leverage"], labels.y)[0, 1] < -0.8
    slopes = np.linalg.lstsq(labels.X, written["other-model"], rcond=None)[0]
    assert sorted(-slopes) == pytest.approx(sorted(labels.coefficients), abs=0.4)


def test_leverage_is_an_attack_on_the_rows_that_are_farthest():
    labels = honest()
    changed = attacked(labels, "leverage", 0.0, 0.1, np.random.default_rng(0)) != labels.y
    far = np.abs(labels.X @ labels.coefficients)
    assert far[changed].min() >= far[~changed].max()


# ---- recipes -------------------------------------------------------------------------------------


@pytest.fixture
def houses(monkeypatch):
    """A package with one table, which has a missing value and a price of 0."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({
        "price": [0.0, *draw.uniform(1.0, 9.0, 49)], "rooms": [3.0, np.nan, *range(48)],
        "one": 1.0, "town": ["a", "b"] * 25,
    })  # fmt: skip
    monkeypatch.setattr(unseen_tables, "frame_of", lambda package, name: frame)
    return frame


def test_a_recipe_makes_a_table_of_numbers_without_missing_ones(houses):
    X, y = unseen_tables.Recipe("p", "houses", "price", "rooms one", "town", logs="price").table()
    assert X.shape == (48, 2)
    assert np.array_equal(X[:, 0], houses["rooms"][2:])
    assert set(X[:, 1]) == {0.0, 1.0}
    assert np.array_equal(y, np.log(houses["price"][2:]))


def test_a_package_that_is_missing_is_one_sentence():
    with pytest.raises(nt.InputError, match="need no_such: pip install -r research/requirements"):
        unseen_tables.file_in("no_such", "data.csv")


def test_the_unit_fits_every_method_of_a_split_and_says_what_it_thinks_of_labels(monkeypatch):
    labels = honest()
    monkeypatch.setattr(unseen, "chosen_rows", lambda recipe, rows: PublicTable(labels.X, labels.y))
    setting = dict(MAIN.setting("wage1")) | {
        "sweeps": [{"attack": "none"}, {"attack": "shift", "size": 8, "probability": [0.3]}],
        "methods": {"ours": "neurotron", "Huber": "huber"}, "only_splits": {"Huber": [1]},
    }  # fmt: skip
    clean, shifted = unseen.damage(setting, 0, 0)
    assert clean["error"] == pytest.approx(clean["reference"], rel=0.05)
    assert (clean["tampered"], clean["auc"], shifted["tampered"]) == (0, None, 45)
    assert shifted["found"] == 45
    assert shifted["low"] <= 0.3 <= shifted["high"]
    assert shifted["auc"] == 1.0
    rows = unseen.damage(setting, 1, 0)
    assert [row["method"] for row in rows] == ["ours", "Huber"] * 2
    assert rows[1]["suspects"] is None


@pytest.mark.parametrize("name", ["wage1", "statecrime"])
def test_a_table_of_a_package_is_computed_with_three_attacks(name):
    needed()
    sweeps = [
        {"attack": "none"}, {"attack": "shift", "size": 8, "probability": 0.1},
        {"attack": "swapped", "probability": 0.1},
    ]  # fmt: skip
    setting = dict(MAIN.setting(name)) | {"sweeps": sweeps, "methods": {"ours": "neurotron"}}
    rows = unseen.damage(setting, 0, 0)
    assert [row["attack"] for row in rows] == ["none", "shift", "swapped"]
    assert rows[1]["error"] < 1.2 * rows[1]["reference"]


# ---- claims --------------------------------------------------------------------------------------


def made(folder, world, sweeps=None, tables=6):
    """Return results of the main study whose fits are what `world(fit)` says of them."""
    settings = [
        dict(setting) | {"only_splits": {}} | ({"sweeps": sweeps} if sweeps else {})
        for setting in MAIN.settings[:tables]
    ]

    def unit(setting, replicate):
        rows = []
        for cell in unseen.cells_of(setting, replicate):
            row = {
                "attack": cell.attack, "shift": cell.size, "probability": cell.share,
                "method": cell.method, "rows": 300, "tampered": round(300 * cell.share),
                "reference": 2.0, "error": 2.0, "seconds": 0.1,
            } | unseen.NOTHING  # fmt: skip
            rows.append(row | world(row | {"setting": setting["name"]}))
        return rows

    return stored(folder, replace(MAIN, settings=settings), unit, 6)


def as_claimed(fit):
    """A world in which every claim holds."""
    if fit["method"] != "NeuroTron":
        return {"error": 2.2}
    return {"error": 2.01, "suspects": 0, "found": 0, "low": 0.0, "high": 1.0, "distrusted": False}


def changed(outcome, **where):
    """The world as claimed, but with another outcome of some fits."""
    return lambda fit: (
        as_claimed(fit)
        | (outcome if all(fit[name] == value for name, value in where.items()) else {})
    )


OURS = {"method": "NeuroTron"}
SHIFTED = [{"attack": "shift", "size": 15, "probability": [0.4, 0.45]}]
CLEAN = [{"attack": "none"}]
CASES = [
    ("more-often-better-than-untold-rivals", HOLDS, DOES_NOT_HOLD, {"error": 2.5}, OURS, None),
    ("more-often-better-than-trim-that-is-told", HOLDS, DOES_NOT_HOLD, {"error": 1.9},
     {"method": "TRIM, told β"}, None),
    ("warned-where-hurt", NOT_TESTED, DOES_NOT_HOLD, {"error": 3.0}, OURS, None),
    ("warned-where-hurt", NOT_TESTED, HOLDS, {"error": 3.0, "distrusted": True}, OURS, None),
    ("interval-holds-the-share", HOLDS, DOES_NOT_HOLD, {"high": 0.2}, OURS, None),
    ("shifts-rarely-defeat", HOLDS, DOES_NOT_HOLD, {"error": 2.5}, OURS, SHIFTED),
    ("shifts-rarely-defeat", HOLDS, UNDECIDED, {"error": 2.5}, OURS | {"setting": "wage1"},
     SHIFTED),
    ("clean-tables-cost-little", HOLDS, DOES_NOT_HOLD, {"error": 2.03},
     OURS | {"setting": "wage1"}, CLEAN),
    ("no-clean-split-is-costly", HOLDS, DOES_NOT_HOLD, {"error": 2.3},
     OURS | {"setting": "wage1"}, CLEAN),
    ("clean-tables-have-no-suspects", HOLDS, DOES_NOT_HOLD, {"suspects": 1}, OURS, CLEAN),
    ("clean-tables-have-no-suspects", HOLDS, HOLDS, {"suspects": 1},
     OURS | {"setting": "wage1"}, CLEAN),
    ("clean-tables-are-trusted", HOLDS, DOES_NOT_HOLD, {"distrusted": True}, OURS, CLEAN),
]  # fmt: skip


@pytest.mark.parametrize(("name", "before", "after", "outcome", "where", "sweeps"), CASES)
def test_a_claim_comes_out_as_the_fits_were_made(
    name, before, after, outcome, where, sweeps, tmp_path
):
    check = CLAIMS[name].check
    results = made(tmp_path / "one", as_claimed, sweeps)
    assert Judgement(CLAIMS[name], tuple(check(results))).verdict == before
    results = made(tmp_path / "two", changed(outcome, **where), sweeps)
    assert Judgement(CLAIMS[name], tuple(check(results))).verdict == after


def test_cells_are_counted_where_medians_differ_by_two_points(tmp_path):
    world = changed({"error": 2.03}, method="Huber", setting="wage1")
    results = made(tmp_path / "out", world, CLEAN, tables=3)
    standings = Unseen(results).standings("Huber")
    assert [*standings["better"]] == [1, 1, 0]
    assert [*standings["worse"]] == [0, 0, 0]
    lines = compact_csv(results).splitlines()
    assert len(lines) == 4
    assert lines[3].startswith("wage1,none,0,0,0.5,10,1.5,")
    assert [chart.name for chart in charts(results)] == ["damages"]


# ---- held-out tables -----------------------------------------------------------------------------


def test_the_held_out_tables_are_twelve_and_have_not_been_named():
    names = [setting["recipe"]["name"].rpartition("/")[2].lower() for setting in HELD_OUT.settings]
    assert len(set(names)) == 12
    assert not set(names) & set(NAMED)
    assert not set(names) & {recipe.name for recipe in unseen_tables.RECIPES.values()}
    for key in ("methods", "only_splits", "sweeps", "most_rows"):
        assert HELD_OUT.settings[0][key] == MAIN.settings[0][key]


def test_a_label_is_chosen_by_rule_and_no_input_is_a_function_of_it():
    draw = np.random.default_rng(0)
    price, flag = draw.lognormal(size=300), draw.integers(0, 2, 300)
    frame = pd.DataFrame({
        "row": range(300), "town_id": draw.permutation(300), "flag": flag, "price": price,
        "lprice": np.log(price), "size": draw.standard_normal(300), "town": [*"abc"] * 100,
    })  # fmt: skip
    assert recipe_in(frame) == {
        "label": "price", "numbers": "flag size", "categories": "town", "logs": "price",
    }  # fmt: skip
    assert recipe_in(frame[:199]) is None
    assert recipe_in(frame.drop(columns="town")) is None
    exact = frame.assign(size=flag - price, other=draw.standard_normal(300))
    assert recipe_in(exact[["flag", "price", "size", "other"]]) is None


@pytest.mark.slow("it reads nearly 900 tables")
@pytest.mark.long
def test_the_held_out_tables_are_those_that_the_rule_draws():
    needed()
    listed = [{key: one[key] for key in ("name", "recipe")} for one in HELD_OUT.settings]
    assert listed == drawn()
