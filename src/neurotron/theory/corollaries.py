r"""What follows from Theorem 1 (paper, sections 3.3, 3.4 and 3.6).

Lemma 1 and its inverse, the probability below which the prediction risk is small, and how heavier
outer weights make up for a stronger attack.
"""

from __future__ import annotations

import math

from neurotron import _check
from neurotron.guarantee import delta
from neurotron.theory.theorem1 import Theorem1


def gaussian_trade_off(n_inputs: int, scale: float, probability: float) -> float:
    r"""Return Lemma 1's c_trade for a single ReLU gate, N(0, σ²I) inputs and M = I (section 3.3).

    .. math:: c_{trade} = \frac{\sigma}{\sqrt2 \beta} \frac{\Gamma(n/2)}{\Gamma((n+1)/2)} - 1

    Parameters
    ----------
    n_inputs
        Dimension n ≥ 1 of the input.
    scale
        Standard deviation σ of the inputs, in (0, 1e70].
    probability
        Probability β in (0, 1] that a label is attacked.
    """
    scale = _check.number("scale", scale, "(0, 1e70]")
    probability = _check.number("probability", probability, "(0, 1]")
    return _gamma_ratio(n_inputs) * scale / (math.sqrt(2.0) * probability) - 1.0


def gaussian_scale(n_inputs: int, trade_off: float, probability: float) -> float:
    r"""Return the σ for which Lemma 1 gives a trade-off, the inverse of `gaussian_trade_off`.

    .. math:: \sigma = \sqrt2 \beta (c_{trade} + 1) \frac{\Gamma((n+1)/2)}{\Gamma(n/2)}

    For a fixed c_trade, σ² grows like n: it is 2β²(c_trade + 1)² times a number between (n − 1)/2
    and n/2. The paper's section 3.3 asks for this σ²(n).

    Parameters
    ----------
    n_inputs
        Dimension n ≥ 1 of the input.
    trade_off
        The trade-off c_trade > −1; Theorem 1 needs a positive one.
    probability
        Probability β in (0, 1] that a label is attacked.

    Examples
    --------
    >>> [round(gaussian_scale(n, 1.0, 0.1), 3) for n in (10, 100, 1000)]
    [0.617, 1.995, 6.323]
    """
    trade_off = _check.number("trade_off", trade_off, "(-1, 1e70]")
    probability = _check.number("probability", probability, "(0, 1]")
    return math.sqrt(2.0) * probability * (trade_off + 1.0) / _gamma_ratio(n_inputs)


def gaussian_risk_probability(n_inputs: int, scale: float, confidence: float) -> float:
    r"""Return the β below which the prediction risk of a ReLU gate is at most θ*².

    .. math:: \beta < \frac{\sigma\, \Gamma(n/2)}{\sqrt2\, \Gamma((n+1)/2)} \Big/
              \left(1 + \frac{n\sigma^2}{\delta}\right)

    It is for a single ReLU gate, N(0, σ²I) inputs and M = I. The paper states it for σ = 1.

    Parameters
    ----------
    n_inputs
        Dimension n ≥ 1 of the input.
    scale
        Standard deviation σ of the inputs, in (0, 1e70].
    confidence
        Probability 1 − δ in (0, 1) with which the statement holds.
    """
    scale = _check.number("scale", scale, "(0, 1e70]")
    confidence = _check.number("confidence", confidence, "(0, 1)")
    ratio = _gamma_ratio(n_inputs) * scale / math.sqrt(2.0)
    return ratio / (1.0 + n_inputs * scale**2 / delta(confidence))


def compensating_weight(
    theorem: Theorem1, *, bound_factor: float = 1.0, probability_factor: float = 1.0
) -> float:
    r"""Return the outer weight with which Theorem 1 promises the same accuracy as with weight 1.

    The attacker has c_1 times the probability and c_2 times the bound:

    .. math:: q = c_1 \frac{c_2^2 (K - 1) + 1}{K}, \qquad
              K = \frac{(1+\alpha)\lambda_1}{\beta_1\lambda_2} = c_{trade} + 1 .

    A larger probability alone is made up for by q = c_1, as the paper says. A larger bound alone
    needs q < c_2², the weight of the paper's display; its text has c_2, which is too small unless
    c_2 < 1/c_trade (docs/errata.md#e9).

    Parameters
    ----------
    theorem
        The constants for outer weights 1 under the weaker attack, with c_trade > 0.
    bound_factor, probability_factor
        The factors c_2 ≥ 1 and c_1 ≥ 1.

    Examples
    --------
    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(10), nt.Normal(scale=3.0))
    >>> theorem = Theorem1.of(problem, problem.network.mean_gate, nt.Budget(0.1, 0.2), 16)
    >>> round(compensating_weight(theorem, probability_factor=2.0), 12)
    2.0
    """
    _check.instance("theorem", theorem, Theorem1)
    c2 = _check.number("bound_factor", bound_factor, "[1, 1e70]")
    c1 = _check.number("probability_factor", probability_factor, "[1, 1e70]")
    if theorem.trade_off <= 0.0:
        raise _check.InputError(
            f"no outer weight keeps the accuracy: c_trade must be positive, got "
            f"{theorem.trade_off:.4g}, so there is none before the attack grows"
        )
    if theorem.attacked[0] == 0.0:
        return 1.0
    ratio = theorem.trade_off + 1.0
    return c1 * (c2**2 * (ratio - 1.0) + 1.0) / ratio


def _gamma_ratio(n_inputs: int) -> float:
    n = _check.integer("n_inputs", n_inputs, 1, 10**15)
    return math.exp(math.lgamma(n / 2.0) - math.lgamma((n + 1.0) / 2.0))
