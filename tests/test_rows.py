"""The row splitter against markdown-it-py, whose table rule knows cells but not where they are."""

import random
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block.table import escapedSplit

from npueval.documents.markdown import parse
from npueval.documents.rows import count_cells, delimiter_cells, first_text, split

STOCK = MarkdownIt("commonmark").enable("table").disable("inline")
PIECES = [
    "|",
    "|",
    "|",
    "\\|",
    "\\",
    "\\\\",
    " ",
    " ",
    "\t",
    "a",
    "b",
    "表",
    "`",
    "`|`",
    "*",
    "\u3000",
    "\u00a0",
    "\u2003",
    "<!--",
    "-->",
    "&",
    "-",
    ":",
    "[x]",
    "\u2028",
    "\x0b",
    "\x0c",
    "\x85",
    "é",
    "😀",
]
STARTS = ["| ", "|", "a", "表", " |", "   | ", "\\|", "`a", "\u3000|", "\u00a0a", "||", "_a", "=", "é|"] * 16
ENDERS = ["\t|", "    |", "1. ", "<b>", "*\t", "+ ", "> ", "# "]
ROWS, TABLES = 60_000, 1_000


def row(chance: random.Random) -> str:
    return chance.choice(STARTS + ENDERS) + "".join(chance.choices(PIECES, k=chance.randrange(12)))


def table(chance: random.Random) -> list[str]:
    """A head of one to four columns, its delimiter row (sometimes a wrong one), and random rows."""
    count = chance.randrange(1, 5)
    names = "abcd"[:count]
    head = chance.choice([" | ".join(names) + " |", f"|{'|'.join(names)}|"] * 8 + [row(chance)])
    dashes = chance.choice(["|", ""]) + "|".join(chance.choices(["---", ":-", "-:", " :---: ", "-"], k=count)) + "|"
    return [head, chance.choice([dashes] * 8 + [dashes + "-|"]), *(row(chance) for _ in range(7)), ""]


def stock_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of every table row, head rows too."""
    cells: list[str] = []
    line = 0
    for token in STOCK.parse(text):
        if token.type == "tr_open" and token.map:
            cells, line = [], token.map[0] + 1
        elif token.type == "inline" and line:
            cells.append(token.content)
        elif token.type == "tr_close":
            yield line, cells
            line = 0


def our_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    document = parse(text.encode(), path="x.md")
    for table in (table for section in (document.preamble, *document.sections) for table in section.tables):
        for each in (table.header, *table.rows):
            cells = [mdTrim(cell.text) for cell in each.split.cells]
            width = len(table.header.split.cells)
            yield each.line, (cells + [""] * width)[:width]


def reference_cells(row: str) -> list[str]:
    """What the table rule of markdown-it-py makes of a row."""
    cells = escapedSplit(mdTrim(row))
    cells = cells[1:] if cells[:1] == [""] else cells
    cells = cells[:-1] if cells[-1:] == [""] else cells
    return [mdTrim(cell) for cell in cells]


def test_it_splits_sixty_thousand_rows_as_the_reference_does() -> None:
    chance = random.Random(20250601)
    for _ in range(ROWS):
        text = row(chance)
        data = text.encode()
        expected = reference_cells(text)
        assert [mdTrim(cell.text) for cell in split(data, 0, len(data)).cells] == expected
        assert count_cells(data) == len(expected)
        assert mdTrim(first_text(data, 0, len(data))) == [*expected, ""][0]


def test_it_finds_the_same_tables_in_whole_documents() -> None:
    chance = random.Random(20250602)
    text = "\n".join(line for _ in range(TABLES) for line in table(chance))

    found = list(our_rows(text))

    assert found == list(stock_rows(text))
    assert len(found) > 3 * TABLES


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("a|b", ["a", "b"]),
        ("|", []),
        ("||", [""]),
        ("| a", ["a"]),
        ("\\| a |", ["| a"]),
        ("| `a\\|b` | c\\\\| d |", ["`a|b`", "c\\| d"]),
        ("| 表\u3000 |\u00a0|", ["表\u3000", "\u00a0"]),
        ("", []),
    ],
)
def test_cells_and_their_bytes(line: str, cells: list[str]) -> None:
    data = b"> " + line.encode()

    found = split(data, 2, len(data))

    assert [cell.text for cell in found.cells] == cells
    assert first_text(data, 2, len(data)) == [*cells, ""][0]
    assert count_cells(line.encode()) == len(cells)
    for cell in found.cells:
        assert data[cell.start : cell.end].decode().replace("\\|", "|") == cell.text
        assert not data[cell.left : cell.start].strip()
        assert not data[cell.end : cell.right].strip()


@pytest.mark.parametrize(
    ("line", "ambiguous"), [("\u3000| a |", True), ("| a |\u00a0", True), ("| \u3000a |", False), ("\u3000a", False)]
)
def test_where_parsers_do_not_agree(line: str, ambiguous: bool) -> None:
    assert split(line.encode(), 0, len(line.encode())).ambiguous is ambiguous


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("|---|", 1),
        ("---|:-:", 2),
        (" - | - ", 0),
        ("- | -", 0),
        ("--", 1),
        ("-", 0),
        ("|", 0),
        ("|-|x|", 0),
        ("", 0),
        ("||-|", 0),
    ],
)
def test_delimiter_rows(line: str, columns: int) -> None:
    assert delimiter_cells(line) == columns
