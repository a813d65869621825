"""What speed is measured against must itself be right."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks import memory, table
from benchmarks.peer import Learner, ThriftyLearner
from benchmarks.workloads import FOUR_LAWS, OUTER, PAPER, STUDY

from neurotron import laws
from neurotron._registry import parse

ROOT = Path(__file__).parent.parent
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
    settings = [setting for setting in PAPER.settings if setting.name != "impersonation"]
    for workload, setting in zip(STUDY, settings, strict=True):
        problem = workload.problem()
        assert problem.law == laws.BY_NAME.build(setting.law)
        shape = parse(setting.network)[1]["width"], setting.filter_size, setting.n_inputs
        assert problem.network.gates.shape == shape
        levels = {
            level
            for sweep in setting.sweeps
            if sweep.attack == "alternating-sign"
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
    "test_first_result_cold": "",
    "test_first_result_warm": "",
    "test_plan": "steps-constant steps-scheduled accuracy-constant accuracy-scheduled "
    "probability-constant probability-scheduled bound-constant bound-scheduled",
    "test_paper_study": "",
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


def test_the_names_of_peaks_are_frozen():
    assert list(memory.FUNCTIONS) == [
        "peakmem_replicate", "peakmem_replicate_ten_times_the_steps", "peakmem_eight_replicates",
        "peakmem_study", "peakmem_study_ten_times_the_steps",
    ]  # fmt: skip


# ---- the table -----------------------------------------------------------------------------------


def timings(**changed: float) -> dict[str, np.ndarray]:
    """Return one second for everything, but for the functions named."""
    return {
        name: np.full(15 if name.startswith(("test_trainer", "test_attack")) else 5, 1.0)
        * changed.get(name.partition("[")[0], 1.0)
        for name in NAMES
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
    assert (found.floor, found.aim, found.met) == ("≥ 300", "≥ 1000", "no")


def test_ratios_are_taken_round_by_round():
    """Both sides twice as slow in one round: its ratio is that of the others."""
    seconds, slow = timings(), np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    for name in seconds:
        if name.startswith(("test_cohort", "test_numpy_draw")):
            seconds[name] = seconds[name] * slow
    found = row(table.compute(seconds, PEAKS), "step of 28 arms")
    assert found[1:4] == ("1", "1", "1")
    assert found.met == "yes"


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


def test_the_stored_table_is_shown_as_it_is_stored():
    folder = ROOT / "docs" / "evidence"
    rows, foot = table.read(folder / "benchmarks.csv")
    assert (folder / "benchmarks.md").read_text() == table.render(rows, foot)
    limits = {row.what: (row.floor, row.aim) for row in table.compute(timings(), PEAKS)}
    assert {row.what: limits[row.what] for row in rows} == {r.what: (r.floor, r.aim) for r in rows}


def test_what_the_readme_says_of_speed_is_so_in_the_stored_table():
    """28 arms in less time than NumPy takes only to draw their data, on average over the laws."""
    assert "trains 28 arms (trainers under attack) in less time than NumPy" in " ".join(
        (ROOT / "README.md").read_text().split()
    )
    rows, _ = table.read(ROOT / "docs" / "evidence" / "benchmarks.csv")
    assert float(row(rows, "step of 28 arms").median) < 1.0
