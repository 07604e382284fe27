"""Confidence intervals: how often they cover the truth, and what each case of units gives."""

import json

import numpy as np
import pytest

from argscichat_metric.compute import compute_scores
from argscichat_metric.confidence import bootstrap_intervals, unit_totals, units_of

N_CORPORA = 400
N_PAPERS = 20
TRUE_MEAN = 0.4


@pytest.fixture(scope="module")
def corpora():
    """Sums and counts by paper (20, 400), and scores by query (217, 400), of corpora with paper effects."""
    rng = np.random.default_rng(2023)
    n_queries = rng.integers(8, 17, size=N_PAPERS)
    paper_effects = rng.normal(0, 0.1, size=(N_PAPERS, N_CORPORA))
    paper_of_query = np.repeat(np.arange(N_PAPERS), n_queries)
    noise = rng.normal(0, 0.2, size=(len(paper_of_query), N_CORPORA))
    scores = TRUE_MEAN + paper_effects[paper_of_query] + noise
    totals = [unit_totals(column.tolist(), paper_of_query.tolist(), N_PAPERS) for column in scores.T]
    sums, counts = (np.stack(side, axis=1) for side in zip(*totals, strict=True))
    return sums, counts, scores


def coverage(intervals):
    return np.mean((intervals[:, 0] <= TRUE_MEAN) & (intervals[:, 1] >= TRUE_MEAN))


def test_intervals_that_resample_papers_cover_the_true_mean(corpora):
    sums, counts, _ = corpora
    assert 0.90 <= coverage(bootstrap_intervals(sums, counts, 0.95, 1000, 0)) <= 0.99


def test_intervals_that_resample_queries_cover_it_too_rarely(corpora):
    scores = corpora[2]
    assert coverage(bootstrap_intervals(scores, np.ones_like(scores), 0.95, 1000, 0)) < 0.85


def test_a_wider_confidence_gives_a_wider_interval(corpora):
    sums, counts, _ = corpora
    widths = [np.diff(bootstrap_intervals(sums, counts, level, 1000, 0)).mean() for level in (0.5, 0.8, 0.95, 0.99)]
    assert widths == sorted(widths)
    assert widths[-1] > 1.5 * widths[1]


def test_many_independent_units_give_the_interval_of_the_normal_distribution():
    values = np.random.default_rng(1).normal(0.5, 0.1, size=(2000, 1))
    low, high = bootstrap_intervals(values, np.ones_like(values), 0.95, 4000, 0)[0]
    half = 1.96 * values.std(ddof=1) / np.sqrt(2000)
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.05 * half)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another(corpora):
    sums, counts = corpora[0][:, :3], corpora[1][:, :3]
    first = bootstrap_intervals(sums, counts, 0.95, 200, 7)
    assert np.array_equal(first, bootstrap_intervals(sums, counts, 0.95, 200, 7))
    assert not np.array_equal(first, bootstrap_intervals(sums, counts, 0.95, 200, 8))


def test_the_resamples_and_quantiles_are_those_that_the_documentation_names():
    scores = np.arange(12.0).reshape(12, 1)
    low, high = bootstrap_intervals(scores, np.ones_like(scores), 0.8, 50, 3)[0]
    drawn = np.random.default_rng(3).integers(0, 12, size=(50, 12))
    # t of 80 % with 11 degrees of freedom is 1.36343; times sqrt(12 / 11) it is 1.42406, beyond which lies 7.72151 %.
    expected = np.quantile(scores[drawn, 0].mean(axis=1), [0.0772151, 1 - 0.0772151])
    assert (low, high) == pytest.approx(tuple(expected), rel=1e-6)


def test_an_interval_does_not_depend_on_the_other_columns_or_the_batch(corpora, monkeypatch):
    sums, counts = corpora[0][:, :5].copy(), corpora[1][:, :5].copy()
    sums[3, 1] = counts[3, 1] = 0
    together = bootstrap_intervals(sums, counts, 0.95, 300, 0)
    monkeypatch.setattr("argscichat_metric.confidence._BATCH_VALUES", 100)
    alone = [bootstrap_intervals(sums[:, [m]], counts[:, [m]], 0.95, 300, 0)[0] for m in range(5)]
    assert together == pytest.approx(np.array(alone), abs=1e-12)


def test_a_unit_without_counted_rows_takes_no_part():
    sums, counts = np.array([[1.0], [0.0], [3.0], [2.0]]), np.array([[4.0], [0.0], [4.0], [4.0]])
    kept = [0, 2, 3]
    expected = bootstrap_intervals(sums[kept], counts[kept], 0.9, 500, 0)
    assert np.array_equal(bootstrap_intervals(sums, counts, 0.9, 500, 0), expected)
    assert np.isfinite(expected).all()


@pytest.mark.parametrize("n_counted", [0, 1])
def test_fewer_than_two_units_have_no_interval(n_counted):
    counts = np.array([[1.0] * 2, [1.0] * 2, [1.0] * 2])
    counts[n_counted:, 1] = 0
    intervals = bootstrap_intervals(counts * 0.5, counts, 0.95, 100, 0)
    assert intervals[0] == pytest.approx([0.5, 0.5])
    assert np.isnan(intervals[1]).all()


def test_equal_values_give_an_interval_of_no_width():
    counts = np.arange(1.0, 9.0).reshape(8, 1)
    assert bootstrap_intervals(counts * 0.3, counts, 0.95, 100, 0)[0] == pytest.approx([0.3, 0.3], abs=1e-12)


def test_papers_count_by_their_queries():
    # A paper of 99 queries beside papers of one query each moves the mean nearly as much as all of them.
    sums, counts = np.array([[99.0], [0.0], [0.0]]), np.array([[99.0], [1.0], [1.0]])
    low, high = bootstrap_intervals(sums, counts, 0.95, 1000, 0)[0]
    assert (low, high) == (0.0, 1.0)


def test_units_are_papers_where_every_row_names_one():
    assert units_of(["b", "a", "b"], 3) == (["b", "a"], [0, 1, 0], "paper")


@pytest.mark.parametrize("paper_ids", [None, [None, None, None]])
def test_units_are_queries_where_no_row_names_a_paper(paper_ids):
    assert units_of(paper_ids, 3) == (["0", "1", "2"], [0, 1, 2], "query")


def test_papers_of_some_rows_only_are_refused():
    with pytest.raises(
        ValueError, match=r"references\[1\]: 'paper_id' is missing, but references\[0\] has 'xxx"
    ) as error:
        units_of(["x" * 100_000, None, "q"], 3)
    assert len(str(error.value)) < 1000


def test_totals_leave_out_the_rows_that_do_not_count():
    sums, counts = unit_totals([0.5, None, 0.25, None, 1.0], [0, 0, 2, 1, 0], 4)
    assert sums.tolist() == [1.5, 0.0, 0.25, 0.0]
    assert counts.tolist() == [2.0, 0.0, 1.0, 0.0]


def test_totals_of_nothing_are_zero():
    sums, counts = unit_totals([None, None], [0, 1], 2)
    assert (sums.tolist(), counts.tolist()) == ([0.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match=r"row 2: expected a finite score, got (nan|inf)"):
        unit_totals([0.5, None, value], [0, 0, 1], 2)


# --- In the result of compute() ---

N_ROWS = 48
PREDICTIONS = [{"message": f"one word{i % 5}", "facts": [i % 3]} for i in range(N_ROWS)]
GOLD = [{"message": f"one word{i % 7}", "facts": [i % 4] if i % 6 else []} for i in range(N_ROWS)]
WITH_PAPERS = [row | {"paper_id": f"p{i * i % 11}"} for i, row in enumerate(GOLD)]
OPTIONS = {"metrics": ["fact_f1", "message_f1"], "confidence": 0.9, "n_resamples": 500, "seed": 3}


def test_every_score_has_an_interval_of_plain_numbers_around_its_mean():
    result = compute_scores(PREDICTIONS, WITH_PAPERS, **OPTIONS | {"metrics": None})
    scores = [key for key in result if f"{key}_ci" in result]
    assert len(scores) == 9
    for key in scores:
        low, high = result[f"{key}_ci"]
        assert type(low) is type(high) is float
        assert low < result[key] < high
    json.dumps(result, allow_nan=False)


def test_the_result_resamples_papers_where_they_are_known_and_else_queries():
    by_paper, by_query = (compute_scores(PREDICTIONS, side, **OPTIONS) for side in (WITH_PAPERS, GOLD))
    assert "|ci:0.9|resampled:papers|resamples:500|seed:3" in by_paper["signature"]
    assert "|ci:0.9|resampled:queries|resamples:500|seed:3" in by_query["signature"]
    columns = compute_scores(PREDICTIONS, GOLD, per_example=True, **OPTIONS)["per_example"]
    for result, papers in ((by_paper, [row["paper_id"] for row in WITH_PAPERS]), (by_query, None)):
        units = units_of(papers, N_ROWS)
        for key in ("fact_f1", "message_f1"):
            sums, counts = unit_totals(columns[key], units.unit_of_row, len(units.names))
            expected = bootstrap_intervals(sums[:, None], counts[:, None], 0.9, 500, 3)[0]
            assert result[f"{key}_ci"] == pytest.approx(expected.tolist())


def test_every_call_gives_the_same_intervals():
    assert compute_scores(PREDICTIONS, WITH_PAPERS, **OPTIONS) == compute_scores(PREDICTIONS, WITH_PAPERS, **OPTIONS)


def test_the_module_gives_the_intervals_of_the_plain_function(metric):
    expected = compute_scores(PREDICTIONS, WITH_PAPERS, **OPTIONS)
    assert metric.compute(predictions=PREDICTIONS, references=WITH_PAPERS, **OPTIONS) == expected


def test_papers_in_some_rows_only_are_refused_before_any_scoring_and_only_with_intervals():
    mixed = [*WITH_PAPERS[:-1], GOLD[-1]]
    options = {"encoder": "no/such-encoder", "confidence": 0.95}
    with pytest.raises(ValueError, match=r"references\[47\]: 'paper_id' is missing, but references\[0\] has 'p0'"):
        compute_scores(PREDICTIONS, mixed, **options)
    assert "fact_f1" in compute_scores(PREDICTIONS, mixed, metrics=["fact_f1"])


def test_a_score_without_two_units_has_no_interval_and_says_so():
    rows = [row | {"facts": [1] if row["paper_id"] == "p1" else []} for row in WITH_PAPERS]
    with pytest.warns(UserWarning, match="no interval of fact_f1, fact_precision, fact_recall: it takes two papers.*1"):
        result = compute_scores(PREDICTIONS, rows, **OPTIONS)
    assert result["fact_f1_ci"] is result["fact_recall_ci"] is None
    assert len(result["message_f1_ci"]) == 2


@pytest.mark.parametrize(("n_papers", "warns"), [(2, True), (5, True), (6, False)])
def test_intervals_from_few_papers_give_a_warning(n_papers, warns, recwarn):
    rows = [row | {"paper_id": f"p{i % n_papers}"} for i, row in enumerate(WITH_PAPERS)]
    compute_scores(PREDICTIONS, rows, metrics=["message_f1"], confidence=0.95)
    found = [str(warning.message) for warning in recwarn]
    says = f"intervals of message_f1, message_f1_whitespace rest on {n_papers} papers; with fewer than 6"
    assert [says in text for text in found] == [True] * warns


def test_equal_scores_have_an_interval_of_no_width():
    rows = [{"message": "same", "paper_id": str(i)} for i in range(8)]
    result = compute_scores(["same"] * 8, rows, metrics=["message_f1"], confidence=0.95)
    assert result["message_f1_ci"] == [1.0, 1.0]
