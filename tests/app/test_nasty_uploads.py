"""Uploads that broke other products: each has a verdict, and all of them together are indexed."""

from __future__ import annotations

import errno
import io
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pytest

from components import corpus_upload, session
from core.errors import RetrieverError
from tests.app.bench import FakeBench
from tests.app.conftest import CORPUS, Open, html
from tests.retrieval import pdfs


def word_file(change: Callable[[str, bytes], bytes] = lambda _, content: content) -> bytes:
    """A Word file about a lamp, each of its parts changed."""
    document, plain, out = docx.Document(), io.BytesIO(), io.BytesIO()
    document.add_paragraph("The lamp is lit.")
    document.save(plain)
    with zipfile.ZipFile(plain) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for part in given.infolist():
            made.writestr(part.filename, change(part.filename, given.read(part)))
    return out.getvalue()


def with_part(name: str, content: bytes) -> bytes:
    out = io.BytesIO(word_file())
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


def archives_in_archives(levels: int) -> bytes:
    inner = b"x"
    for level in range(levels):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{level}.zip", inner)
        inner = out.getvalue()
    return inner


def entities(name: str, content: bytes) -> bytes:
    if name != "word/document.xml":
        return content
    declared = b'<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document'
    return content.replace(b"<w:document", declared, 1).replace(b"The lamp is lit.", b"&e;")


def tables_in_tables(levels: int) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    cell = document.add_table(1, 1).cell(0, 0)
    for level in range(levels):
        cell.text = f"lamp {level}"
        cell = cell.add_table(1, 1).cell(0, 0)
    document.save(out)
    return out.getvalue()


MIXED = (
    b'{"id": 1, "text": "The lamp."}\n[1, 2]\n"text"\n3\nnull\n{"id": {"a": 1}, "text": "Two."}\n'
    b'{"id": 2, "text": 5}\n{"id": 1, "text": "Three."}\n{"id": NaN, "text": "Four."}\n{"text": \n'
)
COMPOSED = "caf\u00e9.md"
FILES: tuple[tuple[str, bytes, str, int], ...] = (
    ("deep.docx", with_part("word/media/deep.zip", archives_in_archives(40)), "indexed", 1),
    ("path.docx", with_part("/".join(["d"] * 500) + ".xml", b"<x/>"), "indexed", 1),
    ("bomb.docx", with_part("word/media/b.bin", bytes(201_000_000)), "skipped", 0),
    ("entities.docx", word_file(entities), "skipped", 0),
    ("tables.docx", tables_in_tables(120), "skipped", 0),
    ("cell.csv", b'id,text\n1,"' + b"lamp " * 210_000 + b'"\n2,short\n', "indexed", 2),
    ("open_quote.csv", b'id,text\n1,"never closed lamp\n' * 10, "warning", 9),
    ("columns.csv", b",".join([b"text"] * 9_999) + b"\n" + b",".join([b"x"] * 9_999), "indexed", 1),
    ("mixed.jsonl", MIXED, "warning", 4),
    ("number.json", b'[{"id": ' + b"9" * 6_000 + b', "text": "Huge."}]', "skipped", 0),
    ("nested.json", b'{"text": "lamp", "x": ' + b'{"a":' * 900 + b"1" + b"}" * 901, "warning", 1),
    ("pages.pdf", pdfs.pdf(*(f"Lamp {n}" for n in range(5_000))), "skipped", 0),
    ("tables.html", b"<table><tr><td>" * 2_000 + b"lamp" + b"</table>" * 2_000, "indexed", 1),
    ("unclosed.html", b"<div>" * 100_000 + b"lamp", "indexed", 1),
    ("comment.html", b"<p>lamp</p><!-- " + b"x" * 300_000, "indexed", 1),
    ("ampersands.html", b"&" * 300_000 + b"<p>lamp</p>", "indexed", 1),
    ("aliases.md", b"---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\nlamp", "indexed", 1),
    ("hashes.md", b"#" * 300_000 + b" lamp\n", "indexed", 1),
    ("combining.txt", ("a" + "\u0301" * 200_000).encode(), "indexed", 1),
    ("utf32.txt", "The lamp.".encode("utf-32"), "indexed", 1),
    ("....", b"dots", "skipped", 0),
    ("   .md", b"The lamp of spaces.", "indexed", 1),
    ("\u202e\u200f\u200e.md", b"The lamp of marks.", "indexed", 1),
    (".md", b"The lamp without a name.", "indexed", 1),
    ("\u00a0\u3000.txt", b"The lamp of wide spaces.", "indexed", 1),
    (COMPOSED, b"One lamp.", "indexed", 1),
    (unicodedata.normalize("NFD", COMPOSED), b"Two lamps.", "indexed", 1),
    (COMPOSED.upper(), b"Three lamps.", "indexed", 1),
    ("stra\u00dfe.md", b"Four lamps.", "indexed", 1),
    ("STRASSE.md", b"Five lamps.", "indexed", 1),
    ("notes.md", b"A lamp on file.", "indexed", 1),
    ("notes.md/x.md", b"A lamp below a file.", "indexed", 1),
    ("notes.md\\y.md", b"Another lamp below a file.", "indexed", 1),
    ("reef.md/z.md", b"A reef in a folder.", "indexed", 1),
    ("reef.md", b"A reef where a folder is.", "indexed", 1),
)
GIVEN = tuple((name, content) for name, content, _, _ in FILES)


def test_each_has_its_verdict_with_a_reason_that_a_person_can_read() -> None:
    seen = corpus_upload.preview(GIVEN)
    for judged, (name, _, status, documents) in zip(seen.verdicts, FILES, strict=True):
        assert (judged.file, judged.status) == (name, status)
        assert len(judged.documents) == documents, name
        assert bool(judged.reason) == (status != "indexed"), name
        assert "sys.set_int_max_str_digits" not in judged.reason
    assert len({v.kept for v in seen.verdicts}) == len(FILES), "no two are kept in one place"


def test_all_of_them_are_indexed_together_and_no_document_is_lost(bench: FakeBench) -> None:
    bench.library.add_files("nasty", GIVEN)
    report = bench.library.index("nasty")
    assert report.documents == sum(documents for *_, documents in FILES)
    found = bench.library.open("nasty").passages()
    for text in ("A lamp on file.", "A lamp below a file.", "Another lamp below a file."):
        assert sum(p.text == text for p in found) == 1
    assert not any("root:" in p.text for p in found)


@pytest.mark.parametrize(
    ("first", "second"), [("a.md", "a.md/b.md"), ("a.md/b.md", "a.md"), ("A.md/b.md", "a.md")]
)
def test_a_later_file_never_takes_the_place_of_a_folder_nor_a_folder_that_of_a_file(
    bench: FakeBench, first: str, second: str
) -> None:
    bench.library.add_files("later", [(first, b"The first lamp.")])
    bench.library.add_files("later", [(second, b"The second lamp.")])
    assert bench.library.index("later").documents == 2
    (again,) = bench.library.add_files("later", [(second, b"The second lamp.")])
    assert bench.library.index("later").documents == 2
    bench.library.remove_file("later", again)
    bench.library.index("later")
    assert [p.text for p in bench.library.open("later").passages()] == ["The first lamp."]


def test_a_disk_that_takes_no_file_is_said_and_leaves_no_half_file(
    page: Open, bench: FakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.library.add_files("kept", [("a.md", b"The first lamp.")])

    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RetrieverError, match="No space left"):
        bench.library.add_files("kept", [("b.md", b"The second lamp.")])
    app = page(CORPUS, corpus="kept")
    app.get_by_key(session.CORPUS_VIEW).set_value("add").run()
    app.file_uploader(key=f"{session.CORPUS_FILES}:0").upload("b.md", b"The second lamp.").run()
    assert not app.exception
    assert "No space left" in html(app)
    monkeypatch.undo()
    assert not list(bench.root.rglob(".partial"))
    assert bench.library.index("kept").documents == 1
