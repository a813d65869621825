"""`neurotron clean`: the rows of a table whose labels do not fit, ranked, and the table without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from neurotron import _check
from neurotron._digits import part, readable
from neurotron.cli import options, table_output
from neurotron.cli import table_options as tables

if TYPE_CHECKING:
    import polars as pl

    from neurotron._types import Array
    from neurotron.cli.table_file import TableFile
    from neurotron.cli.table_options import TableInputs
    from neurotron.estimators import NeuroTronRegressor

COLUMNS = ("is_label_issue", "label_quality", "given_label", "predicted_label")
"""What is saved about a suspect, besides its row."""
SHOWN = 10
"""The number of suspects that are printed."""
LEAST_QUALITY = 1e-16
"""Smaller qualities are not told apart on the screen."""


def clean(
    context: typer.Context,
    source: tables.LabelledOptions,
    model: Path | None = None,
    network: tables.Network = "linear",
    seed: tables.FitSeed = 0,
    out: Path | None = None,
    cleaned: Path | None = None,
    overwrite: tables.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Find the rows of a table whose labels are suspicious.

    A row is a suspect if its label is too far from what a robust model predicts. Rows are counted
    from 1 without the header, and the most suspicious one comes first. The saved suspects have the
    columns row, is_label_issue, label_quality (from 0 to 1), given_label and predicted_label.

    If more than half of the rows are suspects, no table without them is written, because the model
    is then not that of the majority. The exit code is 1.

        neurotron clean data.csv --label price

        neurotron clean data.csv --label price --out suspects.csv --cleaned c.csv

    Model
    -----
    model
        Use this model of `neurotron fit` instead of a new fit.

    Output
    ------
    out
        Save the ranked suspects to this CSV or Parquet file.
    cleaned
        Save the table without the suspects to this file, in the format of the table.
    """
    if model is not None:
        _refuse_options_of_a_fit(context)
    files = [source.data, model]
    table_output.check_output(
        "--out", out, tables.TABLES, overwrite=overwrite, others=[*files, cleaned]
    )
    copy = table_output.same_ending(source.data)
    table_output.check_output("--cleaned", cleaned, copy, overwrite=overwrite, others=files)
    found = _judged(source, model, network, seed)
    if out is not None:
        table_output.write(found.suspects, out, overwrite=overwrite)
    refused = cleaned is not None and found.mostly_suspects
    if refused:
        cleaned = None
    if cleaned is not None:
        kept = found.without_suspects()
        table_output.write(kept.frame, cleaned, kept.separator, overwrite=overwrite)
    if as_json:
        typer.echo(options.as_json(found.summary(), int(refused)))
    else:
        _print(found, [path for path in (out, cleaned) if path is not None], saved=out is not None)
    if refused:
        _say_why_not_cleaned(found)
        raise typer.Exit(1)


def _refuse_options_of_a_fit(context: typer.Context) -> None:
    """Refuse options that would have no effect, because a saved model is not fitted again."""
    for name in ("network", "seed"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise _check.InputError(
                f"`--{name}` is an option of a new fit, and `--model` uses a saved one: leave out "
                "one of them"
            )


def _say_why_not_cleaned(found: _Judged) -> None:
    share = part(found.suspects.height, len(found.inputs.rows))
    options.console(stderr=True).print(
        f"error: `--cleaned` is not written, because {share} are suspects, more than half, so the "
        "model is not that of the majority: do not trust this fit, and check the table and the "
        "model first"
    )


@dataclass(frozen=True)
class _Judged:
    """A table whose labels a model has judged."""

    inputs: TableInputs
    label: str
    model: NeuroTronRegressor
    suspects: pl.DataFrame
    doubts: tuple[str, ...]

    @property
    def mostly_suspects(self) -> bool:
        """Whether more than half of the rows are suspects."""
        return 2 * self.suspects.height > len(self.inputs.rows)

    def without_suspects(self) -> TableFile:
        """Return the table without the suspects."""
        rows = self.suspects["row"].to_numpy()
        return self.inputs.table.kept(~np.isin(self.inputs.rows, rows))

    def summary(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return table_output.summary(self.inputs, self.label, self.model) | {
            "suspects": self.suspects.height,
            "suspicious_rows": self.suspects.drop("is_label_issue").to_dicts(),
            "reasons_to_doubt": self.doubts,
        }


def _judged(source: tables.LabelledOptions, model: Path | None, network: str, seed: int) -> _Judged:
    """Judge the labels of a table by the model that is given, or by one that is fitted to them."""
    if model is None:
        inputs, name, labels = source.read()
        found = tables.fitted(inputs, labels, network, seed)
        doubts = table_output.doubts(inputs, found)
    else:
        from neurotron.estimators import load_model

        found = load_model(model)
        inputs, name, labels = source.read(found)
        doubts = ()
    return _Judged(inputs, name, found, _suspects(inputs, labels, found), doubts)


def _suspects(inputs: TableInputs, labels: Array, model: NeuroTronRegressor) -> pl.DataFrame:
    """Return the rows with suspicious labels, the worst first."""
    import polars as pl

    report = model.label_report(inputs.X, labels)
    frame = pl.DataFrame({"row": inputs.rows} | {name: report[name] for name in COLUMNS})
    distance = (pl.col("given_label") - pl.col("predicted_label")).abs()
    return frame.filter("is_label_issue").sort("label_quality", -distance, "row")


def _quality(value: float) -> str:
    """Return a quality as text.

    >>> _quality(0.0123), _quality(6.2e-127)
    ('0.012', '< 1e-16')
    """
    return f"{value:.2g}" if value >= LEAST_QUALITY else f"< {LEAST_QUALITY:g}"


def _print(found: _Judged, written: list[Path], *, saved: bool) -> None:
    console = options.console()
    suspects = found.suspects
    table_output.describe(console, found.inputs, found.label, found.model, suspects.height)
    if suspects.height:
        table = options.grid(">row", ">label", ">predicted", ">quality")
        for row in suspects.head(SHOWN).iter_rows(named=True):
            numbers = [readable(row[f"{name}_label"]) for name in ("given", "predicted")]
            table.add_row(str(row["row"]), *numbers, _quality(row["label_quality"]))
        console.print("")
        console.print(table)
        hidden = suspects.height - SHOWN
        see_all = "" if saved else ": save them all with --out"
        more = f" {hidden:,} more are not shown{see_all}." if hidden > 0 else ""
        console.print(
            f"\nRows are counted from 1 without the header; the most suspicious one is first.{more}"
        )
    table_output.print_doubts(console, found.doubts)
    table_output.print_written(console, written)
