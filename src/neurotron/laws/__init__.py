"""Laws: probability distributions of the inputs, each with its moments.

>>> import neurotron as nt
>>> round(nt.Normal(scale=1.0).norm_moment(1, n_inputs=100), 4)
9.975
"""

from neurotron.laws.base import Law, ProductLaw
from neurotron.laws.catalog import *  # noqa: F403  (type checkers see every law)
from neurotron.laws.catalog import BUILT_IN
from neurotron.laws.catalog import BY_NAME as BY_NAME
from neurotron.laws.correlated import Correlated
from neurotron.laws.empirical import Empirical
from neurotron.laws.even_moments import WEIGHTINGS as WEIGHTINGS
from neurotron.laws.even_moments import EvenMoments
from neurotron.laws.scipy_law import ScipyLaw

__all__ = ["Correlated", "Empirical", "EvenMoments", "Law", "ProductLaw", "ScipyLaw"]
__all__ += [kind.__name__ for kind in BUILT_IN]


def __dir__() -> list[str]:
    return sorted(__all__)
