from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

import neurotron as nt
from neurotron.attacks import AlternatingSign, Constant
from neurotron.engine.recording import Records
from neurotron.simulation import iterate


def arms_of(*bounds: float) -> list[nt.Arm]:
    trainers = [nt.NeuroTron(0.02), nt.NeuroTron(0.01, sensing="mean"), nt.SGD(0.02)]
    return [nt.Arm(t, AlternatingSign(b, 0.5)) for b in bounds for t in trainers]


def test_clean_labels_recover_the_filter_exactly(small_problem):
    arms = [nt.Arm(nt.NeuroTron(0.05, sensing=s)) for s in ("optimal", "polar")]
    run = nt.simulate(small_problem, arms, steps=12_000, batch_size=16)
    assert (run.errors[:, -1] < 1e-13).all()


def test_a_bound_of_zero_is_no_attack(small_problem):
    attacks = [None, Constant(bound=0.0, probability=1.0), Constant(bound=1.0, probability=0.0)]
    arms = [nt.Arm(nt.NeuroTron(0.02), attack) for attack in attacks]
    run = nt.simulate(small_problem, arms, steps=100, batch_size=4)
    np.testing.assert_array_equal(run.weights[0], run.weights[1])
    np.testing.assert_array_equal(run.weights[0], run.weights[2])


@pytest.mark.parametrize("record", ["log", "all", 7])
def test_steps_and_more_steps_are_the_same_as_all_at_once(small_problem, record):
    def run(steps, resume=None):
        return nt.simulate(
            small_problem, arms_of(0.5), steps=steps, batch_size=6, record=record, resume=resume
        )

    whole = run(120)
    arms = list(whole.arms)
    halves = nt.simulate(small_problem, arms, steps=50, batch_size=6, record=record)
    halves = nt.simulate(small_problem, arms, steps=120, batch_size=6, record=record, resume=halves)
    np.testing.assert_array_equal(halves.steps, whole.steps)
    np.testing.assert_array_equal(halves.errors, whole.errors)
    np.testing.assert_array_equal(halves.losses, whole.losses)
    np.testing.assert_array_equal(halves.weights, whole.weights)


def test_replicates_and_seeds_are_different_streams(small_problem):
    def final(**axes):
        arms = [nt.Arm(nt.SGD(0.02), AlternatingSign(1.0, 0.5))]
        return nt.simulate(small_problem, arms, steps=50, batch_size=4, **axes).weights

    assert not np.array_equal(final(), final(seed=1))
    assert not np.array_equal(final(), final(replicate=1))
    np.testing.assert_array_equal(final(seed=3, replicate=2), final(seed=3, replicate=2))


def test_divergence_is_a_result(small_problem):
    arms = [nt.Arm(nt.SGD(5.0), name="wild"), nt.Arm(nt.SGD(0.02), name="calm")]
    run = nt.simulate(small_problem, arms, steps=300, batch_size=6, record="all")
    assert run.status == ("diverged", "finished")
    stopped = run.stopped_at[0]
    assert stopped is not None
    assert np.isfinite(run.errors[0, :stopped]).all()
    assert np.isinf(run.errors[0, stopped:]).all()
    assert np.isinf(run.losses[0, stopped:]).all()
    assert np.isfinite(run.weights).all()
    assert "diverged at step" in repr(run)
    alone = nt.simulate(small_problem, arms[1:], steps=300, batch_size=6, record="all")
    np.testing.assert_allclose(run.errors[1], alone.errors[0], rtol=1e-9, atol=1e-14)
    for record in ("log", 50):  # it is noticed at the step it happens, whatever is recorded
        again = nt.simulate(small_problem, arms, steps=300, batch_size=6, record=record)
        assert again.stopped_at[0] == stopped


def test_cauchy_inputs_end_in_a_status_not_in_a_traceback():
    problem = nt.Problem.draw(nt.networks.symmetric(10, 3, 4), nt.StudentT(0.3))
    arms = [nt.Arm(nt.SGD(0.1)), nt.Arm(nt.NeuroTron(0.1, sensing="mean"))]
    run = nt.simulate(problem, arms, steps=200, batch_size=4)
    assert run.status == ("diverged", "diverged")
    assert not np.isnan(run.errors).any()


def test_a_start_at_the_end_of_the_range_of_numbers_diverges_quietly(small_problem):
    problem = nt.Problem.draw(small_problem.network, nt.Normal(), initial_weights=[1e305] * 4)
    run = nt.simulate(problem, [nt.Arm(nt.SGD(0.1))], steps=3, batch_size=2)
    assert run.status == ("diverged",)
    np.testing.assert_array_equal(run.weights[0], 1e305)


def test_progress_is_called_with_growing_steps_up_to_the_last(small_problem):
    calls: list[tuple[int, int]] = []
    nt.simulate(
        small_problem, arms_of(0.5), steps=400, batch_size=4, progress=lambda *c: calls.append(c)
    )
    steps = [step for step, _ in calls]
    assert steps == sorted(steps)
    assert calls[-1] == (400, 400)


INTERRUPTED = """
import neurotron as nt
problem = nt.Problem.draw(nt.networks.symmetric(40, 10, 4), nt.Normal())
arms = [nt.Arm(nt.NeuroTron(1e-4))]
def tell(step, steps):
    print("under way", flush=True)
run = nt.simulate(problem, arms, steps=10**12, batch_size=8, progress=tell)
print(run.status[0], int(run.steps[-1]), run.errors.shape[1] == len(run.steps), flush=True)
more = nt.simulate(problem, arms, steps=int(run.steps[-1]) + 10, batch_size=8, resume=run)
print(more.status[0])
"""


def test_ctrl_c_returns_what_is_done_long_before_the_end():
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        watchdog = threading.Timer(60.0, process.kill)
        watchdog.start()
        assert process.stdout.readline() == "under way\n"
        process.send_signal(signal.SIGINT)
        lines = [line for line in process.stdout if line != "under way\n"]
        watchdog.cancel()
    status, steps, whole = lines[0].split()
    assert status == "interrupted"
    assert 0 < int(steps) < 10**12
    assert whole == "True"
    assert lines[1:] == ["finished\n"]


def test_frames_are_tidy(small_problem):
    run = nt.simulate(small_problem, arms_of(0.5), steps=30, batch_size=4, record=10)
    frame = run.to_frame()
    assert frame.columns == ["arm", "step", "error", "loss", "status"]
    assert frame.height == 3 * 4
    first = frame.filter(frame["arm"] == run.arms[0].name)
    np.testing.assert_array_equal(first["error"].to_numpy(), run.errors[0])
    np.testing.assert_array_equal(first["step"].to_numpy(), run.steps)


def test_results_carry_options_and_environment(small_problem):
    run = nt.simulate(small_problem, arms_of(0.5), steps=3, batch_size=4, seed=9, replicate=2)
    assert run.options == {"batch_size": 4, "seed": 9, "replicate": 2, "record": "log"}
    assert {"neurotron", "numpy", "numba", "python", "processor"} <= set(run.environment)
    assert set(run.engines) == {("compiled", "all its parts are built in")}


# ---- watched step by step ------------------------------------------------------------------------


@pytest.fixture
def short_slices(monkeypatch):
    """Let a slice be one step long."""
    monkeypatch.setattr("neurotron.simulation.SLICE_SECONDS", 1e-9)


def assert_collected(parts, run):
    """What was yielded is what the result of `simulate` holds, to the bit."""
    assert all(records.steps.size for records in parts)
    taken = Records.joined(parts)
    np.testing.assert_array_equal(taken.steps, run.steps)
    np.testing.assert_array_equal(taken.losses.T, run.losses)
    assert (taken.errors is None) == (run.problem.true_weights is None)
    if taken.errors is not None:
        np.testing.assert_array_equal(taken.errors.T, run.errors)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_what_iterate_yields_is_what_simulate_collects(small_problem, engine, short_slices):
    """With stages, with an arm that diverges, and going on from an earlier run."""
    staged = nt.Stages((nt.SGD(0.02), 0.5), (nt.HuberSGD(0.5), 0.5))
    trainers = [nt.SGD(5.0), nt.NeuroTron(0.02), staged, nt.RefinedTron(20)]
    arms = [nt.Arm(trainer, Constant(0.5, 0.3)) for trainer in trainers]
    options = {"steps": 200, "batch_size": 4, "engine": engine}
    whole = nt.simulate(small_problem, arms, **options)
    run = iterate(small_problem, arms, **options)
    parts = list(run)
    assert len(parts) > 50
    assert not any(array.flags.writeable for records in parts for array in records)
    assert_collected(parts, whole)
    np.testing.assert_array_equal(run.trajectories().weights, whole.weights)
    assert run.trajectories().status == ("diverged", "finished", "finished", "finished")
    assert run.trajectories().arms == tuple(arms)
    earlier = iterate(small_problem, arms, **options)
    for records in earlier:
        if records.steps[-1] >= 30:
            break
    assert_collected(
        list(iterate(small_problem, arms, resume=earlier.trajectories(), **options)), whole
    )


def test_iterate_fills_the_rest_with_infinities_once_all_arms_have_diverged(small_problem):
    arms = [nt.Arm(nt.SGD(step_size)) for step_size in (5.0, 9.0)]
    options = {"steps": 10**6, "batch_size": 4, "record": 1000}
    parts = list(iterate(small_problem, arms, **options))
    assert_collected(parts, nt.simulate(small_problem, arms, **options))
    assert np.isinf(parts[-1].errors[-900:]).all()
    assert parts[-1].steps[-1] == 10**6


def test_a_run_that_was_broken_off_can_go_on(small_problem, short_slices):
    """Ctrl-C does what it did before as soon as the loop is left."""
    arms, options = arms_of(0.5), {"steps": 60, "batch_size": 4, "record": 10}
    run = iterate(small_problem, arms, **options)
    before = signal.getsignal(signal.SIGINT)
    for records in run:
        if records.steps[-1] >= 20:
            break
    assert signal.getsignal(signal.SIGINT) is before
    part = run.trajectories()
    assert part.status == ("interrupted",) * 3
    assert part.steps[-1] == part.state.step < 60
    whole = nt.simulate(small_problem, arms, **options)
    np.testing.assert_array_equal(
        nt.simulate(small_problem, arms, resume=part, **options).weights, whole.weights
    )
    assert_collected(list(run), whole)
    np.testing.assert_array_equal(run.trajectories().weights, whole.weights)
    assert run.trajectories().status == ("finished",) * 3


def test_ctrl_c_in_the_loop_raises_as_usual_and_what_is_done_stays(small_problem, short_slices):
    arms, options = arms_of(0.5), {"steps": 60, "batch_size": 4, "record": 10}
    run, before = iterate(small_problem, arms, **options), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        for records in run:
            if records.steps[-1] >= 20:
                signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    part = run.trajectories()
    assert part.status == ("interrupted",) * 3
    assert part.steps[-1] == part.state.step < 60
    assert_collected(list(run), nt.simulate(small_problem, arms, **options))


def test_a_loop_that_is_left_standing_does_not_keep_ctrl_c_to_itself(small_problem, short_slices):
    loop = iter(iterate(small_problem, arms_of(0.5), steps=60, batch_size=4, record=10))
    next(loop)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@dataclass(frozen=True, eq=False)
class Stumbling(nt.Attack):
    """Changes labels by θ; at one step it calls what is left in `stumbles` before."""

    stumbles: list[Callable[[], None]] = field(kw_only=True)
    query_fields = ("step",)

    def distort(self, bound, query):
        if query.step.item() == 37.0 and self.stumbles:
            self.stumbles.pop()()
        return bound


def error() -> None:
    raise RuntimeError("stumbled")


def ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


def ctrl_c_twice() -> None:
    ctrl_c()
    ctrl_c()


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("stumble", [error, ctrl_c, ctrl_c_twice], ids=lambda f: f.__name__)
def test_whatever_stops_a_slice_nothing_is_torn(small_problem, engine, stumble):
    """Arms on both engines, one that adapts: afterwards the run goes on as if nothing had been."""
    attack = Stumbling(0.3, 0.5, stumbles=[stumble])
    arms = [nt.Arm(nt.ClippedSGD(), nt.attacks.Constant(0.3, 0.5)), nt.Arm(nt.SGD(0.01), attack)]
    options = {"steps": 300, "batch_size": 4, "record": 10, "engine": engine}
    run = iterate(small_problem, arms, **options)
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        list(run)
    part = run.trajectories()
    assert part.steps[-1] == part.state.step < 300
    assert part.status == ("interrupted",) * 2
    whole = nt.simulate(small_problem, arms, **options)
    assert_collected(list(run), whole)
    np.testing.assert_array_equal(run.trajectories().weights, whole.weights)


def test_simulate_returns_what_is_done_when_ctrl_c_comes_twice(small_problem):
    attack = Stumbling(0.3, 0.5, stumbles=[ctrl_c_twice])
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(0.01), attack)], steps=300, batch_size=4)
    assert run.status == ("interrupted",)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_ctrl_c_that_somebody_set_is_left_alone(small_problem, short_slices):
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        run = iterate(small_problem, arms_of(0.5), steps=20, batch_size=4, record=10)
        for _ in run:
            signal.raise_signal(signal.SIGINT)
        assert len(pressed) == 3
        assert run.trajectories().status == ("finished",) * 3
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_that_nobody_iterates_over_has_only_its_beginning(small_problem):
    run = iterate(small_problem, arms_of(0.5), steps=100, batch_size=4).trajectories()
    assert run.steps.tolist() == [0]
    assert run.status == ("interrupted",) * 3


def test_iterate_checks_its_arguments_at_once(small_problem):
    with pytest.raises(nt.InputError, match=r"steps.*-1"):
        iterate(small_problem, arms_of(0.5), steps=-1, batch_size=4)


def test_iterate_yields_no_errors_where_the_true_weights_are_unknown():
    X = np.random.default_rng(0).standard_normal((11, 3))
    problem = nt.Problem.from_rows(nt.networks.relu_gate(3), X, X @ [1.0, 2.0, 3.0])
    options = {"steps": 40, "batch_size": 4}
    arms = [nt.Arm(nt.SGD(0.01)), nt.Arm(nt.SGD(50.0))]
    assert_collected(list(iterate(problem, arms, **options)), nt.simulate(problem, arms, **options))
