"""What the commands for tables print and write."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurotron import _check, _files
from neurotron._digits import between, counted, part, percent, readable
from neurotron.cli.table_options import TABLES, listed

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from neurotron.cli.table_options import TableInputs
    from neurotron.estimators import NeuroTronRegressor

# ---- describing ----------------------------------------------------------------------------------


def describe_rows(console: Console, inputs: TableInputs, label: str) -> None:
    """Print which rows and columns are used."""
    left_out = f"; {part(inputs.skipped, inputs.total)} left out" if inputs.skipped else ""
    columns = counted(len(inputs.names), "column")
    console.print(f"rows      {len(inputs.rows):,} from {inputs.table.name}{left_out}")
    console.print(f"label     {_check.printable(label)}, from {columns} of inputs")
    print_unused(console, inputs)


def print_unused(console: Console, inputs: TableInputs) -> None:
    """Print which columns the model does not know."""
    if inputs.unused:
        console.print(f"not used  {listed(inputs.unused)}, which the model does not know")


def describe(
    console: Console, inputs: TableInputs, label: str, model: NeuroTronRegressor, suspects: int
) -> None:
    """Print what was fitted, and how many labels do not fit."""
    describe_rows(console, inputs, label)
    exact = "none: the labels that the model explains are exact"
    noise = (
        f"{readable(model.scale_, 4)}, the standard deviation of the noise of honest labels"
        if model.scale_
        else exact
    )
    console.print(f"noise     {noise}")
    console.print(f"suspects  {part(suspects, len(inputs.rows))}")
    if _is_new(model):
        console.print(
            f"attacked  about {percent(model.attacked_fraction_)} of the labels (95 % interval: "
            f"{between(*model.attacked_fraction_interval_)})"
        )


def _is_new(model: NeuroTronRegressor) -> bool:
    """Return whether a model was fitted now; a loaded one says nothing about these rows."""
    return hasattr(model, "suspects_")


def doubts(inputs: TableInputs, model: NeuroTronRegressor) -> tuple[str, ...]:
    """Return why not to trust a fit; rows are counted as in the file, from 1."""
    found = model.diagnose()
    row = int(inputs.rows[found.geometry.strongest])
    geometry = dataclasses.replace(found.geometry, strongest=row)
    return dataclasses.replace(found, geometry=geometry, first_row=1).reasons


def print_doubts(console: Console, reasons: Sequence[str]) -> None:
    """Print why not to trust a fit, if there is a reason."""
    if reasons:
        console.print(f"\nDo not trust this fit, because {'; and because '.join(reasons)}.")


def print_written(console: Console, paths: Sequence[Path]) -> None:
    """Print which files were written."""
    if paths:
        console.print("\n" + "\n".join(f"Written: {path}" for path in paths))


def origin(inputs: TableInputs, label: str) -> dict[str, Any]:
    """Return for JSON which rows and columns of which table are used."""
    return {
        "table_sha256": inputs.table.sha256, "rows_left_out": inputs.skipped, "label": label,
        "columns": inputs.names,
    }  # fmt: skip


def summary(inputs: TableInputs, label: str, model: NeuroTronRegressor) -> dict[str, Any]:
    """Return what `describe` prints for JSON."""
    attacked = {
        "attacked_fraction": model.attacked_fraction_,
        "attacked_fraction_interval": model.attacked_fraction_interval_,
    }
    return (attacked if _is_new(model) else {}) | {
        **origin(inputs, label),
        "rows": len(inputs.rows),
        "noise": float(model.scale_),
    }


# ---- writing -------------------------------------------------------------------------------------


def check_output(
    option: str,
    path: Path | None,
    endings: Sequence[str],
    *,
    overwrite: bool,
    others: Sequence[Path | None] = (),
) -> None:
    """Refuse a file that cannot or should not be written, before any work.

    The `others` are files that the command reads or writes, too, and that are never replaced.
    """
    if path is None:
        return
    shown = _check.shown(str(path))
    _check.path(option, path, *endings)
    if not path.parent.is_dir():
        raise _check.InputError(f"`{option}`: there is no folder {str(path.parent)!r}")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise _check.InputError(f"`{option}`: {shown} cannot be written: choose another place")
    if any(other is not None and _same(path, other) for other in others):
        raise _check.InputError(
            f"`{option}`: {shown} is another file of this command: choose another name"
        )
    if not overwrite and os.path.lexists(path):
        raise _check.InputError(
            f"`{option}`: {shown} exists already: choose another name, or add --overwrite"
        )


def same_ending(data: Path) -> tuple[str]:
    """Return how a table ends: a copy of it has the same format."""
    _check.path("data", data, *TABLES)
    return (data.suffix.lower(),)


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def write(frame: pl.DataFrame, path: Path, separator: str = ",", *, overwrite: bool) -> None:
    """Write a table; if that fails, the error says why in one sentence."""
    from neurotron.cli.table_file import write_table

    with _files.writing(path):
        write_table(frame, path, separator=separator, overwrite=overwrite)
