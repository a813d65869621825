"""What is measured from outside: whole processes, in rounds that take turns."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import process, vectors
from benchmarks.first_result import NAMES
from benchmarks.parts import PARTS
from benchmarks.workloads import FOUR_LAWS

__all__ = ["BEFORE", "NAMES_OF_SECONDS", "measure"]

BEFORE = "af06f61"
"""The old code that cold starts are compared with: it compiled all formulas as one function."""
COLD_ROUNDS, WARM_ROUNDS, PAPER_ROUNDS = 3, 5, 2

STARTS = {
    "help": ("--help",),
    "plan": ("plan", "--bound", "1", "--probability", "0.05", "--steps", "10000"),
    "simulate": ("simulate", "--seed", "2"),
}
"""Short commands, whose time is mostly that of their start."""
WIDTHS: dict[str, dict[str, str]] = {"host": {}, "avx2": vectors.without_avx512()}

NAMES_OF_SECONDS = [
    *(f"cold[{name}-{code}]" for name in NAMES for code in ("before", "now")),
    *(f"command[{name}]" for name in (*STARTS, "paper", "report", "figures")),
    *(f"part[{width}-{law.key}-{part}]" for width in WIDTHS for law in FOUR_LAWS for part in PARTS),
]
"""Everything that `measure` returns, but for the widths of vectors."""


def measure(quick: bool) -> dict[str, np.ndarray]:
    """Return the seconds of every round by name, and the widths of vectors in bits."""
    found: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, seconds in [*_cold(place, quick), *_warm(place, quick), *_parts(place, quick)]:
            found[name].append(seconds)
    return {name: np.array(rounds) for name, rounds in found.items()}


def _cold(place: Path, quick: bool) -> Iterator[tuple[str, float]]:
    """Start with nothing compiled, with the code of now and with that before; CPU time."""
    sources = {"before": _code_before(place / "before"), "now": process.SOURCES}
    for _ in range(1 if quick else COLD_ROUNDS):
        for name in NAMES:
            for code, source in sources.items():
                with tempfile.TemporaryDirectory(dir=place) as empty:
                    ended = process.python(
                        "benchmarks.first_result", name, cache=Path(empty), source=source
                    )
                yield f"cold[{name}-{code}]", ended.cpu


def _code_before(place: Path) -> Path:
    """Return the sources of the commit `BEFORE`, which Python has read once."""
    place.mkdir()
    packed = subprocess.run(
        ["git", "archive", BEFORE, "src"], cwd=process.ROOT, capture_output=True, check=False
    )
    if packed.returncode:
        sys.exit(f"the commit {BEFORE} is needed to compare with: {packed.stderr.decode()}")
    subprocess.run(["tar", "-x", "-C", str(place)], input=packed.stdout, check=True)
    for source in (place / "src", process.SOURCES):
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(source)], check=True)
    return place / "src"


def _warm(place: Path, quick: bool) -> Iterator[tuple[str, float]]:
    """Run commands whose code was compiled before; wall time, as a user waits for it."""
    cache = place / "cache"
    few = ("--replicates", "1") if quick else ()
    for arguments in STARTS.values():
        process.neurotron(*arguments, cache=cache)
    process.neurotron("paper", "--replicates", "1", "--out", str(place / "first"), cache=cache)
    for _ in range(1 if quick else WARM_ROUNDS):
        for name, arguments in STARTS.items():
            yield f"command[{name}]", process.neurotron(*arguments, cache=cache).wall
    for number in range(1 if quick else PAPER_ROUNDS):
        out = str(place / f"paper-{number}")
        everything = ("paper", *few, "--figures", "--out", out)
        yield "command[paper]", process.neurotron(*everything, cache=cache).wall
        yield "command[report]", process.neurotron("report", out, cache=cache).wall
        yield "command[figures]", process.neurotron("report", out, "--figures", cache=cache).wall


def _parts(place: Path, quick: bool) -> Iterator[tuple[str, float]]:
    """Time the parts of a step, with vectors of all widths and with AVX2; CPU time."""
    for _ in range(1 if quick else WARM_ROUNDS):
        for width, variables in WIDTHS.items():
            ended = process.python("benchmarks.parts", cache=place / "cache", variables=variables)
            found = json.loads(ended.output)
            yield f"bits[{width}]", found["bits"]
            for law, seconds in found["seconds"].items():
                for part, number in seconds.items():
                    yield f"part[{width}-{law}-{part}]", number
