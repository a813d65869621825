"""`neurotron fit` and `neurotron predict`: a model of a table with poisoned labels, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neurotron._digits import part
from neurotron.cli import options, table_output
from neurotron.cli import table_options as tables

if TYPE_CHECKING:
    from neurotron.cli.table_options import TableInputs
    from neurotron.estimators import NeuroTronRegressor


def fit(
    source: tables.LabelledOptions,
    *,
    network: tables.Network = "linear",
    seed: tables.FitSeed = 0,
    out: Path,
    no_row_hashes: bool = False,
    overwrite: tables.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit a model to a table whose labels may be poisoned, and save it.

    All columns except the label are inputs, and must be numbers. Labels that do not fit the model
    of the majority are ignored. They must be fewer than half, and clearly fewer on the
    rows with the most unusual inputs. The command `neurotron clean` shows the suspects.

        neurotron fit data.csv --label price --out model.safetensors

        neurotron fit rows.parquet --label price --drop id --out m.safetensors

    Output
    ------
    out
        The file of the model, which must end in .safetensors.
    no_row_hashes
        Do not save hashes of the rows, by which `neurotron verify` refuses them.
    """
    from neurotron import model_file

    table_output.check_output(
        "--out", out, tables.MODELS, overwrite=overwrite, others=[source.data]
    )
    model_file.check_place(out)
    inputs, name, labels = source.read()
    model = tables.fitted(inputs, labels, network, seed)
    model_file.save(model, out, overwrite=overwrite, row_hashes=not no_row_hashes)
    if as_json:
        typer.echo(options.as_json(_summary(inputs, name, model, out)))
    else:
        _print(inputs, name, model, out)


def _print(inputs: TableInputs, label: str, model: NeuroTronRegressor, out: Path) -> None:
    console = options.console()
    table_output.describe(console, inputs, label, model, int(model.suspects_.sum()))
    table_output.print_doubts(console, table_output.doubts(inputs, model))
    table_output.print_written(console, [out])


def _summary(
    inputs: TableInputs, label: str, model: NeuroTronRegressor, out: Path
) -> dict[str, Any]:
    return table_output.summary(inputs, label, model) | {
        "suspects": int(model.suspects_.sum()),
        "reasons_to_doubt": table_output.doubts(inputs, model),
        "weights": model.weights_.tolist(),
        "intercept": float(model.intercept_),
        "out": str(out),
    }


def predict(
    model: tables.ModelFile,
    source: tables.TableOptions,
    out: Path | None = None,
    overwrite: tables.Overwrite = False,
) -> None:
    """Predict the labels of a table with a model that `neurotron fit` saved.

    The inputs are found by the names of their columns. Other columns are not used. The result has
    two columns: row, counted from 1 without the header, and predicted_label.

        neurotron predict model.safetensors new.csv --out predictions.csv

    Output
    ------
    out
        The file of the predictions (CSV or Parquet). Default: they are printed as CSV.
    """
    from neurotron.estimators import load_model

    table_output.check_output(
        "--out", out, tables.TABLES, overwrite=overwrite, others=[source.data, model]
    )
    loaded = load_model(model)
    inputs = source.inputs_of(loaded)
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
