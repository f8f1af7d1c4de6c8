"""Extracts text from pdf, docx and html files, in a process of its own.

Run as a script: one JSON request ``{"kind", "source"}`` a line on standard input (a path, or for
html the text itself), one JSON reply a line on standard output. It imports nothing of this
project, so that it starts fast, and a file that crashes, loops or eats memory takes only this
process with it (``parsing.Parser``).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

MAX_PAGES = 2_000
MAX_CHARACTERS = 5_000_000
MAX_UNPACKED = 200_000_000
MAX_PARTS = 10_000
MEMORY = 4 * 1024**3
OLE_MAGIC = b"\xd0\xcf\x11\xe0"


class Refused(Exception):
    """The file has no usable text; the message is the reason."""


def parse(kind: str, source: str) -> dict[str, Any]:
    """Title (may be empty), text and warnings of a file.

    Raises:
        Refused: it cannot be used; says why.
    """
    title, text, warnings = {"pdf": _pdf, "docx": _docx, "html": _html}[kind](source)
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"its text is longer than {MAX_CHARACTERS:,} characters; split it")
    return {"title": title, "text": text, "warnings": warnings}


def _pdf(path: str) -> tuple[str, str, list[str]]:
    import pypdf
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = pypdf.PdfReader(path, strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused("it is password protected; remove the password and add it again")
        count = len(reader.pages)
    except DependencyError:
        raise Refused("it is encrypted; save an unencrypted copy and add that") from None
    except PyPdfError as error:
        raise Refused(f"it is not a valid PDF ({error})") from None
    if count > MAX_PAGES:
        raise Refused(f"it has {count:,} pages, at most {MAX_PAGES:,} are read; split it")
    pages, empty, broken, size = [], 0, 0, 0
    for number in range(count):
        try:
            text = reader.pages[number].extract_text()
        except RecursionError:
            raise
        except Exception:  # a page that pypdf cannot read must not lose the other pages
            broken += 1
            continue
        size += len(text)
        if size > MAX_CHARACTERS:
            raise Refused(f"its text is longer than {MAX_CHARACTERS:,} characters; split it")
        if text.strip():
            pages.append(text)
        else:
            empty += 1
    if not pages:
        if broken:
            raise Refused("none of its pages can be read")
        raise Refused("it has no text layer (a scan?); run text recognition on it first")
    warnings = []
    if broken:
        warnings.append(f"{broken} of {count} pages cannot be read")
    if empty:
        warnings.append(f"{empty} of {count} pages have no text")
    title = (reader.metadata.title if reader.metadata else None) or ""
    return str(title), "\n\n".join(pages), warnings


def _docx(path: str) -> tuple[str, str, list[str]]:
    import zipfile

    import docx
    from docx.table import Table

    with open(path, "rb") as file:
        magic = file.read(4)
    if magic == OLE_MAGIC:
        raise Refused("it is password protected or in the old .doc format; save it as .docx")
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
                raise Refused("it unpacks to more than is allowed")
        document = docx.Document(path)
    except Refused:
        raise
    except Exception as error:  # python-docx raises zipfile's, lxml's and its own errors
        raise Refused(f"it is not a valid Word file ({type(error).__name__})") from None
    lines: list[str] = []
    title = (document.core_properties.title or "").strip()
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            lines.extend(_table_rows(block))
            continue
        text = block.text.strip()
        style = (block.style.name or "") if block.style is not None else ""
        if not text:
            continue
        if style == "Title" and not title:
            title = text
        level = style.removeprefix("Heading ")
        if level.isdigit() and level != style:
            text = "#" * min(int(level), 6) + " " + text
        lines.append(text)
    if not lines:
        raise Refused("it has no text")
    return title, "\n\n".join(lines), []


def _table_rows(table: Any) -> Iterator[str]:
    for row in table.rows:
        cells: list[Any] = []
        for cell in row.cells:
            if not cells or cells[-1]._tc is not cell._tc:
                cells.append(cell)
        yield " | ".join(" ".join(cell.text.split()) for cell in cells)


def _html(source: str) -> tuple[str, str, list[str]]:
    extractor = _TextOfHtml()
    extractor.feed(source)
    extractor.close()
    text = extractor.text()
    if not text:
        raise Refused("it has no text")
    return extractor.title(), text, []


_HIDDEN = frozenset(
    {"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "head"}
)
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "main", "nav"}
    | {"ol", "p", "pre", "section", "summary", "table", "ul"}
)
_HEADINGS = {f"h{n}": "#" * n + " " for n in range(1, 7)}


class _TextOfHtml(HTMLParser):
    """Visible text; headings become ``#`` lines, list items ``-`` lines, table cells ``|``."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._titles: list[str] = []
        self._first_heading: list[str] = []
        self._hidden: list[str] = []
        self._in_title = self._in_heading = False
        self._pre = self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden == ["head"] and (tag == "body" or tag in _BLOCKS or tag in _HEADINGS):
            self._hidden.clear()
        if tag == "title":
            self._in_title = not self._titles
        elif tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag in _HEADINGS:
            self._out.append("\n\n" + _HEADINGS[tag])
            self._in_heading = tag == "h1" and not self._first_heading
        elif tag in ("br", "tr"):
            self._out.append("\n")
            self._cells = 0
        elif tag in ("td", "th"):
            if self._cells:
                self._out.append(" | ")
            self._cells += 1
        elif tag == "li":
            self._out.append("\n- ")
        elif tag in _BLOCKS:
            self._out.append("\n\n")
            self._pre += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._hidden:
            while self._hidden.pop() != tag:
                pass
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._out.append("\n\n")
            self._in_heading = False
            self._pre = max(0, self._pre - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._titles.append(data)
            return
        if self._hidden:
            return
        if self._in_heading:
            self._first_heading.append(data)
        if self._pre:
            self._out.append(data)
            return
        words = " ".join(data.split())
        last = self._out[-1][-1] if self._out else "\n"
        before = " " if data[:1].isspace() and not last.isspace() else ""
        after = " " if words and data[-1:].isspace() else ""
        if piece := before + words + after:
            self._out.append(piece)

    def title(self) -> str:
        return " ".join("".join(self._titles or self._first_heading).split())

    def text(self) -> str:
        lines: list[str] = []
        for line in "".join(self._out).split("\n"):
            stripped = line.rstrip()
            if not self._indented(line):
                stripped = stripped.lstrip()
            if stripped.strip("#- ") or (lines and lines[-1]):
                lines.append(stripped if stripped.strip("#- ") else "")
        return "\n".join(lines).strip()

    @staticmethod
    def _indented(line: str) -> bool:
        return line.startswith(("  ", "\t"))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on this platform
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    """Serve requests until standard input closes."""
    import logging

    logging.disable(logging.CRITICAL)
    _limit_memory()
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = parse(request["kind"], request["source"])
        except Refused as error:
            reply = {"refused": str(error)}
        except MemoryError:
            reply = {"refused": "it needs too much memory"}
        except Exception as error:  # whatever a hostile file provokes is a verdict
            reply = {"refused": f"it cannot be read ({type(error).__name__}: {error})"[:300]}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
