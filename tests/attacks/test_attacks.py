from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.support.attacks import example, own_settings

import neurotron as nt
from neurotron.attacks import (
    BUILT_IN,
    Adaptive,
    AlternatingSign,
    Burst,
    HalfSpace,
    Impostor,
    LargeNorm,
    Multiplicative,
    OddDirection,
    Query,
    Replacement,
    SignFlip,
    build,
)
from neurotron.attacks.base import Unlimited

VECTOR = np.array([1.0, -2.0, 0.5, 0.0])
ALL = [example(kind, bound=0.3, probability=0.5) for kind in BUILT_IN]
ALL += [example(kind, probability=0.5) for kind in BUILT_IN if issubclass(kind, Unlimited)]


@pytest.mark.parametrize("attack", ALL, ids=repr)
def test_every_attack_conforms(attack):
    nt.check_attack(attack)


finite = st.floats(-1e6, 1e6)


@given(
    values=hnp.arrays(float, (8, 5), elements=finite),
    uniform=hnp.arrays(float, (8, 1), elements=st.floats(1e-9, 1 - 1e-9)),
    bound=st.floats(0, 1e3),
)
def test_no_query_makes_a_distortion_exceed_its_bound(values, uniform, bound):
    label, output, push, probe, probe_output = values.T[:, :, None]
    sign = np.where(np.arange(8) % 2, 1.0, -1.0)[:, None]
    norm, step = np.abs(label), np.arange(8.0)[:, None]
    query = Query(label, output, sign, uniform, push, probe, probe_output, norm, step, 0.5)
    for attack in ALL:
        assert np.abs(attack.distort(bound, query)).max() <= bound
        chance = attack.chance(0.5, query)
        assert np.min(chance) >= 0.0
        assert np.max(chance) <= 0.5


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.__name__)
def test_every_attack_says_what_it_knows_what_it_spends_and_who_guarantees_against_it(kind):
    guarantees = ", ".join(kind.covered) or "none"
    said = f"Knows: {kind.knowledge}. Budget: {kind.budget}. Guarantees: {guarantees}."
    assert said in " ".join(inspect.getdoc(kind).split())
    if kind is not Impostor:  # its filter w′ is found with w*, before there is a query
        assert ("w*" in kind.knowledge) == ("push" in kind.query_fields)
    assert ("x" in kind.knowledge) == bool(
        {"push", "norm", "probe", "probe_output"} & {*kind.query_fields}
    )
    assert ("any change" in kind.budget) == issubclass(kind, Unlimited)
    assert ("⌊βN⌋" in kind.budget) == (kind.scope == "rows")


def test_adaptive_pushes_away_from_the_true_weights(small_problem):
    """Against it the error stays above what the same budget without a plan does."""
    arms = [
        nt.Arm(nt.NeuroTron(0.02), attack)
        for attack in (Adaptive(bound=0.5, probability=0.5), AlternatingSign(0.5, 0.5))
    ]
    run = nt.simulate(small_problem, arms, steps=4000, batch_size=8, record=10)
    adaptive, alternating = np.median(run.errors[:, run.steps > 2000], axis=1)
    assert adaptive > 3 * alternating


# ---- concentrated in time or in space ------------------------------------------------------------


def chances(attack, **seen):
    """β of an attack that sees the given fields and its own number."""
    unseen = Query(*([np.nan] * len(Query._fields)))
    return attack.chance(attack.probability, unseen._replace(parameter=attack.parameter, **seen))


@given(share=st.floats(0.0, 1.0), probability=st.floats(0.0, 1.0), period=st.integers(0, 10**9))
def test_a_burst_spends_exactly_its_share_in_every_period(share, probability, period):
    steps = 1000.0 * period + np.arange(1000.0)
    chance = chances(Burst(1.0, probability, share=share), step=steps)
    assert chance.mean() == pytest.approx(share * probability, abs=1e-12)
    assert (np.diff(chance) <= 0.0).all()  # the first steps of it
    assert ((chance > 0.0) & (chance < probability)).sum() <= 1


def test_large_norm_leaves_small_inputs_alone():
    chance = chances(LargeNorm(1.0, 0.4, cutoff=2.0), norm=np.array([0.0, 1.9, 2.0, 3.0]))
    np.testing.assert_array_equal(chance, [0.0, 0.0, 0.4, 0.4])


@pytest.mark.parametrize(
    "kind", [lambda **s: Burst(share=1.0, **s), lambda **s: LargeNorm(cutoff=0.0, **s)]
)
def test_what_is_not_concentrated_is_the_adaptive_attack(small_problem, kind):
    budget = {"bound": 0.5, "probability": 0.3}
    arms = [nt.Arm(nt.NeuroTron(0.02), attack(**budget)) for attack in (Adaptive, kind)]
    run = nt.simulate(small_problem, arms, steps=50, batch_size=6)
    np.testing.assert_array_equal(run.weights[0], run.weights[1])


def test_half_space_at_twice_the_chance_drifts_like_odd_direction(small_problem):
    """Both attack a share β; E[ξ Mx] differs by nothing, since x and −x have the same law."""
    law, gate = small_problem.law, small_problem.network.mean_gate
    u, v = np.random.default_rng(0).random((2, law.pairs(100_000, 12)))
    sensed = law.inputs(u, v, 100_000, 12) @ gate.T
    unseen = Query(*([np.nan] * len(Query._fields)))
    drifts = []
    for kind, probability in ((OddDirection, 0.2), (HalfSpace, 0.4)):
        query = unseen._replace(probe=(sensed @ VECTOR)[:, None])
        attack = kind(1.0, probability, direction=VECTOR)
        force = attack.chance(probability, query) * attack.distort(1.0, query)
        drifts.append((force * sensed).mean(axis=0))
    scale = 0.4 * sensed.std() / math.sqrt(len(sensed))
    assert (np.abs(drifts[0] - drifts[1]) <= 5 * scale).all()
    assert np.linalg.norm(drifts[0]) > 20 * scale


# ---- outside the theorem -------------------------------------------------------------------------


@pytest.mark.parametrize("attack", [Multiplicative(2.0), Replacement(1.0), SignFlip(bound=0.1)])
def test_no_guarantee_speaks_of_attacks_outside_the_theorem(small_problem, attack):
    arm = nt.Arm(nt.NeuroTron(0.01), attack)
    for method in ("sharp", "theorem1"):
        certificate = nt.certify(small_problem, arm, batch_size=8, steps=10, method=method)
        assert not certificate.holds
        assert certificate.radius == math.inf
    with pytest.raises(nt.NotAchievable, match="no guarantee covers"):
        nt.plan(small_problem, attack, radius=0.5, steps=10**5, batch_size=8)


def test_the_fastest_step_is_that_of_honest_labels_whatever_the_attack(small_problem):
    steps = [
        nt.NeuroTron("fastest").resolve(small_problem, batch_size=8, steps=1, attack=attack)
        for attack in (None, Adaptive(1.0, 0.5), SignFlip())
    ]
    assert len({trainer.step_size for trainer in steps}) == 1


# ---- by name -------------------------------------------------------------------------------------

ADDITIVE = [name for name, kind in nt.attacks.BY_NAME.factories.items() if kind.covered]


@pytest.mark.parametrize("law", [nt.Normal(), nt.StudentT(2.5), nt.Rademacher(scale=0.3)], ids=repr)
@pytest.mark.parametrize("name", ADDITIVE)
def test_by_name_a_share_beta_of_all_labels_is_attacked(small_problem, name, law):
    problem = nt.Problem.draw(small_problem.network, law, seed=1)
    u, v = np.random.default_rng(1).random((2, law.pairs(50_000, 12)))
    x = law.inputs(u, v, 50_000, 12)
    for beta in (0.0, 0.05, 0.3, 1.0 if name != "half-space" else 0.5):
        attack = build(name, problem, bound=1.0, probability=beta, seed=0)
        probe = (
            0.0
            if attack.probe_vector is None
            else x @ problem.network.mean_gate.T @ attack.probe_vector
        )
        norm = (1.0 - 1e-12) * np.linalg.norm(x, axis=1)  # as another order of sums may round it
        steps = np.arange(50_000.0)
        share = np.broadcast_to(chances(attack, norm=norm, step=steps, probe=probe), 50_000).mean()
        if beta in (0.0, 1.0):
            assert share == beta
        else:  # the cutoff's own sample has 100 000 rows
            assert abs(share - beta) < 5 * math.sqrt(beta / 50_000) + 5 * math.sqrt(beta / 100_000)


def test_what_the_text_says_is_left_as_it_is(small_problem):
    def made(text):
        return repr(build(text, small_problem, bound=1.0, probability=0.2, seed=0))

    assert made("burst:share=0.5") == "Burst(bound=1, probability=0.4, share=0.5)"
    assert made("burst:share=0.1") == "Burst(bound=1, probability=1, share=0.1)"
    assert made("burst:probability=0.5") == "Burst(bound=1, probability=0.5, share=0.2)"
    assert made("large-norm:cutoff=0") == "LargeNorm(bound=1, probability=0.2, cutoff=0)"
    assert made("large-norm:cutoff=99") == "LargeNorm(bound=1, probability=1, cutoff=99)"
    assert made("half-space:probability=0.3") == "HalfSpace(bound=1, probability=0.3)"
    assert made("sign-flip") == "SignFlip(bound=1, probability=0.2)"
    assert made("sign-flip:bound=inf") == "SignFlip(probability=0.2)"
    rare = build("large-norm:cutoff=99", small_problem, bound=1.0, probability=0.0, seed=0)
    assert rare.probability == 0.0  # nobody is attacked, however large
    with pytest.raises(nt.InputError, match=r"`probability` must be in \[0, 1\], got 1.5"):
        build("large-norm", small_problem, bound=1.0, probability=1.5, seed=0)


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.__name__)
def test_every_attack_spends_a_budget_with_the_settings_it_is_given(small_problem, kind):
    settings = own_settings(kind, 4)
    attack = kind.spending(small_problem, 1.0, 0.2, 0, **settings)
    assert type(attack) is kind
    assert attack.bound == 1.0
    for name, value in settings.items():
        np.testing.assert_array_equal(getattr(attack, name), value)
    chosen = kind.spending(small_problem, 1.0, 0.2, 0, **settings, probability=0.01)
    assert chosen.probability == 0.01


def test_a_setting_that_no_attack_can_find_is_asked_for(small_problem):
    with pytest.raises(nt.InputError, match=r"'multiplicative' needs factor: .*factor=…"):
        Multiplicative.spending(small_problem, 1.0, 0.2, 0)
    with pytest.raises(nt.InputError, match=r"'replacement' needs scale: .*scale=…"):
        build("replacement", small_problem, bound=1.0, probability=0.2, seed=0)
    with pytest.raises(nt.InputError, match=r"unknown parameter of burst 'shre'.*'share'"):
        build("burst:shre=0.1", small_problem, bound=1.0, probability=0.2, seed=0)


def test_a_budget_that_cannot_be_spent_is_refused_in_one_sentence(small_problem):
    spend = nt.attacks.LargeNorm.spending
    with pytest.raises(nt.InputError, match="`problem` must be a Problem, got None"):
        spend(None, 1.0, 0.2, 0)
    with pytest.raises(nt.InputError, match=r"`share` must be in \[0, 1\]"):
        spend(small_problem, 1.0, 1.5, 0)
    with pytest.raises(nt.InputError, match=r"unknown parameter of large-norm 'cutof'.*'cutoff'"):
        spend(small_problem, 1.0, 0.2, 0, cutof=1.0)
