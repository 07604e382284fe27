"""The declared features of every config, so that no type is ever guessed from the data: ids and texts stay strings."""

from datasets import ClassLabel, Features, List, Value

from argscichat_dataset.intents import ROLES, TAGS

_TEXT = Value("string")
_TEXTS = List(_TEXT)

# As `corpus.Row`.
PAIR_FEATURES = Features(
    {
        "id": _TEXT,
        "paper_id": _TEXT,
        "title": _TEXT,
        "dialogue_id": _TEXT,
        "turn": Value("int32"),
        "query": _TEXT,
        "reply": _TEXT,
        "history": List({"query": _TEXT, "reply": _TEXT, "facts": _TEXTS}),
        "history_sentences": _TEXTS,
        "paper": _TEXTS,
        "facts": _TEXTS,
        "fact_ids": List(Value("int32")),
        "annotated_facts": _TEXTS,
    }
)

# As `corpus.PaperRow`.
PAPER_FEATURES = Features(
    {
        "paper_id": _TEXT,
        "title": _TEXT,
        "sentences": _TEXTS,
        "n_dialogues": Value("int32"),
        "n_pairs": Value("int32"),
    }
)

# As `intents.IntentRow`; id and side are null where a sentence is not matched.
INTENT_FEATURES = Features(
    {
        "id": _TEXT,
        "side": _TEXT,
        "role": ClassLabel(names=list(ROLES)),
        "message_number": Value("int32"),
        "sentence_number": Value("int32"),
        "sentence": _TEXT,
        "tag": ClassLabel(names=list(TAGS)),
    }
)

# Config of a BEIR folder -> its features, as on the cards of BeIR on the Hub.
BEIR_FEATURES = {
    "corpus": Features({"_id": _TEXT, "title": _TEXT, "text": _TEXT}),
    "queries": Features({"_id": _TEXT, "text": _TEXT}),
    "qrels": Features({"query-id": _TEXT, "corpus-id": _TEXT, "score": Value("int32")}),
}
