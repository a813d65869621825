"""What needs a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["ROOT", "run"]

ROOT = Path(__file__).parent.parent


def run(module: str, *arguments: str, cache: Path, **variables: str) -> str:
    """Run a module with compiled code kept in a folder `cache`; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **variables},
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return done.stdout
