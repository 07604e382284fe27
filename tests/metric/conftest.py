"""What several tests of the metric need."""

from pathlib import Path

import pytest

from argscichat_metric.encoder_files import locate
from argscichat_metric.options import EMBEDDED_ENCODER
from tests.tiny_models import FAMILIES, build_tiny_model, sample_pairs


@pytest.fixture(scope="module")
def one_torch_thread():
    """One thread: batches of a few words keep two cores waiting for each other, on a busy machine most of the time."""
    import torch

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="module", params=[EMBEDDED_ENCODER, *FAMILIES])
def encoder(request, tmp_path_factory) -> str:
    """The folder of a model."""
    if request.param == EMBEDDED_ENCODER:
        return locate(EMBEDDED_ENCODER)[0]
    return build_tiny_model(request.param, tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def pairs(encoder) -> tuple[list[str], list[str]]:
    """Predictions and references; half of them for a tiny model, where the originals take most of the time."""
    predictions, references = sample_pairs()
    step = 2 if Path(encoder).name in FAMILIES else 1
    return predictions[::step], references[::step]
