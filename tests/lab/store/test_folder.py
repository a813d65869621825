"""A folder of results: whole files, one study, one writer."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.units import sums, unlucky

import neurotron as nt
from neurotron._check import InputError
from neurotron.lab.store.files import StorageError
from neurotron.lab.store.folder import Folder
from neurotron.lab.store.manifest import FORMAT, manifest_of
from neurotron.lab.store.shard import Damaged

ADVICE = "kept: fix the cause, then run the same command again"
A, B = {"name": "a", "bound": [0.25, 1.0]}, {"name": "b"}
HERE = {"numpy": "2.0", "processor": "a fast one"}
THERE = HERE | {"numpy": "3.0"}
ROW = {"x": 1.0}


def study(**changes: object) -> nt.Study:
    given = {"name": "small", "settings": [A, B], "unit": sums, "columns": {"x": float}} | changes
    return nt.Study(**given)


STUDY = study()
MANIFEST = manifest_of(STUDY.spec(), HERE)


def held(
    path: Path | str, study: nt.Study = STUDY, environment: dict = HERE, mixed: bool = False
) -> contextlib.AbstractContextManager[Folder]:
    return Folder.written(path, study, environment, mixed)


def refuses(sentence: str, *arguments: object, kind: type[Exception] = InputError) -> str:
    """The sentence with which a folder is refused."""
    with pytest.raises(kind, match=sentence) as caught, held(*arguments):
        pass
    return str(caught.value)


def files(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}


def contents(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.fixture
def folder(tmp_path):
    """A folder that holds one unit."""
    with held(tmp_path / "out") as folder:
        folder.save("a", 0, [ROW])
    return folder


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Run code with this module's names in another process."""
    code = f"from {__name__} import *\n" + code
    command = [sys.executable, "-c", code, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, stdin=pipe, text=True)


# --- whole or not at all


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), None])
def test_a_file_that_cannot_be_written_leaves_everything_as_it_was(
    folder, monkeypatch, step, error
):
    def fail(*_: object) -> None:
        raise error or KeyboardInterrupt

    before = contents(folder.path)
    monkeypatch.setattr(os, step, fail)
    for replicate in (0, 1):
        with pytest.raises(StorageError if error else KeyboardInterrupt):
            folder.save("a", replicate, [{"x": 2.0}])
    assert contents(folder.path) == before
    assert [*folder.units()] == [("a", 0)]


def test_an_event_on_a_full_device_is_told(folder, monkeypatch):
    full = os.open("/dev/full", os.O_RDWR)
    monkeypatch.setattr(os, "open", lambda *_: full)
    with pytest.raises(StorageError, match=r"No space left on device.*kept: fix"):
        folder.record("start")


@pytest.mark.parametrize("place", ["/proc/results", "{tmp}/file/results"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, place):
    (tmp_path / "file").touch()
    place = place.format(tmp=tmp_path)
    refuses(re.escape(f"cannot write into '{place}': "), place, kind=StorageError)


def test_only_our_own_leftovers_are_removed_and_those_of_pages_when_they_are_old(folder):
    new = [".report.html.7.tmp", "figures/.two.pdf.7.tmp"]
    kept = [
        ".draft.tmp", ".draft.7.tmp", "notes/.report.html.7.tmp", "shards/c/.1.parquet.7.tmp",
        ".report.html.1000000000000.tmp", ".report.html..tmp",
    ]  # fmt: skip
    gone = [
        ".report.html.8.tmp", ".claims.json.8.tmp", "figures/.one.pdf.8.tmp",
        "figures/.written.json.8.tmp", "shards/b/.12.parquet.8.tmp", ".audit.html.8.tmp",
        ".audit.json.8.tmp", "data/.weights.npy.8.tmp",
    ]  # fmt: skip
    locked = ["shards/a/.1.parquet.7.tmp", "data/.x.npy.7.tmp"]  # only the one who locks has them
    for name in (*new, *kept, *gone, *locked):
        (folder.path / name).parent.mkdir(exist_ok=True)
        (folder.path / name).touch()
        if name not in (*new, *locked):
            os.utime(folder.path / name, (0, 0))
    (folder.path / ".x.tmp").mkdir()
    (folder.path / ".manifest.json.8.tmp").mkdir()
    with held(folder.path):
        pass
    assert files(folder.path) == {"lock", "manifest.json", "shards/a/0.parquet", *new, *kept}


def test_a_run_killed_before_its_manifest_was_whole_can_begin_again(tmp_path):
    (tmp_path / ".manifest.json.7.tmp").write_text("{")
    (tmp_path / "lock").touch()
    with held(tmp_path):
        pass
    assert files(tmp_path) == {"lock", "manifest.json"}


# --- one study


def test_a_folder_of_other_files_is_refused_untouched(tmp_path):
    (tmp_path / "thesis.tex").touch()
    refuses(r"other files .*another folder", tmp_path)
    refuses("is a file, not a folder", tmp_path / "thesis.tex")
    assert files(tmp_path) == {"thesis.tex"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 20, "settings": [A | {"bound": [0.25, 2.0]}, B]},
         r"seed was 0, is now 20; settings\.a\.bound was \[0\.25, 1\.0\], is now \[0\.25, 2\.0\];"),
        ({"settings": [A | {"name": "c"}]},
         r"settings\.a is missing; settings\.b is missing; settings\.c is new"),
        ({"unit": unlucky}, r'unit was ".*:sums", is now ".*:unlucky"'),
        ({"columns": {"x": int}}, r'columns\.x was "float", is now "int"'),
        ({"settings": [A | {"bound": [0.25, True]}, B]}, "of another type"),
        ({"settings": [A, B | {"paired_with": "a"}]}, r"settings\.b\.paired_with is new"),
    ],
)  # fmt: skip
def test_a_changed_study_is_refused_with_what_changed(folder, changes, told):
    refuses(rf"another study: .*{told}.*choose another folder$", folder.path, study(**changes))


def test_many_changes_are_abbreviated(folder):
    changed = study(settings=[A | {f"key{i}": "x" * 100 for i in range(9)}, B])
    said = refuses(r"and 4 more; choose another folder$", folder.path, changed)
    assert said.count(" is new") == 5
    assert len(said) < 800


def test_other_words_are_written_and_the_old_environment_stays(folder):
    settings = [A | {"title": "A", "replicates": 3}, B]
    spelled = study(title="Better", claims=["one"], description="New.", settings=settings)
    with held(folder.path, spelled, THERE, True) as again:
        again.load("a", 0)
    manifest = Folder.read(folder.path).manifest
    assert manifest["spec"] == spelled.spec()
    assert manifest["environment"] == HERE
    assert manifest["study"] == MANIFEST["study"]


def test_another_order_of_settings_leaves_the_manifest_as_it_is(folder):
    with held(folder.path, study(title="B", settings=[B, A])) as again:
        again.load("a", 0)
    assert Folder.read(folder.path).manifest == MANIFEST


def test_a_folder_that_was_moved_is_not_made_anew(tmp_path):
    moved = pytest.raises(StorageError, match=r"No such file.*if you moved them")
    with moved, held(tmp_path / "out") as folder:
        folder.save("a", 0, [ROW])
        folder.path.rename(tmp_path / "moved")
        for unit in (("a", 1), ("b", 0)):
            with pytest.raises(StorageError, match=r"No such file.*if you moved them"):
                folder.save(*unit, [ROW])
    assert not (tmp_path / "out").exists()


def test_another_environment_is_refused_unless_mixed(folder):
    refuses(r'numpy was "2\.0", is now "3\.0".*--mixed', folder.path, STUDY, THERE)
    with held(folder.path, STUDY, THERE, True) as mixed:
        assert mixed.manifest["environment"] == HERE


def test_the_manifest_is_never_rewritten(folder):
    file = folder.path / "manifest.json"
    before = file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino
    for environment in (HERE, THERE):
        with held(folder.path, STUDY, environment, True) as again:
            again.save("a", 1, [ROW])
            again.record("unit")
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "JSON is missing"),
        ("{", "JSON is missing"),
        ("[1, 2]", "JSON is missing"),
        ("3", "JSON is missing"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "format is missing"),
        (MANIFEST | {"format": True}, f"format True .*only {FORMAT}"),
        (MANIFEST | {"format": FORMAT + 1}, f"format {FORMAT + 1} .*only {FORMAT}"),
        (MANIFEST | {"format": 1}, "format 1.* run the study again"),
        (MANIFEST | {"study": "0" * 16}, "changed after it was written"),
        (MANIFEST | {"environment": THERE}, "changed after it was written"),
        (b"\xff\xfe", "not a manifest"),
    ],
)
def test_a_manifest_that_is_not_ours_is_told_and_nothing_is_touched(folder, content, sentence):
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    (folder.path / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    before = contents(folder.path)
    with pytest.raises(InputError, match=sentence):
        Folder.read(folder.path)
    refuses(sentence, folder.path, STUDY, HERE, True)
    assert contents(folder.path) == before


def test_what_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Folder.read(tmp_path / "none")
    with pytest.raises(InputError, match=r"holds no results \(no manifest\.json\)"):
        Folder.read(tmp_path)


# --- one writer


def test_a_second_writer_is_refused_while_the_first_holds(folder):
    with held(folder.path):
        refuses("another run is writing into", folder.path)
        assert len(list(Folder.read(folder.path).units())) == 1  # a reader is not
        with held(folder.path.with_name("other")):
            pass
    with held(folder.path):
        pass


def test_a_writer_in_another_process_is_seen_until_it_is_killed(folder):
    writer = child(
        "with held(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n",
        folder.path,
    )
    assert writer.stdout.readline() == "held\n"
    refuses("another run is writing into", folder.path)
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    with held(folder.path):
        pass


# --- what is in it


def test_a_damaged_shard_is_set_aside_beside_earlier_ones(folder):
    places = []
    for reason in ("first", "second", "third"):
        folder.save("a", 0, [ROW])
        places.append(folder.set_aside("a", 0, reason))
        if reason == "second":
            places.pop(0).unlink()
    assert len(set(places)) == 2
    assert all(place.is_file() for place in places)
    assert not folder.shard_path("a", 0).exists()
    events = [event for event in folder.events() if event["event"] == "set aside"]
    assert [event["reason"] for event in events] == ["first", "second", "third"]
    assert (events[0]["setting"], events[0]["replicate"]) == ("a", 0)


def test_a_shard_in_the_place_of_another_is_not_loaded(folder):
    os.link(folder.shard_path("a", 0), folder.shard_path("a", 1))
    with pytest.raises(Damaged, match="it belongs to setting 'a', replicate 0"):
        folder.load("a", 1)


def test_only_files_called_as_shards_are_units(folder):
    for i in (10, 2):
        folder.save("a", i, [ROW])
    folder.save("b", 0, [ROW])
    for name in ("a/007.parquet", "a/000.parquet", "a/x.parquet", "a/-1.parquet", "c/0.parquet"):
        path = folder.path / "shards" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (folder.path / "shards/a/11.parquet").mkdir()
    assert [*folder.units()] == [("a", 0), ("a", 2), ("a", 10), ("b", 0)]


def test_a_torn_last_event_costs_that_event_only(folder):
    folder.record("start", machine="θ\u2028\ud800")
    before = (folder.path / "runs.jsonl").read_bytes()
    with open(folder.path / "runs.jsonl", "ab") as file:
        file.write('{"time": "2026", "event": "uñ'.encode()[:-1])
    folder.record("start", machine="two")
    folder.record("end")
    assert [event["event"] for event in folder.events()] == ["start", "start", "end"]
    assert folder.events()[0]["machine"] == "θ\u2028\ud800"
    after = (folder.path / "runs.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.endswith(b"\n")
