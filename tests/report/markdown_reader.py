"""Read markdown as GitHub does, with its own parser, and find what is alive in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

VOID = {"br", "img", "hr", "input"}


def to_html(markdown: str) -> str:
    """Render with the GitHub extensions; raw HTML passes, so that hostile HTML would show."""
    return cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)


class Page(HTMLParser):
    """Elements and texts of a rendered page."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.links: list[str] = []
        self.codes: list[str] = []
        self.text_outside_code = ""
        self.rows: list[int] = []
        """Cells of each table row, a 0 before every table."""
        self.open: list[str] = []
        self.comments: list[str] = []
        self.feed(to_html(markdown))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")
        if tag == "code":
            self.codes.append("")
        if tag == "table":
            self.rows.append(0)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if "code" in self.open:
            self.codes[-1] += data
        else:
            self.text_outside_code += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def tables(self) -> list[list[int]]:
        """The number of cells in each row, table by table."""
        tables: list[list[int]] = []
        for cells in self.rows:
            if cells == 0:
                tables.append([])
            else:
                tables[-1].append(cells)
        return tables


def assert_is_harmless(markdown: str, *, own_links: frozenset[str] = frozenset()) -> Page:
    """Nothing from outside is alive: no foreign link, image, mention or reference; the structure closes; the tables are whole."""
    page = Page(markdown)
    assert set(page.links) <= own_links
    allowed = {
        "h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "sub", "details", "summary", "code", "pre", "ul", "li",
        "a", "hr",
    }  # fmt: skip
    assert set(page.tags) <= allowed
    assert page.open == []
    assert page.comments == []
    assert not re.search(r"@\w|#\d|\$", page.text_outside_code)
    assert not re.search(r"\b[0-9a-f]{7,40}\b", page.text_outside_code)
    for table in page.tables:
        assert len(set(table)) == 1, f"a row with other cells than its head: {table}"
    return page
