from __future__ import annotations

import pytest

import neurotron as nt
from neurotron._registry import parse


def test_names_with_parameters_build_what_they_say():
    assert nt.laws.BY_NAME.build("student-t:dof=4,scale=2") == nt.StudentT(4, scale=2.0)
    assert nt.trainers.BY_NAME.build("neuro-tron:sensing=mean", step_size=0.1).step_size == 0.1
    ring = nt.networks.BY_NAME.build("convolution:n-inputs=8,filter_size=3,circular=true")
    assert ring.width == 8


@pytest.mark.parametrize(
    ("registry", "text", "sentence"),
    [
        (nt.data.BY_NAME, "norml",
         "unknown law 'norml': did you mean 'normal'? known: autoregressive, corrupted, "
         "empirical, equicorrelated, laplace, moved, normal, rademacher, student-t, uniform"),
        (nt.laws.BY_NAME, "student-t", "law 'student-t' needs dof: write student-t:dof=…"),
        (nt.laws.BY_NAME, "normal:scal=2",
         "unknown parameter of normal 'scal': did you mean 'scale'? known: scale"),
        (nt.laws.BY_NAME, "normal:2", "'normal:2': write parameters as normal:parameter=value,…"),
        (nt.laws.BY_NAME, "normal:scale=two",
         "`scale` must be a number in [1e-70, 1e70], got 'two'"),
        (nt.attacks.BY_NAME, "",
         f"unknown attack '': known: {', '.join(sorted(nt.attacks.BY_NAME))}"),
    ],
)  # fmt: skip
def test_wrong_text_gets_one_clear_sentence(registry, text, sentence):
    with pytest.raises(nt.InputError) as caught:
        registry.build(text)
    assert str(caught.value) == sentence


def test_parameters_are_words_or_numbers_never_code():
    name, given = parse("x:a=__import__('os'),b=1,c=1e-3,d=true")
    assert name == "x"
    assert given == {"a": "__import__('os')", "b": 1, "c": 0.001, "d": True}


@pytest.mark.parametrize("other", ["lr", "learning_rate", "learning-rate", "eta"])
def test_the_names_of_other_libraries_lead_to_step_size(other):
    with pytest.raises(nt.InputError, match="did you mean 'step_size'"):
        nt.trainers.BY_NAME.build(f"neuro-tron:{other}=1")
    with pytest.raises(nt.InputError) as caught:
        nt.laws.BY_NAME.build(f"normal:{other}=1")
    assert "step_size" not in str(caught.value)


@pytest.mark.parametrize(
    "registry", [nt.data.BY_NAME, nt.attacks.BY_NAME, nt.trainers.BY_NAME, nt.networks.BY_NAME]
)
def test_everything_listed_has_a_summary_in_one_line(registry):
    for name in registry:
        summary = registry.summary(name)
        assert summary.endswith((".", '".')), (name, summary)
        assert ":math:" not in summary


def test_text_fills_numbers_and_words_and_no_arrays():
    def by_text(package, name):
        return set(package.BY_NAME.text_parameters(name))

    assert by_text(nt.attacks, "odd-direction") == {"bound", "probability"}
    assert by_text(nt.attacks, "burst") == {"bound", "probability", "share"}
    assert "sensing" in by_text(nt.trainers, "neuro-tron")  # a word, or an array
    assert "outer_weights" in by_text(nt.networks, "symmetric")  # a number, or an array
    assert "spread" not in by_text(nt.networks, "symmetric")


@pytest.mark.parametrize("package", [nt.attacks, nt.trainers, nt.laws])
def test_every_built_in_class_has_a_name_and_is_exported(package):
    assert set(package.BUILT_IN) <= set(package.BY_NAME.factories.values())
    for kind in package.BUILT_IN:
        assert getattr(package, kind.__name__) is kind
        assert kind.__name__ in package.__all__
