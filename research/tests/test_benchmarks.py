"""What speed is measured against must itself be right."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks import (
    activations,
    auditing,
    commands,
    growth,
    memory,
    page,
    parts,
    regressor,
    solver,
    table,
    vectors,
    verifying,
)
from benchmarks.peer import Learner, ThriftyLearner
from benchmarks.workloads import FOUR_LAWS, OUTER, PAPER, STUDY

from neurotron import laws
from neurotron._registry import parse

ROOT = Path(__file__).parents[2]
SMALL = dataclasses.replace(
    FOUR_LAWS[0], n_inputs=8, filter_size=3, width=4, step_size=0.02, outer_weights=1.5
)

# ---- workloads -----------------------------------------------------------------------------------


def test_the_study_is_that_of_the_paper():
    assert [len(setting.arms()) for setting in STUDY] == [28, 28, 28, 28, 3, 3]
    assert [setting.name for setting in FOUR_LAWS] == ["N(0, 1)", "t(4)", "N(0, 9)", "Laplace(2)"]
    assert [(setting.outer_weights, setting.step_size) for setting in OUTER] == [
        (1.0, 1e-4), (10.0, 2e-5),
    ]  # fmt: skip


def test_its_settings_are_those_of_the_catalog():
    names = (
        "normal-1",
        "student-t-4",
        "normal-9",
        "laplace-2",
        "outer-weights-1",
        "outer-weights-10",
    )
    settings = [PAPER[name] for name in names]
    for workload, setting in zip(STUDY, settings, strict=True):
        problem = workload.problem()
        assert problem.law == laws.BY_NAME.build(setting.law)
        shape = parse(setting.network)[1]["width"], setting.filter_size, setting.n_inputs
        assert problem.network.gates.shape == shape
        levels = {
            level
            for sweep in setting.sweeps
            if sweep.attack == "alternating-sign"
            and not any("(ours)" in label for label in sweep.trainers or ())
            for level in sweep.levels
        }
        met = {(arm.attack.bound, arm.attack.probability) for arm in workload.arms()}
        assert met == levels


def test_every_arm_has_the_step_size_of_its_setting():
    for setting in STUDY:
        assert {arm.trainer.step_size for arm in setting.arms()} == {setting.step_size}


# ---- what they are compared with -----------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["neuro-tron", "sgd"])
def test_the_transcription_recovers_the_filter(algorithm):
    learner = Learner(SMALL, algorithm, bound=0.0, probability=0.0)
    errors = [learner.step() for _ in range(3000)]
    assert errors[-1] < 1e-10


def test_its_gradient_is_that_of_its_output():
    learner = Learner(SMALL, "sgd", bound=0.0, probability=0.0)
    draw = np.random.default_rng(0)
    inputs, weights, h = draw.standard_normal((5, 8)), draw.standard_normal(3), 1e-6
    for j, direction in enumerate(np.eye(3)):
        above = learner.net(weights + h * direction, inputs)
        below = learner.net(weights - h * direction, inputs)
        slope = learner.gradient(weights, inputs)[j]
        np.testing.assert_allclose((above - below) / (2 * h), slope, atol=1e-6)


def test_the_order_of_its_products_does_not_matter():
    pair = [kind(SMALL, "neuro-tron", 0.5, 0.5) for kind in (Learner, ThriftyLearner)]
    for _ in range(50):
        one, other = (learner.step() for learner in pair)
        assert one == pytest.approx(other, rel=1e-9)


# ---- names ---------------------------------------------------------------------------------------

LAWS = "normal-1 student-t-4 normal-9 laplace-2"
LEARNERS = (
    "normal-1-neuro-tron normal-1-sgd student-t-4-neuro-tron student-t-4-sgd "
    "normal-9-neuro-tron normal-9-sgd laplace-2-neuro-tron laplace-2-sgd "
    "outer-weights-1-neuro-tron outer-weights-10-neuro-tron"
)
FROZEN = {
    "test_transcription": LEARNERS,
    "test_cohort": f"{LAWS} outer-weights-1 outer-weights-10",
    "test_thrifty_transcription": LEARNERS,
    "test_single_arm": LAWS,
    "test_numpy_draw": LAWS,
    "test_trainer": "NeuroTron ClippedTron RefinedTron averaging SGD ClippedSGD HuberSGD "
    "TrimmedSGD",
    "test_attack": "alternating-sign burst large-norm half-space mixture multiplicative:factor=3 "
    "replacement:scale=10 sign-flip",
    "test_replicates": "1 2",
    "test_plan": "steps-constant steps-scheduled radius-constant radius-scheduled "
    "probability-constant probability-scheduled bound-constant bound-scheduled",
}
"""Timings of different commits can be compared as long as these names stand for the same work."""
NAMES = [
    f"{function}[{case}]" if case else function
    for function, cases in FROZEN.items()
    for case in cases.split() or [""]
]


class Collected:
    """A plugin that keeps the names of the tests that are found."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.names = [item.name for item in session.items]


def test_the_names_of_timings_are_frozen():
    found = Collected()
    path = str(ROOT / "benchmarks" / "test_speed.py")
    pytest.main(["--collect-only", f"--rootdir={ROOT}", path], [found])
    assert sorted(found.names) == sorted(NAMES)


# ---- the table -----------------------------------------------------------------------------------


def timings(**changed: float) -> dict[str, np.ndarray]:
    """Return one second for everything, but for the functions named."""
    names = [*NAMES, *commands.NAMES_OF_SECONDS, "bits[host]", "bits[avx2]"]
    return {
        name: np.full(15 if name.startswith(("test_trainer", "test_attack")) else 5, 1.0)
        * changed.get(name.partition("[")[0], 1.0)
        for name in names
    }


PEAKS = {name: np.array([200.0 + 7 * i] * 3) for i, name in enumerate(memory.FUNCTIONS)}


def row(rows: list[table.Row], start: str) -> table.Row:
    """Return the one row whose name begins like this."""
    (found,) = [row for row in rows if row.what.startswith(start)]
    return found


def test_the_study_counts_every_learner_of_the_transcription():
    """118 learners of two seconds each, against six cohorts of half a second."""
    seconds = timings(test_transcription=2.0, test_cohort=0.5)
    found = row(table.compute(seconds, PEAKS), "paper + outer-weight study")
    assert float(found.median) == pytest.approx((4 * 28 + 2 * 3) * 2.0 / (6 * 0.5), rel=5e-3)
    assert (found.floor, found.aim, found.met) == ("≥ 600", "≥ 1000", "no")


def test_ratios_are_taken_round_by_round():
    """Both sides twice as slow in one round: its ratio is that of the others."""
    seconds, slow = timings(), np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    for name in seconds:
        if name.startswith(("test_cohort", "test_numpy_draw")):
            seconds[name] = seconds[name] * slow
    found = row(table.compute(seconds, PEAKS), "step of 28 arms")
    assert found[1:4] == ("1", "1", "1")
    assert found.met == "no"


def test_a_cold_start_is_compared_with_that_of_the_old_code_in_its_round():
    seconds = timings()
    seconds["cold[two-trainers-before]"] = np.array([20.0, 40.0, 20.0])
    seconds["cold[two-trainers-now]"] = np.array([5.0, 10.0, 6.0])
    found = row(table.compute(seconds, PEAKS), "cold start, two trainers")
    assert found[1:4] == ("0.25", "0.25", "0.3")
    assert found.met == "yes"


def test_sampling_is_per_number_of_a_batch():
    seconds = timings()
    law = FOUR_LAWS[0]
    seconds[f"part[avx2-{law.key}-draw]"] = np.array([3e-9 * law.batch_size * law.n_inputs])
    found = row(table.compute(seconds, PEAKS), "ns per number with AVX2 only, N(0, 1)")
    assert (found.median, found.floor, found.met) == ("3", "≤ 5.6", "yes")


def test_the_parts_of_a_step_are_shares_of_their_sum():
    seconds = timings()
    seconds["part[host-normal-1-draw]"] = np.full(5, 5.0)
    rows = table.compute(seconds, PEAKS)
    assert row(rows, "part of a step, %: draw").median == "50"
    assert row(rows, "part of a step, %: attack").median == "10"


def test_the_dearest_trainer_is_the_least_of_three_rounds_over_that_of_its_own_direction():
    seconds = timings()
    seconds["test_trainer[SGD]"] = seconds["test_trainer[SGD]"] * 4.0
    seconds["test_trainer[HuberSGD]"] = seconds["test_trainer[HuberSGD]"] * 10.0
    seconds["test_trainer[ClippedTron]"] = np.tile([9.0, 1.5, 9.0], 5)
    found = row(table.compute(seconds, PEAKS), "dearest robust trainer")
    assert found[1:4] == ("2.5", "2.5", "2.5")


def test_memory_per_replicate_is_what_seven_more_of_them_take():
    rows = table.compute(timings(), PEAKS)
    assert row(rows, "memory, MB per replicate").median == "2"
    assert row(rows, "memory, MB more for ten").median == "7"
    assert row(rows, "memory, MB more for ten").met == "no"


def test_the_memory_of_a_study_is_that_of_its_least_round():
    short, long = (f"peakmem_study{which}" for which in ("", "_ten_times_the_steps"))
    peaks = {**PEAKS, short: np.array([201.0, 200.0, 205.0]), long: np.array([208.0, 200.5, 203.0])}
    found = row(table.compute(timings(), peaks), "memory of a study, MB more")
    assert (found.median, found.met) == ("0.5", "yes")


def test_timings_are_per_step_and_of_a_commit(tmp_path):
    one = {"name": "test_a", "stats": {"data": [2.0, 4.0]}, "extra_info": {"steps": 4}}
    place = {"commit_info": {"id": "0123456789", "dirty": True}, "machine_info": {"quick": True}}
    file = tmp_path / "timings.json"
    file.write_text(json.dumps({"benchmarks": [one], **place}))
    seconds, origin = table.read_timings(file)
    assert seconds["test_a"].tolist() == [0.5, 1.0]
    assert origin == {"commit": "0123456 with changes", "quick": True}


def test_a_table_is_read_as_it_was_written_and_shown(tmp_path):
    rows = table.compute(timings(), PEAKS)
    table.write(tmp_path, rows, "From here.")
    assert table.read(tmp_path / "benchmarks.csv") == (rows, "From here.")
    shown = (tmp_path / "benchmarks.md").read_text()
    assert "| two workers vs one | 1 | ≥ 1.7 | ≥ 1.95 | NO |" in shown
    assert shown.endswith("\n\nFrom here.\n")


# ---- parts of a step, vectors, growth ------------------------------------------------------------


def test_the_parts_of_a_step_are_all_its_calls_but_those_that_record():
    ((_, cohort),) = SMALL.start(1)._cohort.parts
    program, found = cohort.program, parts.split(cohort)
    sections = [program.calls[a:b] for a, b in itertools.pairwise(program.bounds)]
    recording = [call for section in sections[2::3] for call in section]
    assert list(found) == list(parts.PARTS)
    assert all(one.calls for one in found.values())
    split = [call for one in found.values() for call in one.calls]
    assert len(split) == len(program.calls) - len(recording)
    assert parts.seconds_per_step(found["draw"], steps=10) >= 0.0


def test_vectors_can_be_limited_to_avx2():
    variables = vectors.without_avx512()
    features = variables["NUMBA_CPU_FEATURES"].split(",")
    assert not [name for name in features if name.startswith("+avx512")]
    assert len(features) > 20
    assert vectors.measured_bits() in (0, 128, 256, 512)
    assert vectors.name(256) == "AVX2"


CURVES = {
    "arms": {1: np.array([2.0, 4.0]), 10: np.array([20.0, 40.0]), 100: np.array([200.0, 400.0])},
    "gates k": {2: np.array([3.0, 3.0]), 4: np.array([3.0, 3.0]), 8: np.array([3.0, 12.0])},
}


def test_a_slope_says_what_a_doubling_costs():
    assert growth.slopes(CURVES["arms"]).all == pytest.approx([1.0, 1.0])
    flat, steep = growth.slopes(CURVES["gates k"]).end
    assert flat == pytest.approx(0.0, abs=1e-12)
    assert steep == pytest.approx(1.0)


def test_curves_are_read_as_they_were_written(tmp_path):
    growth.write(tmp_path / "growth.csv", CURVES)
    found = growth.read(tmp_path / "growth.csv")
    assert found.keys() == CURVES.keys()
    for name, curve in CURVES.items():
        assert {value: rounds.tolist() for value, rounds in found[name].items()} == {
            value: rounds.tolist() for value, rounds in curve.items()
        }


def test_every_size_of_a_run_can_be_changed(monkeypatch):
    monkeypatch.setattr(growth, "STEPS", 1)
    monkeypatch.setattr(growth, "GRIDS", {name: grid[:1] for name, grid in growth.GRIDS.items()})
    monkeypatch.setattr(growth, "fewer", lambda count: 2)
    found = growth.measure(1)
    assert {name: list(curve) for name, curve in found.items()} == {
        "arms": [1], "inputs n": [25], "weights r": [3], "gates k": [2], "general gates k": [2],
        "batch size b": [1], "steps": [500],
    }  # fmt: skip


# ---- what is stored ------------------------------------------------------------------------------

STORE = ROOT / "docs" / "evidence"


def test_the_stored_table_is_shown_as_it_is_stored():
    rows, foot = table.read(STORE / "benchmarks.csv")
    assert (STORE / "benchmarks.md").read_text() == table.render(rows, foot)
    expected = table.compute(timings(), PEAKS)
    assert [(r.what, r.floor, r.aim, r.group) for r in rows] == [
        (r.what, r.floor, r.aim, r.group) for r in expected
    ]


def test_the_page_has_the_stored_numbers():
    curves = growth.read(STORE / "growth.csv")
    assert {name: tuple(curve) for name, curve in curves.items()} == growth.GRIDS
    text = page.PAGE.read_text()
    places = {match[2] for match in page.PLACE.finditer(text)}
    others = ("solver", "regressor", "verifying", "activation_costs", "auditing")
    assert places == {*table.GROUPS, "growth", "origin", *others}
    assert page.filled(text, *table.read(STORE / "benchmarks.csv"), curves) == text


def test_the_solver_meets_its_bars_in_the_stored_table():
    rows, _ = table.read(STORE / "solver.csv")
    assert [one.what.removesuffix(", CPU seconds") for one in rows[: len(solver.BARS)]] == [
        *solver.BARS
    ]
    assert {one.met for one in rows} == {"yes", ""}


def test_the_solver_is_timed_and_its_growth_is_fitted(monkeypatch):
    monkeypatch.setattr(solver, "BARS", {"small": (solver.GRIDS["rows N"][125], 1e-9)})
    monkeypatch.setattr(solver, "GRIDS", {"rows N": dict(list(solver.GRIDS["rows N"].items())[:2])})
    monkeypatch.setattr(solver, "RIVALS", ("huber",))
    bar, rival, slope = solver.compute(*solver.measure(rounds=1))
    assert bar.met == "no"
    assert "`huber`" in rival.what
    assert "125 … 250" in slope.what


def test_verification_meets_its_bars_in_the_stored_table():
    rows, _ = table.read(STORE / "verifying.csv")
    names = [f"10,000 rows, {name}, CPU seconds" for name in verifying.WORKLOADS]
    names += [
        f"all arms of a unit of `{name}`, with certificates, CPU seconds"
        for name in verifying.UNITS
    ]
    assert [one.what for one in rows[:-1]] == names
    assert [one.met for one in rows] == ["yes"] * len(names) + [""]


def test_verification_is_timed_and_its_growth_is_fitted(monkeypatch):
    small = dict.fromkeys(["small"], verifying.GRID[1_000])
    monkeypatch.setattr(verifying, "WORKLOADS", small)
    monkeypatch.setattr(verifying, "GRID", dict(list(verifying.GRID.items())[:2]))
    monkeypatch.setattr(verifying, "MOST", 1e-9)
    monkeypatch.setattr(verifying, "UNITS", {"prediction-risk": (1e-9, 1e-9)})
    bar, unit, slope = verifying.compute(*verifying.measure(rounds=1))
    assert (bar.met, unit.met) == ("no", "no")
    assert "1,000 … 4,000" in slope.what


def test_the_default_audit_meets_its_bar_in_the_stored_table():
    rows, _ = table.read(STORE / "auditing.csv")
    assert [one.what.split(" without")[0] for one in rows[2:]] == [*auditing.ESTIMATORS]
    assert [one.met for one in rows[:2]] == ["yes", ""]


def test_audits_are_timed(monkeypatch):
    monkeypatch.setattr(auditing, "ESTIMATORS", ("least-squares",))
    monkeypatch.setattr(auditing, "spent", lambda *_: auditing.Spent(61.0, 3.0))
    bar, cpu, alone = auditing.compute(auditing.measure(rounds=2))
    assert (bar.met, bar.median, cpu.median, alone.median) == ("no", "61", "3", "3")


def test_what_the_readme_says_of_speed_is_so_in_the_stored_table():
    """28 arms in less time than NumPy takes only to draw their data, on average over the laws."""
    assert "trains 28 arms (trainers under attack) in less time than NumPy" in " ".join(
        (ROOT / "README.md").read_text().split()
    )
    rows, _ = table.read(STORE / "benchmarks.csv")
    assert float(row(rows, "step of 28 arms").median) < 1.0


def test_what_the_page_says_of_a_step_is_so_in_the_stored_tables():
    """The shared parts take most of the time, and 32 arms less than twice that of one."""
    text = " ".join(page.PAGE.read_text().split())
    assert "In a step of 28 arms they take most of the time." in text
    assert "32 arms take less than twice the time of one." in text
    rows, _ = table.read(STORE / "benchmarks.csv")
    shared = [row(rows, f"part of a step, %: {parts.PARTS[part]}") for part in ("draw", "project")]
    assert sum(float(one.median) for one in shared) > 50.0
    arms = growth.read(STORE / "growth.csv")["arms"]
    assert np.median(arms[32]) < 2.0 * np.median(arms[1])


def test_the_stored_table_of_the_regressor_has_all_cases():
    rows, _ = table.read(STORE / "regressor.csv")
    assert [one.what.partition(":")[0] for one in rows if ":" in one.what] == [*regressor.CASES]


def test_a_fit_is_compared_with_that_of_huber_in_every_round(monkeypatch):
    monkeypatch.setattr(regressor, "CASES", dict(list(regressor.CASES.items())[:1]))
    found = regressor.measure(rounds=2, rows=400)
    wall, *_, memory_of_huber = regressor.compute(found)
    ours, huber = (found[f"{case}, {model}, wall"] for case in regressor.CASES
                   for model in ("ours", "Huber"))  # fmt: skip
    assert wall.median == f"{float(f'{np.median(ours / huber):.3g}'):g}"
    assert float(memory_of_huber.median) > 0.0


def test_every_activation_is_timed_beside_the_relu_on_both_networks():
    rows, _ = table.read(STORE / "activation_costs.csv")
    named = [one.what.split()[1] for one in rows if one.what.startswith("—")]
    assert named == [*activations.ACTIVATIONS[1:]] * len(activations.SETTINGS) * len(
        activations.TRAINERS
    )
    found = activations.measure(rounds=1, steps=20)
    assert [one.what for one in activations.compute(found)] == [one.what for one in rows]
    assert all((times > 0.0).all() for times in found.values())
