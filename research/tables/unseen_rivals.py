"""Two rivals from other packages, as regressors of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

Array = npt.NDArray[np.float64]


class TukeyRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The M-estimate with the bisquare of Tukey, from least squares on (statsmodels' RLM)."""

    def fit(self, X: Array, y: Array) -> Self:
        """Fit rows and labels."""
        import statsmodels.api as sm

        loss = sm.robust.norms.TukeyBiweight()
        self.parameters_ = sm.RLM(y, _with_ones(X), M=loss).fit().params
        return self

    def predict(self, X: Array) -> Array:
        """Return the predictions for rows."""
        return np.asarray(_with_ones(X) @ self.parameters_)


class CleanlabRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares on the rows that cleanlab keeps.

    Attributes
    ----------
    suspects_
        The rows whose labels are called an issue.
    suspicion_
        One minus the quality of each label.
    """

    def fit(self, X: Array, y: Array) -> Self:
        """Fit rows and labels."""
        from cleanlab.regression.learn import CleanLearning

        self.model_ = CleanLearning(LinearRegression(), seed=0, verbose=False).fit(X, y)
        issues = self.model_.get_label_issues()
        self.suspects_ = issues["is_label_issue"].to_numpy(bool)
        self.suspicion_ = 1.0 - issues["label_quality"].to_numpy(float)
        return self

    def predict(self, X: Array) -> Array:
        """Return the predictions for rows."""
        return np.asarray(self.model_.predict(X))


def _with_ones(X: Array) -> Any:
    return np.column_stack([np.ones(len(X)), X])
