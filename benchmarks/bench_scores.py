"""Speed and memory of the metric beside the original packages: one run, one encoder, the same pairs.

Times are compared only within a run and where possible in turn (ours, theirs, ours, theirs ...), because the clock of
a machine and its other work change from minute to minute. `README.md` beside this file says how to read the table.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/bench_scores.py`

from benchmarks.results import Line, Measured, as_json, as_markdown, describe_machine, seconds_of_others, write_text
from benchmarks.texts import ROOT, SHORT_TEXT_WORDS, Corpus, DistinctTexts, Pairs

EMBEDDING_METRICS = ("bertscore", "moverscore")
WORD_METRICS = ("fact_f1", "message_f1")
BERTSCORE_BATCH = 64
"""bert_score.score's default."""
MOVERSCORE_BATCH = 256
"""Default of word_mover_score in moverscore_v2.py."""
TRANSPORT_SOLVERS = {"pot": "pyemd's default solver (POT)", "cpp": "pyemd's C++ solver"}
DEFAULT_SOLVER = "pot"
PRODUCT_SIZES = (1024, 2048)
TOLERANCE = 1e-4
N_WARM_UP = 8
N_CHECKED_ONE_BY_ONE = 48


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Args:
        repeats: rounds of every timing that is cheap enough to repeat.
        rate_pairs: pairs on which the rate of the encoder is measured.
        rate_repeats: rounds of that measure, each of several windows.
        memory_pairs: numbers of pairs whose peak memory is measured; the last is compared with the first.
        word_rows: rows of the measure without embedding scores.
    """

    repeats: int = 5
    rate_pairs: int = 2_000
    rate_repeats: int = 3
    memory_pairs: tuple[int, ...] = (1_000, 10_000, 50_000)
    word_rows: int = 100_000


QUICK = Sizes(repeats=1, rate_pairs=100, rate_repeats=1, memory_pairs=(100, 400), word_rows=2_000)


# What is compared


def ours(pairs: Pairs, **options: Any) -> dict[str, Any]:
    """Both embedding scores by this project; nothing is taken from an earlier call unless `cache_mb` is given."""
    from argscichat_metric import compute_scores

    return compute_scores(*pairs, **{"metrics": EMBEDDING_METRICS, "cache_mb": 0} | options)


def bertscore(pairs: Pairs, batch_size: int = BERTSCORE_BATCH) -> list[tuple[float, float, float]]:
    """BERTScore by the bert-score package."""
    from benchmarks.originals import bertscore_original

    return bertscore_original(*pairs, _model_folder(), _encoder().depth, batch_size=batch_size)


def moverscore(pairs: Pairs, solver: str, batch_size: int = MOVERSCORE_BATCH) -> list[float]:
    """MoverScore by the source of moverscore_v2."""
    from benchmarks.originals import moverscore_original

    return moverscore_original(*pairs, _model_folder(), version="v2", batch_size=batch_size, emd_backend=solver)


def _encoder() -> Any:
    from argscichat_metric.encoder import load_encoder
    from argscichat_metric.options import EMBEDDED_ENCODER

    return load_encoder(EMBEDDED_ENCODER)


def _model_folder() -> str:
    from argscichat_metric.encoder_files import locate
    from argscichat_metric.options import EMBEDDED_ENCODER

    return locate(EMBEDDED_ENCODER)[0]


def check_agreement(pairs: Pairs) -> dict[str, float]:
    """Compare our scores with the originals', so that only equal work is timed.

    Args:
        pairs: no pair of identical texts among them, whose MoverScore the original rounds to 0.9998.

    Returns:
        Score -> largest difference of a pair.

    Raises:
        RuntimeError: a difference above `TOLERANCE`.
    """
    from benchmarks.originals import squad_v2_f1

    metrics = (*EMBEDDING_METRICS, "message_f1")
    found = ours(pairs, metrics=metrics, moverscore_formula="linear", per_example=True)["per_example"]
    expected = {
        # One pair at a time: in a batch the package lets padding count as similarity 0.
        "bertscore_f1": [f1 for _, _, f1 in bertscore(pairs.first(N_CHECKED_ONE_BY_ONE), batch_size=1)],
        "moverscore": moverscore(pairs, "pot", batch_size=1),
        "message_f1": squad_v2_f1(*pairs),
    }
    worst = {
        score: max(abs(a - b) for a, b in zip(found[score], values, strict=False)) for score, values in expected.items()
    }
    for score, difference in worst.items():
        if not difference <= TOLERANCE:
            raise RuntimeError(f"{score}: differs from the original package by {difference:.2g}, so times mean nothing")
    return worst


# Timing


def seconds(function: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_turn(repeats: int, **functions: Callable[[], object]) -> dict[str, list[float]]:
    """Time functions in turn, so that a slow minute of the machine meets all of them.

    Args:
        repeats: rounds.
        **functions: what to call, by name.

    Returns:
        Name -> seconds of every round.
    """
    rounds = [{name: seconds(function) for name, function in functions.items()} for _ in range(repeats)]
    return {name: [times[name] for times in rounds] for name in functions}


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """Median of the ratios of the rounds."""
    return median(a / b for a, b in zip(numerators, denominators, strict=True))


@contextmanager
def around_embed(observe: Callable[[Callable[[], Any], Sequence[Any]], Any]) -> Iterator[None]:
    """Put a function around every run of the encoder.

    Args:
        observe: gets the run as a function without arguments, and the tokenized texts; returns what the run returns.

    Yields:
        Nothing; the encoder is as before afterwards.
    """
    from argscichat_metric.encoder import Encoder

    original = Encoder.embed

    def embed(self: Any, texts: Sequence[Any], *arguments: Any) -> Any:
        return observe(partial(original, self, texts, *arguments), texts)

    Encoder.embed = embed
    try:
        yield
    finally:
        Encoder.embed = original


# Measures


def measure_speed(pairs: Pairs, repeats: int) -> Measured:
    """Both embedding scores beside bert-score and moverscore_v2, the latter with each solver of pyemd."""
    times, lines, speedups = {}, [], {}
    for solver, name in TRANSPORT_SOLVERS.items():
        _note(f"bert-score, moverscore_v2 with {name}, and ours on {len(pairs.references)} pairs")
        times[solver] = in_turn(
            repeats if solver == DEFAULT_SOLVER else 1,
            ours=partial(ours, pairs),
            bertscore=partial(bertscore, pairs),
            moverscore=partial(moverscore, pairs, solver),
        )
        mine, bert, mover = times[solver].values()
        both = [a + b for a, b in zip(bert, mover, strict=True)]
        ratio = speedups[f"speedup_over_bertscore_plus_moverscore_{solver}"] = median_ratio(both, mine)
        goal = ("at least 8 x", ratio >= 8) if solver == DEFAULT_SOLVER else ("", None)
        measure = f"BERTScore and MoverScore, beside bert-score + moverscore_v2 with {name}"
        other = f"{median(both):.2f} s ({median(bert):.2f} + {median(mover):.2f})"
        lines.append(Line(measure, f"{median(mine):.2f} s", other, f"{ratio:.1f} x", *goal))
    main = {
        "speedup_over_bertscore_plus_moverscore": speedups[f"speedup_over_bertscore_plus_moverscore_{DEFAULT_SOLVER}"]
    }
    return Measured({"pairs": len(pairs.references), "seconds": times}, lines, main | speedups)


def measure_message_f1(pairs: Pairs, repeats: int) -> Measured:
    """Message-F1, which comes in two kinds here, beside one kind by the rules of Hugging Face's squad_v2."""
    from argscichat_metric import compute_scores
    from benchmarks.originals import squad_v2_f1

    times = in_turn(
        4 * repeats + 1,
        ours=partial(compute_scores, *pairs, metrics=["message_f1"]),
        squad_v2=partial(squad_v2_f1, *pairs),
    )
    ratio = median_ratio(times["squad_v2"], times["ours"])
    milliseconds = [f"{1000 * median(values):.1f} ms" for values in times.values()]
    line = Line("Message-F1 (both kinds), beside the squad_v2 rules (one kind)", *milliseconds, f"{ratio:.1f} x")
    return Measured({"seconds": times}, [line], {"speedup_over_squad_v2": ratio})


def measure_overhead(pairs: Pairs, repeats: int) -> Measured:
    """The share of the time that is not spent in the encoder: tokenising, matching, transport, Python."""
    encoding: list[float] = []

    def observe(run: Callable[[], Any], _texts: Sequence[Any]) -> Any:
        start = time.perf_counter()
        states = run()
        encoding[-1] += time.perf_counter() - start
        return states

    whole = []
    with around_embed(observe):
        for _ in range(repeats):
            encoding.append(0.0)
            whole.append(seconds(partial(ours, pairs)))
    shares = [1 - inside / total for inside, total in zip(encoding, whole, strict=True)]
    share = median(shares)
    per_pair = 1000 * median(a - b for a, b in zip(whole, encoding, strict=True)) / len(pairs.references)
    line = Line(
        "everything but the encoder's forward pass",
        f"{per_pair:.2f} ms a pair",
        f"{median(encoding):.2f} s forward pass",
        f"{share:.1%} of the time",
        "at most 5 %",
        share <= 0.05,
    )
    return Measured({"seconds": whole, "encoder_seconds": encoding, "share_of_everything_else": share}, [line])


def forward_flops(lengths: Sequence[int]) -> float:
    """Floating-point operations of the encoder's forward passes over texts, padding not counted.

    Args:
        lengths: tokens of each text.

    Returns:
        2 for each weight of a linear layer and token, and 4 * tokens^2 * hidden size for the two products of the
        attention of each layer. The pooler, which sees one token a text, is left out.
    """
    import torch

    model = _encoder()._model
    linear = [
        module.weight.numel()
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and not name.startswith("pooler")
    ]
    attention = 4 * model.config.num_hidden_layers * model.config.hidden_size
    return float(sum(2 * sum(linear) * n + attention * n * n for n in lengths))


def product_rates() -> dict[int, float]:
    """Operations a second of a product of two square float32 matrices, by their size."""
    import torch

    rates = {}
    for size in PRODUCT_SIZES:
        left, right = torch.rand(2, size, size)
        out = torch.empty(size, size)
        times = [seconds(partial(torch.mm, left, right, out=out)) for _ in range(4096 // size)]
        rates[size] = 2 * size**3 / median(times)
    return rates


def measure_rate(pairs: Pairs, repeats: int) -> Measured:
    """Operations a second of the encoder beside those of plain matrix products, measured before and after each run."""
    windows: list[dict[str, Any]] = []

    def observe(run: Callable[[], Any], texts: Sequence[Any]) -> Any:
        before = product_rates()
        start = time.perf_counter()
        states = run()
        elapsed = time.perf_counter() - start
        products = {size: (rate + before[size]) / 2 for size, rate in product_rates().items()}
        flops = forward_flops([len(text.ids) for text in texts])
        windows.append({"encoder": flops / elapsed, "seconds": elapsed, **products})
        return states

    with around_embed(observe):
        for _ in range(repeats):
            ours(pairs)
    encoder = [window["encoder"] for window in windows]
    lines, ratios = [], {}
    fastest = max(PRODUCT_SIZES, key=lambda size: median(window[size] for window in windows))
    for size in PRODUCT_SIZES:
        products = [window[size] for window in windows]
        ratio = ratios[f"encoder_share_of_product_rate_{size}"] = median_ratio(encoder, products)
        goal = ("at least 80 %", ratio >= 0.8) if size == fastest else ("", None)
        rates = [f"{median(values) / 1e9:.0f} GFLOP/s" for values in (encoder, products)]
        measure = f"encoder on {len(pairs.references)} pairs, beside a product of {size} x {size} matrices"
        lines.append(Line(measure, *rates, f"{ratio:.0%}", *goal))
    return Measured({"windows": windows, **ratios}, lines)


def measure_second_call(corpus: Corpus, n: int, repeats: int) -> Measured:
    """A second call with the same references and new predictions, beside the first, with the default cache."""
    pairs = corpus.pairs(n)
    # Predictions as long as the references: what is saved is the references' share of the tokens.
    texts = DistinctTexts(pairs.predictions)
    references = [texts.take(text) for text in pairs.references]
    new = [Pairs([texts.take(text) for text in references], references) for _ in range(2)]
    times: dict[str, list[float]] = {"first": [], "second": []}
    for _ in range(repeats):
        ours(pairs.first(1))  # a call without a cache empties it
        for name, given in zip(times, new, strict=True):
            times[name].append(seconds(partial(ours, given, cache_mb=_default_cache())))
    ratio = median_ratio(times["first"], times["second"])
    line = Line(
        "a second call with the same references and new predictions as long, beside the first call",
        f"{median(times['second']):.2f} s",
        f"{median(times['first']):.2f} s",
        f"{ratio:.2f} x",
        "at least 1.8",
        ratio >= 1.8,
    )
    return Measured({"seconds": times}, [line], {"speedup_of_second_call": ratio})


def measure_words(corpus: Corpus, n: int) -> Measured:
    """Fact-F1 and Message-F1 of many rows through evaluate, which writes and reads them as Arrow files."""
    import evaluate

    from benchmarks.processes import run_python

    metric = evaluate.load(str(ROOT / "argscichat_metric"))
    draw = random.Random(0)
    sides = [
        [{"message": text, "facts": draw.sample(range(40), draw.randint(0, 2))} for text in texts]
        for texts in corpus.pairs(n)
    ]
    scores = partial(metric.compute, predictions=sides[0], references=sides[1], metrics=list(WORD_METRICS))
    elapsed = seconds(scores)
    code = (
        "import sys; from argscichat_metric import compute_scores; compute_scores("
        "[{'message': 'a', 'facts': [1]}], [{'message': 'b', 'facts': [1]}], metrics=['fact_f1', 'message_f1']); "
        "print('torch' in sys.modules)"
    )
    imports_torch = run_python(code).strip() != "False"
    lines = [
        Line(f"Fact-F1 and Message-F1 of {n:,} rows through evaluate", f"{elapsed:.1f} s", target="seconds"),
        Line(
            "torch is imported by the same two scores without evaluate",
            "yes" if imports_torch else "no",
            target="no",
            reached=not imports_torch,
        ),
    ]
    return Measured({"rows": n, "seconds": elapsed, "imports_torch": imports_torch}, lines)


def measure_import(repeats: int) -> Measured:
    """`import argscichat_metric` in a fresh process, without the start of Python itself."""
    from benchmarks.processes import run_python

    times = in_turn(
        2 * repeats + 1,
        package=partial(run_python, "import argscichat_metric"),
        empty=partial(run_python, "pass"),
    )
    extra = median(a - b for a, b in zip(times["package"], times["empty"], strict=True))
    line = Line("import argscichat_metric", f"{extra:.3f} s", target="under 0.2 s", reached=extra < 0.2)
    return Measured({"seconds": extra, "all_seconds": times}, [line])


def measure_memory(sizes: Sequence[int]) -> Measured:
    """Peak memory of both embedding scores with the default cache, in a fresh process for each number of pairs."""
    from benchmarks.processes import run_python

    peaks, lines = {}, []
    for n in sizes:
        _note(f"peak memory at {n:,} pairs")
        peaks[n] = int(run_python(f"from benchmarks.bench_scores import print_peak; print_peak({n})"))
        lines.append(Line(f"peak memory at {n:,} pairs of {SHORT_TEXT_WORDS}-word texts", f"{peaks[n] / 1e6:.0f} MB"))
    growth = (peaks[sizes[-1]] - peaks[sizes[0]]) / 1e6
    measure = f"growth from {sizes[0]:,} to {sizes[-1]:,} pairs"
    lines.append(Line(measure, f"{growth:.0f} MB", target="at most 200 MB", reached=growth <= 200))
    return Measured({"peak_bytes": peaks, "growth_mb": growth}, lines)


def print_peak(n: int) -> None:
    """Score n short pairs and print the peak memory of this process in bytes."""
    from benchmarks.processes import peak_bytes

    pairs = Corpus().short_pairs(n)
    ours(pairs, cache_mb=_default_cache())
    print(peak_bytes())


def _default_cache() -> int:
    from argscichat_metric.options import CACHE_MB

    return CACHE_MB


# Output


def measure_all(n: int, sizes: Sizes, with_memory: bool) -> dict[str, Measured]:
    """Run every measure.

    Args:
        n: pairs of the measures that compare with the original packages.
        sizes: how much else is measured.
        with_memory: whether to measure the peak memory, which takes minutes.

    Returns:
        Name of the measure -> what it found.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()
    corpus = Corpus()
    pairs = corpus.pairs(n)
    _note(f"agreement with the originals, and warm-up: {corpus.described(n)}")
    differences = check_agreement(pairs)
    for solver in TRANSPORT_SOLVERS:
        moverscore(pairs.first(N_WARM_UP), solver)
    worst = f"{max(differences.values()):.0e}"
    found = {
        "agreement": Measured(differences, [Line("largest difference of a score of a pair", worst, target="1e-4")])
    }
    found["speed"] = measure_speed(pairs, max(1, sizes.repeats * 250 // max(n, 250)))
    measures = {
        "message_f1": partial(measure_message_f1, pairs, sizes.repeats),
        "overhead": partial(measure_overhead, pairs, 4 * sizes.repeats + 1),
        "rate": lambda: measure_rate(corpus.pairs(sizes.rate_pairs), sizes.rate_repeats),
        "second_call": partial(measure_second_call, corpus, n, sizes.repeats),
        "words": partial(measure_words, corpus, sizes.word_rows),
        "import": partial(measure_import, sizes.repeats),
        "memory": partial(measure_memory, sizes.memory_pairs),
    }
    for name, measure in measures.items():
        if name != "memory" or with_memory:
            _note(name)
            found[name] = measure()
    return found


def _note(text: str) -> None:
    print(f"... {text}", file=sys.stderr, flush=True)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=249, help="pairs beside the originals (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to FILE")
    parser.add_argument("--skip-memory", action="store_true", help="leave out the peak memory, which takes minutes")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: does it run, not how fast")
    chosen = parser.parse_args(arguments)
    if chosen.pairs < N_WARM_UP:
        parser.error(f"--pairs: expected at least {N_WARM_UP}, got {chosen.pairs}")
    return chosen


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark; a missed target is marked in the table, and is no failure."""
    chosen = parse_arguments(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"  # before huggingface_hub is imported, which reads it once
    start, used_before = time.perf_counter(), seconds_of_others()
    found = measure_all(chosen.pairs, QUICK if chosen.quick else Sizes(), not chosen.skip_memory)
    elapsed = time.perf_counter() - start
    others = None if used_before is None else max(0.0, seconds_of_others() - used_before) / elapsed
    machine = describe_machine() | {"seconds": elapsed, "cores_used_by_others": others}
    data = Corpus().described(chosen.pairs)
    table = as_markdown(found, machine, data)
    print(table)
    if chosen.json:
        write_text(chosen.json, json.dumps(as_json(found, machine, data), indent=1, allow_nan=False) + "\n")
    if chosen.markdown:
        write_text(chosen.markdown, table)


if __name__ == "__main__":
    main()
