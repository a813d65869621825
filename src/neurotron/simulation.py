"""Training: one stream of batches, many arms.

The engine is imported when a run begins, because it loads the compiler.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron._environment import environment
from neurotron._streams import Stream
from neurotron._types import Index
from neurotron._waiting import after_this
from neurotron.attacks import Attack
from neurotron.engine.recording import Record, Records, recorded_steps
from neurotron.engine.state import CohortState, Setup
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.trainers import Arm, Trainer
from neurotron.trainers.arm import check_arms
from neurotron.trainers.stages import StagedTrainer
from neurotron.trajectories import Trajectories

if TYPE_CHECKING:
    from neurotron.engine.cohort import Cohort, Engine

__all__ = ["Records", "Run", "iterate", "simulate"]

SLICE_SECONDS = 0.05
MOST_STEPS = 10**15
MOST_SAMPLES = 10**7


def simulate(
    problem: Problem,
    arms: Arm | Trainer | Sequence[Arm | Trainer],
    *,
    attack: Attack | None = None,
    steps: int = 40_000,
    batch_size: int = 16,
    seed: int = 0,
    replicate: int = 0,
    record: Record = "log",
    engine: str = "auto",
    resume: Trajectories | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Train every arm on the same stream of batches, and return what happened.

    All arms see the same inputs, the same honest labels and the same random numbers that decide
    which labels are attacked. So arms can be compared pair by pair, and adding or removing an arm
    changes nothing for the others. On Ctrl-C, the results so far are returned with the status
    "interrupted". While the engine is being compiled, which happens once on a machine, Ctrl-C
    raises `KeyboardInterrupt` as usual. To see results during the run, use `simulation.iterate`.

    Parameters
    ----------
    problem
        The network to learn, and the data to learn it from.
    arms
        The trainers to run: a trainer, an `Arm` (a trainer with its own attack), or a list of them.
    attack
        The attack on the labels of the trainers that are not in an `Arm`; None for honest labels.
    steps, batch_size
        The total number of updates (including those of `resume`), and the samples per update.
    seed, replicate
        They select the stream of random numbers. Different pairs give independent streams.
    record
        Which steps to record: "log" (40 per decade), "all", or a number s for every s-th step.
        Step 0 and the last step are always recorded.
    engine
        "auto" runs built-in attacks and trainers on the compiled engine, and your own on the NumPy
        engine, with the same streams. "compiled" and "numpy" select one engine for all arms.
    resume
        An earlier result to continue from, on the same engines. The result is the same as that of
        one uninterrupted run.
    progress
        A function that is called as ``progress(step, steps)`` about twenty times a second.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    >>> attack = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
    >>> arms = [nt.NeuroTron(0.05), nt.Arm(nt.NeuroTron(0.05))]
    >>> run = nt.simulate(problem, arms, attack=attack, steps=2000, batch_size=16)
    >>> [arm.name for arm in run]
    ['Neuro-Tron under AlternatingSign', 'Neuro-Tron']
    >>> bool(run.final_errors[1] < 1e-10 < run.final_errors[0] < 0.1)
    True
    """
    run = iterate(
        problem, arms, attack=attack, steps=steps, batch_size=batch_size, seed=seed,
        replicate=replicate, record=record, engine=engine, resume=resume, progress=progress,
    )  # fmt: skip
    with contextlib.suppress(KeyboardInterrupt):
        for _ in run:
            pass
    return run.trajectories()


def iterate(
    problem: Problem,
    arms: Arm | Trainer | Sequence[Arm | Trainer],
    *,
    attack: Attack | None = None,
    steps: int = 40_000,
    batch_size: int = 16,
    seed: int = 0,
    replicate: int = 0,
    record: Record = "log",
    engine: str = "auto",
    resume: Trajectories | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Return a `Run`, which trains while you iterate over it and shows results on the way.

    The parameters are those of `simulate`. They are checked at once, and the engine is compiled if
    necessary.

    Examples
    --------
    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(), seed=1)
    >>> run = nt.simulation.iterate(problem, nt.SGD(0.1), steps=10_000, batch_size=16)
    >>> for records in run:
    ...     if records.errors[-1, 0] < 1e-3:
    ...         break
    >>> run.trajectories().status
    ('interrupted',)
    """
    from neurotron.engine.cohort import choose

    _require_problem(problem).data.require_labels()
    steps = _check.count("steps", steps, 0, MOST_STEPS)
    batch_size = _check.integer("batch_size", batch_size, 1, MOST_SAMPLES)
    _check.entries("a batch", batch_size, problem.network.n_inputs)
    if progress is not None:
        _check.function("progress", progress, "(step, steps)")
    stream = Stream.of(_check.integer("seed", seed, 0), replicate)
    schedule = recorded_steps(record, steps)
    checked = check_arms(arms, attack, problem)
    options: dict[str, Any] = {
        "batch_size": batch_size, "seed": seed, "replicate": replicate, "record": record
    }  # fmt: skip
    if any(isinstance(arm.trainer, StagedTrainer) for arm in checked):
        options["steps"] = steps  # stages are shares of them
    engines = choose(engine, problem, checked)
    resolved = [arm.resolved(problem, batch_size, steps) for arm in checked]
    records: list[Records] = []
    if resume is None:
        state = CohortState.initial(problem, resolved)
    else:
        _check_same_run(_check.instance("resume", resume, Trajectories), checked, problem)
        _check_same_engines(resume, engines)
        state, records = _continue(resume, steps, options, schedule)
    setup = Setup(problem, resolved, batch_size, stream, state)
    return Run(tuple(checked), setup, tuple(engines), options, schedule, records, progress)


class Run:
    """A run that is under way: iterate over it to train and to see what is recorded.

    About every 50 ms it yields the new `Records`, if there are any. The records of a run that it
    resumes come first. You can leave the loop at any time: `trajectories` returns the results so
    far, and another loop yields the same records again and then continues the training. Ctrl-C, or
    an error in your own attack or trainer, raises as usual and loses at most the last 50 ms.
    """

    def __init__(
        self,
        arms: tuple[Arm, ...],
        setup: Setup,
        engines: tuple[Engine, ...],
        options: dict[str, Any],
        schedule: Index,
        records: list[Records],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        from neurotron.engine.cohort import compile_later_stages

        self.arms, self.setup, self.engines, self.options = arms, setup, engines, options
        self.records, self.progress, self.last = records, progress, int(schedule[-1])
        recorded = records[-1].steps[-1] if records else -1
        self.due = schedule[(schedule >= setup.state.step) & (schedule > recorded)]
        self.slice_steps = 1
        self._cohort: Cohort | None = None
        self._current_cohort()
        compile_later_stages(setup, engines)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: it makes its own cohort, whose loops know their own arrays."""
        return vars(self) | {"_cohort": None}

    def __repr__(self) -> str:
        names = _check.shorten(", ".join(arm.name for arm in self.arms))
        return f"Run({names}: step {self.setup.state.step:,} of {self.last:,})"

    def __iter__(self) -> Iterator[Records]:
        given = 0
        while given < len(self.records) or self.due.size:
            if given < len(self.records):
                yield self.records[given]
                given += 1
            else:
                with after_this():
                    self._make_slice()
                if self.progress is not None:
                    self.progress(self.setup.state.step, self.last)

    def trajectories(self) -> Trajectories:
        """Return the results so far; the status of unfinished arms is "interrupted"."""
        state, records = self.setup.state, self.records
        if self.due.size and not (records and records[-1].steps[-1] == state.step):
            records = [*records, self._advance_cohort(state.step, np.array([state.step]))]
        taken = Records.joined(records)
        ongoing = "interrupted" if self.due.size else "finished"
        return Trajectories(
            arms=self.arms,
            steps=_check.freeze(taken.steps),
            _errors=None if taken.errors is None else _check.freeze(taken.errors.T.copy()),
            losses=_check.freeze(taken.losses.T.copy()),
            weights=_check.freeze(state.average.T.copy()),
            status=tuple("diverged" if stopped >= 0 else ongoing for stopped in state.stopped_at),
            stopped_at=tuple(None if stopped < 0 else int(stopped) for stopped in state.stopped_at),
            engines=self.engines,
            options=MappingProxyType(self.options),
            environment=MappingProxyType(environment()),
            problem=self.setup.problem,
            state=state.kept(),
        )

    def _make_slice(self) -> None:
        """Train for about 50 ms, and keep the records.

        A slice ends no later than the stage of any arm. The record at a step between two stages is
        that of the beginning of the second one.
        """
        state = self.setup.state
        taken = self._advance(min(self.last, state.step + self.slice_steps, state.next_stage_at))
        if self.due.size and not state.running.any():  # nothing will change any more
            rest = Records.of_diverged(self.due, len(self.arms), taken.errors is None)
            taken, self.due, state.step = Records.joined([taken, rest]), self.due[:0], self.last
        elif state.next_stage_at == state.step:
            self._cohort = None
        if taken.steps.size:
            self.records.append(taken.frozen())

    def _advance(self, stop: int) -> Records:
        """Advance to `stop`, record what is due before it, and adapt the length of slices."""
        began, start = time.perf_counter(), self.setup.state.step
        count = np.searchsorted(self.due, stop, "right" if stop == self.last else "left")
        taken = self._advance_cohort(stop, self.due[:count])
        self.due = self.due[count:]
        seconds = max(time.perf_counter() - began, 1e-6)
        if stop - start == self.slice_steps or seconds > SLICE_SECONDS:
            self.slice_steps = max(1, int((stop - start) * min(SLICE_SECONDS / seconds, 10.0)))
        return taken

    def _advance_cohort(self, stop: int, due: Index) -> Records:
        """Advance the arms; if that fails, their unfinished cohort is discarded."""
        cohort, self._cohort = self._current_cohort(), None
        records = cohort.advance(stop, due)
        self._cohort = cohort
        return records

    def _current_cohort(self) -> Cohort:
        """Return the cohort of the arms in their present stages, after starting those due."""
        from neurotron.engine.cohort import Cohort

        if self._cohort is None:
            self.setup.state.begin_due_stages(self.setup.arms)
            self._cohort = Cohort(self.setup.with_current_trainers(), self.engines)
            self._cohort.compile()
        return self._cohort


def _require_problem(problem: object) -> Problem:
    """Return the problem; for anything else, raise an error that says how to make one."""
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, FilterNetwork):
        remedy = "write Problem.draw(network, law), or Problem.from_rows(network, X, y) for data"
    elif isinstance(problem, (Sequence, np.ndarray)) or hasattr(problem, "__array__"):
        remedy = "data go into a problem: write Problem.from_rows(network, X, y)"
    else:
        remedy = "write Problem.draw(network, law)"
    raise _check.InputError(
        f"`problem` must be a Problem, got an object of type {type(problem).__name__}; {remedy}"
    )


def _check_same_run(earlier: Trajectories, arms: list[Arm], problem: Problem) -> None:
    pairs = {"problem": (earlier.problem, problem), "arms": (list(earlier.arms), arms)}
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
    earlier: Trajectories, steps: int, options: dict[str, Any], schedule: Index
) -> tuple[CohortState, list[Records]]:
    """Return the state and the records of an earlier run, if it had the same options."""
    for name, value in options.items():
        if earlier.options[name] != value:
            raise _check.InputError(
                f"`resume` was run with {name}={earlier.options[name]!r}, not {value!r}"
            )
    if earlier.state.step > steps:
        raise _check.InputError(
            f"`steps` counts from the start of the run: it must be at least the "
            f"{earlier.state.step} that `resume` has made, got {steps}"
        )
    kept = np.flatnonzero(np.isin(earlier.steps, schedule))
    errors = earlier.errors.T if earlier.has_errors else None
    records = Records(earlier.steps, errors, earlier.losses.T)
    return earlier.state.resumed(), [records.at(kept).frozen()]
