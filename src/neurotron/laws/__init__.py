"""Where x comes from: laws of the inputs, each with its moments.

>>> import neurotron as nt
>>> round(nt.Normal(scale=1.0).norm_moment(1, n_inputs=100), 4)
9.975
"""

from neurotron import _check
from neurotron._registry import Registry
from neurotron.laws.base import Law, ProductLaw
from neurotron.laws.correlated import Correlated
from neurotron.laws.corrupted import Corrupted
from neurotron.laws.empirical import Empirical
from neurotron.laws.even_moments import WEIGHTINGS, EvenMoments
from neurotron.laws.laplace import Laplace
from neurotron.laws.normal import Normal
from neurotron.laws.rademacher import Rademacher
from neurotron.laws.scipy_law import ScipyLaw
from neurotron.laws.student_t import StudentT
from neurotron.laws.uniform import Uniform

__all__ = [
    "BY_NAME",
    "WEIGHTINGS",
    "Correlated",
    "Corrupted",
    "Empirical",
    "EvenMoments",
    "Laplace",
    "Law",
    "Normal",
    "ProductLaw",
    "Rademacher",
    "ScipyLaw",
    "StudentT",
    "Uniform",
]


def _corrupted(scale: float, probability: float = 1.0, law: str = "normal") -> Corrupted:
    """Return inputs that normal noise corrupts after labels were made of them.

    The law is written as elsewhere, with a semicolon between settings: law=student-t:dof=4;scale=2.
    """
    _check.instance("law", law, str)
    return Corrupted(BY_NAME.build(law.replace(";", ",")), scale, probability)


BY_NAME: Registry[Law] = Registry(
    "law",
    {
        "normal": Normal,
        "laplace": Laplace,
        "student-t": StudentT,
        "uniform": Uniform,
        "rademacher": Rademacher,
        "corrupted": _corrupted,
    },
)
