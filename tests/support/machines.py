"""A pretended machine: a folder in place of ``/``, programs on its PATH, and torch packages that behave as told."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from npueval.environment.host import Host

HOME = "/usr/local/Ascend/ascend-toolkit/latest"
SAMPLES = Path(__file__).parents[1] / "data" / "npu_smi"

TORCH = """
__version__ = "2.6.0"
class cuda:
    is_available = staticmethod(lambda: False)
    device_count = staticmethod(lambda: 0)
class version:
    cuda = None
get_num_threads = lambda: 4
"""
TORCH_NPU = """
import torch
__version__ = "2.6.0"
class utils:
    get_cann_version = staticmethod(lambda: "{cann}")
class npu:
    utils = utils
    is_available = staticmethod(lambda: {count} > 0)
    device_count = staticmethod(lambda: {count})
    get_device_name = staticmethod(lambda index: "Ascend910B3")
    is_jit_compile_false = staticmethod(lambda: True)
    @staticmethod
    def set_device(device):
        {on_set_device}
class Tensor:
    def __matmul__(self, other): return self
    def sum(self): return self
    def cpu(self): return {total}
torch.npu = npu
torch.ones = lambda *shape, device: Tensor()
"""


@dataclass
class Machine:
    """Build it up with its methods; :attr:`host` is what the package is given."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> Host:
        path = os.pathsep.join([str(self.root / "bin"), "/usr/bin", "/bin"])
        return Host(self.root, {"PATH": path, "HOME": "/root", **self.variables})

    def file(self, absolute: str, text: str = "") -> Machine:
        path = self.root / absolute.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        return self

    def program(self, name: str, script: str) -> Machine:
        self.file(f"/bin/{name}", f"#!/bin/sh\n{script}\n")
        (self.root / "bin" / name).chmod(0o755)
        return self

    def npu_smi(self, sample: str, status: int = 0) -> Machine:
        return self.program("npu-smi", f"cat '{SAMPLES / sample}.txt'; exit {status}")

    def cards(self, count: int = 2) -> Machine:
        for name in (*(f"davinci{number}" for number in range(count)), "davinci_manager", "devmm_svm", "hisi_hdc"):
            self.file(f"/dev/{name}")
        return self

    def driver(self, version: str) -> Machine:
        return self.file("/usr/local/Ascend/driver/version.info", f"Version={version}\nascendhal_version=7.35\n")

    def cann(self, version: str, *, loaded: bool = True) -> Machine:
        self.file(f"{HOME}/aarch64-linux/ascend_toolkit_install.info", f"package_name=x\nversion={version}\n")
        self.file("/usr/local/Ascend/ascend-toolkit/set_env.sh", "export A=1\n")
        if loaded:
            self.variables |= {"ASCEND_TOOLKIT_HOME": HOME, "LD_LIBRARY_PATH": f"/lib:{HOME}/lib64"}
        return self

    def container(self) -> Machine:
        return self.file("/.dockerenv")

    def torch(self, source: str = TORCH) -> Machine:
        return self._package("torch", source)

    def torch_npu(
        self, source: str | None = None, *, count: int = 2, total: float = 8.0, fails: str = "", cann: str = "8.2.RC1"
    ) -> Machine:
        action = f"raise RuntimeError({fails!r})" if fails else "pass"
        filled = TORCH_NPU.format(count=count, on_set_device=action, total=total, cann=cann)
        return self._package("torch_npu", source or filled)

    def _package(self, name: str, source: str) -> Machine:
        self.variables["PYTHONPATH"] = str(self.root / "packages")
        return self.file(f"/packages/{name}/__init__.py", source)


def working(root: Path) -> Machine:
    """A machine on which everything fits together and an operator runs."""
    machine = Machine(root).npu_smi("a2_no_device_column").cards().driver("25.2.0").cann("8.2.RC1")
    return machine.torch().torch_npu()
