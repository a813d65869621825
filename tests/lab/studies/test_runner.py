"""A study is computed once, whoever computes it, in whatever order, and whatever fails."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import get_context
from pathlib import Path

import pytest
from tests.support.commands import (
    finish,
    hashes,
    in_reversed_order,
    shards,
    start,
    write_study,
)
from typer.testing import CliRunner

import neurotron as nt
from neurotron._check import InputError
from neurotron.cli.app import app
from neurotron.lab.results.folder import Folder, StorageError
from neurotron.lab.studies import Failure, Progress, Setting, Study, Unit, workers
from neurotron.lab.studies.work import run_unit


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """A study of two settings and two replicates."""
    return write_study(tmp_path_factory.mktemp("study"), steps=300, replicates=2)


@pytest.fixture(scope="module")
def study(file):
    return nt.lab.studies.read(file)


@pytest.fixture(scope="module")
def undisturbed(study, tmp_path_factory):
    """The hashes of the study, computed in one thread."""
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    nt.lab.studies.run(study, folder, workers=1)
    return hashes(folder)


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


def fail(monkeypatch, setting: str | None, times: float) -> list[tuple[str, int]]:
    """Let the first attempts at replicate 0 of a setting, or at anything, fail; return them all."""
    attempts: list[tuple[str, int]] = []

    def run(function, text, name, replicate, progress=None):
        attempts.append((name, replicate))
        wanted = setting is None or (name, replicate) == (setting, 0)
        if wanted and attempts.count((name, replicate)) <= times:
            raise ArithmeticError("bad\nluck")
        return run_unit(function, text, name, replicate, progress)

    monkeypatch.setattr(workers, "run_unit", run)
    return attempts


def events(folder: Path, name: str) -> list[dict]:
    return [event for event in Folder.read(folder).events() if event["event"] == name]


# --- the same content


def test_two_threads_compute_the_same(study, undisturbed, out):
    report = nt.lab.studies.run(study, out, workers=2)
    assert (report.wanted, report.kept, report.computed) == (4, 0, 4)
    assert hashes(out) == undisturbed
    assert len(set(undisturbed.values())) == 4


def test_the_last_unit_first_computes_the_same(file, undisturbed, out):
    in_reversed_order(file, out)
    assert next(event["replicate"] for event in events(out, "unit")) == 1
    assert hashes(out) == undisturbed


def test_processes_compute_the_same(study, undisturbed, out):
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        nt.lab.studies.run(study, out, executor=executor)
    assert hashes(out) == undisturbed


def test_more_replicates_extend_what_is_there(study, undisturbed, out):
    nt.lab.studies.run(study, out, replicates=1)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.rglob("*.parquet")}
    report = nt.lab.studies.run(study, out)
    assert (report.wanted, report.kept, report.computed) == (4, 2, 2)
    for path, (data, changed) in before.items():
        assert (path.read_bytes(), path.stat().st_mtime_ns) == (data, changed)
    assert hashes(out) == undisturbed
    fewer = nt.lab.studies.run(study, out, replicates=1)
    assert (fewer.wanted, fewer.kept, fewer.computed) == (2, 2, 0)
    assert hashes(out) == undisturbed


def test_other_words_compute_nothing_and_are_kept(study, undisturbed, out):
    nt.lab.studies.run(study, out)
    words = {"title": "Better", "description": "Longer.", "claims": ("sgd-ends-at-mirror",)}
    assert nt.lab.studies.run(study.model_copy(update=words), out).kept == 4
    spec = nt.load_results(out).spec
    assert [spec[name] for name in words] == ["Better", "Longer.", ["sgd-ends-at-mirror"]]
    assert hashes(out) == undisturbed


# --- failures


def test_a_unit_that_fails_once_is_tried_again(study, undisturbed, out, monkeypatch):
    attempts = fail(monkeypatch, "laplace", times=1)
    report = nt.lab.studies.run(study, out)
    assert not report.failures
    assert attempts.count(("laplace", 0)) == 2
    assert len(attempts) == 5
    assert hashes(out) == undisturbed
    assert [event["error"] for event in events(out, "retry")] == ["ArithmeticError: bad luck"]


def test_a_unit_that_fails_twice_is_recorded_and_the_others_go_on(
    study, undisturbed, out, monkeypatch
):
    with monkeypatch.context() as patch:
        attempts = fail(patch, "laplace", times=2)
        report = nt.lab.studies.run(study, out)
    assert len(attempts) == 5
    assert report.failures == [Failure(Unit("laplace", 0), "ArithmeticError: bad luck")]
    assert (report.computed, report.interrupted) == (3, False)
    assert [event["setting"] for event in events(out, "failed")] == ["laplace"]
    again = nt.lab.studies.run(study, out)
    assert (again.kept, again.computed, again.failures) == (3, 1, [])
    assert hashes(out) == undisturbed


@pytest.mark.parametrize(("setting", "done"), [("laplace", 3), (None, 0)])
def test_the_command_says_what_failed_with_exit_code_1(file, out, monkeypatch, setting, done):
    fail(monkeypatch, setting, times=2)
    result = CliRunner().invoke(app, ["run", str(file), "--out", str(out)])
    assert "Failed: setting laplace, replicate 0: ArithmeticError: bad luck" in result.output
    assert f"finished with {done} of 4 units" in result.output
    assert result.exit_code == 1


class _Wrapped(Executor):
    """An executor of two threads that looks at every unit."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2)
        self.futures: list[Future] = []
        self.most = 0

    def submit(self, function, /, *arguments):
        flying = sum(not future.done() for future in self.futures)
        self.most = max(self.most, flying + 1)
        self.futures.append(self.threads.submit(function, *arguments))
        return self.futures[-1]


@pytest.mark.parametrize("count", [1, 2])
def test_two_units_per_worker_are_handed_out_at_a_time(study, out, count):
    executor = _Wrapped()
    nt.lab.studies.run(study, out, replicates=4, executor=executor, workers=count)
    assert executor.most == 2 * count


class _Dying(_Wrapped):
    """One process, which ends at the third unit."""

    def __init__(self, pool: Executor) -> None:
        super().__init__()
        self.threads = pool

    def submit(self, function, /, *arguments):
        last = arguments[2:] == ("normal", 1)
        return super().submit(*((os._exit, 1) if last else (function, *arguments)))


def test_workers_that_are_gone_are_told_and_what_is_done_is_kept(study, undisturbed, out):
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.raises(InputError, match=r"the workers are gone \(.*kept: run again"):
            nt.lab.studies.run(study, out, executor=_Dying(pool))
        assert set(hashes(out)) == {("normal", 0), ("laplace", 0)}
        with pytest.raises(InputError, match=r"the workers cannot be used \(BrokenProcessPool"):
            nt.lab.studies.run(study, out, executor=pool)
    nt.lab.studies.run(study, out)
    assert hashes(out) == undisturbed


def test_a_unit_that_was_cancelled_by_somebody_else_ends_the_run(study, out):
    class Cancelling(_Wrapped):
        def submit(self, function, /, *arguments):
            future = super().submit(function, *arguments)
            if len(self.futures) == 4:
                future = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    with pytest.raises(InputError, match=r"the workers are gone \(CancelledError\)"):
        nt.lab.studies.run(study, out, executor=Cancelling())
    assert shards(out) < 4
    assert nt.lab.studies.run(study, out).failures == []


def test_what_is_finished_is_kept_before_what_failed_ends_the_run(study, out):
    class Finished(_Wrapped):
        """All is done at once, and the first unit has broken the pool."""

        def submit(self, function, /, *arguments):
            future = super().submit(function, *arguments)
            if arguments[2:] == ("normal", 0):
                future = Future()
                future.set_exception(BrokenExecutor("gone"))
            else:
                future.result()
            return future

    with pytest.raises(InputError, match="the workers are gone"):
        nt.lab.studies.run(study, out, executor=Finished(), workers=2)
    assert shards(out) == 3


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"steps": -5}, "`steps` must be at least 0, got -5"),
        ({"settings": (Setting(name="a"), Setting(name="a"))}, "two settings are called 'a'"),
        (
            {"settings": (Setting(name="a", trainers=["no"]),)},
            "unknown trainer of setting 'a' 'no'",
        ),
        ({"settings": (Setting(name="a", like="b"),)}, "unknown setting in `like` of 'a' 'b'"),
    ],
)
def test_a_study_made_in_python_is_checked_as_a_file_is(study, out, changes, complaint):
    with pytest.raises(InputError) as caught:
        nt.lab.studies.run(study.model_copy(update=changes), out)
    assert complaint in str(caught.value)
    assert not out.exists()


def test_a_study_made_in_python_is_filled_in_as_a_file_is(study, out):
    settings = [
        Setting(name="a", law="laplace", n_inputs=3, filter_size=2),
        Setting(name="b", like="a"),
    ]
    made = Study(name="made", steps=10, trainers={"SGD": "sgd"}, settings=settings)
    nt.lab.studies.run(made, out, replicates=1)
    assert set(nt.load_results(out).arms["law"]) == {"laplace"}


# --- damaged shards


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "foreign"])
def test_a_damaged_shard_is_set_aside_named_and_computed_again(study, undisturbed, out, damage):
    nt.lab.studies.run(study, out)
    path = out / "shards/normal/1.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    damaged = {
        "flip": bytes(data),
        "truncate": bytes(data[:-1]),
        "empty": b"",
        "foreign": (out / "shards/normal/0.parquet").read_bytes(),
    }[damage]
    path.write_bytes(damaged)
    report = nt.lab.studies.run(study, out)
    assert (report.kept, report.computed) == (3, 1)
    (line,) = report.set_aside
    place = out / "set-aside/normal-1-0.parquet"
    assert line.startswith("shards/normal/1.parquet: it ")
    assert line.endswith(f"; moved to {place}")
    assert place.read_bytes() == damaged
    assert hashes(out) == undisturbed


# --- what is told


def test_progress_never_goes_back_and_ends_at_the_total(study, out):
    told = []
    nt.lab.studies.run(study, out, progress=told.append)
    assert told == sorted(told)
    assert told[0] == (4, 0, 0.0)
    assert told[-1] == (4, 4, 1.0)
    told.clear()
    nt.lab.studies.run(study, out, progress=told.append)
    assert told == [(4, 4, 1.0)]


def test_an_error_of_the_listener_is_not_swallowed(study, out):
    with pytest.raises(ZeroDivisionError):
        nt.lab.studies.run(study, out, progress=lambda _: 1 / 0)
    nt.lab.studies.run(study, out, replicates=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"study": "smoke"}, "`study` must be a Study or a Work, got 'smoke'"),
        ({"replicates": 0}, "`replicates` must be a whole number from 1 to 1e"),
        ({"replicates": 1.5}, "`replicates` must be a whole number"),
        ({"workers": 0}, "`workers` must be a whole number from 1 to 1024, got 0"),
        ({"executor": "dask"}, "`executor` must be an Executor, got 'dask'"),
    ],
)
def test_bad_arguments_are_told_and_nothing_is_written(study, out, options, sentence):
    with pytest.raises(InputError, match=sentence):
        nt.lab.studies.run(**{"study": study, "folder": out} | options)
    assert not out.exists()


def test_no_threads_at_all_are_refused_by_the_command(file, out):
    code, _, errors = finish(start("run", file, "--out", out, "--threads", 0))
    assert (code, errors.count("\n")) == (2, 1)
    assert "`--threads` must be a whole number from 1 to 1024, got 0" in errors


def test_a_worker_elsewhere_is_refused_unless_mixed(study, out):
    class Elsewhere(_Wrapped):
        def submit(self, function, /, *arguments):
            if len(self.futures) < 3:
                return super().submit(function, *arguments)
            future = Future()
            computed = function(*arguments)
            future.set_result(
                computed._replace(environment=computed.environment | {"numpy": "0.0"})
            )
            return future

    with pytest.raises(InputError, match=r"computed with other versions.*numpy was .*--mixed"):
        nt.lab.studies.run(study, out, executor=Elsewhere(), workers=1)
    assert shards(out) <= 2
    report = nt.lab.studies.run(study, out, executor=Elsewhere(), workers=1, mixed=True)
    assert report.kept + report.computed == 4


def test_a_disk_that_fills_up_ends_the_run_and_it_goes_on_later(
    study, undisturbed, out, monkeypatch
):
    writes = iter([True, True, True, False])  # the manifest and two shards

    def replace(old, new, replace=os.replace):
        if not next(writes):
            raise OSError(28, "No space left on device")
        replace(old, new)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(StorageError, match=r"No space left on device.*units are kept"):
            nt.lab.studies.run(study, out)
    assert shards(out) == 2
    assert nt.lab.studies.run(study, out).kept == 2
    assert hashes(out) == undisturbed


def test_ctrl_c_while_a_shard_is_written_leaves_it_whole_or_not_at_all(
    study, undisturbed, out, monkeypatch
):
    syncs = []

    def fsync(descriptor, fsync=os.fsync):
        syncs.append(descriptor)
        if len(syncs) == 5:
            signal.raise_signal(signal.SIGINT)
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        report = nt.lab.studies.run(study, out)
    assert report.interrupted
    assert not [*out.rglob("*.tmp")]
    nt.lab.studies.run(study, out)
    assert hashes(out) == undisturbed


# --- a folder that is robbed while a run writes into it


def robbing(robbed: Callable[[], None]) -> Callable[[Progress], None]:
    """Return a listener that does something once, when two units are done."""
    left = [robbed]

    def listen(progress: Progress) -> None:
        if progress.units_done >= 2 and left:
            left.pop()()

    return listen


def test_a_run_whose_shards_were_removed_says_how_many_are_missing(study, undisturbed, out):
    path = out / "shards/normal/0.parquet"
    report = nt.lab.studies.run(study, out, workers=1, progress=robbing(path.unlink))
    assert (report.present, report.removed) == (3, 1)
    again = nt.lab.studies.run(study, out)
    assert (again.kept, again.computed, again.removed) == (3, 1, 0)
    assert hashes(out) == undisturbed


def test_the_command_does_not_call_a_robbed_run_finished(study, file, out, monkeypatch):
    run = nt.lab.studies.run

    def robbed(*arguments, **options):
        path = out / "shards/normal/0.parquet"
        return run(*arguments, **options | {"workers": 1, "progress": robbing(path.unlink)})

    monkeypatch.setattr(nt.lab.studies, "run", robbed)
    result = CliRunner().invoke(app, ["run", str(file), "--out", str(out)])
    assert result.exit_code == 1
    assert "incomplete with 3 of 4 units" in result.output
    assert "Missing: 1 units that were removed" in result.output
    assert "finished" not in result.output


def test_a_manifest_that_was_removed_is_written_again(study, undisturbed, out):
    nt.lab.studies.run(study, out, replicates=1)
    manifest = (out / "manifest.json").read_bytes()
    remove = (out / "manifest.json").unlink
    assert nt.lab.studies.run(study, out, progress=robbing(remove)).removed == 0
    assert (out / "manifest.json").read_bytes() == manifest
    assert hashes(out) == undisturbed


def test_a_folder_that_is_gone_is_not_said_to_be_kept(study, out):
    with pytest.raises(StorageError, match=r"no results now.*put them back") as caught:
        nt.lab.studies.run(study, out, workers=1, progress=robbing(lambda: shutil.rmtree(out)))
    assert "finished is kept" not in str(caught.value)
