"""`neurotron poison`: a copy of a table with attacked labels, to test a defence with."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neurotron import _check
from neurotron._digits import part
from neurotron.cli import options, table_output
from neurotron.cli import table_options as tables

if TYPE_CHECKING:
    from neurotron._types import Array, Mask
    from neurotron.attacks import Attack


def poison(
    source: tables.LabelledOptions,
    *,
    attack: str = "constant",
    bound: float | None = None,
    probability: float = 0.1,
    seed: int = 0,
    out: Path,
    changed: Path | None = None,
    allow_code: options.AllowCode = False,
    overwrite: tables.Overwrite = False,
) -> None:
    """Attack the labels of a table, and save the poisoned table.

    Use it to test a defence on your own data. All columns are written, and only labels change. The
    attacks are those of `neurotron list attacks`; they take the labels for those of a linear model.

        neurotron poison data.csv --label price --bound 50 --out poisoned.csv

        neurotron poison data.csv --label price --attack sign-flip --out bad.csv

    Attack
    ------
    attack : attacks
        The attack on the labels.
    bound
        θ, the largest change of a label, in units of the label. Some attacks need none.
    probability
        β, the probability that a label is attacked.
    seed
        The seed of the attack.

    Output
    ------
    out
        The file of the poisoned table, in the format of the table.
    changed
        Save which labels were changed to this CSV or Parquet file.
    """
    copy = table_output.same_ending(source.data)
    table_output.check_output(
        "--out", out, copy, overwrite=overwrite, others=[source.data, changed]
    )
    table_output.check_output(
        "--changed", changed, tables.TABLES, overwrite=overwrite, others=[source.data]
    )
    inputs, name, honest = source.read()
    received, mask, built = _poisoned(inputs.X.to_numpy(), honest, attack, bound, probability, seed)
    import polars as pl

    table = inputs.table.with_numbers(name, received, mask)
    table_output.write(table.frame, out, table.separator, overwrite=overwrite)
    if changed is not None:
        columns = {"row": inputs.rows, "honest_label": honest, "poisoned_label": received}
        rows = pl.DataFrame(columns).filter(pl.Series(mask))
        table_output.write(rows, changed, overwrite=overwrite)
    console = options.console()
    table_output.describe_rows(console, inputs, name)
    console.print(f"attack    {built!r}")
    console.print(f"changed   {part(int(mask.sum()), len(mask))}")
    table_output.print_written(console, [path for path in (out, changed) if path is not None])


def _poisoned(
    X: Array, y: Array, name: str, bound: float | None, probability: float, seed: int
) -> tuple[Array, Mask, Attack]:
    """Return the labels after the attack, which of them it changed, and the attack.

    An attack that chooses among all rows also knows the linear model that fits them.
    """
    from neurotron import attacks, networks
    from neurotron.poisoning import poison as poison_rows
    from neurotron.problem import Problem
    from neurotron.solvers import solve

    linear = networks.linear(X.shape[1])
    problem = Problem.from_rows(linear, X, y, intercept=True)
    if bound is None:
        bound = _no_bound(name)
    attack = attacks.build(name, problem, bound=bound, probability=probability, seed=seed)
    if attack is None:
        raise _check.InputError("`--attack` must not be none: nothing would change")
    model = None
    if attack.scope == "rows":
        with tables.warnings_as_sentences():
            found = solve(linear, X, y, intercept=True, prove=False)
        model = problem.network, np.append(found.weights, found.intercept)
    extended = np.column_stack([X, np.ones(len(X))])
    return *poison_rows(extended, y, attack, seed=seed, model=model), attack


def _no_bound(text: str) -> float:
    """Return infinity for an attack that needs no bound, or has one; refuse any other one."""
    from neurotron._registry import parse
    from neurotron.attacks.catalog import kind_of

    name, given = parse(text)
    if name != "none" and "bound" not in given and kind_of(name).covered:
        raise _check.InputError(
            f"the attack {_check.shown(name)} needs a largest change of a label: add --bound"
        )
    return math.inf
