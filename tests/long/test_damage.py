"""Thousands of damaged files and hundreds of kills: the same content or one sentence, nothing else.

``NEUROTRON_FUZZ_SEED=1 pytest -m long tests/long/test_damage.py`` has other places and moments.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.long.warm import STUDY, run, study_of
from tests.support.commands import hashes, leftovers
from tests.support.pieces import pieces

import neurotron as nt
from neurotron._check import InputError
from neurotron.lab import pages as report
from neurotron.lab.claims.catalog import write as write_verdicts
from neurotron.lab.figures import render_matplotlib
from neurotron.lab.pages import pictures
from neurotron.lab.store.files import StorageError
from neurotron.lab.store.folder import Folder

pytestmark = pytest.mark.long

SEED = int(os.environ.get("NEUROTRON_FUZZ_SEED", "0"))
DAMAGES, KILLS = pieces(5000, 25), pieces(500, 20)
KILLS_OF_A_FOLDER = 8
ONE_SENTENCE = (InputError, StorageError)
SHOWN = [SimpleNamespace(name=name) for name in ("one", "two")]
"""Charts that are drawn by writing their names: drawing takes long, and is not what is tested."""
USERS = {
    "notes.txt": b"mine", ".draft.tmp": b"mine", "shards/normal/notes": b"mine",
    "figures/for-the-talk.png": b"mine", "figures/older.pdf": b"mine, and was theirs",
    "set-aside/mine.parquet": b"mine",
}  # fmt: skip
KINDS = [
    "manifest.json", "runs.jsonl", "claims.json", "report.html", "lock", "figures/written.json",
    "figures/one.png", "study.toml", "data/weights.npy", *[f"shards/{c}/{i}.parquet"
    for c in ("normal", "laplace") for i in range(2)],
]  # fmt: skip


@pytest.fixture
def quick_pictures(monkeypatch):
    monkeypatch.setattr(render_matplotlib, "draw", lambda chart: chart.name)
    monkeypatch.setattr(
        render_matplotlib, "encode", lambda picture, suffix: f"{picture}{suffix}".encode()
    )


class Whole:
    """A folder of results with everything in it, and the way back to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.verdicts = folder, {}
        run(folder, replicates=2)
        held = Folder.read(folder)
        held.record("failed", setting="normal", replicate=1, error="bad luck")
        (folder / "study.toml").write_bytes(STUDY)
        pictures.write(held, [*SHOWN, SimpleNamespace(name="older")])
        for name, data in USERS.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        self.results = nt.load_results(folder)
        self.judge(self.results)
        report.write(self.results, [])
        pictures.write(held, SHOWN)
        self.hashes = hashes(folder)
        self.files = {path: path.read_bytes() for path in self.paths()}

    def paths(self) -> Iterator[Path]:
        return (path for path in self.folder.rglob("*") if path.is_file())

    def restore(self) -> None:
        """Put everything back as it was."""
        for path in [path for path in self.paths() if path not in self.files]:
            path.unlink()
        for path, data in self.files.items():
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def judge(self, results: nt.lab.Runs) -> list[nt.lab.Judgement]:
        """Return the claims of results; those of the same results once, because it takes long."""
        key = repr((results.spec, results.damaged))
        if key not in self.verdicts:
            self.verdicts[key] = nt.lab.evaluate(results)
        write_verdicts(results, self.verdicts[key])
        return self.verdicts[key]

    def use(self) -> None:
        """Do what users do with a folder of results: nothing in it may be another number."""
        results = nt.load_results(self.folder)
        there = results.runs.select("setting", "replicate").unique()
        wanted = self.results.runs.join(there, on=["setting", "replicate"], maintain_order="left")
        assert results.runs.equals(wanted)
        assert len(there) + len(results.damaged) == 4
        page = report.build(results, self.judge(results), [])
        assert page.endswith("</html>")
        pictures.write(results.folder, SHOWN)

    def resume(self) -> None:
        """Run the study of the file again: what is missing is computed, to the same content."""
        study = study_of((self.folder / "study.toml").read_bytes())
        nt.lab.run(study, self.folder, replicates=min(study.replicates, 3), workers=1)
        found = hashes(self.folder)
        assert {unit: found[unit] for unit in self.hashes} == self.hashes


def damaged(data: bytes, draw: np.random.Generator) -> tuple[str, bytes]:
    """Return what was done to a file, and the file: a byte changed, or its end cut off or grown."""
    what = draw.choice(["flip", "flip", "flip", "flip", "cut", "grow"]) if data else "grow"
    place = int(draw.integers(max(1, len(data))))
    if what == "flip":
        change = int(draw.integers(1, 256))
        changed = bytes([data[place] ^ change])
        return f"byte {place} ^ {change}", data[:place] + changed + data[place + 1 :]
    if what == "cut":
        return f"cut at {place}", data[:place]
    more = draw.bytes(int(draw.integers(1, 9)))
    return f"with {more!r} at its end", data + more


@pytest.mark.parametrize("numbers", DAMAGES, ids=str)
def test_a_damaged_file_is_told_in_one_sentence_or_changes_nothing(
    tmp_path, quick_pictures, numbers
):
    whole, draw = Whole(tmp_path / "out"), np.random.default_rng([SEED, numbers.start])
    told: dict[str, list[str]] = {name: [] for name in KINDS}
    for i in numbers:
        name = KINDS[i % len(KINDS)]
        path = whole.folder / name
        what, data = damaged(whole.files[path], draw)
        path.write_bytes(data)
        for action in (whole.use, whole.resume):
            try:
                action()
            except ONE_SENTENCE as sentence:
                told[name].append(str(sentence))
            except BaseException as error:
                error.add_note(f"{name}: {what} (damage {i} of seed {SEED})")
                raise
        for mine, content in USERS.items():
            assert (whole.folder / mine).read_bytes() == content, (name, what, mine)
        whole.restore()
    assert {name for name in KINDS if told[name]} == {"manifest.json", "study.toml"}
    assert not [text for texts in told.values() for text in texts if "\n" in text]


@contextlib.contextmanager
def killed_after(seconds: float, *arguments: object) -> Iterator[multiprocessing.Process]:
    """Run the study in a process of its own, and kill it −9 after some seconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.long.warm"])
    process = context.Process(target=run, args=arguments)
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    yield process
    process.close()


@pytest.mark.parametrize("numbers", KILLS, ids=str)
def test_a_study_that_is_killed_at_any_moment_resumes_to_the_same_content(tmp_path, numbers):
    replicates, draw = 6, np.random.default_rng([SEED, numbers.start])
    for name in ("warm", "undisturbed"):
        began = time.monotonic()
        with killed_after(600.0, tmp_path / name, replicates) as process:
            assert process.exitcode == 0
        duration = time.monotonic() - began
    wanted = hashes(tmp_path / "undisturbed")
    met = folders = 0
    while met < len(numbers):
        folder = tmp_path / f"killed-{folders}"
        for _ in range(KILLS_OF_A_FOLDER):
            with killed_after(draw.uniform(0.0, duration), folder, replicates) as process:
                met += process.exitcode != 0
            if (folder / "manifest.json").exists():
                assert nt.load_results(folder).damaged == ()
                found = hashes(folder)
                assert found == {unit: wanted[unit] for unit in found}
        run(folder, replicates)
        assert hashes(folder) == wanted
        assert leftovers(folder) == []
        folders += 1
        assert folders <= len(numbers), "almost no kill meets a run"
