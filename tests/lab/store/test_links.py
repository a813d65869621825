"""Nothing outside of a folder of results is changed through a link in it."""

from __future__ import annotations

import pytest
from tests.lab.store.test_folder import MANIFEST, ROW, held

from neurotron._check import InputError
from neurotron.lab.store.files import StorageError
from neurotron.lab.store.folder import Folder


@pytest.fixture
def outside(tmp_path):
    """A folder of somebody else's."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text("mine")
    return folder


@pytest.fixture
def folder(tmp_path):
    with held(tmp_path / "out") as folder:
        pass
    return folder


def test_events_are_not_appended_through_a_link(folder, outside):
    (folder.path / "runs.jsonl").symlink_to(outside / "file")
    with pytest.raises(StorageError, match=r"runs\.jsonl' is a link.*replace it by a file"):
        folder.record("start")
    assert (outside / "file").read_text() == "mine"


@pytest.mark.parametrize("target", ["file", "none"])
def test_a_lock_that_is_a_link_is_refused(folder, outside, target):
    (folder.path / "lock").unlink()
    (folder.path / "lock").symlink_to(outside / target)
    with pytest.raises(StorageError, match="lock' is a link"), held(folder.path):
        pass
    assert [file.name for file in outside.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["shards", "shards/a", "figures", "set-aside", "data"])
@pytest.mark.parametrize("dangling", [False, True])
def test_a_folder_that_is_a_link_is_not_written_through(folder, outside, name, dangling):
    place = folder.path / name
    if place.is_dir():
        place.rmdir()
    place.symlink_to(outside / "none" if dangling else outside)
    with pytest.raises(StorageError, match=f"/{name}' is a link.*replace it by a folder"):
        folder.write(f"{name}/0.parquet", b"ours")
    assert [file.name for file in outside.iterdir()] == ["file"]


def test_a_run_into_linked_shards_is_refused_and_removes_no_leftovers_there(folder, outside):
    (folder.path / "shards").rmdir()
    (folder.path / "shards").symlink_to(outside)
    (outside / "a").mkdir()
    (outside / "a/.1.parquet.1.tmp").touch()
    with pytest.raises(StorageError, match="shards' is a link"), held(folder.path):
        pass
    assert (outside / "a/.1.parquet.1.tmp").exists()


def test_a_damaged_shard_behind_a_link_stays_where_it_is(folder, outside):
    (folder.path / "shards/a").symlink_to(outside)
    (outside / "0.parquet").write_text("damaged")
    with pytest.raises(StorageError, match="is a link"):
        folder.set_aside("a", 0, "damaged")
    assert (outside / "0.parquet").read_text() == "damaged"


@pytest.mark.parametrize("name", ["claims.json", "report.html", "shards/a/0.parquet"])
def test_a_file_that_is_a_link_is_replaced_and_its_target_stays(folder, outside, name):
    place = folder.path / name
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside / "file")
    folder.write(name, b"ours")
    assert not place.is_symlink()
    assert place.read_bytes() == b"ours"
    assert (outside / "file").read_text() == "mine"


def test_the_name_of_an_unfinished_file_may_be_a_link(folder, outside, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: 7)
    (folder.path / ".claims.json.7.tmp").symlink_to(outside / "file")
    folder.write("claims.json", b"ours")
    assert (outside / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["out", "out/inside"])
def test_a_link_that_leads_nowhere_is_refused_as_such(tmp_path, name):
    (tmp_path / "out").symlink_to(tmp_path / "gone")
    told = r"out' is a link to .*gone', which does not exist: create that folder"
    with pytest.raises(InputError, match=told), held(tmp_path / name):
        pass
    assert not (tmp_path / "gone").exists()


def test_a_folder_of_results_may_itself_be_a_link(tmp_path):
    (tmp_path / "large-disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "large-disk")
    with held(tmp_path / "out") as folder:
        folder.save("a", 0, [ROW])
    assert Folder.read(tmp_path / "large-disk").manifest == MANIFEST
