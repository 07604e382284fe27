"""What several tests of the metric need."""

import pytest


@pytest.fixture(scope="module")
def one_torch_thread():
    """One thread: batches of a few words keep two cores waiting for each other, on a busy machine most of the time."""
    import torch

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)
