"""Loads a folder of results of either kind of study."""

from __future__ import annotations

from pathlib import Path

from neurotron import _check
from neurotron.results.fits import Fits, load_fits
from neurotron.results.folder import Folder
from neurotron.results.manifest import FITTING
from neurotron.results.tables import Results, load_results

__all__ = ["load"]


def load(folder: str | Path) -> Results | Fits:
    """Return what a folder holds: the results of training runs, or those of a study of rows."""
    held = Folder.read(_check.path("folder", folder))
    return load_fits(folder) if held.manifest["unit"] == FITTING else load_results(folder)
