"""The paired permutation test beside an enumeration of its own, its rate of false alarms, and Holm's correction."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argscichat.permutation import holm, paired_p_value

ALPHA = 0.05


def enumerated_p_value(differences):
    """All sign patterns, one by one."""
    seen = abs(sum(differences))
    patterns = list(itertools.product((-1, 1), repeat=len(differences)))
    extreme = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True))) >= seen - 1e-12 for signs in patterns
    ]
    return sum(extreme) / len(patterns)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 2)), min_size=0, max_size=7))
def test_few_units_give_the_exact_share_of_all_sign_patterns(differences):
    assert paired_p_value(differences) == pytest.approx(enumerated_p_value(differences), abs=1e-12)


def test_five_papers_are_exact_by_hand():
    # Of 32 patterns only all plus and all minus reach the sum, whatever the sizes.
    assert paired_p_value([0.3, 0.1, 0.7, 0.2, 0.9]) == 2 / 32
    # Minus the smallest: the patterns of the two extremes and the two that flip 0.1 alone.
    assert paired_p_value([0.3, -0.1, 0.7, 0.2, 0.9]) == 4 / 32


def test_sums_that_differ_by_rounding_only_are_ties():
    # 0.1 + 0.2 is above 0.3 by rounding, so without a tolerance half of the equal patterns would be lost.
    values = [0.1, 0.2, -0.3, 0.6 / 7, -0.6 / 7]
    assert paired_p_value(values) == enumerated_p_value(values) == 1.0


def test_no_difference_and_one_unit_are_never_significant():
    assert paired_p_value([]) == paired_p_value([0.0] * 30) == paired_p_value([0.7]) == 1.0
    assert paired_p_value([0.7] + [0.0] * 30) == 1.0


def test_many_units_are_sampled_alike_with_one_seed_and_never_give_0():
    values = np.random.default_rng(5).normal(0.2, 1, size=40)
    assert paired_p_value(values, seed=3) == paired_p_value(values, seed=3)
    assert paired_p_value(values, seed=3) != paired_p_value(values, seed=4)
    assert paired_p_value([1.0] * 40, n_resamples=99) == 1 / 100


def test_the_sampled_value_is_near_the_exact_one():
    values = np.random.default_rng(1).normal(0.4, 1, size=12)
    exact, sampled = paired_p_value(values), paired_p_value(values, n_resamples=4000)
    assert exact != sampled
    assert sampled == pytest.approx(exact, abs=0.02)


def test_a_true_null_is_rejected_in_3_to_7_percent_of_400_corpora():
    rng = np.random.default_rng(20260101)
    rejected = rejected_by_query = 0
    for _ in range(400):
        # One paper favours one system, another the other: the queries of a paper are not independent.
        effects = rng.normal(0, 1, size=20)
        queries = [effect + rng.normal(0, 1, size=rng.integers(4, 20)) for effect in effects]
        rejected += paired_p_value([paper.sum() for paper in queries], n_resamples=999) <= ALPHA
        rejected_by_query += paired_p_value(np.concatenate(queries), n_resamples=199) <= ALPHA
    assert 0.03 <= rejected / 400 <= 0.07
    # What flipping single queries would do on such corpora.
    assert rejected_by_query / 400 > 0.2


def test_a_clear_difference_is_found():
    rng = np.random.default_rng(0)
    assert paired_p_value(rng.normal(1.0, 1, size=20)) < 0.01


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_lies_between_the_value_and_bonferroni(p_values):
    corrected = holm(p_values)
    for before, after in zip(p_values, corrected, strict=True):
        assert before <= after <= min(1.0, len(p_values) * before)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [corrected[i] for i in order] == sorted(corrected)
