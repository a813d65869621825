"""A real Dask cluster on this machine, whose processes can be killed."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.commands import PATIENCE, finish, has_grown, start, wait_until

from neurotron._extras import require


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


def on_cluster(dask: Cluster, file: Path, folder: Path, kills: int) -> None:
    """Run a study on a cluster, of whose workers `kills` are killed −9 after the first unit."""
    process = start("run", file, "--out", folder, "--dask", dask.address)
    wait_until(has_grown(folder, process, 1))
    for worker in dask.workers[:kills]:
        worker.kill()
    code, _, errors = finish(process)
    assert code == 0, errors
