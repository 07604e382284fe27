"""The parts of MoverScore: distances, optimal transport, and the numbers of the tokens that are moved."""

import numpy as np
import ot
import pytest

from argscichat_metric.moverscore import squared_distances, transport_cost, transport_plan, unit_vectors
from argscichat_metric.pair_scorers import PerToken


def vectors(n: int, seed: int, dim: int = 48) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(n, dim))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def exact_squares(predicted: np.ndarray, reference: np.ndarray) -> np.ndarray:
    differences = predicted.astype(np.float64)[:, None] - reference.astype(np.float64)[None]
    return (differences**2).sum(axis=-1)


def weights(n: int, kind: str, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).uniform(0.1, 3.0, n)
    if kind == "equal":
        return np.ones(n)
    if kind == "some zero":
        drawn[::3] = 0.0
        drawn[1] = 1.0
    return drawn


@pytest.mark.parametrize("kind", ["equal", "drawn", "some zero"])
@pytest.mark.parametrize(("p", "r"), [(2, 2), (2, 37), (25, 24), (60, 41)])
def test_transport_is_that_of_emd2(p, r, kind):
    distances = np.sqrt(exact_squares(vectors(p, 1), vectors(r, 2)))
    of_reply, of_reference = weights(p, kind, 3), weights(r, kind, 4)
    supply, demand = of_reply / of_reply.sum(), of_reference / of_reference.sum()
    plan = transport_plan(of_reply, of_reference, distances)
    assert transport_cost(of_reply, of_reference, distances) == pytest.approx(
        ot.emd2(supply, demand, distances), abs=1e-12
    )
    assert (plan * distances).sum() == pytest.approx(ot.emd2(supply, demand, distances), abs=1e-12)
    np.testing.assert_allclose(plan.sum(axis=1), supply, atol=1e-12)
    np.testing.assert_allclose(plan.sum(axis=0), demand, atol=1e-12)
    assert (plan >= 0).all()


def test_equal_tokens_have_distance_0_and_near_ones_no_rounding_of_float32():
    reference = vectors(12, 5)
    predicted = unit_vectors(reference + np.float32(1e-4) * vectors(12, 6))
    predicted[:3] = reference[:3]
    squares = squared_distances(predicted, reference, predicted @ reference.T)
    assert (squares.diagonal()[:3] == 0.0).all()
    np.testing.assert_allclose(squares.diagonal(), exact_squares(predicted, reference).diagonal(), rtol=1e-12)


def test_distances_are_those_of_the_difference_in_float64():
    predicted, reference = vectors(30, 7), vectors(40, 8)
    squares = squared_distances(predicted, reference, predicted @ reference.T)
    assert squares.dtype == np.float64
    np.testing.assert_allclose(squares, exact_squares(predicted, reference), atol=1e-6)


def test_unit_vectors_leave_a_vector_of_length_0():
    found = unit_vectors(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]])


def test_each_token_id_is_asked_for_once_however_large():
    asked = []

    def number(token_id: int) -> float:
        asked.append(token_id)
        return token_id % 7

    numbers = PerToken(number)
    for ids in ([3, 0, 3], [], [250_001, 3], [0, 40_000, 250_001], [500_000]):
        assert numbers.of(np.array(ids, dtype=np.int64)).tolist() == [token_id % 7 for token_id in ids]
    assert sorted(set(asked)) == [0, 3, 40_000, 250_001, 500_000]
    assert len(asked) - len(set(asked)) <= 1  # only within one text
