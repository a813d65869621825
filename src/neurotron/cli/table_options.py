"""What the commands for tables share: their options, and inputs and labels from a table."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from neurotron import _check
from neurotron._extras import require
from neurotron.cli import options

if TYPE_CHECKING:
    import polars as pl

    from neurotron._types import Array, Index
    from neurotron.cli.table_file import TableFile
    from neurotron.estimators import NeuroTronRegressor

MODEL = options.HelpPanel("Model")
TABLES = (".csv", ".parquet")
"""How the names of tables end."""
MODELS = (".safetensors",)
"""How the names of model files end."""

Network = Annotated[
    str,
    MODEL(
        "The model, as `neurotron list networks` shows them: linear, relu-gate, "
        "convolution:filter_size=5 for signals, or convolution2d:filter_size=9 for images. All but "
        "the first also take leak= or activation=, as in relu-gate:activation=gelu.",
        metavar="NAME",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(help="A model that `neurotron fit` saved (.safetensors).", show_default=False),
]
FitSeed = Annotated[int, MODEL("The seed of the random starts.", "--seed")]
Overwrite = Annotated[bool, options.OUTPUT("Replace files that exist already.", "--overwrite")]


@dataclass(frozen=True)
class TableInputs:
    """The rows of a table as numbers."""

    table: TableFile
    names: list[str]
    X: pl.DataFrame
    skipped: int
    unused: tuple[str, ...] = ()
    """Columns that the model does not know."""

    @property
    def rows(self) -> Index:
        """The numbers of the rows, from 1."""
        return self.table.rows

    @property
    def total(self) -> int:
        """How many rows the file has."""
        return len(self.rows) + self.skipped


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of a table and of how it is read.

    Arguments
    ---------
    data
        A table with a header: a CSV or Parquet file. Its rows are counted from 1, without the
        header.

    Table
    -----
    skip_missing
        Leave out rows with missing values.
    separator
        The character between the columns of a CSV file, or tab.
    decimal_comma
        Numbers in a CSV file look like 1,5.
    """

    data: Path
    skip_missing: bool = False
    separator: str = ","
    decimal_comma: bool = False

    def inputs_of(self, model: NeuroTronRegressor) -> TableInputs:
        """Return the inputs for a model; other columns are ignored."""
        table = self._table()
        names = _names_for(model, table.columns, table)
        return self._numbers(table, names, table.columns, names, needed=True)

    def _table(self) -> TableFile:
        _check.path("data", self.data, *TABLES)
        require("polars")
        from neurotron.cli.table_file import read_table

        between = "\t" if self.separator in ("tab", "\\t") else self.separator
        return read_table(self.data, separator=between, decimal_comma=self.decimal_comma)

    def _numbers(
        self, table: TableFile, names: list[str], given: Sequence[str], whole: Sequence[str], *,
        needed: bool,
    ) -> TableInputs:  # fmt: skip
        """Return the columns of these names, for rows without missing values in `whole` columns.

        Of the columns that were `given`, the others are not used.
        """
        kept = table.complete(whole) if self.skip_missing else table
        X = kept.inputs(names, needed=needed)
        unused = tuple(_without(given, names))
        return TableInputs(kept, names, X, len(table.rows) - len(kept.rows), unused)


@dataclass(frozen=True, kw_only=True)
class LabelledOptions(TableOptions):
    """The options of a table with labels.

    Table
    -----
    label : COLUMN
        The column with the labels.
    drop : COLUMN
        A column that is neither an input nor the label. Repeat the option for several.
    """

    label: list[str]
    drop: list[str] | None = None

    def read(self, model: NeuroTronRegressor | None = None) -> tuple[TableInputs, str, Array]:
        """Return the inputs of a table, the name of its label, and the labels.

        The inputs are all other columns, or those that a `model` was fitted on.
        """
        table, drop = self._table(), self.drop or []
        if len(self.label) != 1:
            raise _check.InputError(f"`--label` must be given once, got {' and '.join(self.label)}")
        (name,) = self.label
        table.require("--label", self.label)
        table.require("--drop", drop)
        if name in drop:
            raise _check.InputError(f"{_check.shown(name)} is given as `--label` and as `--drop`")
        given = _without(table.columns, [name, *drop])
        if not given:
            raise table.refusal(
                f"there is no column of inputs, only the label {_check.shown(name)}"
            )
        names = given if model is None else _names_for(model, given, table)
        inputs = self._numbers(table, names, given, [name, *names], needed=model is not None)
        labels = inputs.table.labels(name)
        if model is None and (labels == labels[0]).all():
            raise table.refusal(
                f"all labels in column {_check.shown(name)} are {labels[0]:g}: there is nothing to "
                "learn; choose another label"
            )
        return inputs, name, labels


def _names_for(model: NeuroTronRegressor, columns: list[str], table: TableFile) -> list[str]:
    """Return the columns that a model was fitted on, all of which must be there."""
    if not hasattr(model, "feature_names_in_"):
        if len(columns) != model.n_features_in_:
            raise table.refusal(
                f"the model was fitted on {model.n_features_in_} columns without names, but there "
                f"are {len(columns)} columns of inputs: give a table with these columns only"
            )
        return columns
    names = [str(name) for name in model.feature_names_in_]
    if missing := _without(names, columns):
        unknown = _without(columns, names)
        has = f"; it has {listed(unknown)}, which the model does not know" if unknown else ""
        raise table.refusal(
            f"the model was fitted on {listed(missing)}, which the table does not have{has}: "
            "rename or add what is missing, or fit a model without it"
        )
    return names


def listed(names: Sequence[str]) -> str:
    """Return the names of columns in words, at most three of them."""
    shown = ", ".join(map(_check.shown, names[:3]))
    more = f" and {len(names) - 3} more" * (len(names) > 3)
    return f"the column{'s' * (len(names) > 1)} {shown}{more}"


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the names that are not among the others, in their order."""
    known = set(others)
    return [name for name in names if name not in known]


# ---- fitting -------------------------------------------------------------------------------------


def fitted(inputs: TableInputs, labels: Array, network: str, seed: int) -> NeuroTronRegressor:
    """Return a model of the rows; warnings become sentences on the standard error."""
    from neurotron.estimators import NeuroTronRegressor
    from neurotron.estimators.reasons import few_rows
    from neurotron.estimators.regressor import network_for

    seed = _check.integer("--seed", seed, 0)
    model = NeuroTronRegressor(random_state=seed, network=network)
    wanted = network_for(network, inputs.X.shape[1]).filter_size + 1
    if len(labels) > wanted and (few := few_rows(len(labels), wanted)):  # else refused by the fit
        options.console(stderr=True).print(f"note: {few}")
    with warnings_as_sentences(), options.progress("fitting the model, by restarts") as show:
        model._progress = show
        model.fit(inputs.X, labels)
    del model._progress
    if not np.isfinite(model.weights_).all():
        raise inputs.table.refusal(
            "no weights were found, because the sizes of the columns differ too much: give them in "
            "units in which typical values are near 1"
        )
    return model


@contextlib.contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Print warnings as sentences on the standard error, without the line of code."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, about single numbers
        warnings.filterwarnings("ignore", "the search tried all")  # the last lines say it
        yield
    for text in dict.fromkeys(str(each.message) for each in caught):
        text = text.replace("`X`", "the table")
        options.console(stderr=True).print(f"warning: {text}")
