"""A scikit-learn regressor for tables whose labels may be poisoned."""

from neurotron._extras import require

require("sklearn")

from neurotron.estimators.certified_huber import CertifiedHuberRegressor  # noqa: E402
from neurotron.estimators.diagnosis import Diagnosis  # noqa: E402
from neurotron.estimators.loading import load_model  # noqa: E402
from neurotron.estimators.median_of_parts import MedianOfParts  # noqa: E402
from neurotron.estimators.regressor import NeuroTronRegressor  # noqa: E402
from neurotron.estimators.trim import TrimRegressor  # noqa: E402

__all__ = [
    "CertifiedHuberRegressor", "Diagnosis", "MedianOfParts", "NeuroTronRegressor", "TrimRegressor",
    "load_model",
]  # fmt: skip
