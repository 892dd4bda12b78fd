"""The whole evaluation as one HTML file: no script, no request, nothing beside it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from npueval.commands import Template
from npueval.reporting.dossier import Dossier
from npueval.reporting.page import (
    allcases,
    conditions,
    costs,
    evidence,
    gaps,
    keyfigures,
    onecase,
    opening,
    profiles,
    scaling,
    stages,
    verified,
)
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.view import View

PARTS = (
    keyfigures.build,
    onecase.build,
    stages.build,
    scaling.build,
    allcases.build,
    conditions.comparability,
    conditions.environments,
    costs.build,
    profiles.build,
    verified.build,
    evidence.build,
    gaps.doubts,
    gaps.missing,
)
"""The sections in their order."""
CONTENTS = {
    "figures": "关键数字",
    "samples": "样本",
    "stages": "分段耗时",
    "scaling": "Batch 曲线",
    "cases": "全部用例",
    "comparability": "可比性",
    "environment": "环境",
    "costs": "冷启动与内存",
    "profile": "Profiling",
    "verified": "验证",
    "evidence": "证据",
    "doubts": "存疑",
    "missing": "缺口与命令",
}
# Even if a value ever slipped through unescaped, it could run nothing and fetch nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(dossier: Dossier, commands: Sequence[Template] = (), home: str = "") -> str:
    """The page of one evaluation, in Chinese. ``commands``: templates to choose from where figures are missing.

    ``home`` is the way from the page's folder to the project, for links to what is kept there. The same dossier gives
    the same text to the byte.
    """
    view = View(dossier, commands, home)
    nav = element("nav", [element("a", name, href=f"#{key}") for key, name in CONTENTS.items()], aria_label="目录")
    main = element("main", [part(view) for part in PARTS])
    body = element("body", opening.header(view), element("div", nav, main, class_="sheet"), _footer(view))
    return f"<!doctype html>\n{element('html', _head(view), body, lang='zh')}\n"


def _head(view: View) -> Html:
    title = f"{view.dossier.comparison.total.verdict} · {view.dossier.plan.project.name} · NPU 迁移评测"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{'SIMULATED · ' if view.simulated else ''}{title}"),
        element("style", Html((files(__name__) / "style.css").read_text(encoding="utf-8"))),
    )


def _footer(view: View) -> Html:
    plan = view.dossier.plan
    words = f"由 npueval 从原始记录生成；同样的记录得到同样的页面。计划 {plan.path.name}，sha256 {plan.sha256[:12]}。"
    return element("footer", element("p", words))
