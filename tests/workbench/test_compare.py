"""The comparison of systems: what is paired, what is left out, and how it is judged."""

import json
import random
from statistics import fmean

import pytest

from argscichat.compare import compare_systems
from argscichat.permutation import holm
from argscichat_metric.compute import compute_scores
from tests.workbench.test_permutation import enumerated_p_value

WORDS = "a small corpus of long dialogues about new parsers and old recipes".split()
TEXT_FREE = {"metrics": ["fact_f1", "message_f1"]}


def made_up(n_papers=5, n_queries=6, seed=0, papers=True):
    """References and three systems: the gold replies spoilt a little, a lot, and at random."""
    draw = random.Random(seed)
    references, systems = [], {"good": [], "poor": [], "random": []}
    for paper in range(n_papers):
        for query in range(n_queries):
            of_query = {"id": f"p{paper}_q{query}"}
            message, facts = draw.choices(WORDS, k=8), draw.sample(range(20), k=draw.choice([0, 1, 2]))
            paper_id = {"paper_id": f"paper {paper}"} if papers else {}
            references.append(of_query | {"message": " ".join(message), "facts": facts} | paper_id)
            for name, kept in (("good", 6), ("poor", 3), ("random", 0)):
                reply = message[:kept] + draw.choices(WORDS, k=8 - kept)
                chosen = facts[: 1 + (kept > 5)] if kept else draw.sample(range(20), k=2)
                systems[name].append(of_query | {"message": " ".join(reply), "facts": chosen})
    return systems, references


@pytest.fixture(scope="module")
def data():
    return made_up()


@pytest.fixture(scope="module")
def comparison(data):
    return compare_systems(*data, **TEXT_FREE)


def differences_by_paper(comparison, score, baseline, system):
    """Sums of differences of each paper over the queries that count, in plain Python."""
    columns = {of.name: of.per_query[score] for of in comparison.systems}
    sums = {}
    for paper, before, after in zip(comparison.paper_ids, columns[baseline], columns[system], strict=True):
        sums[paper] = sums.get(paper, 0.0) + (after - before if before is not None else 0.0)
    return list(sums.values())


def test_every_system_is_compared_with_the_first_one(comparison):
    assert [(pair.baseline, pair.system) for pair in comparison.pairs] == [("good", "poor"), ("good", "random")]
    assert comparison.score_keys == ["fact_f1", "message_f1"]


def test_all_pairs_are_compared_on_request(data):
    found = compare_systems(*data, all_pairs=True, **TEXT_FREE)
    pairs = [("good", "poor"), ("good", "random"), ("poor", "random")]
    assert [(pair.baseline, pair.system) for pair in found.pairs] == pairs


def test_the_difference_is_system_minus_baseline_over_queries_that_count_for_both(comparison):
    for pair in comparison.pairs:
        for score in pair.scores:
            columns = {of.name: of.per_query[score.score] for of in comparison.systems}
            both = [
                (before, after)
                for before, after in zip(columns[pair.baseline], columns[pair.system], strict=True)
                if before is not None
            ]
            assert score.difference == pytest.approx(fmean(after - before for before, after in both))
            assert score.difference == pytest.approx(score.system - score.baseline)
            assert score.wins == sum(after > before + 1e-12 for before, after in both)
            assert score.losses == sum(after < before - 1e-12 for before, after in both)
            assert score.wins + score.ties + score.losses == len(both)
            low, high = score.interval
            assert low < score.difference < high


def test_queries_without_gold_facts_are_left_out_of_fact_f1_on_both_sides(data, comparison):
    n_gold = sum(bool(row["facts"]) for row in data[1])
    assert n_gold < len(data[1])
    fact, message = comparison.pairs[0].scores
    assert fact.wins + fact.ties + fact.losses == n_gold
    assert message.wins + message.ties + message.losses == len(data[1])


def test_p_values_flip_whole_papers_and_are_exact_for_five(comparison):
    assert (comparison.unit, comparison.n_units) == ("paper", 5)
    for pair in comparison.pairs:
        for score in pair.scores:
            sums = differences_by_paper(comparison, score.score, pair.baseline, pair.system)
            assert score.p_value == pytest.approx(enumerated_p_value(sums))


def test_p_values_are_corrected_over_all_scores_of_all_pairs(comparison):
    scores = [score for pair in comparison.pairs for score in pair.scores]
    assert len(scores) == 4
    assert [score.p_holm for score in scores] == holm([score.p_value for score in scores])


def test_queries_are_flipped_where_no_paper_is_known():
    found = compare_systems(*made_up(n_papers=2, n_queries=4, papers=False), **TEXT_FREE)
    assert (found.unit, found.n_units, found.paper_ids) == ("query", 8, None)
    message = found.pairs[0].scores[1]
    before, after = (system.per_query["message_f1"] for system in found.systems[:2])
    assert message.p_value == enumerated_p_value([b - a for a, b in zip(before, after, strict=True)])


def test_equal_systems_tie_everywhere(data):
    systems, references = data
    found = compare_systems({"a": systems["good"], "b": list(reversed(systems["good"]))}, references, **TEXT_FREE)
    for score in found.pairs[0].scores:
        assert (score.difference, score.p_value, score.p_holm, score.wins, score.losses) == (0, 1, 1, 0, 0)
        assert score.interval == (0, 0)
    assert found.pairs[0].shown == []


def test_the_seed_makes_the_comparison_and_another_one_another_interval():
    data = made_up(n_papers=20, n_queries=2)
    first, again, other = (compare_systems(*data, seed=seed, **TEXT_FREE) for seed in (1, 1, 2))
    assert first == again
    assert first.pairs[0].scores[1].interval != other.pairs[0].scores[1].interval


def test_the_shown_queries_are_those_with_the_largest_mean_difference(data):
    found = compare_systems(*data, show=3, **TEXT_FREE)
    baseline, system = found.systems[:2]
    sizes = {}
    for i, query_id in enumerate(found.ids):
        values = [(baseline.per_query[key][i], system.per_query[key][i]) for key in found.score_keys]
        sizes[query_id] = fmean(abs(after - before) for before, after in values if before is not None)
    shown = found.pairs[0].shown
    assert [sizes[query.id] for query in shown] == pytest.approx(sorted(sizes.values(), reverse=True)[:3])
    by_id = {row["id"]: row for row in data[0]["poor"]}
    assert shown[0].system.message == by_id[shown[0].id]["message"]
    assert shown[0].query is None
    assert set(shown[0].system.scores) == {"fact_f1", "message_f1"}
    assert compare_systems(*data, show=0, **TEXT_FREE).pairs[0].shown == []


def test_files_give_the_text_of_the_query_and_sentences_for_indices(root, tmp_path):
    sample = root / "argscichat_dataset/sample"
    papers = json.loads((sample / "sample_test.json").read_text(encoding="utf-8")).values()
    sentences = {pair["id"]: paper["content"] for paper in papers for pair in paper["message_pairs"]}
    queries = {pair["id"]: pair["P_Message"] for paper in papers for pair in paper["message_pairs"]}
    for name in ("demo", "second"):
        with (tmp_path / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for line in (sample / f"predictions_{name}_agent.jsonl").read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                facts = [sentences[row["id"]].index(fact) for fact in row["facts"]]
                file.write(json.dumps(row | {"facts": facts}) + "\n")
    as_text, as_indices = (
        compare_systems({"demo": one, "second": two}, sample / "sample_test.json", **TEXT_FREE)
        for one, two in (
            (sample / "predictions_demo_agent.jsonl", sample / "predictions_second_agent.jsonl"),
            (tmp_path / "demo.jsonl", tmp_path / "second.jsonl"),
        )
    )
    assert as_text.pairs == as_indices.pairs
    shown = as_indices.pairs[0].shown[0]
    assert shown.query == queries[shown.id]
    assert set(shown.baseline.facts) <= set(sentences[shown.id])
    assert as_text.n_units == 5


def test_embedding_scores_are_compared_too_and_equal_those_of_scoring():
    systems, references = made_up(n_papers=2, n_queries=2)
    found = compare_systems(systems, references, n_resamples=100)
    assert found.score_keys == ["fact_f1", "message_f1", "bertscore_f1", "moverscore"]
    for system in found.systems:
        result = compute_scores(systems[system.name], references)
        assert system.means == pytest.approx({key: result[key] for key in found.score_keys}, abs=1e-6)
    assert "all-MiniLM-L6-v2" in found.signature


def test_missing_predictions_score_as_empty_ones_and_are_listed(data):
    systems, references = data
    found = compare_systems({"a": systems["good"], "b": systems["good"][1:]}, references, **TEXT_FREE)
    assert found.systems[1].missing == [references[0]["id"]]
    assert found.pairs[0].scores[1].losses == 1


def test_the_comparison_is_what_json_can_hold_and_the_input_stays_as_it_was(data):
    before = json.dumps(data)
    written = json.dumps(compare_systems(*data, **TEXT_FREE).to_dict(), allow_nan=False)
    assert json.loads(written)["pairs"][0]["scores"][0]["score"] == "fact_f1"
    assert json.dumps(data) == before


def test_one_paper_gives_no_interval_and_no_significance():
    found = compare_systems(*made_up(n_papers=1), **TEXT_FREE)
    assert found.pairs[0].scores[1].interval is None
    assert found.pairs[0].scores[1].p_value == 1.0


@pytest.mark.filterwarnings("ignore:no query has gold facts")
def test_a_score_that_no_query_counts_for_is_no_difference(data):
    systems, references = data
    without = [row | {"facts": []} for row in references]
    fact = compare_systems(systems, without, **TEXT_FREE).pairs[0].scores[0]
    assert (fact.difference, fact.interval, fact.p_value, fact.wins, fact.ties) == (0.0, None, 1.0, 0, 0)


def change(rows, **changes):
    return [rows[0] | changes, *rows[1:]]


@pytest.mark.parametrize(
    ("changed", "options", "error", "says"),
    [
        ({"systems": {"good": []}}, {}, ValueError, "systems: expected at least two, got 1"),
        ({"systems": []}, {}, TypeError, "systems: expected a dict of name -> predictions, got list"),
        ({"systems": {"": [], "b": []}}, {}, ValueError, "not empty, got ''"),
        ({}, {"confidence": 1.5}, ValueError, "confidence: expected a number above 0 and below 1, or None, got 1.5"),
        ({}, {"confidence": float("nan")}, ValueError, "confidence: expected a number above 0 and below 1, or None"),
        ({}, {"confidence": "0.95"}, TypeError, "confidence"),
        ({}, {"n_resamples": 0}, ValueError, "n_resamples: expected a whole number of at least 1"),
        ({}, {"seed": -1}, ValueError, "seed"),
        ({}, {"show": True}, TypeError, "show"),
        ({}, {"metric": ["fact_f1"]}, TypeError, "did you mean 'metrics'"),
        ({"second": lambda rows: []}, {}, ValueError, "system 'poor': predictions: expected at least one row"),
        ({"second": lambda rows: change(rows, id="who")}, {}, ValueError, "system 'poor': 1 of 30 predictions have an"),
        ({"second": lambda rows: change(rows, id=rows[1]["id"])}, {}, ValueError, r"given in predictions\[0\] already"),
        (
            {"second": lambda rows: change(rows, message=3)},
            {},
            TypeError,
            r"system 'poor': predictions\[0\]\['message'\]",
        ),
        ({"second": lambda rows: [{"message": "x"}]}, {}, ValueError, r"predictions\[0\]: 'id' is missing"),
        ({"second": lambda rows: change(rows, facts=[1, 2, 3])}, {}, ValueError, "system 'poor': .*at most 2 distinct"),
        (
            {"second": lambda rows: [{"id": row["id"], "message": ""} for row in rows]},
            {"metrics": None},
            ValueError,
            "system 'good' has fact_f1, message_f1, and system 'poor' message_f1; choose metrics",
        ),
        ({"references": lambda rows: []}, {}, ValueError, "references: expected at least one row"),
        (
            {"references": lambda rows: [{k: v for k, v in rows[0].items() if k != "paper_id"}, *rows[1:]]},
            {},
            ValueError,
            "'paper_id' is missing",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(data, monkeypatch, changed, options, error, says):
    from argscichat_metric import compute

    monkeypatch.setattr(compute, "EMBEDDING_METRICS", ())
    systems, references = data
    systems = changed.get("systems", systems)
    if "second" in changed:
        systems = {"good": systems["good"], "poor": changed["second"](systems["poor"])}
    references = changed.get("references", lambda rows: rows)(references)
    with pytest.raises(error, match=says) as caught:
        compare_systems(systems, references, **TEXT_FREE | options)
    assert len(str(caught.value)) < 1000


def test_real_folds_are_compared_by_their_papers(shared_dir):
    folder = shared_dir / "argscichat"
    minilm = folder / "predictions/minilm_fold_1_test.jsonl"
    rows = [json.loads(line) for line in minilm.read_text(encoding="utf-8").splitlines()]
    found = compare_systems(
        {"minilm": minilm, "silent": [{"id": row["id"], "message": "", "facts": []} for row in rows]},
        folder / "fold_1_test.json",
        **TEXT_FREE,
    )
    fact = found.pairs[0].scores[0]
    assert fact.baseline == pytest.approx(0.182292, abs=1e-6)
    assert (fact.system, fact.wins) == (0.0, 0)
    assert (found.unit, found.n_units) == ("paper", 2)
    # Two papers can agree by chance in half of the sign patterns.
    assert fact.p_value == 0.5
