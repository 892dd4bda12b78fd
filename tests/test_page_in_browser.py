"""The page as a browser shows it: light and dark, on a phone, on paper, and to those who hear it.

Needs Chromium. The accessibility check also needs axe-core: that of the package ``axe-core-python``, or the
``axe.min.js`` that NPUEVAL_AXE names.
"""

import html
import json
import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from npueval import triggers
from npueval.language import same
from npueval.reporting import page
from support import dossiers, small_project


def packaged(name: str) -> list[Path]:
    """Where a package that ships ``axe.min.js`` would have it."""
    found = find_spec(name)
    return [Path(place, "axe.min.js") for place in (found and found.submodule_search_locations) or ()]


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = next(filter(Path.is_file, [Path(os.environ.get("NPUEVAL_AXE", "")), *packaged("axe_core_python")]), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

SCHEMES = {"light": 1, "dark": 0}
GROUND = {"light": (0xF3, 0xF5, 0xF7), "dark": (0x0F, 0x14, 0x19)}
NPU = {"light": (0x0B, 0x5C, 0xC4), "dark": (0x70, 0xB0, 0xFF)}
PASSED = {"light": (0x15, 0x6C, 0x38), "dark": (0x63, 0xCF, 0x8B)}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with everything on it: three sides, two batches, doubts."""
    machine = dossiers.environment_of(tmp_path_factory.mktemp("machine") / "card", npu=True)
    wanted = dossiers.project(tmp_path_factory.mktemp("project"), text=small_project.PLAN)
    made = [
        dossiers.made_on(
            kind,
            [dossiers.lifelike(batch, factor * batch, n=100) for batch in (4, 1)],
            environment=machine.as_json(),
            doubts=(same("a doubt of some length that has to be wrapped"),),
        )
        for kind, factor in (("npu", 1.0), ("cuda", 1.3), ("cpu", 6.0))
    ]
    dossier = dossiers.dossier(wanted, machine, *made)
    return page.render(dossier, triggers.commands(wanted, dossier.diagnosis))


def browse(path: Path, *options: str) -> str:
    """What the browser prints."""
    profile = path.parent / "profile"
    fixed = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}")
    command = [str(CHROMIUM), *fixed, *options, path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    return done.stdout


def answered(path: Path, *options: str) -> Any:
    """What a script of the page wrote into ``<pre id="answer">``, as JSON."""
    shown = browse(path, "--dump-dom", "--virtual-time-budget=30000", *options)
    found = re.search('<pre id="answer">(.*?)</pre>', shown, re.DOTALL)
    assert found, shown[-500:]
    return json.loads(html.unescape(found[1]))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_is_drawn_in_light_and_in_dark(text: str, tmp_path: Path, scheme: str) -> None:
    image = pytest.importorskip("matplotlib.image")
    path, shot = tmp_path / "page.html", tmp_path / "shot.png"
    path.write_text(text, encoding="utf-8")
    setting = f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"
    browse(path, setting, "--window-size=1280,1200", f"--screenshot={shot}")
    pixels = (image.imread(shot)[..., :3] * 255).round().astype(int)
    assert pixels.shape == (1200, 1280, 3)
    assert tuple(pixels[-1, 0]) == GROUND[scheme]
    assert (pixels[:300] == PASSED[scheme]).all(axis=-1).sum() > 2000, "the verdict stands first, in its colour"
    assert (pixels == NPU[scheme]).all(axis=-1).sum() > 2000, "bars are drawn"


@pytest.mark.parametrize("width", [320])
def test_it_is_never_wider_than_the_screen(text: str, tmp_path: Path, width: int) -> None:
    opened = text.replace("<details", "<details open")
    frame = f'<iframe srcdoc="{html.escape(opened)}" style="width:{width}px;height:800px;border:0"></iframe>'
    script = """
    addEventListener("load", () => {
      const inner = document.querySelector("iframe").contentDocument.documentElement;
      document.body.innerHTML = "<pre id=answer>" + JSON.stringify([inner.clientWidth, inner.scrollWidth]) + "</pre>";
    });"""
    path = tmp_path / "framed.html"
    path.write_text(f"<!doctype html><body>{frame}<script>{script}</script></body>", encoding="utf-8")
    shown, needed = answered(path)
    assert shown == width
    assert needed == width


def test_it_prints(text: str, tmp_path: Path) -> None:
    path, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    path.write_text(text, encoding="utf-8")
    browse(path, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    pages = len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))
    assert 3 <= pages <= 15


@pytest.mark.skipif(AXE is None, reason="no axe-core: install axe-core-python, or let NPUEVAL_AXE name an axe.min.js")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing(text: str, tmp_path: Path, scheme: str) -> None:
    script = """
    axe.run(document, {resultTypes: ["violations"]}).then(found => {
      const answer = document.createElement("pre");
      answer.id = "answer";
      answer.textContent = JSON.stringify(found.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html)]));
      document.body.append(answer);
    });"""
    unlocked = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    assert AXE is not None
    scripts = f"<script>{AXE.read_text(encoding='utf-8')}</script><script>{script}</script>"
    path = tmp_path / "page.html"
    path.write_text(
        unlocked.replace("<details", "<details open").replace("</body>", f"{scripts}</body>"), encoding="utf-8"
    )
    assert answered(path, f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}") == []
