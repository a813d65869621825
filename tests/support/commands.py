"""The installed command on a small study: begun, killed, resumed, and what it leaves."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np

from neurotron.lab.store.folder import Folder

COMMAND = str(Path(sys.executable).parent / "neurotron")
PATIENCE = 600.0
"""Seconds after which something hangs, also on a machine that is busy."""

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
    """Return the hash of the content of every unit in a folder of results.

    Equal values make equal files.
    """
    held = Folder.read(folder)
    found = {}
    for unit in held.units():
        held.load(*unit)  # which raises an error if it is damaged
        found[unit] = sha256(held.shard_path(*unit).read_bytes()).hexdigest()
    return found


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened; fail if it does not."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def shards(folder: Path) -> int:
    """Return how many units are finished."""
    return len(list(folder.glob("shards/*/*.parquet")))


def kill_and_resume(file: Path, folder: Path, kills: int, seed: int) -> int:
    """Run a study, killed −9 at random moments, then to its end; return how many kills met it.

    One kill in four falls into the start, the others soon after nought to two new units.
    """
    draw, met = np.random.default_rng(seed), 0
    for life in range(kills):
        process = start("run", file, "--out", folder)
        if life % 4:
            wait_until(has_grown(folder, process, int(draw.integers(3))))
            time.sleep(draw.uniform(0.0, 0.15))
        else:
            time.sleep(draw.uniform(0.0, 0.8))
        process.kill()
        met += finish(process)[0] == -signal.SIGKILL
    code, _, errors = finish(start("run", file, "--out", folder))
    assert code == 0, errors
    return met


def has_grown(folder: Path, process: subprocess.Popen[str], units: int) -> Callable[[], bool]:
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
    others -= {f"data/{name}.npy" for name in Folder.read(folder).manifest["spec"]["data"]}
    figures = r"figures/([^.]+\.(png|pdf)|written\.json)"
    return sorted(name for name in others if not re.fullmatch(figures, name))
