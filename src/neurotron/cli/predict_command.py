"""`neurotron predict`: the labels that a saved model predicts for a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neurotron._digits import part
from neurotron.cli import options, table_output
from neurotron.cli import table_options as tables

__all__ = ["predict"]


def predict(
    model: tables.ModelFile,
    data: tables.Data,
    skip_missing: tables.SkipMissing = False,
    separator: tables.Separator = ",",
    decimal_comma: tables.DecimalComma = False,
    out: Annotated[
        Path | None,
        options.option(
            options.OUTPUT,
            help="The file of the predictions (CSV or Parquet). Default: they are printed as CSV.",
        ),
    ] = None,
    overwrite: tables.Overwrite = False,
) -> None:
    """Predict the labels of a table with a model that `neurotron fit` saved.

    The inputs are found by the names of their columns. Other columns are not used. The result has
    two columns: row, counted from 1 without the header, and predicted_label.

        neurotron predict model.safetensors new.csv --out predictions.csv
    """
    from neurotron.estimators import load_model

    table_output.check_output(
        "--out", out, tables.TABLES, overwrite=overwrite, others=[data, model]
    )
    loaded = load_model(model)
    inputs = tables.read_inputs(
        data, loaded, skip_missing=skip_missing, separator=separator, decimal_comma=decimal_comma
    )
    import polars as pl

    found = pl.DataFrame({"row": inputs.rows, "predicted_label": loaded.predict(inputs.X)})
    if out is None:
        typer.echo(found.write_csv(), nl=False)
        return
    table_output.write(found, out, overwrite=overwrite)
    console = options.console()
    left_out = f", {part(inputs.skipped, inputs.total)} left out" if inputs.skipped else ""
    console.print(f"rows      {found.height:,} predicted{left_out}")
    table_output.print_unused(console, inputs)
    table_output.print_written(console, [out])
