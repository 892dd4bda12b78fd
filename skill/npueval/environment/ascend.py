"""The Ascend software on a machine: device nodes, driver, CANN installations, and whether ``set_env.sh`` was loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from npueval.environment.host import Host

_HOME_VARIABLES = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")
_INSTALL_FOLDERS = (
    "/usr/local/Ascend/ascend-toolkit/latest",
    "/usr/local/Ascend/cann",
    "/usr/local/Ascend/nnae/latest",
    "/usr/local/Ascend/nnrt/latest",
    "/usr/local/Ascend/latest",
    "~/Ascend/ascend-toolkit/latest",
    "~/Ascend/cann",
)
_INFO_FILES = (
    ("*-linux/ascend_toolkit_install.info", "version"),
    ("ascend_toolkit_install.info", "version"),
    ("ascend_nnae_install.info", "version"),
    ("*-linux/ascend_nnrt_install.info", "version"),
    ("opp_kernel/version.info", "version_dir"),
)
_DEVICE_NODES = ("davinci*", "devmm_svm", "hisi_hdc")


@dataclass(frozen=True)
class Cann:
    """One CANN installation: where it lies, its version and the file that says so, and its ``set_env.sh``."""

    home: str
    version: str | None
    source: str | None
    set_env: str | None


@dataclass(frozen=True)
class Driver:
    """The versions that the driver and firmware files state."""

    driver: str | None
    firmware: str | None
    source: str | None


@dataclass(frozen=True)
class Ascend:
    """What is there of Ascend. ``loaded`` is the installation that this process's variables point to."""

    device_nodes: tuple[str, ...]
    driver: Driver
    installed: tuple[Cann, ...]
    loaded: Cann | None
    set_env: str

    @property
    def cann(self) -> Cann | None:
        """The installation that counts: the loaded one, else the only or first one found."""
        return self.loaded or next(iter(self.installed), None)

    @property
    def cards(self) -> tuple[str, ...]:
        """The nodes of the cards themselves (``/dev/davinci0`` …), without the managers."""
        return tuple(node for node in self.device_nodes if re.fullmatch(r"/dev/davinci\d+", node))


def look(host: Host) -> Ascend:
    """Read the machine; nothing is executed."""
    nodes = tuple(node for pattern in _DEVICE_NODES for node in host.glob("/dev", pattern))
    installed = tuple(_installations(host))
    home = next((host.variables[name] for name in _HOME_VARIABLES if host.variables.get(name)), None)
    loaded = _installation(host, home) if home else None
    return Ascend(nodes, _driver(host), installed, loaded, _set_env_state(host, home, loaded))


def _set_env_state(host: Host, home: str | None, loaded: Cann | None) -> str:
    if home is None:
        return "not loaded"
    if loaded is None:
        return "points nowhere"
    libraries = host.variables.get("LD_LIBRARY_PATH", "")
    return "loaded" if home.rstrip("/") in libraries else "incomplete"


def _installations(host: Host) -> Iterator[Cann]:
    seen: set[str] = set()
    home = host.variables.get("HOME", "/root")
    named = (host.variables.get(name, "") for name in _HOME_VARIABLES)
    for folder in (*named, *_INSTALL_FOLDERS):
        place = folder.replace("~", home)
        found = _installation(host, place) if place else None
        real = str(host.path(place).resolve()) if found else ""
        if found and real not in seen:
            seen.add(real)
            yield found


def _installation(host: Host, home: str) -> Cann | None:
    if not host.path(home).is_dir():
        return None
    version, source = _cann_version(host, home)
    return Cann(home, version, source, _script(host, home))


def _cann_version(host: Host, home: str) -> tuple[str | None, str | None]:
    for pattern, key in _INFO_FILES:
        for source in host.glob(home, pattern):
            version = _value(host.read(source), key)
            if version:
                return version, source
    return None, None


def _script(host: Host, home: str) -> str | None:
    """``set_env.sh`` lies in the installation, or beside its ``latest`` link."""
    places = (f"{home}/set_env.sh", f"{PurePosixPath(home).parent}/set_env.sh")
    return next((place for place in places if host.path(place).is_file()), None)


def _driver(host: Host) -> Driver:
    base = _value(host.read("/etc/ascend_install.info"), "Driver_Install_Path_Param") or "/usr/local/Ascend"
    source = f"{base}/driver/version.info"
    driver = _value(host.read(source), "Version")
    firmware = _value(host.read(f"{base}/firmware/version.info"), "Version")
    return Driver(driver, firmware, source if driver else None)


def _value(text: str | None, key: str) -> str | None:
    found = re.search(rf"^\s*{key}\s*=\s*\"?([^\"\s]+)", text or "", re.M | re.I)
    return found[1] if found else None
