"""The one driver: one stream of batches, many learners."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._environment import environment
from neurotron._streams import Stream
from neurotron._types import Index
from neurotron.attacks import Query
from neurotron.engine.cohort import Cohort, Engine, choose
from neurotron.engine.recording import Record, Records, recorded_steps
from neurotron.engine.setup import Setup
from neurotron.engine.sources import Rows, Simulated, Source
from neurotron.engine.state import CohortState
from neurotron.problem import Problem
from neurotron.trainers import Arm, NeuroTron, Stages
from neurotron.trajectories import Trajectories

__all__ = ["simulate"]

SLICE_SECONDS = 0.05
MOST_STEPS = 10**15
MOST_SAMPLES = 10**7


def simulate(
    problem: Problem,
    arms: Sequence[Arm],
    *,
    steps: int,
    batch_size: int,
    seed: int = 0,
    replicate: int = 0,
    record: Record = "log",
    source: Source | None = None,
    engine: str = "auto",
    resume: Trajectories | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Train every arm on the same stream of batches, and return what happened.

    All arms see the same inputs, the same honest labels and the same attack coins (a label is
    attacked iff its coin ≤ β), so arms can be compared pair by pair, and adding or removing an arm
    changes nothing for the others. Ctrl-C returns what is done so far, with status "interrupted";
    while the engine is being compiled, which happens once on a machine, it raises as usual.

    Parameters
    ----------
    problem
        Network, law and true weights.
    arms
        Trainers under attack, with distinct names.
    steps, batch_size
        Number of updates in all (those of `resume` included), and samples per update.
    seed, replicate
        Which stream: every pair is a different, independent one.
    record
        "log" (40 records a decade), "all", or every so many steps; step 0 and the last always.
    source
        Where batches come from: None for the problem itself, or `Rows` of data.
    engine
        "auto" runs what is built in on the compiled engine, your own attacks and trainers on the
        NumPy engine, over the same streams; "compiled" or "numpy" asks for one of them.
    resume
        An earlier result to go on from, on the same engines: the same as if it had run through.
    progress
        Called as ``progress(step, steps)`` about twenty times a second.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    >>> attack = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
    >>> run = nt.simulate(problem, [nt.Arm(nt.NeuroTron(0.05)), nt.Arm(nt.NeuroTron(0.05), attack)],
    ...                   steps=2000, batch_size=16)
    >>> bool(run.errors[0, -1] < 1e-10 < run.errors[1, -1] < 0.1)
    True
    """
    _check.instance("problem", problem, Problem)
    steps = _check.integer("steps", steps, 0, MOST_STEPS)
    batch_size = _check.integer("batch_size", batch_size, 1, MOST_SAMPLES)
    _check.entries("a batch", batch_size, problem.network.n_inputs)
    if progress is not None:
        _check.function("progress", progress, "(step, steps)")
    stream = Stream.of(_check.integer("seed", seed, 0), replicate)
    schedule = recorded_steps(record, steps)
    source = Simulated(problem) if source is None else source
    _check_source(source, problem)
    arms = _check_arms(arms, problem)
    if isinstance(source, Rows):
        source.require_fit(problem, arms)
    settings: dict[str, Any] = {
        "batch_size": batch_size, "seed": seed, "replicate": replicate, "record": record
    }  # fmt: skip
    if any(isinstance(arm.trainer, Stages) for arm in arms):
        settings["steps"] = steps  # stages are shares of them
    engines = choose(engine, problem, arms)
    resolved = [_resolve(arm, problem, batch_size, steps) for arm in arms]
    records: list[Records] = []
    if resume is None:
        state = CohortState.initial(problem, resolved)
    else:
        _check_same_run(_check.instance("resume", resume, Trajectories), arms, problem, source)
        _check_same_engines(resume, engines)
        state, records = _continue(resume, steps, settings, schedule)
    setup = Setup(problem, resolved, batch_size, source, stream, state)
    finished = _run(setup, engines, records, schedule, progress)
    taken = Records.joined(records)
    return Trajectories(
        arms=tuple(arms),
        steps=_check.freeze(taken.steps),
        errors=None if taken.errors is None else _check.freeze(taken.errors.T.copy()),
        losses=_check.freeze(taken.losses.T.copy()),
        weights=_check.freeze(state.average.T.copy()),
        status=tuple(_status(stopped, finished) for stopped in state.stopped_at),
        stopped_at=tuple(None if stopped < 0 else int(stopped) for stopped in state.stopped_at),
        engines=tuple(engines),
        settings=MappingProxyType(settings),
        environment=MappingProxyType(environment()),
        problem=problem,
        source=source,
        state=state.kept(),
    )


def _run(
    setup: Setup,
    engines: Sequence[Engine],
    records: list[Records],
    schedule: Index,
    progress: Callable[[int, int], None] | None,
) -> bool:
    """Advance slice by slice, recording as scheduled; return False if Ctrl-C cut the run short.

    A slice ends where an arm's stage does. What is recorded at a step between two stages is the
    beginning of the second.
    """
    state, last = setup.state, int(schedule[-1])
    cohort = _cohort(setup, engines)
    slice_steps = 1
    due = schedule[schedule >= state.step]
    if records and records[-1].steps[-1:] == state.step:
        due = due[1:]
    with _interrupts() as interrupted:
        while due.size and not interrupted():
            began, start = time.perf_counter(), state.step
            stop = min(last, start + slice_steps, state.until)
            here = due[: np.searchsorted(due, stop, "right" if stop == last else "left")]
            taken = cohort.advance(stop, here)
            if here.size:
                records.append(taken)
            due = due[here.size :]
            if due.size and state.until == state.step:
                cohort = _cohort(setup, engines)
            if due.size and not state.running.any():  # nothing will change any more
                records.append(Records.of_diverged(due, len(state.memory), taken.errors is None))
                state.step, due = last, due[:0]
            seconds = max(time.perf_counter() - began, 1e-6)
            if progress is not None:
                progress(state.step, last)
            if stop - start == slice_steps or seconds > SLICE_SECONDS:
                slice_steps = max(1, int((stop - start) * min(SLICE_SECONDS / seconds, 10.0)))
        if due.size and not (records and records[-1].steps[-1] == state.step):
            records.append(cohort.advance(state.step, np.array([state.step])))
    return due.size == 0


def _cohort(setup: Setup, engines: Sequence[Engine]) -> Cohort:
    """Return the cohort of the arms' present stages, after beginning those that are due."""
    setup.state.turn_over(setup.arms)
    cohort = Cohort(setup.in_turn(), engines)
    cohort.compile()
    return cohort


@contextlib.contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a request to stop between slices; a second one is as usual.

    Only the main thread can receive it, and a handler that somebody else set is left alone: in
    both cases the answer is always no.
    """
    previous = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or previous is not signal.default_int_handler:
        yield lambda: False
        return
    asked = threading.Event()

    def ask(*_: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, previous)


def _status(stopped: int, finished: bool) -> str:
    if stopped >= 0:
        return "diverged"
    return "finished" if finished else "interrupted"


def _resolve(arm: Arm, problem: Problem, batch_size: int, steps: int) -> Arm:
    trainer = arm.trainer.resolve(problem, batch_size=batch_size, steps=steps, attack=arm.attack)
    return dataclasses.replace(arm, trainer=trainer)


def _check_source(source: Source, problem: Problem) -> None:
    if not callable(getattr(source, "batch", None)):
        raise _check.InputError(f"`source` must be Rows(X, y), got {_check.shown(source)}")
    if isinstance(source, Simulated) and source.problem is not problem:
        raise _check.InputError("`source` simulates another problem: leave it out")


def _check_arms(arms: Sequence[Arm], problem: Problem) -> list[Arm]:
    if not isinstance(arms, Sequence):
        raise _check.InputError("`arms` must be a list of Arm: write [arm]")
    checked = [_check.instance(f"arms[{i}]", arm, Arm) for i, arm in enumerate(arms)]
    if not checked:
        raise _check.InputError("`arms` must hold at least one Arm")
    seen: set[str] = set()
    for arm in checked:
        if arm.name in seen:
            raise _check.InputError(
                f"two arms are called {_check.shown(arm.name)}: tell them apart with name=…"
            )
        seen.add(arm.name)
    for arm in checked:
        _check_fit(arm, problem)
    return checked


def _check_fit(arm: Arm, problem: Problem) -> None:
    """Refuse pieces that do not fit together, naming both, before any work."""
    size = problem.network.filter_size
    for trainer in arm.trainer.parts:
        if trainer.direction != "sensing" or isinstance(trainer, NeuroTron):
            continue
        raise _check.InputError(
            f"trainer {trainer!r} has direction 'sensing' but no sensing matrix: derive it "
            "from NeuroTron"
        )
    if arm.attack is None:
        return
    attack, vector = arm.attack, arm.attack.probe_vector
    if vector is not None and np.shape(vector) != (size,):
        raise _check.InputError(
            f"attack {attack!r} has a vector of shape {np.shape(vector)}, but the network has "
            f"{size} weights"
        )
    if (
        vector is None
        and attack.query_fields != Query._fields
        and {"probe", "probe_output"} & {*attack.query_fields}
    ):
        raise _check.InputError(
            f"attack {attack!r} uses a probe, but has no `probe_vector` to probe with"
        )
    if problem.true_weights is None and "push" in attack.query_fields:
        raise _check.InputError(
            f"attack {attack!r} uses `push`, which needs the problem's true_weights (if it does "
            "not look at it, its `query_fields` should say so)"
        )


def _check_same_run(
    earlier: Trajectories, arms: list[Arm], problem: Problem, source: Source
) -> None:
    pairs = {
        "problem": (earlier.problem, problem),
        "arms": (list(earlier.arms), arms),
        "source": (earlier.source, source),
    }
    for name, (before, now) in pairs.items():
        if not _check.equal(before, now):
            raise _check.InputError(f"`resume` was run with a different `{name}`")


def _check_same_engines(earlier: Trajectories, engines: list[Engine]) -> None:
    for arm, before, now in zip(earlier.arms, earlier.engines, engines, strict=True):
        if before.name != now.name:
            raise _check.InputError(
                f"`resume` was run with arm {arm.name!r} on the {before.name} engine, not on "
                f"{now.name}: the two round differently"
            )


def _continue(
    earlier: Trajectories, steps: int, settings: dict[str, Any], schedule: Index
) -> tuple[CohortState, list[Records]]:
    """Return state and records of an earlier run, if it had the same settings up to there."""
    for name, value in settings.items():
        if earlier.settings[name] != value:
            raise _check.InputError(
                f"`resume` was run with {name}={earlier.settings[name]!r}, not {value!r}"
            )
    if earlier.state.step > steps:
        raise _check.InputError(
            f"`steps` counts from the start: must be at least the {earlier.state.step} made, got "
            f"{steps}"
        )
    kept = np.flatnonzero(np.isin(earlier.steps, schedule))
    errors = None if earlier.errors is None else earlier.errors.T
    records = Records(earlier.steps, errors, earlier.losses.T)
    return earlier.state.resumed(), [records.at(kept)]
