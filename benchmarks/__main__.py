"""``python -m benchmarks``: measure, print one table of ratios, and keep it with the machine."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np

import neurotron as nt
from benchmarks.measure import Measured, child, seconds
from benchmarks.peer import Learner, ThriftyLearner, sampler
from benchmarks.workloads import FOUR_LAWS, STUDY, Setting
from neurotron import studies
from neurotron._environment import environment

ROUNDS = 5
STEPS = 4000
FOLDER = Path(__file__).parent.parent / "docs" / "evidence"


def peer_seconds(setting: Setting, trainer: str, kind: type[Learner] = Learner) -> float:
    """Return the time of one step of one learner of the transcription."""
    learner = kind(setting, trainer, *setting.levels[1])
    steps = 150 if setting.width < 100 else 20
    learner.step()
    return seconds(lambda: [learner.step() for _ in range(steps)]) / steps


def cohort_seconds(setting: Setting, arms: int | None = None) -> float:
    """Return the time of one step of a cohort, or of its first arms alone."""
    return seconds(lambda: setting.run(STEPS, setting.arms()[:arms])) / STEPS


def study_ratio(kind: type[Learner] = Learner) -> float:
    """Return peer time over ours for the whole study, one thread."""
    theirs = ours = 0.0
    for setting in STUDY:
        for trainer in setting.trainers:
            theirs += len(setting.levels) * peer_seconds(setting, trainer, kind)
        ours += cohort_seconds(setting)
    return theirs / ours


def single_ratio(setting: Setting) -> float:
    """Return peer time over ours for one Neuro-Tron learner on its own stream."""
    return peer_seconds(setting, "tron") / cohort_seconds(setting, arms=1)


def draw_ratio(setting: Setting) -> float:
    """Return the time of a step of 28 arms over that of only drawing its batch with NumPy."""
    draw = sampler(setting.law, np.random.default_rng(0))
    shape = (setting.batch_size, setting.n_inputs)
    return cohort_seconds(setting) / (seconds(lambda: [draw(shape) for _ in range(STEPS)]) / STEPS)


ROBUST: dict[str, tuple[Callable[[], nt.Trainer], Callable[[], nt.Trainer]]] = {
    "ClippedTron": (nt.ClippedTron, lambda: nt.NeuroTron("fastest")),
    "RefinedTron": (partial(nt.RefinedTron, 100), lambda: nt.NeuroTron("fastest")),
    "averaging": (lambda: nt.NeuroTron("fastest", averaging=True), lambda: nt.NeuroTron("fastest")),
    "ClippedSGD": (nt.ClippedSGD, lambda: nt.SGD(1e-4)),
    "HuberSGD": (nt.HuberSGD, lambda: nt.SGD(1e-4)),
    "TrimmedSGD": (nt.TrimmedSGD, lambda: nt.SGD(1e-4)),
}
NEW_ATTACKS = (
    "burst", "large-norm", "half-space", "mixture", "multiplicative:factor=3",
    "replacement:scale=10", "sign-flip",
)  # fmt: skip


def arms_seconds(trainer: nt.Trainer, attack: str = "alternating-sign") -> float:
    """Return the least of three times of a cohort of 32 arms, one trainer under one attack."""
    setting = FOUR_LAWS[0]
    adversary = nt.attacks.build(attack, setting.problem(), bound=1.0, probability=0.3, seed=0)
    arms = [nt.Arm(trainer, adversary, name=str(number)) for number in range(32)]
    return min(seconds(lambda: setting.run(STEPS, arms)) for _ in range(3))


def robust_ratio() -> float:
    """Return the dearest robust trainer's time over that of a plain one of its direction."""
    return max(arms_seconds(new()) / arms_seconds(plain()) for new, plain in ROBUST.values())


def attack_ratio() -> float:
    """Return the dearest new attack's time over that of the paper's."""
    plain = arms_seconds(nt.NeuroTron(1e-4))
    return max(arms_seconds(nt.NeuroTron(1e-4), attack) for attack in NEW_ATTACKS) / plain


def workers_ratio() -> float:
    """Return the time of four replicates one after the other over that on two threads."""
    setting = FOUR_LAWS[0]

    def replicate(number: int) -> object:
        return setting.run(8 * STEPS, replicate=number)

    alone = seconds(lambda: [replicate(number) for number in range(4)])
    with ThreadPoolExecutor(2) as pool:
        return alone / seconds(lambda: list(pool.map(replicate, range(4))))


def plan_milliseconds() -> float:
    """Return the time of the slowest of eight plans at n = 100: all four questions, both ways."""
    problem = FOUR_LAWS[0].problem()
    questions = [
        (nt.Budget(1.0, 0.5), 1.0, None),
        (nt.Budget(1.0, 0.5), None, 3000),
        (nt.Budget(1.0, None), 1.0, 3000),
        (nt.Budget(None, 0.5), 1.0, 3000),
    ]

    def ask(budget: nt.Budget, accuracy: float | None, steps: int | None, step_size: str) -> None:
        fresh = nt.Problem.draw(problem.network, problem.law, true_weights=problem.true_weights)
        nt.plan(fresh, budget, accuracy=accuracy, steps=steps, batch_size=16, step_size=step_size)

    times = [
        seconds(partial(ask, budget, accuracy, steps, kind))
        for budget, accuracy, steps in questions
        for kind in ("constant", "scheduled")
    ]
    return max(times) * 1e3


def study_seconds() -> float:
    """Return the time of the paper's whole study from nothing, results on disk, two threads."""
    paper = studies.read("paper")
    with tempfile.TemporaryDirectory() as place:
        return seconds(lambda: studies.run(paper, f"{place}/paper", workers=2))


FIRST_RESULT = """
import json, neurotron as nt
problem = nt.Problem.draw(nt.networks.symmetric(100, 25, 10, seed=1), nt.Normal())
nt.simulate(problem, [nt.Arm(nt.NeuroTron(1e-4))], steps=100, batch_size=16)
print(json.dumps({}))
"""

PEAK = """
import json
from pathlib import Path
def peak():  # of this process; ru_maxrss would begin with that of its parent
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
"""

STUDY_MEMORY = (
    PEAK
    + """
import tempfile
from neurotron import studies
paper = studies.read("paper")
peaks = []
for steps in (4_000, 40_000, 400_000):
    study = paper.model_copy(update={"settings": paper.settings[:1], "steps": steps})
    with tempfile.TemporaryDirectory() as place:
        studies.run(study, f"{place}/one", replicates=4, workers=2)
    peaks.append(peak())
print(json.dumps({"growth": peaks[2] - peaks[1]}))
"""
)

MEMORY = (
    PEAK
    + """
from concurrent.futures import ThreadPoolExecutor
from benchmarks.workloads import FOUR_LAWS
FOUR_LAWS[0].run(1000)
first = peak()
FOUR_LAWS[0].run(40_000)
short = peak()
FOUR_LAWS[0].run(400_000)
long = peak()
with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda i: FOUR_LAWS[0].run(20_000, replicate=i), range(8)))
print(json.dumps({"growth": long - short, "replicate": (peak() - long) / 7, "process": peak()}))
"""
)


def rounds(measure: Callable[[], float], count: int = ROUNDS) -> Measured:
    """Measure several times."""
    return Measured(tuple(measure() for _ in range(count)))


def measure_all() -> list[tuple[str, Measured, str, str, bool | None]]:
    """Return the rows of the table: what, figure, floor, aim, whether the floor is met."""
    rows: list[tuple[str, Measured, str, str, bool | None]] = []

    def row(name: str, figure: Measured, floor: float | None, aim: float, *, high: bool) -> None:
        sign = "≥" if high else "≤"
        met = None if floor is None else (figure.median >= floor) == high or figure.median == floor
        limits = ("", "") if floor is None else (f"{sign} {floor:g}", f"{sign} {aim:g}")
        rows.append((name, figure, *limits, met))
        print(f"{name}: {figure}", file=sys.stderr, flush=True)

    cohort_seconds(FOUR_LAWS[0])  # compiled and imported before anything is timed
    plan_milliseconds()
    row("paper + outer-weight study, shared streams, vs transcription", rounds(study_ratio),
        300, 1000, high=True)  # fmt: skip
    single = {s.name: rounds(lambda s=s: single_ratio(s)) for s in FOUR_LAWS}  # type: ignore[misc]
    row("one learner on its own stream vs transcription, mean of four laws", _mean(single),
        15, 40, high=True)  # fmt: skip
    for name, figure in single.items():
        row(f"— {name}", figure, None, 0, high=True)
    row("the study, vs a transcription with (wᵀA)x", rounds(lambda: study_ratio(ThriftyLearner), 2),
        None, 0, high=True)  # fmt: skip
    draws = {s.name: rounds(lambda s=s: draw_ratio(s)) for s in FOUR_LAWS}  # type: ignore[misc]
    row("step of 28 arms / drawing its batch with NumPy, mean of four laws", _mean(draws),
        1.5, 0.5, high=False)  # fmt: skip
    for name, figure in draws.items():
        row(f"— {name}", figure, None, 0, high=False)
    step = rounds(lambda: cohort_seconds(FOUR_LAWS[0]) * 1e6 / 28 * 1e3)
    row("— N(0, 1): ns per arm-update, everything included", step, None, 0, high=False)
    row("dearest robust trainer / plain one of its direction, 32 arms", rounds(robust_ratio),
        3, 2, high=False)  # fmt: skip
    row("dearest new attack / alternating sign, 32 arms", rounds(attack_ratio), 3, 1.5, high=False)
    row("two workers vs one", rounds(workers_ratio, 7), 1.7, 1.95, high=True)
    cold = rounds(lambda: child(FIRST_RESULT)["seconds"], 3)
    row("start to first result, cold, s", cold, 20, 10, high=False)
    with tempfile.TemporaryDirectory() as kept:
        child(FIRST_RESULT, kept)
        warm = rounds(lambda: child(FIRST_RESULT, kept)["seconds"])
        memory = child(MEMORY, kept)  # without the compiler's own
        study_memory = child(STUDY_MEMORY, kept)
    row("start to first result, warm, s", warm, 2.5, 1, high=False)
    row("slowest of eight plans, n = 100, ms", rounds(plan_milliseconds), 100, 30, high=False)
    row("memory, MB per replicate in flight", Measured((memory["replicate"],)),
        200, 60, high=False)  # fmt: skip
    row("memory, MB more for ten times the steps", Measured((memory["growth"],)), 1, 1, high=False)
    row("memory, MB of the process in all", Measured((memory["process"],)), None, 0, high=False)
    row("memory of a study, MB more for ten times the steps",
        Measured((study_memory["growth"],)), 10, 1, high=False)  # fmt: skip
    row("the paper's study: 20 replicates of 7 settings, two threads, s", rounds(study_seconds, 3),
        90, 60, high=False)  # fmt: skip
    return rows


def _mean(figures: dict[str, Measured]) -> Measured:
    by_round = zip(*(figure.values for figure in figures.values()), strict=True)
    return Measured(tuple(map(mean, by_round)))


def main() -> None:
    """Measure, print, keep; fail if a floor is missed."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    rows = measure_all()
    lines = ["| what | measured: median (least … most) | floor | aim | floor met |"]
    lines.append("|---|---|---|---|---|")
    for name, figure, floor, aim, met in rows:
        word = "" if met is None else "yes" if met else "NO"
        lines.append(f"| {name} | {figure} | {floor} | {aim} | {word} |")
    machine = environment()
    table = "\n".join(lines)
    origin = ", ".join(f"{key} {value}" for key, value in machine.items())
    title = "Speed and memory (`make bench`): ratios within one run, one thread, warm"
    (FOLDER / "benchmarks.md").write_text(f"# {title}\n\n{table}\n\nFrom {origin}.\n")
    content = {name: figure.values for name, figure, *_ in rows}
    document = {"environment": machine, "figures": content}
    (FOLDER / "benchmarks.json").write_text(
        json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    )
    print(table)
    missed = [name for name, *_, met in rows if met is False]
    if missed:
        sys.exit(f"below the floor: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
