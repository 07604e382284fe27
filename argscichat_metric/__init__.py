"""Fact-F1, Message-F1, BERTScore and MoverScore of replies on scientific papers, as one `evaluate` module.

`evaluate.load("<path>/argscichat_metric")` loads the module; `compute_scores` is the same computation as a plain
function, without the `evaluate` library and safe to call from several threads. Its config `"retrieval"`, as a plain
function `compute_retrieval`, scores rankings.
"""

from .compute import compute_scores
from .fact_f1 import fact_f1
from .message_f1 import message_f1
from .retrieval import compute_retrieval
from .version import __version__

__all__ = ["__version__", "compute_retrieval", "compute_scores", "fact_f1", "message_f1"]
