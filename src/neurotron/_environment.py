"""The versions and the machine that a result was computed with, as text."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """Return the version of this package."""
    try:
        return version("neurotron")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


@lru_cache(maxsize=1)
def _fingerprint() -> tuple[tuple[str, str], ...]:
    versions = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return tuple(
        {
            "neurotron": package_version(),
            "python": platform.python_version(),
            **versions,
            "platform": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
        }.items()
    )


def environment() -> dict[str, str]:
    """Return versions and machine of this process, which are stored with results."""
    return dict(_fingerprint())


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
