"""A run into a folder: resumed, extended, robbed, damaged, on a full disk, by other code."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import hashes, shards
from tests.support.units import fails, study, sums, unlucky, weighted
from tests.work.test_runner import Wrapped
from typer.testing import CliRunner

import neurotron as nt
from neurotron._check import InputError
from neurotron.cli.app import app
from neurotron.lab.store.files import StorageError
from neurotron.lab.store.folder import Folder
from neurotron.work import Progress
from neurotron.work.workers import fingerprint

STUDY = study()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    nt.lab.run(STUDY, folder, workers=1)
    found = hashes(folder)
    assert len({*found.values()}) == 4
    return found


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


def test_a_function_of_ones_own_is_run_and_read_as_one_table(out):
    report = nt.lab.run(STUDY, out)
    assert (report.folder, report.wanted, report.computed, report.failures) == (out, 4, 4, [])
    results = nt.lab.load(out)
    assert results.table.columns == ["setting", "replicate", "drawn", "sum", "kind", "even"]
    assert results.table.to_dicts() == [
        {"setting": unit.setting, "replicate": unit.replicate}
        | row
        | {"drawn": row["drawn"].tolist()}
        for unit in sorted(STUDY.units())
        for row in sums(STUDY.setting(unit.setting), unit.replicate, STUDY.seed_of(unit))
    ]
    assert results.asked == results.replicates
    assert (results.failures, results.damaged) == ([], ())
    assert results.titles == {"few": "few", "many": "Many"}
    assert repr(results) == "Results of 'sums': 2 settings, 4 units, 8 rows"
    with pytest.raises(
        InputError, match=r"no training runs but .*units:sums.*neurotron\.lab\.load"
    ):
        nt.load_results(out)


def test_the_folder_says_which_function_and_which_code_computed_it(out):
    nt.lab.run(STUDY, out)
    manifest = Folder.read(out).manifest
    assert manifest["spec"]["unit"] == "tests.support.units:sums"
    assert manifest["environment"] == fingerprint(sums)
    assert len(manifest["environment"]["code"]) == 16


def test_more_replicates_extend_what_is_there(undisturbed, out):
    nt.lab.run(STUDY, out, replicates=1)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.rglob("*.parquet")}
    report = nt.lab.run(STUDY, out)
    assert (report.wanted, report.kept, report.computed) == (4, 2, 2)
    for path, (data, changed) in before.items():
        assert (path.read_bytes(), path.stat().st_mtime_ns) == (data, changed)
    fewer = nt.lab.run(STUDY, out, replicates=1)
    assert (fewer.wanted, fewer.kept, fewer.computed) == (2, 2, 0)
    assert hashes(out) == undisturbed


def test_failures_are_listed_until_the_units_are_there(undisturbed, out):
    fails(("few", 0), times=2)
    nt.lab.run(study(unlucky), out)
    (failure,) = nt.lab.load(out).failures
    assert (failure["setting"], failure["error"]) == ("few", "ArithmeticError: bad luck")
    nt.lab.run(study(unlucky), out)
    assert nt.lab.load(out).failures == []


def test_results_of_other_code_are_refused_unless_mixed(out, monkeypatch):
    nt.lab.run(STUDY, out, replicates=1)
    monkeypatch.setattr("neurotron.work.workers.source_hash", lambda module: "f" * 64)
    with pytest.raises(InputError, match=r'code was ".*", is now "f{16}".*--mixed'):
        nt.lab.run(STUDY, out)
    assert nt.lab.run(STUDY, out, mixed=True).computed == 2


def test_a_worker_elsewhere_is_refused_unless_mixed(out):
    class Elsewhere(Wrapped):
        def replaced(self, function, *arguments):
            if len(self.futures) < 3:
                return None
            result, future = function(*arguments), Future()
            elsewhere = result.environment | {"numpy": "0.0"}
            future.set_result(result._replace(environment=elsewhere))
            return future

    with pytest.raises(InputError, match=r"computed with other versions.*numpy was .*--mixed"):
        nt.lab.run(STUDY, out, executor=Elsewhere(), workers=1)
    assert shards(out) <= 2
    report = nt.lab.run(STUDY, out, executor=Elsewhere(), workers=1, mixed=True)
    assert report.kept + report.computed == 4


# --- damage


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "foreign"])
def test_a_damaged_shard_is_left_out_then_set_aside_and_computed_again(undisturbed, out, damage):
    nt.lab.run(STUDY, out)
    path = out / "shards/few/1.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    damaged = {
        "flip": bytes(data),
        "truncate": bytes(data[:-1]),
        "empty": b"",
        "foreign": (out / "shards/few/0.parquet").read_bytes(),
    }[damage]
    path.write_bytes(damaged)
    results = nt.lab.load(out)
    assert results.replicates == {"few": 1, "many": 2}
    assert results.damaged[0].startswith(f"{path}: it ")
    report = nt.lab.run(STUDY, out)
    assert (report.kept, report.computed) == (3, 1)
    (line,) = report.set_aside
    place = out / "set-aside/few-1-0.parquet"
    assert line.startswith("shards/few/1.parquet: it ")
    assert line.endswith(f"; moved to {place}")
    assert place.read_bytes() == damaged
    assert hashes(out) == undisturbed


def refused_array(content: bytes, out: Path) -> None:
    (out / "data/weights.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"weights\.npy: it is damaged or missing: run the same"):
        Folder.read(out).array("weights")


def test_arrays_are_stored_once_and_written_anew_if_they_are_damaged(out):
    data = {"weights": np.arange(3.0), "words": np.array("θ")}
    asked = study(weighted_and_words, columns={"sum": float}, data=data)
    nt.lab.run(asked, out)
    for name, array in data.items():
        stored = Folder.read(out).array(name)
        assert (stored.shape, stored.tolist()) == (array.shape, array.tolist())
    file = out / "data/weights.npy"
    good, changed = file.read_bytes(), file.stat().st_mtime_ns
    assert nt.lab.run(asked, out).kept == 4
    assert file.stat().st_mtime_ns == changed
    other = good[:-1] + bytes([good[-1] ^ 1])
    huge = good.replace(b"(3,)", b"(9" + b"9" * 15 + b",)")
    for content in (b"", b"PK\x03\x04", good[:20], good[:-1], other, huge, b"\x93NUMPY\x01\x00"):
        refused_array(content, out)
        assert nt.lab.run(asked, out).kept == 4
        assert file.read_bytes() == good
    with pytest.raises(InputError, match=r"another study: .*data\.weights was"):
        nt.lab.run(study(weighted, columns={"sum": float}, data={"weights": np.ones(3)}), out)


def weighted_and_words(setting, replicate, seed, weights, words):
    assert str(words) == "θ"
    return weighted(setting, replicate, seed, weights)


def test_a_disk_that_fills_up_ends_the_run_and_it_goes_on_later(undisturbed, out, monkeypatch):
    writes = iter([True, True, True, False])  # the manifest and two shards

    def replace(old, new, replace=os.replace):
        if not next(writes):
            raise OSError(28, "No space left on device")
        replace(old, new)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(StorageError, match=r"No space left on device.*units are kept"):
            nt.lab.run(STUDY, out)
    assert shards(out) == 2
    assert nt.lab.run(STUDY, out).kept == 2
    assert hashes(out) == undisturbed


def test_ctrl_c_while_a_shard_is_written_leaves_it_whole_or_not_at_all(
    undisturbed, out, monkeypatch
):
    syncs = []

    def fsync(descriptor, fsync=os.fsync):
        syncs.append(descriptor)
        if len(syncs) == 5:
            signal.raise_signal(signal.SIGINT)
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        report = nt.lab.run(STUDY, out)
    assert report.interrupted
    assert not [*out.rglob("*.tmp")]
    nt.lab.run(STUDY, out)
    assert hashes(out) == undisturbed


# --- a folder that is robbed while a run writes into it


def robbing(robbed: Callable[[], None]) -> Callable[[Progress], None]:
    """Return a listener that does something once, when two units are done."""
    left = [robbed]

    def listen(progress: Progress) -> None:
        if progress.units_done >= 2 and left:
            left.pop()()

    return listen


def test_a_run_whose_shards_were_removed_says_how_many_are_missing(undisturbed, out):
    path = out / "shards/few/0.parquet"
    report = nt.lab.run(STUDY, out, workers=1, progress=robbing(path.unlink))
    assert (report.present, report.removed) == (3, 1)
    again = nt.lab.run(STUDY, out)
    assert (again.kept, again.computed, again.removed) == (3, 1, 0)
    assert hashes(out) == undisturbed


def test_a_manifest_that_was_removed_is_written_again(undisturbed, out):
    nt.lab.run(STUDY, out, replicates=1)
    manifest = (out / "manifest.json").read_bytes()
    remove = (out / "manifest.json").unlink
    assert nt.lab.run(STUDY, out, progress=robbing(remove)).removed == 0
    assert (out / "manifest.json").read_bytes() == manifest
    assert hashes(out) == undisturbed


def test_a_folder_that_is_gone_is_not_said_to_be_kept(out):
    with pytest.raises(StorageError, match=r"no results now.*put them back") as caught:
        nt.lab.run(STUDY, out, workers=1, progress=robbing(lambda: shutil.rmtree(out)))
    assert "finished is kept" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"study": "smoke"}, "`study` must be a Study, got 'smoke'"),
        ({"replicates": 0}, "`replicates` must be a whole number from 1 to 1,000,000"),
        ({"replicates": 1.5}, "`replicates` must be a whole number"),
        ({"workers": 0}, "`workers` must be a whole number"),
        ({"mixed": 1}, "`mixed` must be a bool, got 1"),
        ({"progress": 1}, "`progress` must be a function of a Progress, got 1"),
        ({"folder": 3}, "`folder` must be"),
        ({"study": study(claims=[lambda results: []])}, "top level of a file"),
    ],
)
def test_bad_arguments_are_told_and_nothing_is_written(out, options, sentence):
    with pytest.raises(InputError, match=sentence):
        nt.lab.run(**{"study": STUDY, "folder": out} | options)
    assert not out.exists()


# --- the command


TOML = """
name = "mine"
replicates = 2
unit = "tests.support.units:unlucky"
columns = { drawn = "list[float]", sum = "float", kind = "str", even = "bool" }
count = 3
settings = [{ name = "few" }, { name = "many", title = "Many", count = 5 }]
"""


@pytest.fixture
def command(tmp_path, out):
    file = tmp_path / "mine.toml"
    file.write_text(TOML)
    return ["run", str(file), "--out", str(out), "--allow-code"]


@pytest.mark.parametrize("lost", [[("few", 0)], [*STUDY.units()]])
def test_the_command_says_what_failed_with_exit_code_1(command, lost):
    fails(*lost, times=2)
    result = CliRunner().invoke(app, command)
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    assert f"Failed: setting few, replicate 0{more}: ArithmeticError: bad luck" in result.output
    assert f"finished with {4 - len(lost)} of 4 units" in result.output
    assert result.exit_code == 1


def test_the_command_does_not_call_a_robbed_run_finished(command, out, monkeypatch):
    fails(times=0)
    run = nt.lab.run

    def robbed(*arguments, **options):
        path = out / "shards/few/0.parquet"
        return run(*arguments, **options | {"workers": 1, "progress": robbing(path.unlink)})

    monkeypatch.setattr(nt.lab, "run", robbed)
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "incomplete with 3 of 4 units" in result.output
    assert "Missing: 1 units that were removed" in result.output
    assert "finished" not in result.output
