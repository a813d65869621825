"""What a fitted regressor can do: predict, judge labels, and say whether to trust it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from neurotron import _check, model_file
from neurotron._tiny import SMALLEST
from neurotron._types import Array
from neurotron.estimators.diagnosis import Diagnosis
from neurotron.estimators.held_out import HoldsOut
from neurotron.estimators.table import Hashes, inputs_of, labels_of
from neurotron.networks import FilterNetwork
from neurotron.residuals.suspects import HonestNoise, suspects_among
from neurotron.solvers.linearized import blocks_of, outputs_of
from neurotron.solvers.position import ROUNDING
from neurotron.solvers.search import Progress

if TYPE_CHECKING:
    from neurotron.guarantees import Verification
    from neurotron.laws import Law


class FittedModel(HoldsOut, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A filter of a network and the noise of its honest labels, as a scikit-learn regressor."""

    network_: FilterNetwork
    weights_: Array
    intercept_: float
    honest_noise_: HonestNoise
    input_center_: Array
    input_scale_: Array
    input_mean_: Array
    n_rows_: int
    row_hashes_: Hashes | None
    _progress: Progress | None = None
    """Told the number of starts and the most there can be, after every start of a fit."""
    fit_intercept: bool
    false_alarm_rate: float
    _diagnosis: Diagnosis

    @property
    def coef_(self) -> Array:
        """The coefficient of each column; only a linear network has them."""
        if not self.network_.is_linear:
            raise AttributeError("only a linear network has coefficients")
        return self.weights_ @ self.network_.mean_gate

    def predict(self, X: Any) -> Array:
        """Return the outputs of the model for the inputs X, shape (N,)."""
        check_is_fitted(self)
        return self._outputs(inputs_of(self, X, reset=False))

    def __getattr__(self, name: str) -> Any:
        if name in model_file.OF_THE_ROWS and "weights_" in vars(self):
            raise AttributeError(
                f"a loaded model has no {name}, which is about the rows of its fit: call "
                "label_report(X, y) for these or other rows"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def label_report(self, X: Any, y: Any) -> Any:
        """Return what the model says about given labels, in the columns of cleanlab.

        Parameters
        ----------
        X, y
            Rows and their labels: those of the fit, or new ones.

        Returns
        -------
        DataFrame or dict
            A frame with the index of X if that is a frame of pandas; one of polars if X is; else a
            dict of arrays of shape (N,). Its columns are `is_label_issue`, which labels are
            suspects among these rows; `label_quality`, the probability that an honest label is
            further off, between 0 and 1; `given_label` and `predicted_label`.
        """
        check_is_fitted(self)
        rate = _check.number("false_alarm_rate", self.false_alarm_rate, "(0, 1)")
        rows = inputs_of(self, X, reset=False)
        labels = labels_of(self, rows, y)
        predicted = self._outputs(rows)
        sizes, rounding = np.abs(labels - predicted), self._rounding(rows, labels)
        suspicion = self.honest_noise_.suspicion(sizes, rounding)
        report = {
            "is_label_issue": suspects_among(suspicion, rate),
            "label_quality": 10.0**-suspicion,
            "given_label": labels,
            "predicted_label": predicted,
        }
        if hasattr(X, "columns"):
            return type(X)(report, **({"index": X.index} if hasattr(X, "index") else {}))
        return report

    def diagnose(self) -> Diagnosis:
        """Return what the rows of the fit say about it. It prints as paragraphs; see `.plot()`."""
        check_is_fitted(self)
        if not hasattr(self, "_diagnosis"):
            raise _check.InputError(
                "diagnose() is about the rows of a fit, and a loaded model does not have them: "
                "call fit(X, y) first"
            )
        return self._diagnosis

    def verify(
        self,
        X: Any,
        y: Any,
        *,
        probability: float,
        attacker: str = "any",
        confidence: float = 0.999,
        noise: str | float = "independent",
        bound: float | None = None,
        law: Law | None = None,
    ) -> Verification:
        """Return how far the model is from the true one at most, proved on fresh rows.

        Some of the labels may be attacked, and changed to anything. See `neurotron.verify` for what
        is assumed. If the network is linear, the radius is about `coef_`, in its own units.

        Parameters
        ----------
        X, y
            Fresh rows and their labels: rows that the fit has not seen.
        probability
            The largest share β of these labels that may be attacked.
        attacker
            "any" if any share β of the labels may be attacked; "coin" if every label is attacked
            with probability at most β, whatever its row is.
        confidence
            The probability with which the result holds.
        noise
            The noise of honest labels: "independent" of the inputs; "even", with the same law at x
            and −x; 0.0 for none; or a number ς > 0 for normal noise of a standard deviation of at
            least ς. Unless it is 0.0, an error of `intercept_` counts as noise, and is not bounded.
        bound
            The largest change θ of a label, if there is one.
        law
            The law of the inputs. By default it is that of the rows X, and the result is an
            estimate ("plug-in").

        Examples
        --------
        >>> import numpy as np, neurotron as nt
        >>> draw = np.random.default_rng(0)
        >>> X = draw.standard_normal((2000, 3))
        >>> y = X @ [1.0, -2.0, 0.5] + 4.0
        >>> y[::10] += 5.0
        >>> model = nt.NeuroTronRegressor().fit(X[:1000], y[:1000])
        >>> found = model.verify(X[1000:], y[1000:], probability=0.1, law=nt.Normal())
        >>> found.holds, bool(found.radius < 1e-10)
        (True, True)
        """
        from neurotron.estimators.verifying import verify_model

        check_is_fitted(self)
        rows = inputs_of(self, X, reset=False)
        return verify_model(
            self, rows, labels_of(self, rows, y), probability=probability, attacker=attacker,
            confidence=confidence, noise=noise, bound=bound, law=law,
        )  # fmt: skip

    def save(self, path: str | Path, *, row_hashes: bool = True) -> None:
        """Write the fitted model to a .safetensors file, from which `load_model` reads it.

        The file replaces a model file of the same name, but no other file. What belongs to the rows
        of the fit, such as `suspects_`, is not saved: `label_report` computes it again. Without
        `row_hashes` the file cannot tell whether somebody has a given row, and `verify` cannot
        tell whether its rows are fresh.
        """
        model_file.save(self, path, row_hashes=row_hashes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.single_output = True
        tags.regressor_tags.poor_score = False
        return tags

    def _rounding(self, rows: Array, labels: Array) -> Array:
        """Return the size up to which residuals are rounding."""
        factors, terms = np.abs(self.weights_) @ self.network_.magnitude, np.empty(len(rows))
        for here in blocks_of(self.network_, len(rows)):
            terms[here] = np.abs(self._standardized(rows[here])) @ factors
        sizes = np.abs(labels)
        level = float(np.median(sizes[sizes > 0.0])) if sizes.any() else SMALLEST
        constant = abs(self.intercept_) + self.network_.at_zero
        return ROUNDING * (terms + sizes + constant + level)

    def _standardized(self, rows: Array) -> Array:
        """Return the inputs as the network sees them."""
        if not self.input_center_.any() and (self.input_scale_ == 1.0).all():
            return rows
        return (rows - self.input_center_) / self.input_scale_

    def _outputs(self, rows: Array) -> Array:
        """Return the predictions, a block of rows at a time."""
        outputs = np.empty(len(rows))
        for here in blocks_of(self.network_, len(rows)):
            seen = self._standardized(rows[here])
            outputs[here] = outputs_of(self.network_, self.weights_, seen)
        return outputs + self.intercept_
