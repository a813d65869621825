"""Builds the arrays of the compiled loop from a problem and its arms."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from neurotron._types import Array, Index
from neurotron.attacks import Attack, Constant, Query
from neurotron.attacks.query import parameters_of, position_signs, probe_vectors_of
from neurotron.data import Data, Simulated
from neurotron.engine.compiled import formulas
from neurotron.engine.compiled.arrays import (
    ArmBlocks,
    Batches,
    ExternalBatches,
    Kind,
    Projections,
    Scratch,
)
from neurotron.engine.compiled.lanes import LANES
from neurotron.engine.compiled.rules import rule_of
from neurotron.engine.state import Setup, divergence_limit
from neurotron.laws import Correlated
from neurotron.laws.base import ScaledLaw
from neurotron.networks import FilterNetwork
from neurotron.networks.basis import Windows
from neurotron.problem import Problem
from neurotron.trainers import Arm, NeuroTron

EXTERNAL_NUMBERS = 2**20
"""About how many input numbers are passed to the loop at once."""

HONEST = Constant(bound=0.0, probability=0.0)


def batches_of(setup: Setup) -> Batches:
    """Return how batches are drawn: inside the loop if the law is built in, else outside."""
    key, law = np.uint64(setup.stream.key), setup.problem.law
    base, mixing = law, np.empty((0, 0))
    if type(law) is Correlated:
        base, mixing = law.base, law.matrix.T
    if not _draws_itself(setup.problem.data):
        return Batches(key, None, 1.0, 0.0, np.empty((0, 0)), np.arange(0), 0.0, False)
    noise, latent = float(setup.problem.noise), np.arange(len(mixing))
    formula, scale, shape = None, 1.0, 0.0
    if type(base) in formulas.LAWS:
        assert isinstance(base, ScaledLaw)
        formula, scale, shape = base.formula, float(base.scale), float(base.shape)
    return Batches(key, formula, scale, shape, _in_blocks(mixing), latent, noise, True)


def _draws_itself(data: Data) -> bool:
    """Return whether the loop can compute the labels itself, from the inputs it draws."""
    return type(data) is Simulated


def external_of(batches: Batches, scratch: Scratch) -> ExternalBatches:
    """Return the memory for what the loop cannot draw itself, for as many steps as pass at once.

    There is one more row, because the batch after the last update may have to be recorded.
    """
    b, width = scratch.latent.shape
    steps = max(1, EXTERNAL_NUMBERS // scratch.latent.size) + 1 if batches.law is None else 0
    rows = 0 if batches.labelled else steps
    return ExternalBatches(
        first=np.zeros(1, dtype=np.intp),
        inputs=np.empty((steps, b * width)),
        labels=np.empty((rows, b)),
        counts=np.empty((rows, b)),
    )


# ---- matrices ------------------------------------------------------------------------------------


def projections_of(setup: Setup) -> tuple[Projections, list[int]]:
    """Return the matrices to project batches onto, and the number of each arm's sensing matrix."""
    network, true_weights, dense = setup.problem.network, setup.problem.true_weights, Stack()
    basis = network.basis
    of_basis = (
        [] if isinstance(basis, Windows) else [dense.place(matrix) for matrix in basis.dense()]
    )
    of_arm = [dense.place(_sensing(arm, network)) for arm in setup.arms]
    r, n = network.filter_size, network.n_inputs
    stacked = np.concatenate([np.empty((0, n)), *dense.matrices])
    columns = np.arange(len(stacked)).reshape(-1, r)
    projections = Projections(
        matrix=_in_blocks(stacked.T),
        inputs=np.arange(n),
        basis=basis.index.copy() if isinstance(basis, Windows) else columns[of_basis],
        sensing=columns,
        true_weights=np.array([] if true_weights is None else true_weights),
    )
    return projections, of_arm


class Stack:
    """A list of different matrices to project onto."""

    def __init__(self) -> None:
        self.matrices: list[Array] = []
        self.places: dict[bytes, int] = {}

    def place(self, matrix: Array | None) -> int:
        """Return the position of a matrix, which is added if it is new; 0 for None."""
        if matrix is None:
            return 0
        place = self.places.setdefault(matrix.tobytes(), len(self.matrices))
        if place == len(self.matrices):
            self.matrices.append(matrix)
        return place


def _sensing(arm: Arm, network: FilterNetwork) -> Array | None:
    """Return the matrix of an arm's direction, or of its probes; None if it needs none."""
    if isinstance(arm.trainer, NeuroTron):
        return np.asarray(arm.trainer.sensing)
    probed = arm.attack is not None and "probe" in arm.attack.query_fields
    return network.mean_gate if probed else None


def _in_blocks(matrix: Array) -> Array:
    """Return the columns in blocks of eight, (blocks, 8 rows); the last is padded with zeros."""
    rows, columns = matrix.shape
    blocks = -(-columns // LANES)
    whole = np.pad(matrix, ((0, 0), (0, blocks * LANES - columns)))
    return whole.reshape(rows, blocks, LANES).transpose(1, 0, 2).reshape(blocks, rows * LANES)


# ---- arms ----------------------------------------------------------------------------------------


def arm_blocks_of(setup: Setup, sensing: Sequence[int]) -> tuple[ArmBlocks, Index]:
    """Return the arms in blocks of eight, and which arm each lane holds, (blocks, 8)."""
    problem, arms, batch_size, _, state = setup
    attacks = [HONEST if arm.attack is None else arm.attack for arm in arms]
    kinds = [
        Kind(
            direction=arm.trainer.direction,
            sensing=row,
            attack=type(attack),
            rule=rule_of(type(arm.trainer)),
            weighting=int(arm.trainer.weighting is not None),
            averaging=bool(arm.trainer.averaging),
        )
        for arm, attack, row in zip(arms, attacks, sensing, strict=True)
    ]
    lanes = _blocks(kinds)
    references, impersonated = _references(problem, attacks, _draws_itself(problem.data))
    rate = [float(arm.trainer.step_size) / batch_size for arm in arms]

    def flat(values: Sequence[float] | Array) -> Array:
        return np.tile(np.array(values)[lanes], (1, batch_size))

    def filters(columns: Array) -> Array:
        return columns[:, lanes].transpose(1, 0, 2).reshape(len(lanes), -1)

    return ArmBlocks(
        kinds=[kinds[arm] for arm in lanes[:, 0]],
        weights=filters(state.weights),
        average=filters(state.average),
        since=np.array([stage.since for stage in state.stages])[lanes],
        stopped_at=state.stopped_at[lanes],
        memory=_rows(state.memory)[lanes],
        bound=flat([attack.bound for attack in attacks]),
        probability=flat([attack.probability for attack in attacks]),
        parameter=flat(parameters_of(attacks)),
        rate=flat(rate),
        vectors=filters(probe_vectors_of(attacks, problem.network.filter_size)),
        references=references,
        impersonated=impersonated[lanes],
        limit=divergence_limit(problem),
    ), lanes


def _blocks(keys: Sequence[Hashable]) -> Index:
    """Return arms with equal keys in rows of eight; a shorter row is padded with its first arm."""
    members: dict[Hashable, list[int]] = {}
    for arm, key in enumerate(keys):
        members.setdefault(key, []).append(arm)
    rows = []
    for same in members.values():
        for start in range(0, len(same), LANES):
            row = same[start : start + LANES]
            rows.append(row + row[:1] * (LANES - len(row)))
    return np.array(rows)


def _rows(memory: Sequence[tuple[float, ...]]) -> Array:
    """Return the states of the arms' trainers as rows, padded with zeros."""
    rows = np.zeros((len(memory), max(map(len, memory))))
    for row, numbers in zip(rows, memory, strict=True):
        row[: len(numbers)] = numbers
    return rows


def _references(
    problem: Problem, attacks: Sequence[Attack], simulated: bool
) -> tuple[Array, Index]:
    """Return the fixed filters, (blocks, 8 r), and each arm's lane among them."""
    filters = [problem.true_weights] if simulated else []
    lane = np.zeros(len(attacks), dtype=np.intp)
    for arm, attack in enumerate(attacks):
        if "probe_output" in attack.query_fields:
            lane[arm] = len(filters)
            filters.append(attack.probe_vector)
    columns = np.array(filters).reshape(-1, problem.network.filter_size).T
    return _in_blocks(columns), lane


# ---- working memory ------------------------------------------------------------------------------


def scratch_of(
    setup: Setup, batches: Batches, projections: Projections, arm_blocks: ArmBlocks
) -> Scratch:
    """Return the working memory of the loop."""
    network, b = setup.problem.network, setup.batch_size
    n = network.n_inputs
    noise_pairs = -(-b // 2)
    width = n if batches.latent.size == 0 else batches.latent.size
    if batches.law is None:
        pairs, drawn = noise_pairs, np.empty(b * width)
    else:
        pairs = setup.problem.law.pairs(b, n)
        drawn = np.empty(2 * pairs)
    latent = drawn[: b * width].reshape(b, width)
    inputs = np.empty((b, len(batches.correlation) * LANES)) if batches.latent.size else latent
    seen = np.empty((b, len(projections.matrix) * LANES))
    queries = np.full((len(Query._fields), b * LANES), np.nan)
    queries[Query._fields.index("sign")] = np.repeat(position_signs(b), LANES)

    def flat(*rows: int) -> Array:
        return np.empty((*rows, b * LANES))

    return Scratch(
        clock=np.zeros(1, dtype=np.intp),
        u=np.empty(pairs),
        v=np.empty(pairs),
        drawn=drawn,
        latent=latent,
        inputs=inputs,
        flat_inputs=inputs.reshape(-1),
        seen=seen,
        flat_seen=seen.reshape(-1),
        basis_seen=inputs if isinstance(network.basis, Windows) else seen,
        coin=np.empty(b),
        chosen=np.empty(b),
        noise=np.empty(2 * noise_pairs),
        flat_coin=flat(),
        counts=np.ones((1 + max(kind.weighting for kind in arm_blocks.kinds), b * LANES)),
        reference_output=flat(len(arm_blocks.references)),
        queries=queries,
        responses=flat(len(network.basis)),
        coefficients=flat(len(network.basis)),
        residual=flat(),
        length=flat(),
        weight=flat(),
        move=np.empty(network.filter_size * LANES),
        shown=np.empty((len(arm_blocks.kinds), 2 * LANES)),
    )
