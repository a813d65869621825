"""`neurotron fit` and `neurotron predict`: a model of a table with poisoned labels, in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neurotron import _check
from neurotron._digits import part
from neurotron.cli import options, table_output
from neurotron.cli import table_options as tables

if TYPE_CHECKING:
    from neurotron.cli.table_options import TableInputs
    from neurotron.estimators import NeuroTronRegressor, PredictionIntervals


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


@dataclass(frozen=True, kw_only=True)
class IntervalOptions:
    """The options of prediction intervals.

    Intervals
    ---------
    interval : PROBABILITY
        Predict an interval, too, which covers the clean label with this probability, at least.
    calibration
        A table with labels that the fit has not seen, from which intervals get their width. Do not
        leave suspects out of it.
    label : COLUMN
        The column of that table with the labels.
    poisoned
        The most rows of that table that may be poisoned, whichever they are and whatever is written
        into them.
    coin
        Instead: the largest probability with which each label of it is poisoned, whatever its row
        is.
    """

    interval: float | None = None
    calibration: Path | None = None
    label: str | None = None
    poisoned: int | None = None
    coin: float | None = None

    def around(
        self, model: NeuroTronRegressor, source: tables.TableOptions
    ) -> PredictionIntervals | None:
        """Return the intervals, if they are asked for; the table is read as the other one."""
        given = [name for name, value in vars(self).items() if value is not None]
        if self.interval is None and given:
            raise _check.InputError(f"`{given[0]}` is about intervals: give `interval` as well")
        if self.interval is None:
            return None
        level = _check.number("interval", self.interval, "(0, 1)")
        if self.calibration is None or self.label is None:
            raise _check.InputError(
                "`interval` needs rows that the fit has not seen: give `calibration`, a table, "
                "and `label`, its column of labels"
            )
        from neurotron.estimators import intervals

        table = {**vars(source), "data": self.calibration, "label": [self.label]}
        inputs, _, labels = tables.LabelledOptions(**table).read(model)
        return intervals(
            model, inputs.X, labels, confidence_level=level, poisoned=self.poisoned,
            coin=self.coin,
        )  # fmt: skip


def predict(
    model: tables.ModelFile,
    source: tables.TableOptions,
    band: IntervalOptions,
    out: Path | None = None,
    overwrite: tables.Overwrite = False,
) -> None:
    """Predict the labels of a table with a model that `neurotron fit` saved.

    The inputs are found by the names of their columns. Other columns are not used. The result has
    two columns: row, counted from 1 without the header, and predicted_label. With --interval,
    --calibration, --label, and --poisoned or --coin it has the ends of an interval, too: lower and
    upper.

        neurotron predict model.safetensors new.csv --out predictions.csv

    Output
    ------
    out
        The file of the predictions (CSV or Parquet). Default: they are printed as CSV.
    """
    from neurotron.estimators import load_model

    table_output.check_output(
        "--out", out, tables.TABLES, overwrite=overwrite,
        others=[source.data, model, band.calibration],
    )  # fmt: skip
    loaded = load_model(model)
    around = band.around(loaded, source)
    inputs = source.inputs_of(loaded)
    import polars as pl

    found = pl.DataFrame({"row": inputs.rows, "predicted_label": loaded.predict(inputs.X)})
    if around is not None:
        _, ends = around.predict_interval(inputs.X)
        found = found.with_columns(lower=ends[:, 0, 0], upper=ends[:, 1, 0])
    if out is None:
        typer.echo(found.write_csv(), nl=False)
        if around is not None:
            options.console(stderr=True).print(f"note: {around}")
        return
    table_output.write(found, out, overwrite=overwrite)
    console = options.console()
    if around is not None:
        console.print(f"{around.to_text(options.readable_width(console))}\n")
    left_out = f", {part(inputs.skipped, inputs.total)} left out" if inputs.skipped else ""
    console.print(f"rows      {found.height:,} predicted{left_out}")
    table_output.print_unused(console, inputs)
    table_output.print_written(console, [out])
