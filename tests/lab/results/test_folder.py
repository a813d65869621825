"""A folder of results: whole files, one study, one writer."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.folders import ARM, ARMS, HERE, MANIFEST, ROW, SETTING, SPEC, held
from tests.support.messages import says

import neurotron as nt
from neurotron._check import InputError
from neurotron.lab.results.folder import Folder, StorageError, manifest_of
from neurotron.lab.results.manifest import TRAINING, study_hash
from neurotron.lab.results.shard import Damaged

ADVICE = "kept: fix the cause, then run the same command again"


def files(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}


@pytest.fixture
def folder(tmp_path):
    """A folder that holds one unit."""
    with held(tmp_path / "out") as folder:
        folder.save("a", 0, [ROW])
    return folder


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Run code with this module's names in another process."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n" + (
        "from test_folder import *\n" + code
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, stdin=pipe, text=True)


# --- whole or not at all


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), None])
def test_a_file_that_cannot_be_written_leaves_nothing(folder, monkeypatch, step, error):
    def fail(*_: object) -> None:
        raise error or KeyboardInterrupt

    before = files(folder.path)
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(StorageError if error else KeyboardInterrupt):
        folder.save("a", 1, [ROW])
    assert files(folder.path) == before
    assert [*folder.units()] == [("a", 0)]


def test_a_shard_that_cannot_be_replaced_stays_as_it_was(folder, monkeypatch):
    before = folder.shard_path("a", 0).read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: os.close(-1))
    with pytest.raises(StorageError, match="Bad file descriptor"):
        folder.save("a", 0, [ROW | {"status": "diverged"}])
    assert folder.shard_path("a", 0).read_bytes() == before


def test_a_full_disk_leaves_a_folder_to_go_on_with(tmp_path):
    code = (
        "import resource\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with held(Path(sys.argv[1])) as folder:\n"
        "    folder.save('a', 0, [ROW])\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "    folder.save('a', 1, [ROW])\n"
    )
    output, _ = child(code, tmp_path / "out").communicate()
    assert says(output, "StorageError", f"'{tmp_path}/out'", "File too large", ADVICE)
    assert files(tmp_path / "out") == {"lock", "manifest.json", "shards/a/0.parquet"}
    with held(tmp_path / "out") as folder:
        assert [*folder.units()] == [("a", 0)]
        folder.load("a", 0)


def test_an_event_on_a_full_device_is_told(folder, monkeypatch):
    full = os.open("/dev/full", os.O_RDWR)
    monkeypatch.setattr(os, "open", lambda *_: full)
    with pytest.raises(StorageError, match=r"No space left on device.*kept: fix"):
        folder.record("start")


@pytest.mark.parametrize("place", ["/proc/results", "{tmp}/file/results"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, place):
    (tmp_path / "file").touch()
    place = place.format(tmp=tmp_path)
    with (
        pytest.raises(StorageError, match=re.escape(f"cannot write into '{place}': ")),
        held(place),
    ):
        pass


def test_leftovers_of_a_killed_run_are_cleaned(folder):
    (folder.path / "shards/a/.1.parquet.7.tmp").write_bytes(b"half a sh")
    with held(folder.path) as again:
        assert [*again.units()] == [("a", 0)]
    assert files(folder.path) == {"lock", "manifest.json", "shards/a/0.parquet"}


def test_only_our_own_leftovers_are_removed_and_those_of_pages_when_they_are_old(folder):
    new = [".report.html.7.tmp", "figures/.two.pdf.7.tmp"]
    kept = [
        ".draft.tmp", ".draft.7.tmp", "notes/.report.html.7.tmp", "shards/c/.1.parquet.7.tmp",
        ".report.html.1000000000000.tmp", ".report.html..tmp",
    ]  # fmt: skip
    gone = [
        ".report.html.8.tmp", ".claims.json.8.tmp", "figures/.one.pdf.8.tmp",
        "figures/.written.json.8.tmp", "shards/b/.12.parquet.8.tmp", ".audit.html.8.tmp",
        ".audit.json.8.tmp",
    ]  # fmt: skip
    for name in (*new, *kept, *gone):
        (folder.path / name).parent.mkdir(exist_ok=True)
        (folder.path / name).touch()
        if name not in new:
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
    with pytest.raises(InputError, match=r"other files .*another folder"), held(tmp_path):
        pass
    with pytest.raises(InputError, match="is a file, not a folder"), held(tmp_path / "thesis.tex"):
        pass
    assert files(tmp_path) == {"thesis.tex"}


def test_a_changed_study_is_refused_with_what_changed(folder):
    settings = [SETTING | {"bound": [0.25, 2.0]}, SPEC["settings"][1]]
    changed = manifest_of(SPEC | {"steps": 20, "settings": settings}, ARMS, HERE, TRAINING)
    with (
        pytest.raises(
            InputError,
            match=r"study: steps was 10, is now 20; settings\.a\.bound was \[0\.25, 1\.0\], "
            r"is now \[0\.25, 2\.0\]; .*another folder$",
        ),
        held(folder.path, changed),
    ):
        pass


def test_settings_that_are_new_or_gone_are_named(folder):
    changed = manifest_of(SPEC | {"settings": [SETTING | {"name": "c"}]}, ARMS, HERE, TRAINING)
    with (
        pytest.raises(
            InputError, match=r"study: settings\.a is missing; settings\.b is missing; settings\.c"
        ),
        held(folder.path, changed),
    ):
        pass


def test_other_words_are_not_another_study(folder):
    settings = [SETTING | {"title": "A"}, SPEC["settings"][1]]
    spelled = manifest_of(SPEC | {"title": "Better", "settings": settings}, ARMS, HERE, TRAINING)
    assert spelled["study"] == MANIFEST["study"]
    with held(folder.path, spelled) as again:
        assert list(again.units()) == [("a", 0)]
        again.load("a", 0)


def test_other_words_are_written_and_the_old_environment_stays(folder):
    settings = [SETTING | {"title": "A"}, SPEC["settings"][1]]
    words = {"title": "Better", "claims": ["one"], "description": "New."}
    elsewhere = HERE | {"numpy": "3.0"}
    spelled = manifest_of(SPEC | words | {"settings": settings}, ARMS, elsewhere, TRAINING)
    with held(folder.path, spelled, mixed=True) as again:
        again.load("a", 0)
    manifest = Folder.read(folder.path).manifest
    assert manifest["spec"] == spelled["spec"]
    assert manifest["environment"] == HERE
    assert manifest["study"] == MANIFEST["study"]


def test_other_words_and_another_order_of_settings_leave_the_manifest_as_it_is(folder):
    turned = manifest_of(
        SPEC | {"title": "B", "settings": SPEC["settings"][::-1]}, ARMS, HERE, TRAINING
    )
    with held(folder.path, turned) as again:
        again.load("a", 0)
    assert Folder.read(folder.path).manifest == MANIFEST


def test_results_of_another_function_are_refused(tmp_path):
    with held(tmp_path, manifest_of(SPEC, {}, HERE, "mine:one")):
        pass
    with (
        pytest.raises(
            InputError, match=r'function was "mine:one", is now "mine:two".*another folder'
        ),
        held(tmp_path, manifest_of(SPEC, {}, HERE, "mine:two")),
    ):
        pass


def test_a_folder_that_was_moved_is_not_made_anew(tmp_path):
    with held(tmp_path / "out") as folder:
        folder.save("a", 0, [ROW])
        folder.path.rename(tmp_path / "moved")
        for unit in (("a", 1), ("b", 0)):
            with pytest.raises(StorageError, match=r"No such file.*if you moved them") as caught:
                folder.save(*unit, [ROW])
            assert "finished is kept" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_many_changes_are_abbreviated(folder):
    changed = manifest_of({f"key{i}": "x" * 100 for i in range(9)} | SPEC, ARMS, HERE, TRAINING)
    with pytest.raises(InputError) as caught, held(folder.path, changed):
        pass
    assert str(caught.value).endswith("and 4 more; choose another folder")
    assert str(caught.value).count(" is new") == 5
    assert len(str(caught.value)) < 800


def test_another_environment_is_refused_unless_mixed(folder):
    elsewhere = manifest_of(SPEC, ARMS, HERE | {"numpy": "3.0"}, TRAINING)
    with pytest.raises(InputError, match=r'numpy was "2\.0", is now "3\.0".*--mixed'):
        held(folder.path, elsewhere).__enter__()
    with held(folder.path, elsewhere, mixed=True) as mixed:
        assert mixed.manifest["environment"] == HERE


def test_the_manifest_is_never_rewritten(folder):
    file = folder.path / "manifest.json"
    before = file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino
    elsewhere = manifest_of(SPEC, ARMS, HERE | {"numpy": "3.0"}, TRAINING)
    for manifest in (MANIFEST, elsewhere):
        with held(folder.path, manifest, mixed=True) as again:
            again.save("a", 1, [ROW])
            again.record("unit")
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "JSON is missing"),
        ("{", "JSON is missing"),
        ("[1, 2]", "JSON is missing"),
        ("3", "JSON is missing"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "format is missing"),
        (json.dumps(MANIFEST | {"format": True}), "format True .*only 6"),
        (json.dumps(MANIFEST | {"format": 7}), "format 7 .*only 6"),
        (json.dumps(MANIFEST | {"unit": "other:train"}), "changed after it was written"),
        (json.dumps(MANIFEST | {"study": "0" * 16}), "changed after it was written"),
        (json.dumps(MANIFEST | {"arms": {"a": [{"arm": "NeuroTron"}]}}), "changed after it was"),
    ],
)
def test_a_damaged_manifest_is_told(folder, text, sentence):
    (folder.path / "manifest.json").write_text(text)
    for action in (lambda: Folder.read(folder.path), held(folder.path).__enter__):
        with pytest.raises(InputError, match=sentence):
            action()


def test_a_folder_of_an_earlier_format_is_refused_and_nothing_in_it_is_touched(folder):
    arm = {name: value for name, value in ARM.items() if name != "attack_text"}
    spec = SPEC | {"cohorts": SPEC["settings"]}
    old = manifest_of(spec, {"a": [arm], "b": [arm]}, HERE, TRAINING) | {"format": 1}
    (folder.path / "manifest.json").write_text(json.dumps(old))

    def content():
        return {file: file.read_bytes() for file in folder.path.rglob("*") if file.is_file()}

    before = content()
    for action in (lambda: Folder.read(folder.path), held(folder.path, mixed=True).__enter__):
        with pytest.raises(InputError, match=r"format 1.* run the study again"):
            action()
    assert content() == before


def test_a_manifest_that_is_not_text_is_told(folder):
    (folder.path / "manifest.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not a manifest"):
        Folder.read(folder.path)


def test_what_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Folder.read(tmp_path / "none")
    with pytest.raises(InputError, match=r"holds no results \(no manifest\.json\)"):
        Folder.read(tmp_path)


# --- one writer


def test_a_second_writer_is_refused_while_the_first_holds(folder):
    with held(folder.path):
        with pytest.raises(InputError, match="another run is writing into"):
            held(folder.path).__enter__()
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
    with pytest.raises(InputError, match="another run is writing into"):
        held(folder.path).__enter__()
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    with held(folder.path):
        pass


def test_a_reader_is_never_refused(folder):
    with held(folder.path):
        assert len(Folder.read(folder.path).content_hashes()) == 1


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
    with open(folder.path / "runs.jsonl", "ab") as file:
        file.write('{"time": "2026", "event": "uñ'.encode()[:-1])
    folder.record("start", machine="two")
    folder.record("end")
    assert [event["event"] for event in folder.events()] == ["start", "start", "end"]
    assert folder.events()[0]["machine"] == "θ\u2028\ud800"
    assert (folder.path / "runs.jsonl").read_bytes().endswith(b"\n")


def test_events_are_only_ever_appended(folder):
    folder.record("start")
    before = (folder.path / "runs.jsonl").read_bytes()
    folder.record("end")
    assert (folder.path / "runs.jsonl").read_bytes().startswith(before)


@pytest.mark.parametrize("label", ["title", "description", "claims"])
def test_a_trainer_may_be_labelled_like_the_words_of_a_study(label, tmp_path):
    text = f"""
        name = "s"
        steps = 3
        trainers = {{ "{label}" = "neuro-tron:step_size=0.1", SGD = "sgd" }}
        settings = [{{ name = "a", n_inputs = 4, filter_size = 2, network = "symmetric:width=2" }}]
        """
    study = nt.lab.studies.parse(text.encode(), "s")
    nt.lab.studies.run(study, tmp_path / "out", replicates=1)
    results = nt.load_results(tmp_path / "out")
    assert set(results.runs["trainer"]) == {label, "SGD"}
    other = study.model_copy(update={"trainers": study.trainers | {label: "sgd"}})
    assert study_hash(study.identity()) != study_hash(other.identity())


@pytest.mark.parametrize(
    "parts",
    [
        [{"name": "b", "n": 2}, {"name": "a", "n": 1}],
        [{"name": "a", "n": 1}, {"name": "b", "n": True}],
        [{"name": ["a"], "n": 1}, {"name": "b", "n": 2}],
    ],
    ids=["another order", "another type", "names that are none"],
)
def test_a_spec_that_is_not_the_same_is_refused_whatever_differs(parts, tmp_path):
    first = [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
    spec = {"name": "s", "settings": [{"name": "one", "title": None}]}
    old, new = (
        manifest_of(spec | {"parts": each}, {}, {}, "tests.support.units:sums")
        for each in (first, parts)
    )
    with Folder.written(tmp_path / "out", old, False):
        pass
    with (
        pytest.raises(InputError, match=r"another study.*another folder"),
        Folder.written(tmp_path / "out", new, False),
    ):
        pass
