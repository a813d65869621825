"""Regressors by name: what `neurotron audit` audits, and what it recommends instead.

``"ridge:alpha=100"`` is a name with a setting. Nothing is evaluated: a name is looked up, and every
setting is a number or a word that is checked. So a text from anywhere can do no harm.

Every regressor takes the columns as they are. Those whose predictions depend on units standardise
the columns themselves, and those that draw random numbers always draw the same ones.
"""

from __future__ import annotations

import re
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    QuantileRegressor,
    RANSACRegressor,
    Ridge,
    TheilSenRegressor,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from neurotron import _check, networks
from neurotron._digits import up
from neurotron._references import is_reference
from neurotron._registry import Registry, parse
from neurotron.estimators.certified_huber import CertifiedHuberRegressor
from neurotron.estimators.median_of_parts import MedianOfParts
from neurotron.estimators.regressor import NeuroTronRegressor
from neurotron.estimators.trim import TrimRegressor

MOST_TREES, MOST_DEPTH, MOST_KNOTS = 10_000, 1_000, 1_000
MOST_SUBSETS, MOST_NEIGHBORS, MOST_PARTS = 1_000_000, 1_000_000, 100_001
POSITIVE = "(0, inf)"

# ---- linear in the labels ------------------------------------------------------------------------


def least_squares() -> Any:
    """Return linear regression by least squares, without any defence."""
    return _standardised(LinearRegression())


def ridge(alpha: float = 1.0) -> Any:
    """Return least squares with coefficients that are kept small by a penalty `alpha`."""
    return _standardised(Ridge(alpha=_check.number("alpha", alpha, "[0, inf)")))


def kernel_ridge(alpha: float = 1.0, gamma: float | None = None) -> Any:
    """Return smooth regression with Gaussian kernels exp(−`gamma`·distance²), penalty `alpha`.

    By default `gamma` is one over the number of columns. Labels are centred first.
    """
    width = None if gamma is None else _check.number("gamma", gamma, POSITIVE)
    model = KernelRidge(kernel="rbf", alpha=_check.number("alpha", alpha, POSITIVE), gamma=width)
    return TransformedTargetRegressor(
        _standardised(model), transformer=StandardScaler(with_std=False), check_inverse=False
    )


def nearest_neighbors(k: int = 5) -> Any:
    """Return the mean label of the `k` nearest rows."""
    neighbors = _check.integer("k", k, 1, MOST_NEIGHBORS)
    return _standardised(KNeighborsRegressor(n_neighbors=neighbors))


def splines(knots: int = 5, alpha: float = 1.0) -> Any:
    """Return a sum of cubic splines, one per column with some `knots`, with penalty `alpha`."""
    bends = SplineTransformer(n_knots=_check.integer("knots", knots, 2, MOST_KNOTS))
    return make_pipeline(bends, Ridge(alpha=_check.number("alpha", alpha, POSITIVE)))


def gaussian_process(length: float = 3.0, noise: float = 0.5) -> Any:
    """Return the mean of a Gaussian process whose functions bend over a `length`.

    The `length` is in standard deviations of the columns. The variance of the `noise` is in those
    of the functions. Neither is tuned.
    """
    kernel = RBF(_check.number("length", length, POSITIVE))
    spread = _check.number("noise", noise, POSITIVE)
    return _standardised(
        GaussianProcessRegressor(kernel, alpha=spread, optimizer=None, normalize_y=True)
    )


# ---- robust --------------------------------------------------------------------------------------


def huber(epsilon: float = 1.35) -> Any:
    """Return linear regression that counts residuals beyond `epsilon` deviations less."""
    limit = _check.number("epsilon", epsilon, "[1, inf)")
    return _standardised(HuberRegressor(epsilon=limit, max_iter=1_000))


def certified_huber(clip: float | None = None) -> Any:
    """Return Huber regression with a fixed `clip`, which bounds what changed labels can do to it.

    By default the clip is twice the standard deviation of the residuals of the first fit.
    """
    return CertifiedHuberRegressor(
        "auto" if clip is None else _check.number("clip", clip, "(0, inf]")
    )


def median_of_parts(of: str = "tree", parts: int = 21) -> Any:
    """Return the median of a regressor for each of some `parts` of the rows.

    The regressor `of` is written as elsewhere, with a semicolon between its settings:
    of=forest:trees=30;depth=5.
    """
    inner = BY_NAME.build(canonical(_check.text("of", of).replace(";", ",")))
    return MedianOfParts(inner, _check.integer("parts", parts, 1, MOST_PARTS))


def quantile(level: float = 0.5, alpha: float = 0.0) -> Any:
    """Return linear regression of a quantile of the labels, by default of the median.

    The `level` of the quantile is between 0 and 1. A penalty `alpha` keeps coefficients small.
    """
    penalty = _check.number("alpha", alpha, "[0, inf)")
    at = _check.number("level", level, "(0, 1)")
    return _standardised(QuantileRegressor(quantile=at, alpha=penalty, solver="highs-ipm"))


def ransac(threshold: float | None = None) -> Any:
    """Return linear regression of the most rows that agree up to a `threshold` (RANSAC).

    By default the threshold is the median distance of labels from their median.
    """
    limit = None if threshold is None else _check.number("threshold", threshold, POSITIVE)
    return _standardised(RANSACRegressor(residual_threshold=limit, random_state=0))


def theil_sen(subsets: int = 3_000) -> Any:
    """Return the median of the linear regressions of `subsets` small sets of rows (Theil–Sen)."""
    most = _check.integer("subsets", subsets, 1, MOST_SUBSETS)
    return _standardised(TheilSenRegressor(max_subpopulation=most, random_state=0))


def trim(share: float | None = None) -> Any:
    """Return linear regression without the `share` of rows that fit worst (TRIM).

    By default half of the rows are left out.
    """
    return TrimRegressor(None if share is None else _check.number("share", share, "[0, 1)"))


def neurotron(network: str = "linear") -> Any:
    """Return the regression of this package, which ignores poisoned labels.

    The `network` is written as elsewhere, with a semicolon between its parameters:
    network=convolution:filter_size=8;stride=2.
    """
    text = _check.text("network", network).replace(";", ",")
    networks.BY_NAME.read(text)
    return NeuroTronRegressor(network=text)


# ---- trees ---------------------------------------------------------------------------------------


def tree(depth: int = 5) -> Any:
    """Return one regression tree of at most so many splits below each other (`depth`)."""
    return DecisionTreeRegressor(max_depth=_depth(depth), random_state=0)


def forest(trees: int = 100, depth: int | None = None) -> Any:
    """Return the mean of many random `trees`, of any depth unless `depth` limits it."""
    limit = None if depth is None else _depth(depth)
    return RandomForestRegressor(_trees(trees), max_depth=limit, random_state=0)


def boosting(trees: int = 100, depth: int = 3, rate: float = 0.1) -> Any:
    """Return a sum of small `trees`, each fitted to what those before it leave (boosting).

    Each has at most `depth` splits below each other, and counts with the factor `rate`.
    """
    step = _check.number("rate", rate, "(0, 1]")
    return GradientBoostingRegressor(
        n_estimators=_trees(trees), max_depth=_depth(depth), learning_rate=step, random_state=0
    )


# ---- shared --------------------------------------------------------------------------------------


def _standardised(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def _trees(trees: int) -> int:
    return _check.integer("trees", trees, 1, MOST_TREES)


def _depth(depth: int) -> int:
    return _check.integer("depth", depth, 1, MOST_DEPTH)


BY_NAME: Registry[Any] = Registry(
    "estimator",
    {
        factory.__name__.replace("_", "-"): factory
        for factory in (
            least_squares, ridge, kernel_ridge, nearest_neighbors, splines, gaussian_process,
            huber, certified_huber, quantile, ransac, theil_sen, trim, tree, forest, boosting,
            neurotron, median_of_parts,
        )
    },
    BaseEstimator,
)  # fmt: skip

SYNONYMS = {
    "linear": "least-squares", "ols": "least-squares", "knn": "nearest-neighbors",
    "kneighbors": "nearest-neighbors", "krr": "kernel-ridge", "gp": "gaussian-process",
    "gpr": "gaussian-process", "median": "quantile", "lad": "quantile", "decisiontree": "tree",
    "cart": "tree", "rf": "forest", "randomforest": "forest", "gbm": "boosting", "gbr": "boosting",
    "gbdt": "boosting", "gradientboosting": "boosting",
}  # fmt: skip
"""Other names that people type, in small letters and nothing else."""


def canonical(text: str) -> str:
    """Return a text with the name that this package has for the regressor.

    >>> canonical("rf:trees=30"), canonical("LinearRegression"), canonical("Theil_Sen")
    ('forest:trees=30', 'least-squares', 'theil-sen')
    """
    name, colon, settings = text.partition(":")
    bare = name.lower().replace("-", "").replace("_", "")
    bare = bare.removesuffix("regressor").removesuffix("regression")
    known = SYNONYMS | {each.replace("-", ""): each for each in BY_NAME}
    if bare in known:
        return f"{known[bare]}{colon}{settings}"
    if re.search(r"[./\\()]", name) and not is_reference(parse(text)[0]):
        raise _check.InputError(
            f"unknown estimator {_check.shown(text)}: write one of your own as module:name, or "
            "audit it in Python, with nt.audit(model, X, y, budget=…); `neurotron list estimators` "
            "shows those with a name"
        )
    return text


TOLD = "trim:share={share}"
"""TRIM that is told the share of poisoned labels, which `remedies` fills in."""

REMEDIES: tuple[str, ...] = (
    "ridge:alpha=10", "ridge:alpha=100", "huber", "certified-huber", "quantile", "ransac",
    "theil-sen:subsets=500", TOLD, "trim", "tree", "forest:trees=30", "neurotron",
)  # fmt: skip
"""What an audit tries in place of a regressor."""


ENOUGH_ROWS, PER_COLUMN = 20, 5
"""Rows in each part that a median of parts needs to be offered: so many, or so many for each number
that a linear model fits, if that is more. With fewer, a regression of a part says little."""


def parts_against(rows: int, columns: int, labels: int) -> int | None:
    """Return how many parts bound what a number of labels can do; None if parts were too small.

    Four times as many parts as labels and one more leave a middle half of the predictions.

    >>> parts_against(400, 3, 4), parts_against(400, 3, 5)
    (17, None)
    """
    parts = 4 * labels + 1
    return parts if rows >= parts * max(ENOUGH_ROWS, PER_COLUMN * (columns + 1)) else None


def remedies(share: float) -> tuple[str, ...]:
    """Return what an audit tries in place of a regressor, if a `share` of labels is poisoned.

    >>> remedies(5 / 74)[7:9]
    ('trim:share=0.06757', 'trim')
    """
    told = up(min(_check.number("share", share, "[0, 1]"), 0.99))
    return tuple(text.format(share=told) for text in REMEDIES)
