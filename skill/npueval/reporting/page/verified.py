"""What was verified on the NPU beside the figures."""

from __future__ import annotations

from npueval.reporting.page.blocks import gap, paragraph, section, table
from npueval.reporting.page.markup import Html, element
from npueval.reporting.page.view import View
from npueval.reporting.verified import NAMES

_WORDS = {True: ("通过", "pass"), False: ("未通过", "fail"), None: ("无法判断", "open")}


def build(view: View) -> Html:
    """Each verification with how it ended, in the documents' words."""
    found = view.dossier.verified
    if not found:
        return section(
            "verified", "验证", paragraph(gap(view.dossier.no_npu or "没有在 NPU 上做过 smoke、Golden 与短测"))
        )
    rows = [
        (
            name,
            element("span", _WORDS[found[key].passed][0], class_=f"chip {_WORDS[found[key].passed][1]}"),
            found[key].text,
        )
        for key, name in NAMES.items()
        if key in found
    ]
    return section("verified", "验证", table("NPU 上的验证", ("项目", "结果", "说明"), rows))
