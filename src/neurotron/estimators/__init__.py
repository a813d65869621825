"""Scikit-learn regressors for tables whose labels may be poisoned, and intervals around any."""

from neurotron._extras import require

require("sklearn")

from neurotron.estimators.certified_huber import CertifiedHuberRegressor  # noqa: E402
from neurotron.estimators.diagnosis import Diagnosis  # noqa: E402
from neurotron.estimators.intervals import intervals  # noqa: E402
from neurotron.estimators.linear_smoother import LinearSmoother  # noqa: E402
from neurotron.estimators.loading import load_model  # noqa: E402
from neurotron.estimators.median_of_parts import MedianOfParts  # noqa: E402
from neurotron.estimators.prediction_intervals import PredictionIntervals  # noqa: E402
from neurotron.estimators.regressor import NeuroTronRegressor  # noqa: E402
from neurotron.estimators.trim import TrimRegressor  # noqa: E402

__all__ = [
    "CertifiedHuberRegressor", "Diagnosis", "LinearSmoother", "MedianOfParts",
    "NeuroTronRegressor", "PredictionIntervals", "TrimRegressor", "intervals", "load_model",
]  # fmt: skip
