"""`neurotron verify`: how far a saved model is from the true one, proved on fresh rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.table import Table

from neurotron import _check
from neurotron._digits import readable, up
from neurotron.cli import options, table_output
from neurotron.cli import table_options as tables

if TYPE_CHECKING:
    from neurotron.cli.table_options import TableInputs
    from neurotron.estimators import NeuroTronRegressor
    from neurotron.guarantees import Verification
    from neurotron.laws import Law

SHOWN = 20
"""The largest number of coefficients that are printed."""


def verify(
    model: tables.ModelFile,
    source: tables.LabelledOptions,
    *,
    probability: float,
    attacker: str = "any",
    bound: float | None = None,
    noise: str = "independent",
    law: str | None = None,
    confidence: float = 0.999,
    plot: options.Picture = None,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> None:
    """Verify a model of `neurotron fit` on fresh rows, some of whose labels may be attacked.

    The rows must be fresh, which means that the fit has not seen them. Attacked labels may be
    anything. If the model explains enough of the rows, its distance from the true model is at most
    the radius that is printed. Without --law it is an estimate. The exit code is 1 if there is no
    radius, or if it is larger than the model itself.

        neurotron verify model.safetensors new.csv --label price --probability 0.05

        neurotron verify m.safetensors new.csv --label y --probability 0.1 --noise 0

    Attack
    ------
    probability
        β, the largest share of these labels that may be attacked.
    attacker
        any: at most a share β of the rows, which the attacker chooses. coin: each label with a
        probability of at most β, whatever its row is.
    bound
        θ, the largest change of a label. Default: there is none.

    Guarantee
    ---------
    noise
        The noise of honest labels: independent of the inputs, even in them, 0 for exact labels, or
        the least standard deviation of normal noise.
    law : laws
        The law of the inputs, if you know it. Default: that of the rows, which is an estimate.
    confidence
        The probability with which the result holds.
    """
    from neurotron.estimators import load_model

    stated = _noise(noise)
    loaded = load_model(model)
    assumed = _law(law, loaded)
    inputs, name, labels = source.read(loaded)
    found = loaded.verify(
        inputs.X, labels, probability=probability, attacker=attacker, confidence=confidence,
        noise=stated, bound=bound, law=assumed,
    )  # fmt: skip
    if plot is not None:
        found.plot(str(plot))
    if as_json:
        typer.echo(options.as_json(_summary(inputs, name, found), int(not found.useful)))
    else:
        _print(inputs, name, loaded, found, plot)
    if not found.useful:
        raise typer.Exit(1)


def _noise(text: str) -> str | float:
    """Return what is said about the noise: a word, or a number."""
    if text in ("independent", "even"):
        return text
    try:
        return float(text)
    except ValueError:
        raise _check.InputError(
            "`--noise` must be independent, even, or a number such as 0 or 0.1, got "
            f"{_check.shown(text)}"
        ) from None


def _law(text: str | None, model: NeuroTronRegressor) -> Law | None:
    from neurotron import laws

    return None if text is None else laws.BY_NAME.build(text, n_inputs=model.n_features_in_)


def _summary(inputs: TableInputs, label: str, found: Verification) -> dict[str, Any]:
    return found.to_dict() | table_output.origin(inputs, label)


def _print(
    inputs: TableInputs,
    label: str,
    model: NeuroTronRegressor,
    found: Verification,
    plot: Path | None,
) -> None:
    console = options.console()
    table_output.describe_rows(console, inputs, label)
    console.print(f"\n{found.to_text(options.readable_width(console))}")
    radii = found.coefficient_radii
    if found.holds and radii is not None and _is_short_list(model):
        console.print("")
        console.print(_coefficients(inputs.names, model, radii.tolist()))
    if plot is not None:
        console.print(f"\nPicture: {plot}")


def _is_short_list(model: NeuroTronRegressor) -> bool:
    """Whether the weights are a few coefficients, one for each column."""
    return model.n_features_in_ <= SHOWN and np.array_equal(model.weights_, model.coef_)


def _coefficients(names: list[str], model: NeuroTronRegressor, radii: list[float]) -> Table:
    """Return a table of the coefficients, and of the constant if it is verified, too."""
    table = options.grid("column", ">coefficient", ">off by at most")
    values = [*model.coef_.tolist(), model.intercept_]
    shown = [*map(_check.printable, names), "(intercept)"]
    for name, value, radius in zip(shown, values, radii, strict=False):
        table.add_row(name, readable(value), up(radius))
    return table
