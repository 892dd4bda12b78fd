"""The devices that the contract tests run on: the host and the simulated NPU always, real cards when asked for."""

import pytest
from hypothesis import settings

from npueval.devices import KINDS, open_device

# An example that takes long on a busy host is no failure.
settings.register_profile("any host", deadline=None)
settings.load_profile("any host")


def pytest_addoption(parser):
    parser.addoption("--device", choices=KINDS, help="also run the device contract on this kind of card")


@pytest.fixture
def npu():
    """The simulated card, fresh."""
    simulated = pytest.importorskip("support.simulated")
    return simulated.install()


@pytest.fixture(params=["cpu", "simulated npu", "npu", "cuda"])
def device(request):
    """Every device that is here, opened; the others are reported as not run."""
    if request.param == "simulated npu":
        request.getfixturevalue("npu")
        return open_device("npu")
    if request.param != "cpu" and request.config.getoption("--device") != request.param:
        pytest.skip(f"not run here: a host with such a card runs it with --device {request.param}")
    return open_device(request.param)
