"""The same results however a study is run: threads, order, a Dask cluster, and kill −9."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

import neurotron as nt
from evidence.store import SHOWING, Row, collect
from neurotron._extras import require
from neurotron.results.folder import Folder

COMMAND = str(Path(sys.executable).parent / "neurotron")
REPLICATES = 20
STEPS = 100_000
KILLS = 20
PATIENCE = 120.0
"""Seconds after which something hangs."""

Hashes = dict[tuple[str, int], str]


def study_text(*, steps: int, replicates: int) -> str:
    """Return a study of two settings, whose units take as long as its steps."""
    return f"""
        name = "interrupted"
        steps = {steps}
        replicates = {replicates}
        trainers = {{ tron = "neuro-tron:step_size=fastest", sgd = "sgd" }}

        [[settings]]
        name = "normal"
        n_inputs = 12
        filter_size = 4
        step_size = 0.02
        network = "symmetric:width=4"
        sweeps = [{{ bound = [0, 0.25, 1] }}]

        [[settings]]
        name = "laplace"
        like = "normal"
        law = "laplace"
        """


def write_study(folder: Path, *, steps: int, replicates: int) -> Path:
    """Write this study into a file; return which."""
    path = folder / "study.toml"
    path.write_text(study_text(steps=steps, replicates=replicates))
    return path


def start(*arguments: object) -> subprocess.Popen[str]:
    """Begin the installed `neurotron` command."""
    pipe = subprocess.PIPE
    return subprocess.Popen([COMMAND, *map(str, arguments)], stdout=pipe, stderr=pipe, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return the exit code of a command and what it wrote; kill it if it hangs."""
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return process.returncode, output, errors


def hashes(folder: Path) -> Hashes:
    """Return the hash of the content of every unit in a folder of results."""
    return Folder.read(folder).content_hashes()


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened; fail if it does not."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def shards(folder: Path) -> int:
    """Return how many units are finished."""
    return len(list(folder.glob("shards/*/*.parquet")))


class Cluster(NamedTuple):
    """A Dask scheduler on this machine and its workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@contextlib.contextmanager
def cluster(workers: int = 2) -> Iterator[Cluster]:
    """Start a Dask cluster of worker processes with one thread each."""
    distributed = require("distributed")
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as running:
        file = Path(place) / "scheduler.json"

        def dask(*arguments: str) -> subprocess.Popen[bytes]:
            quiet = subprocess.DEVNULL
            command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
            process = subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=place)
            running.callback(process.wait)
            running.callback(process.kill)
            return process

        scheduler = dask(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
        )
        wait_until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        names = [dask("worker", address, "--nthreads", "1", "--no-nanny") for _ in range(workers)]
        if workers:
            with distributed.Client(address) as client:
                client.wait_for_workers(workers, timeout=PATIENCE)
        yield Cluster(address, scheduler, names)


def kill_and_resume(file: Path, folder: Path, kills: int, seed: int) -> int:
    """Run a study, killed −9 at random moments, then to its end; return how many kills met it.

    One kill in four falls into the start, the others soon after nought to two new units.
    """
    draw, met = np.random.default_rng(seed), 0
    for life in range(kills):
        process = start("run", file, "--out", folder)
        if life % 4:
            wait_until(_grown(folder, process, int(draw.integers(3))))
            time.sleep(draw.uniform(0.0, 0.15))
        else:
            time.sleep(draw.uniform(0.0, 2.0))
        process.kill()
        met += finish(process)[0] == -signal.SIGKILL
    code, _, errors = finish(start("run", file, "--out", folder))
    assert code == 0, errors
    return met


def _grown(folder: Path, process: subprocess.Popen[str], units: int) -> Callable[[], bool]:
    """Return a function that tells whether a run has begun and finished so many units, or ended."""
    runs = folder / "runs.jsonl"
    lines, finished = _size(runs), shards(folder)

    def happened() -> bool:
        grown = _size(runs) > lines and shards(folder) >= finished + units
        return grown or process.poll() is not None

    return happened


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def leftovers(folder: Path) -> list[str]:
    """Return the files of a folder of results that a finished run does not leave."""
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    units = {f"shards/{name}/{number}.parquet" for name, number in Folder.read(folder).units()}
    others = files - units - {"manifest.json", "runs.jsonl", "claims.json", "report.html", "lock"}
    figures = r"figures/([^.]+\.(png|pdf)|written\.json)"
    return sorted(name for name in others if not re.fullmatch(figures, name))


def by_threads(file: Path, folder: Path, threads: int) -> int:
    """Run a study by the command."""
    code, _, errors = finish(start("run", file, "--out", folder, "--threads", threads))
    assert code == 0, errors
    return 0


def in_reversed_order(file: Path, folder: Path) -> int:
    """Run a study from its last unit to its first."""
    order = nt.studies.Study.units
    with mock.patch.object(nt.studies.Study, "units", lambda study: reversed([*order(study)])):
        nt.studies.run(nt.studies.read(file), folder)
    return 0


def on_cluster(dask: Cluster, file: Path, folder: Path, kills: int) -> int:
    """Run a study on a cluster, of whose workers `kills` are killed −9 after the first unit."""
    process = start("run", file, "--out", folder, "--dask", dask.address)
    wait_until(_grown(folder, process, 1))
    for worker in dask.workers[:kills]:
        worker.kill()
    code, _, errors = finish(process)
    assert code == 0, errors
    return kills


def by_dask(file: Path, folder: Path, kills: int) -> int:
    """Run a study on a cluster of two worker processes."""
    with cluster(2) as dask:
        return on_cluster(dask, file, folder, kills)


def by_killing(file: Path, folder: Path, kills: int = KILLS) -> int:
    """Run a study that is killed at random moments."""
    return kill_and_resume(file, folder, kills, seed=0)


CASES: dict[str, Callable[[Path, Path], int]] = {
    "1 thread": partial(by_threads, threads=1),
    "2 threads": partial(by_threads, threads=2),
    "last unit first": in_reversed_order,
    "Dask, 2 worker processes": partial(by_dask, kills=0),
    "Dask, one of 2 workers killed −9": partial(by_dask, kills=1),
    "killed −9 at random moments, resumed": by_killing,
}


@cache
def undisturbed() -> Hashes:
    """Return the hashes of the study as computed here, in this process."""
    with tempfile.TemporaryDirectory() as place:
        file = write_study(Path(place), steps=STEPS, replicates=REPLICATES)
        nt.studies.run(nt.studies.read(file), Path(place) / "out", workers=1)
        return hashes(Path(place) / "out")


def case(name: str) -> Row:
    """Return how many units of a case have the hash that they have undisturbed."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "out"
        kills = CASES[name](write_study(Path(place), steps=STEPS, replicates=REPLICATES), folder)
        found, wanted = hashes(folder), undisturbed()
        equal = sum(found.get(unit) == content for unit, content in wanted.items())
        left = leftovers(folder)
    return {"kills": kills, "units": len(found), "equal hashes": equal, "left over": left}


def run() -> None:
    """Compute and store the evidence, and fail if a single unit differs."""
    title = "The same content of every unit, however a study is run"
    units = {name: partial(case, name) for name in CASES}
    rows = collect("interruption", title, units, left_out=SHOWING)
    for row in rows:
        assert row["units"] == row["equal hashes"] == 2 * REPLICATES, row
        assert not row["left over"], row
    assert rows[-1]["kills"] == KILLS
