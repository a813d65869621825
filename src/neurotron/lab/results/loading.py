"""Loads a folder of results of any kind of study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from neurotron import _check
from neurotron.lab.results.damages import Damages, load_damages
from neurotron.lab.results.fits import Fits, load_fits
from neurotron.lab.results.folder import Folder
from neurotron.lab.results.manifest import DAMAGING, FITTING
from neurotron.lab.results.tables import Results, load_results

__all__ = ["AnyResults", "load"]

AnyResults = Results | Fits | Damages
"""The results of a study of one of the kinds that the package can run."""
READERS: dict[str, Callable[[str | Path], AnyResults]] = {
    FITTING: load_fits,
    DAMAGING: load_damages,
}
"""What reads the units of which function; training runs are read by `load_results`."""


def load(folder: str | Path) -> AnyResults:
    """Return what a folder holds: the results of training runs, of rows, or of public tables."""
    held = Folder.read(_check.path("folder", folder))
    return READERS.get(held.manifest["unit"], load_results)(folder)
