"""`neurotron clean`: the rows of a table whose labels do not fit, ranked, and the table without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table

from neurotron.cli import options, table_output
from neurotron.cli import table_options as tables

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from neurotron._types import Array
    from neurotron.cli.table_options import Inputs
    from neurotron.estimator import NeuroTronRegressor

__all__ = ["clean"]

SHOWN = 10
"""The number of suspects that are printed."""


def clean(
    data: tables.Data,
    label: tables.Label,
    drop: tables.Drop = None,
    skip_missing: tables.SkipMissing = False,
    separator: tables.Separator = ",",
    decimal_comma: tables.DecimalComma = False,
    model: Annotated[
        Path | None,
        options.option(
            tables.MODEL, help="Use this model of `neurotron fit` instead of a new fit."
        ),
    ] = None,
    network: tables.Network = "linear",
    seed: tables.FitSeed = 0,
    out: Annotated[
        Path | None,
        options.option(
            options.OUTPUT, help="Save the ranked suspects to this CSV or Parquet file."
        ),
    ] = None,
    cleaned: Annotated[
        Path | None,
        options.option(
            options.OUTPUT,
            help="Save the table without the suspects to this file, in the format of the table.",
        ),
    ] = None,
    overwrite: tables.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Find the rows of a table whose labels are suspicious.

    A row is a suspect if its label is too far from what a robust model predicts. Rows are counted
    from 1 without the header, and the most suspicious one comes first. The saved suspects have the
    columns row, is_label_issue, label_quality (from 0 to 1), given_label and predicted_label.

        neurotron clean data.csv --label price

        neurotron clean data.csv --label price --out suspects.csv --cleaned c.csv
    """
    files = [data, model]
    table_output.check_output(
        "--out", out, tables.TABLES, overwrite=overwrite, others=[*files, cleaned]
    )
    copy = table_output.same_ending(data)
    table_output.check_output("--cleaned", cleaned, copy, overwrite=overwrite, others=files)
    inputs, name, labels, fitted = _model_of_rows(
        data, label, drop, model, network, seed, skip_missing=skip_missing, separator=separator,
        decimal_comma=decimal_comma,
    )  # fmt: skip
    report = _report(inputs, labels, fitted)
    suspects = report.filter(report["is_label_issue"])
    if out is not None:
        table_output.write(suspects, out)
    if cleaned is not None:
        kept = inputs.table.kept(~np.isin(inputs.rows, suspects["row"].to_numpy()))
        table_output.write(kept.frame, cleaned, kept.separator)
    if as_json:
        typer.echo(json.dumps(_summary(inputs, name, fitted, suspects), indent=2))
    else:
        _print(inputs, name, fitted, suspects, [out, cleaned])


def _model_of_rows(
    data: Path, label: list[str], drop: list[str] | None, model: Path | None, network: str,
    seed: int, **reading: Any,
) -> tuple[Inputs, str, Array, NeuroTronRegressor]:  # fmt: skip
    """Return the rows with their labels, and the model that is given or fitted to them."""
    if model is None:
        inputs, name, labels = tables.read_labelled(data, label, drop, **reading)
        return inputs, name, labels, tables.fitted(inputs, labels, network, seed)
    from neurotron.estimator import load_model

    loaded = load_model(model)
    inputs, name, labels = tables.read_labelled(data, label, drop, model=loaded, **reading)
    return inputs, name, labels, loaded


def _report(inputs: Inputs, labels: Array, model: NeuroTronRegressor) -> pl.DataFrame:
    """Return all rows with what the model says about their labels, the worst first."""
    import polars as pl

    report = model.label_report(inputs.X, labels)
    names = ("is_label_issue", "label_quality", "given_label", "predicted_label")
    frame = pl.DataFrame({"row": inputs.rows} | {name: report[name] for name in names})
    distance = (pl.col("given_label") - pl.col("predicted_label")).abs()
    order = [~pl.col("is_label_issue"), pl.col("label_quality"), -distance, pl.col("row")]
    return frame.sort(order)


def _print(
    inputs: Inputs, label: str, model: NeuroTronRegressor, suspects: pl.DataFrame,
    written: list[Path | None],
) -> None:  # fmt: skip
    console = options.console()
    table_output.describe(console, inputs, label, model, suspects.height)
    if suspects.height:
        _print_suspects(console, suspects)
    for path in written:
        if path is not None:
            console.print(f"Written: {path}")


def _print_suspects(console: Console, suspects: pl.DataFrame) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("row", "label", "predicted", "quality"):
        table.add_column(title, header_style="dim", justify="right")
    for row in suspects.head(SHOWN).iter_rows(named=True):
        numbers = [f"{row[name]:.6g}" for name in ("given_label", "predicted_label")]
        table.add_row(str(row["row"]), *numbers, f"{row['label_quality']:.2g}")
    console.print("")
    console.print(table)
    hidden = suspects.height - SHOWN
    more = f" {hidden:,} more are not shown: save them all with --out." if hidden > 0 else ""
    console.print(
        f"\nRows are counted from 1 without the header; the most suspicious one is first.{more}"
    )


def _summary(
    inputs: Inputs, label: str, model: NeuroTronRegressor, suspects: pl.DataFrame
) -> dict[str, Any]:
    return table_output.summary(inputs, label, model) | {
        "suspects": suspects.height,
        "suspicious_rows": suspects["row"].to_list(),
    }
