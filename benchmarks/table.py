"""One table: joined from the timings and peaks of one run, kept as CSV, shown as text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.parts import PARTS
from benchmarks.workloads import ATTACK, FOUR_LAWS, NEW_ATTACKS, PLAIN, STUDY

__all__ = ["GROUPS", "Row", "compute", "lines", "read", "read_timings", "render", "write"]

Rounds = Mapping[str, np.ndarray]
"""A figure of every round, by the name of what was measured."""

TITLE = "Speed and memory (`make bench`)"


class Row(NamedTuple):
    """A line of the table, as text; the numbers have three digits."""

    what: str
    median: str
    least: str
    most: str
    floor: str = ""
    aim: str = ""
    met: str = ""
    """Whether the floor is met: yes, no, or nothing if there is none."""
    group: str = ""
    """One of `GROUPS`."""


def at_least(what: str, rounds: np.ndarray, floor: float, aim: float) -> Row:
    """Return the row of a figure that should be large."""
    met = bool(np.median(rounds) >= floor)
    return plain(what, rounds)._replace(
        floor=f"≥ {floor:g}", aim=f"≥ {aim:g}", met="yes" if met else "no"
    )


def at_most(what: str, rounds: np.ndarray, floor: float, aim: float) -> Row:
    """Return the row of a figure that should be small."""
    met = bool(np.median(rounds) <= floor)
    return plain(what, rounds)._replace(
        floor=f"≤ {floor:g}", aim=f"≤ {aim:g}", met="yes" if met else "no"
    )


def plain(what: str, rounds: np.ndarray) -> Row:
    """Return the row of a figure that has no bar."""
    return Row(what, *(_digits(f(rounds)) for f in (np.median, np.min, np.max)))


def _digits(number: float) -> str:
    return f"{float(f'{number:.3g}'):g}"


# ---- from timings to rows ------------------------------------------------------------------------


def compute(seconds: Rounds, megabytes: Rounds) -> list[Row]:
    """Return the rows; where figures are divided, round by round."""
    made = {
        "start": start_rows(seconds),
        "study": study_rows(seconds),
        "step": step_rows(seconds),
        "sampling": sampling_rows(seconds),
        "commands": command_rows(seconds),
        "memory": memory_rows(megabytes),
    }
    assert tuple(made) == GROUPS
    return [row._replace(group=group) for group, rows in made.items() for row in rows]


GROUPS = ("start", "study", "step", "sampling", "commands", "memory")
"""The parts of the table, in their order."""


def start_rows(seconds: Rounds) -> list[Row]:
    """Return the rows about first results, with nothing compiled, and about short commands."""
    two, paper = (
        {code: seconds[f"cold[{name}-{code}]"] for code in ("now", "before")}
        for name in ("two-trainers", "paper-study")
    )
    return [
        at_most("cold start, two trainers and one attack / the same with the old code",
                two["now"] / two["before"], 0.5, 0.3),
        at_most("— two trainers, CPU seconds", two["now"], 10, 10),
        at_most("cold start, whole study of the paper / the same with the old code",
                paper["now"] / paper["before"], 0.85, 0.6),
        plain("— whole study, CPU seconds", paper["now"]),
        at_most("`neurotron --help`, seconds", seconds["command[help]"], 0.4, 0.4),
        at_most("`neurotron plan`, seconds", seconds["command[plan]"], 1, 1),
        at_most("`neurotron simulate` of the paper's default, seconds",
                seconds["command[simulate]"], 1.5, 1.5),
        at_most("slowest of eight plans in a running process, n = 100, ms",
                1e3 * _slowest_plan(seconds), 100, 30),
    ]  # fmt: skip


def study_rows(seconds: Rounds) -> list[Row]:
    """Return the rows that compare whole runs with the transcription."""
    single = {
        law.name: seconds[f"test_transcription[{law.key}-neuro-tron]"]
        / seconds[f"test_single_arm[{law.key}]"]
        for law in FOUR_LAWS
    }
    workers = seconds["test_replicates[1]"] / seconds["test_replicates[2]"]
    return [
        at_least("paper + outer-weight study, shared streams, vs transcription",
                 _study(seconds, "test_transcription"), 600, 1000),
        at_least("one learner on its own stream vs transcription, mean of four laws",
                 _mean(single), 30, 40),
        *(plain(f"— one learner vs transcription, {law}", single[law]) for law in single),
        plain("the study, vs a transcription with (wᵀA)x",
              _study(seconds, "test_thrifty_transcription")),
        at_least("two workers vs one", workers, 1.7, 1.95),
    ]  # fmt: skip


def step_rows(seconds: Rounds) -> list[Row]:
    """Return the rows about a single step, and about its parts."""
    draw = {
        law.name: seconds[f"test_cohort[{law.key}]"] / seconds[f"test_numpy_draw[{law.key}]"]
        for law in FOUR_LAWS
    }
    first = FOUR_LAWS[0]
    update = seconds[f"test_cohort[{first.key}]"] / len(first.arms())
    parts = {part: seconds[f"part[host-{first.key}-{part}]"] for part in PARTS}
    whole = np.sum(list(parts.values()), axis=0)
    return [
        at_most("step of 28 arms / drawing its batch with NumPy, mean of four laws",
                _mean(draw), 0.6, 0.4),
        *(plain(f"— step / drawing its batch, {law}", draw[law]) for law in draw),
        plain(f"— {first.name}: ns per arm-update, everything included", 1e9 * update),
        *(plain(f"part of a step, %: {text}", 100.0 * parts[part] / whole)
          for part, text in PARTS.items()),
        plain("— all parts together, µs", 1e6 * whole),
        at_most("dearest robust trainer / plain one of its direction, 32 arms",
                _dearest_trainer(seconds), 3, 2),
        at_most("dearest new attack / alternating sign, 32 arms", _dearest_attack(seconds), 3, 1.5),
    ]  # fmt: skip


def sampling_rows(seconds: Rounds) -> list[Row]:
    """Return the rows about drawing inputs, with all vectors and with AVX2 only."""
    numbers = {
        (width, law.name): 1e9
        * seconds[f"part[{width}-{law.key}-draw]"]
        / (law.batch_size * law.n_inputs)
        for width in ("host", "avx2")
        for law in FOUR_LAWS
    }
    normal = FOUR_LAWS[0].name
    return [
        plain("width of vectors, bits", seconds["bits[host]"]),
        *(plain(f"ns per number, {law.name}", numbers["host", law.name]) for law in FOUR_LAWS),
        plain("width of vectors, bits, with AVX2 only", seconds["bits[avx2]"]),
        *(
            at_most(f"ns per number with AVX2 only, {name}", numbers["avx2", name], 5.6, 3.5)
            if name == normal
            else plain(f"ns per number with AVX2 only, {name}", numbers["avx2", name])
            for name in (law.name for law in FOUR_LAWS)
        ),
    ]


def command_rows(seconds: Rounds) -> list[Row]:
    """Return the rows about the paper's study as a user runs it."""
    return [
        at_most("`neurotron paper --figures`, seconds", seconds["command[paper]"], 75, 60),
        at_most("`neurotron report` of the paper, seconds", seconds["command[report]"], 8, 5),
        plain("— with --figures, seconds", seconds["command[figures]"]),
    ]


def memory_rows(megabytes: Rounds) -> list[Row]:
    """Return the rows about memory."""
    one, long, eight, study, long_study = (
        megabytes[f"peakmem_{name}"]
        for name in (
            "replicate", "replicate_ten_times_the_steps", "eight_replicates",
            "study", "study_ten_times_the_steps",
        )
    )  # fmt: skip
    return [
        at_most("memory, MB per replicate in flight", (eight - one) / 7, 200, 60),
        at_most("memory, MB more for ten times the steps", long - one, 1, 1),
        plain("memory, MB of the process in all", eight),
        at_most("memory of a study, MB more for ten times the steps", long_study - study, 1, 1),
        plain("memory of a study, MB of the process in all", long_study),
    ]


def _slowest_plan(seconds: Rounds) -> np.ndarray:
    plans = [rounds for name, rounds in seconds.items() if name.startswith("test_plan[")]
    return np.asarray(np.max(plans, axis=0))


def _study(seconds: Rounds, transcription: str) -> np.ndarray:
    """Return the transcription's time over ours for the whole study, one thread."""
    theirs = sum(
        len(setting.levels) * seconds[f"{transcription}[{setting.key}-{algorithm}]"]
        for setting in STUDY
        for algorithm in setting.trainers
    )
    return np.asarray(theirs / sum(seconds[f"test_cohort[{setting.key}]"] for setting in STUDY))


def _mean(by_law: Rounds) -> np.ndarray:
    return np.asarray(np.mean(list(by_law.values()), axis=0))


def _dearest_trainer(seconds: Rounds) -> np.ndarray:
    ratios = [
        _least_of_three(seconds[f"test_trainer[{robust}]"])
        / _least_of_three(seconds[f"test_trainer[{direction}]"])
        for robust, direction in PLAIN.items()
    ]
    return np.asarray(np.max(ratios, axis=0))


def _dearest_attack(seconds: Rounds) -> np.ndarray:
    times = [_least_of_three(seconds[f"test_attack[{attack}]"]) for attack in NEW_ATTACKS]
    return np.max(times, axis=0) / _least_of_three(seconds[f"test_attack[{ATTACK}]"])


def _least_of_three(rounds: np.ndarray) -> np.ndarray:
    """Return the least of every three rounds: the dearest of several would be the noisiest."""
    return np.minimum.reduceat(rounds, np.arange(0, len(rounds), 3))


# ---- files ---------------------------------------------------------------------------------------


def read_timings(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the seconds per step of every function and round, and where they were measured."""
    content = json.loads(path.read_text())
    seconds = {
        found["name"]: np.array(found["stats"]["data"]) / found["extra_info"]["steps"]
        for found in content["benchmarks"]
    }
    commit = content["commit_info"]
    changed = " with changes" if commit.get("dirty") else ""
    return seconds, {"commit": commit["id"][:7] + changed, **content["machine_info"]}


def write(folder: Path, rows: list[Row], foot: str) -> None:
    """Write the table of all benchmarks as CSV, and what is rendered from it."""
    keep(folder, rows, foot, "benchmarks")
    (folder / "benchmarks.md").write_text(render(rows, foot))


def keep(folder: Path, rows: list[Row], foot: str, name: str) -> None:
    """Write the table as CSV, with its foot as a comment."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerows([Row._fields, *rows])
    (folder / f"{name}.csv").write_text(f"{text.getvalue()}# {foot}\n")


def read(path: Path) -> tuple[list[Row], str]:
    """Return the rows and the foot of a table."""
    *lines, foot = path.read_text().splitlines()
    return [Row(**row) for row in csv.DictReader(lines)], foot.removeprefix("# ")


def render(rows: list[Row], foot: str, title: str = TITLE) -> str:
    """Return the table as Markdown."""
    return "\n".join([f"# {title}", "", *lines(rows), "", foot, ""])


def lines(rows: list[Row]) -> list[str]:
    """Return the lines of a table of these rows."""
    found = ["| what | measured: median (least … most) | floor | aim | floor met |"]
    found.append("|---|---|---|---|---|")
    for row in rows:
        spread = "" if row.least == row.most else f" ({row.least} … {row.most})"
        met = row.met.replace("no", "NO")
        found.append(f"| {row.what} | {row.median}{spread} | {row.floor} | {row.aim} | {met} |")
    return found
