"""One reply: its four scores, what they are made of, and both as HTML."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from argscichat.explain import Explanation, explain_pair
from argscichat.pair_plots import plot_matching, plot_transport
from argscichat.scoring import MAIN_SCORES
from argscichat.space import markup
from argscichat.space.figures import figure_html
from argscichat_metric.compute import compute_scores


@dataclass(frozen=True)
class ScoredReply:
    """A reply beside its reference.

    Args:
        scores: key of `MAIN_SCORES` -> score; None where the query has no gold facts.
        signature: what changes the scores.
        explanation: what the scores are made of.
        gold: indices of the gold sentences.
        chosen: indices of the chosen sentences.
    """

    scores: dict[str, float | None]
    signature: str
    explanation: Explanation
    gold: frozenset[int]
    chosen: frozenset[int]


def score_reply(reply: str, reference: str, chosen: Collection[int], gold: Collection[int]) -> ScoredReply:
    """Score one reply; usable from several threads at once.

    Args:
        reply: the reply.
        reference: the reference reply.
        chosen: indices of the sentences that the reply rests on, at most two.
        gold: indices of the gold sentences; without any, there is no Fact-F1.

    Returns:
        The scores and what they are made of.

    Raises:
        ValueError: more than two sentences, or a text that is not valid Unicode.
    """
    predicted, expected = {"message": reply}, {"message": reference}
    if gold:
        predicted["facts"], expected["facts"] = sorted(chosen), sorted(gold)
    result = compute_scores([predicted], [expected])
    return ScoredReply(
        scores={key: result.get(key) for key in MAIN_SCORES},
        signature=result["signature"],
        explanation=explain_pair(reply, reference),
        gold=frozenset(gold),
        chosen=frozenset(chosen),
    )


def tiles_html(scored: ScoredReply) -> str:
    """The four scores, each with a few words on what is behind it."""
    both = len(scored.gold & scored.chosen)
    matching, transport = scored.explanation.matching, scored.explanation.transport
    words = scored.explanation.words
    remarks = {
        "fact_f1": f"{both} of {len(scored.chosen)} chosen, {both} of {len(scored.gold)} gold"
        if scored.gold
        else "no gold facts: does not count",
        "message_f1": f"{sum(words.predicted_is_shared)} shared words",
        "bertscore_f1": f"precision {matching.precision:.3f}, recall {matching.recall:.3f}"
        if matching
        else "a text is empty",
        "moverscore": f"1 / (1 + cost {transport.cost:.3f})" if transport else "a text is empty",
    }
    return markup.score_tiles(scored.scores, remarks)


def words_html(explanation: Explanation) -> str:
    """The words that reply and reference share."""
    return markup.heading(
        "Shared words",
        "Message-F1 counts words in lower case, without punctuation and articles; underlined ones are in both texts.",
    ) + markup.shared_words(explanation.words)


def heat_maps_html(explanation: Explanation) -> str:
    """The matching of BERTScore and the transport of MoverScore; a sentence where a text is empty."""
    if explanation.matching is None or explanation.transport is None:
        return markup.hint(
            "A text is empty, so BERTScore and MoverScore are 0 and there are no tokens to match or move."
        )
    matching = figure_html(
        lambda: plot_matching(explanation.matching),
        "Heat map: cosine of every token of the reply with every token of the reference",
    )
    transport = figure_html(
        lambda: plot_transport(explanation.transport),
        "Heat map: how much of which token is moved onto which token of the reference",
    )
    return markup.side_by_side(
        markup.heading("BERTScore", "Every token is matched with the most similar token of the other text.") + matching,
        markup.heading("MoverScore", "The words of the reply are moved onto those of the reference, at the least cost.")
        + transport,
    )


def facts_html(
    sentences: Sequence[str] | None, gold: Sequence[str | int] | None, chosen: Sequence[str | int] | None
) -> str:
    """The facts of a query: marked in the paper where it is known, else as they are.

    Args:
        sentences: the paper, or None.
        gold: the gold facts, as sentences or indices; None where the file carries none.
        chosen: the facts of the agent, likewise.

    Returns:
        HTML; a fact that is no sentence of the paper is named below it.
    """
    if gold is None or chosen is None:
        return markup.hint("The files carry no facts.")
    if sentences is None:
        sentences = list(dict.fromkeys(map(str, (*gold, *chosen))))
        if not sentences:
            return markup.hint("The query has no gold facts, and the agent chose none.")
        gold, chosen = list(map(str, gold)), list(map(str, chosen))
    places = {sentence: i for i, sentence in reversed(list(enumerate(sentences)))}
    gold_ids, chosen_ids = (
        [fact if isinstance(fact, int) else places.get(fact, -1) for fact in facts] for facts in (gold, chosen)
    )
    foreign = [fact for fact, i in zip(chosen, chosen_ids, strict=True) if not 0 <= i < len(sentences)]
    return markup.paper(sentences, gold_ids, chosen_ids) + markup.notes(
        f"The agent chose a fact that is no sentence of the paper: {fact}" for fact in foreign
    )
