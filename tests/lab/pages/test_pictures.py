"""Which pictures beside the page a report writes and removes: its own."""

from __future__ import annotations

import itertools
import json
import os
import re
from hashlib import sha256
from types import SimpleNamespace

import pytest
from tests.support.studies import SMALL

import neurotron as nt
from neurotron.lab.figures import render_matplotlib
from neurotron.lab.pages import pictures
from neurotron.lab.store.files import StorageError
from neurotron.lab.store.folder import Folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of results whose charts are drawn by writing their names."""
    monkeypatch.setattr(render_matplotlib, "draw", lambda chart: chart.name)
    monkeypatch.setattr(
        render_matplotlib, "encode", lambda picture, suffix: f"{picture}{suffix}".encode()
    )
    with Folder.written(tmp_path / "out", nt.lab.parse(SMALL, "small"), {}) as folder:
        return folder


def draw(folder, *names: str) -> set[str]:
    """Write the pictures of charts of these names; return all files that are there then."""
    pictures.write(folder, [SimpleNamespace(name=name) for name in names])
    return {file.name for file in (folder.path / "figures").iterdir()}


def both(*names: str) -> set[str]:
    return {f"{name}.{end}" for name in names for end in ("png", "pdf")}


def test_what_an_earlier_report_wrote_and_this_one_does_not_is_removed(folder):
    assert draw(folder, "one", "two") == both("one", "two") | {"written.json"}
    assert draw(folder, "two", "three") == both("two", "three") | {"written.json"}


def test_pictures_of_somebody_else_stay(folder):
    draw(folder, "one")
    mine = folder.path / "figures/for-the-talk.png"
    mine.write_text("mine")
    instead = folder.path / "figures/one.png"
    instead.write_text("mine, by the name of one of theirs")
    assert draw(folder, "two") == both("two") | {"for-the-talk.png", "one.png", "written.json"}
    assert mine.read_text() == "mine"
    assert instead.read_text() == "mine, by the name of one of theirs"


def test_without_a_list_nothing_is_removed(folder):
    (folder.path / "figures").mkdir()
    (folder.path / "figures/of-an-older-version.png").write_text("?")
    assert "of-an-older-version.png" in draw(folder, "one")


def test_pictures_behind_a_link_stay_and_are_told(folder, tmp_path):
    draw(folder, "one")
    (folder.path / "figures").rename(tmp_path / "Pictures")
    (folder.path / "figures").symlink_to(tmp_path / "Pictures")
    for names in ([], ["two"]):
        with pytest.raises(StorageError, match=r"figures' is a link.*replace it by a folder"):
            draw(folder, *names)
    assert {file.name for file in (tmp_path / "Pictures").iterdir()} == both("one") | {
        "written.json"
    }


def test_a_picture_that_became_a_link_stays(folder, tmp_path):
    draw(folder, "one")
    file = folder.path / "figures/one.png"
    file.rename(tmp_path / "elsewhere.png")
    file.symlink_to(tmp_path / "elsewhere.png")
    draw(folder, "two")
    assert file.is_symlink()
    assert (tmp_path / "elsewhere.png").exists()


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "3", "[" * 100_000, '{"mine.png": 3}', '{"mine.png": null}', '{"": "x"}', "\xff",
        json.dumps({"../mine.png": sha256(b"mine").hexdigest()}),
        json.dumps({"../lock": sha256(b"").hexdigest(), "..": "x", "x\0.png": "y"}),
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_a_damaged_or_hostile_list_removes_nothing(folder, text):
    draw(folder, "one")
    for place in (folder.path, folder.path / "figures"):
        (place / "mine.png").write_text("mine")
    (folder.path / "figures/written.json").write_bytes(text.encode("latin-1"))
    assert draw(folder, "two") >= both("one", "two") | {"mine.png"}
    assert (folder.path / "mine.png").exists()
    assert (folder.path / "lock").exists()


@pytest.mark.parametrize("place", ["figures/written.json", "runs.jsonl", "shards/a/0.parquet"])
@pytest.mark.parametrize("kind", ["pipe", "device", "sparse"])
def test_what_is_no_file_of_ours_is_not_waited_for(folder, place, kind):
    draw(folder, "one")
    path = folder.path / place
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 10**13)
    assert draw(folder, "two") >= both("two")
    assert folder.events() == []
    assert nt.load_results(folder.path).replicates == {"a": 0}


def test_a_picture_of_somebody_else_by_the_name_of_ours_is_renamed(folder, capsys):
    (folder.path / "figures").mkdir()
    for i, words in enumerate(["mine", "edited", "edited again"], 1):
        (folder.path / "figures/one.png").write_text(words)
        draw(folder, "one")
        assert (folder.path / f"figures/one-kept-{i}.png").read_text() == words
        assert (folder.path / "figures/one.png").read_text() == "one.png"
        assert re.fullmatch(
            rf"one.png in .*: it is now one-kept-{i}.png\n", capsys.readouterr().err
        )


def test_a_picture_that_is_a_link_by_the_name_of_ours_is_renamed(folder, tmp_path):
    draw(folder, "one")
    (tmp_path / "elsewhere.png").write_text("mine")
    (folder.path / "figures/one.png").unlink()
    (folder.path / "figures/one.png").symlink_to(tmp_path / "elsewhere.png")
    draw(folder, "one")
    assert (folder.path / "figures/one-kept-1.png").readlink() == tmp_path / "elsewhere.png"
    assert (tmp_path / "elsewhere.png").read_text() == "mine"


@pytest.mark.parametrize("written", range(6))
def test_a_report_that_was_killed_does_not_take_its_pictures_for_somebody_else_s(
    folder, monkeypatch, written
):
    draw(folder, "one", "two")
    left = itertools.count(written, -1)
    write = type(folder).write
    with monkeypatch.context() as killed:
        killed.setattr(
            render_matplotlib, "encode", lambda picture, end: f"new {picture}{end}".encode()
        )
        killed.setattr(
            type(folder), "write", lambda *given: write(*given) if next(left) > 0 else 1 / 0
        )
        with pytest.raises(ZeroDivisionError):
            draw(folder, "one", "two")
    for names in (["one", "two"], ["one"]):
        assert draw(folder, *names) == both(*names) | {"written.json"}


def test_the_list_of_an_older_version_is_understood(folder):
    draw(folder, "one")
    path = folder.path / "figures/written.json"
    listed = {name: digest for name, (digest,) in json.loads(path.read_text()).items()}
    path.write_text(json.dumps(listed))
    assert draw(folder, "two") == both("two") | {"written.json"}
