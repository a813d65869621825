"""What needs a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["ROOT", "SOURCES", "Ended", "neurotron", "python"]

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src"


class Ended(NamedTuple):
    """What a process printed, and what it took in seconds."""

    output: str
    wall: float
    cpu: float
    """Processor time of the process and of its own processes, in all threads."""


def python(
    module: str,
    *arguments: str,
    cache: Path,
    source: Path = SOURCES,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Ended:
    """Run a module of Python with compiled code kept in `cache`, and the package in `source`."""
    return _run([sys.executable, "-m", module, *arguments], cache, source, variables)


def neurotron(*arguments: str, cache: Path) -> Ended:
    """Run the command `neurotron` as it is installed."""
    command = str(Path(sys.executable).with_name("neurotron"))
    return _run([command, *arguments], cache, SOURCES, {})


def _run(command: list[str], cache: Path, source: Path, variables: Mapping[str, str]) -> Ended:
    places = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(source)}
    began, used = time.perf_counter(), _children()
    done = subprocess.run(
        command, env={**os.environ, **places, **variables}, cwd=ROOT, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return Ended(done.stdout, time.perf_counter() - began, _children() - used)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
