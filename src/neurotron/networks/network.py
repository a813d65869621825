r"""The network of the paper's Definitions 1 and 2.

.. math:: f_w(x) = \frac1k \sum_{i=1}^k q_i\, \sigma(w^\top A_i x), \qquad
          \sigma(z) = z\,[z > 0] + \alpha z\,[z \le 0], \qquad A_i = \sum_l c_{il} B_l .

Other activations σ, whose odd part is linear, are in `networks.activations`.

The gates A_i are stored as a basis B_l and coefficients c, so that inputs are projected onto L
matrices instead of k. The symmetric networks of Remark 1 need two, whatever their width.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._formula import select
from neurotron._pickling import Pickled
from neurotron._types import Array
from neurotron.networks.activations import Activation, activation_of
from neurotron.networks.basis import Basis, Matrices, Windows


@dataclass(frozen=True, eq=False, repr=False)
class FilterNetwork(Pickled):
    r"""A depth-2 network with one filter w shared by k gates.

    Build one with `linear`, `relu_gate`, `symmetric`, `convolution`, `convolution2d` or
    `from_gates`. Its output is f_w(x) = (1/k) Σ q_i σ(wᵀA_i x); call it as ``network(w, x)``.

    Parameters
    ----------
    basis
        The matrices :math:`B_l`, each r × n: `Matrices` (dense) or `Windows` (gathered).
    mix
        Coefficients c, shape (k, L), that make the gates from the basis; None if gate i is basis
        matrix i.
    outer_weights
        Second-layer weights q, shape (k,), or one number for all gates; none may be zero.
    leak
        Slope α in [0, 1] of the activation for negative arguments: 0 is the ReLU, 1 makes the
        network linear. The derivative at zero is α.
    activation
        Another activation than this leaky ReLU: "softplus", "silu", "gelu" or your own
        `Activation`. It has no leak.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> network = nt.networks.relu_gate(n_inputs=2)
    >>> network(np.array([1.0, 2.0]), np.array([[3.0, 1.0], [-3.0, 1.0]]))
    array([5., 0.])
    """

    basis: Basis
    mix: Array | None = None
    outer_weights: Array = 1.0  # type: ignore[assignment]  # becomes one number per gate
    leak: float = 0.0
    activation: Activation | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.basis, (Matrices, Windows)):
            raise _check.InputError(
                f"`basis` must be Matrices or Windows, got {_check.shown(self.basis)}: use a "
                "builder such as networks.from_gates"
            )
        if self.mix is not None:
            mix = _check.array("mix", self.mix, ("k", len(self.basis)))
            object.__setattr__(self, "mix", mix)
        q = self.outer_weights
        if _is_single(q):
            number = q.item() if isinstance(q, np.ndarray) else q
            q = np.full(self.width, _check.number("outer_weights", number, "(-inf, inf)"))
        weights = _check.array("outer_weights", q, (self.width,), _check.LARGEST)
        if not weights.all():
            raise _check.InputError("`outer_weights` must not be zero: leave the gate out instead")
        object.__setattr__(self, "outer_weights", weights)
        object.__setattr__(self, "leak", _check.number("leak", self.leak, "[0, 1]"))
        object.__setattr__(self, "activation", activation_of(self.activation))
        if self.activation is not None and self.leak != 0.0:
            raise _check.InputError(
                f"`leak` is the slope of the leaky ReLU, and {self.activation.name} has none: give "
                "`leak` or `activation`, not both"
            )

    def __repr__(self) -> str:
        parts = [
            f"n_inputs={self.n_inputs}", f"filter_size={self.filter_size}", f"width={self.width}"
        ]  # fmt: skip
        least, most = self.outer_weights.min(), self.outer_weights.max()
        if least != most:
            parts.append(f"outer_weights from {least:g} to {most:g}")
        elif least != 1.0:
            parts.append(f"outer_weights={least:g}")
        if self.leak != 0.0:
            parts.append(f"leak={self.leak:g}")
        if self.activation is not None:
            parts.append(f"activation={self.activation.name}")
        return f"FilterNetwork({', '.join(parts)})"

    @property
    def n_inputs(self) -> int:
        """Dimension n of the input."""
        return self.basis.n_inputs

    @property
    def filter_size(self) -> int:
        """Number r of weights of the filter."""
        return self.basis.filter_size

    @property
    def width(self) -> int:
        """Number k of gates."""
        return len(self.basis) if self.mix is None else self.mix.shape[0]

    @property
    def is_linear(self) -> bool:
        """Whether the output is linear in x and in the weights."""
        return self.activation is None and self.leak == 1.0

    @property
    def odd_slope(self) -> float:
        """The slope c of the odd part of the activation: (1 + α)/2 for the leaky ReLU."""
        return (1.0 + self.leak) / 2.0 if self.activation is None else self.activation.slope

    @property
    def even_lipschitz(self) -> float:
        """The Lipschitz constant Λ of the activation's even part: (1 − α)/2 for the leaky ReLU."""
        return (1.0 - self.leak) / 2.0 if self.activation is None else self.activation.lipschitz

    @property
    def steepest(self) -> float:
        """A Lipschitz constant of the activation: 1 for the leaky ReLU."""
        return 1.0 if self.activation is None else self.activation.steepest

    @cached_property
    def at_zero(self) -> float:
        """(1/k) Σ |q_i| |σ(0)|: how large an output of zero weights can be; 0 for a ReLU."""
        if self.activation is None:
            return 0.0
        return abs(float(self.activation.value(0.0))) * float(np.abs(self.share).sum())

    @cached_property
    def gates(self) -> Array:
        """The gate matrices A_i of the network, (k, r, n), computed on demand."""
        _check.entries("the gates", self.width, self.filter_size, self.n_inputs)
        basis = self.basis.dense()
        return _check.freeze(basis if self.mix is None else np.tensordot(self.mix, basis, axes=1))

    @cached_property
    def share(self) -> Array:
        """The weight of each gate in the output, q_i / k, shape (k,)."""
        return _check.freeze(self.outer_weights / self.width)

    @cached_property
    def mean_gate(self) -> Array:
        """The matrix Ā = (1/k) Σ q_i A_i, (r, n)."""
        return _check.freeze(self.basis.combine(self.basis_share))

    @cached_property
    def basis_share(self) -> Array:
        """The coefficients of Ā in the basis, (L,)."""
        if self.mix is None:
            return self.share
        return _check.freeze(self.outer_weights @ self.mix / self.width)

    @cached_property
    def magnitude(self) -> Array:
        """The matrix (L/k) Σ_i |q_i| Σ_l |c_il| |B_l|, (r, n), which bounds rounding errors.

        L is the steepest slope of the activation, 1 for the leaky ReLU. Outputs are computed from
        the basis, so terms that cancel there still add rounding errors.
        """
        share = self.steepest * np.abs(self.share)
        coefficients = share if self.mix is None else share @ np.abs(self.mix)
        return _check.freeze(self.basis.absolute().combine(coefficients))

    def mean_congruence(self, matrix: Array) -> Array:
        """Return (1/k) Σ q_i² A_i S A_iᵀ, (r, r), for a symmetric S, (n, n)."""
        weights = self.outer_weights**2 / self.width
        if self.mix is None:
            return self.basis.congruence(weights, matrix)
        # Σ_i q_i² A_i S A_iᵀ = Σ_lm C_lm B_l S B_mᵀ with C = mixᵀ diag(q²) mix: L² terms, not k
        values = self.basis.dense()
        mixed = np.tensordot((self.mix.T * weights) @ self.mix, values @ matrix, axes=1)
        return np.asarray(np.einsum("lij,lkj->ik", mixed, values))

    def project(self, x: Array) -> Array:
        """Return the inputs projected onto the basis: (b, n) -> (b, L, r)."""
        return self.basis.project(x)

    def respond(self, responses: Array) -> tuple[Array, Array]:
        """Return output and gradient coefficients from the basis responses ``wᵀB_l x``.

        Parameters
        ----------
        responses
            Shape (b, L, arms).

        Returns
        -------
        output
            ``f_w(x)``, shape (b, arms).
        coefficients
            c with ``∇f_w(x) = Σ_l c_l B_l x``, shape (b, L, arms).
        """
        sums = responses if self.mix is None else self.mix @ responses
        if self.activation is None:
            slopes = select(sums > 0.0, 1.0, self.leak)
            output = self.share @ (sums * slopes)
        else:
            slopes = self.activation.derivative(sums)
            output = self.share @ self.activation.value(sums)
        weighted = slopes * self.share[:, None]
        return output, weighted if self.mix is None else self.mix.T @ weighted

    def __call__(self, weights: npt.ArrayLike, x: npt.ArrayLike) -> Array:
        """Return the output f_w(x) for one filter or many, and one input or many.

        Filters have shape (r,) or (arms, r), inputs (n,) or (b, n). The result has shape (b, arms),
        without the axes that were not given.
        """
        filters, inputs, drop = self._arguments(weights, x)
        output, _ = self.respond(self.project(inputs) @ filters.T)
        return output[drop]

    def gradient(self, weights: npt.ArrayLike, x: npt.ArrayLike) -> Array:
        r"""Return the gradient ∇f_w(x) = (1/k) Σ q_i σ'(wᵀA_i x) A_i x in the weights.

        Filters and inputs are given as for a call. The result has shape (b, arms, r), without the
        axes that were not given.
        """
        filters, inputs, drop = self._arguments(weights, x)
        projected = self.project(inputs)
        _, coefficients = self.respond(projected @ filters.T)
        return np.einsum("bla,blr->bar", coefficients, projected)[drop]

    def _arguments(
        self, weights: npt.ArrayLike, x: npt.ArrayLike
    ) -> tuple[Array, Array, tuple[slice | int, slice | int]]:
        w, inputs = _check.numbers("weights", weights), _check.numbers("x", x)
        for name, value, size in (("weights", w, self.filter_size), ("x", inputs, self.n_inputs)):
            if value.ndim not in (1, 2) or value.shape[-1] != size:
                raise _check.InputError(
                    f"`{name}` must have shape ({size},) or (many, {size}), got {value.shape}"
                )
        drop = (0 if inputs.ndim == 1 else slice(None), 0 if w.ndim == 1 else slice(None))
        return np.atleast_2d(w), np.atleast_2d(inputs), drop


def _is_single(value: npt.ArrayLike) -> bool:
    try:
        return np.ndim(value) == 0
    except ValueError:  # lists of different lengths
        return False
