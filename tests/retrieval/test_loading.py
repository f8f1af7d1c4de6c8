from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from core.errors import BadInput
from core.retrieval.loading import Document, FileVerdict, load, scan
from core.retrieval.parsing import Parser
from core.types import Metadata
from tests.retrieval import pdfs
from tests.retrieval.world import write


def load_all(
    root: Path, seconds: float = 30.0
) -> tuple[dict[str, Document], dict[str, FileVerdict]]:
    folder = scan(root)
    documents: dict[str, Document] = {}
    verdicts = {verdict.file: verdict for verdict in folder.skipped}
    with Parser(seconds) as parser:
        for source in folder.files:
            loaded = load(source, folder, parser)
            documents.update((document.id, document) for document in loaded.documents)
            verdicts[loaded.verdict.file] = loaded.verdict
    return documents, verdicts


def only(root: Path) -> Document:
    documents, _ = load_all(root)
    (document,) = documents.values()
    return document


def word(*blocks: tuple[str, str], title: str = "") -> bytes:
    import docx

    document = docx.Document()
    document.core_properties.title = title
    for style, text in blocks:
        document.add_paragraph(text, style=style)
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Height", "48 m"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def archive(names: list[str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, "text")
    return out.getvalue()


# --- formats ---------------------------------------------------------------------------------


def test_markdown_with_front_matter(tmp_path: Path) -> None:
    text = (
        "---\ntitle: 'Iron: a history'\nsource_tier: official\ndate: 2024-04-02\n"
        "tenant: aurora\njurisdiction: EU\nsuperseded_by: docs/b.md\n"
        "url: https://example.org/a\nunknown: [1, 2]\n---\n\n# Heading\n\nIron is a metal.\n"
    )
    document = only(write(tmp_path, {"docs/a.md": text}))
    assert document.title == "Iron: a history"
    assert document.metadata == Metadata(
        source_tier="official",
        date="2024-04-02",
        tenant="aurora",
        jurisdiction="EU",
        superseded_by="docs/b.md",
        url="https://example.org/a",
    )
    assert document.text == text
    assert document.text[document.body_start :].strip().startswith("# Heading")


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("# The *Title* #\n\nBody.", "The *Title*", "# The *Title* #\n\nBody."),
        ("Body.", "a b", "Body."),
        ("---\n---\nBody.", "a b", "Body."),
        ("---\ntitle:\n---\nBody.", "a b", "Body."),
        ("--- \nBody with a rule above.", "a b", "--- \nBody with a rule above."),
    ],
)
def test_titles_of_markdown(tmp_path: Path, text: str, title: str, body: str) -> None:
    document = only(write(tmp_path, {"a_b.md": text}))
    assert document.title == title
    assert document.text[document.body_start :] == body


@pytest.mark.parametrize(
    "block", ["title: [unclosed", "a: b: c", "- only\n- a list", "&a [*a]", "[" * 5000]
)
def test_broken_front_matter_loses_nothing(tmp_path: Path, block: str) -> None:
    text = f"---\n{block}\n---\nBody."
    documents, verdicts = load_all(write(tmp_path, {"a.md": text}))
    assert documents["a.md"].text == text
    assert documents["a.md"].body_start == 0
    assert verdicts["a.md"].status == "warning"
    assert "front matter" in verdicts["a.md"].reason


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd"])
def test_an_unsafe_url_is_left_out(tmp_path: Path, url: str) -> None:
    document = only(write(tmp_path, {"a.md": f"---\nurl: {url}\n---\nBody."}))
    assert document.metadata.url is None


def test_html(tmp_path: Path) -> None:
    page = (
        "<html><head><title>Sea &amp; salt</title><script>evil()</script></head><body>"
        "<h1>Salt</h1><p>Salt is won from <b>sea</b> water.</p>"
        "<style>p {}</style><ul><li>pans<li>mines</ul></body></html>"
    )
    document = only(write(tmp_path, {"a.html": page}))
    assert document.title == "Sea & salt"
    assert "# Salt\n\nSalt is won from sea water." in document.text
    assert "- pans\n- mines" in document.text
    assert "evil" not in document.text
    assert "<" not in document.text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<head><title>T</title><p>Body without its tags", "Body without its tags"),
        ("<div>" * 20_000 + "deep", "deep"),
        ("a<br>b&nbsp;c &lt;d&gt;", "a\nb c <d>"),
        ("<table><tr><th>Name<th>Year<tr><td>Bell</table>", "Name | Year\nBell"),
        ("<table><tr><th>Name</th><th>Year</th></tr></table>", "Name | Year"),
        ("<pre>if x:\n    y</pre>", "if x:\n    y"),
        ("x <!-- hidden --> y<![CDATA[z]]>", "x y"),
        ("plain text & no tags", "plain text & no tags"),
    ],
)
def test_html_as_it_comes(tmp_path: Path, page: str, text: str) -> None:
    assert only(write(tmp_path, {"a.html": page})).text == text


def test_html_in_its_declared_encoding(tmp_path: Path) -> None:
    page = '<meta charset="iso-8859-2"><p>Zażółć gęślą jaźń'.encode("iso8859-2")
    assert only(write(tmp_path, {"a.htm": page})).text == "Zażółć gęślą jaźń"


def test_pdf(tmp_path: Path) -> None:
    content = pdfs.pdf("The harbour was dug in 1844.", "It silted up.", title="Harbour")
    document = only(write(tmp_path, {"h.pdf": content}))
    assert document.title == "Harbour"
    assert document.text == "The harbour was dug in 1844.\n\nIt silted up."


def test_word(tmp_path: Path) -> None:
    content = word(("Heading 2", "Keepers"), ("Normal", "They lived on Tiree."), title="Light")
    document = only(write(tmp_path, {"l.docx": content}))
    assert document.title == "Light"
    assert document.text == "## Keepers\n\nThey lived on Tiree.\n\nHeight | 48 m"


def test_lone_surrogates_in_json_become_characters_that_can_be_stored(tmp_path: Path) -> None:
    document = only(write(tmp_path, {"a.json": '{"title": "\\ud800", "text": "x \\udfff y"}'}))
    assert document.text == "x \ufffd y"
    document.model_dump_json().encode()


# --- what is not a document ------------------------------------------------------------------


def test_files_at_the_top_that_describe_the_corpus_are_no_documents(tmp_path: Path) -> None:
    files = {
        "README.md": "About.",
        "questions.jsonl": '{"id": 1, "text": "x"}',
        "metadata.csv": "document,title\n",
        "policy.toml": "[rules]",
        "docs/README.md": "A document.",
        "notes.txt": "Another one.",
    }
    documents, _ = load_all(write(tmp_path, files))
    assert sorted(documents) == ["docs/README.md", "notes.txt"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.txt", b"", "empty"),
        ("blank.md", b"\n \n\t", "empty"),
        ("only.md", b"---\ntitle: x\n---\n\n", "no text"),
        ("blank.html", b"<p> </p>", "no text"),
        ("scan.pdf", pdfs.pdf("", ""), "no text layer"),
        ("locked.pdf", pdfs.locked("secret"), "password protected"),
        ("broken.pdf", b"%PDF-1.4 nothing here", "not a valid PDF"),
        ("cyclic.pdf", pdfs.pdf("x").replace(b"[10 0 R]", b"[2 0 R ]"), "cyclic"),
        ("locked.docx", b"\xd0\xcf\x11\xe0" + b"x" * 600, "password protected or in the old"),
        ("broken.docx", b"PK\x03\x04 nothing", "not a valid Word file"),
        ("other.docx", archive(["a.txt"]), "not a valid Word file"),
        ("a.zip", archive(["a.txt"]), "archive"),
        ("a.tar", b"x", "archive"),
        ("hidden_archive.txt", archive(["a.txt"]), "archive"),
        ("pdf_as.txt", pdfs.pdf("x"), "PDF under another name"),
        ("image.png", b"\x89PNG", "type is not supported"),
        ("old.doc", b"x", "type is not supported"),
        ("noending", b"x", "type is not supported"),
        ("binary.txt", bytes(range(256)), "NUL"),
        ("control.txt", bytes(range(1, 32)) * 9, "control characters"),
        ("bad.json", b"{", "not valid JSON"),
        ("deep.json", b"[" * 100_000, "not valid JSON"),
        ("numbers.json", b"[[1], 5, null]", "no record"),
        ("hollow.json", b'[{"title": null}, {}, {"name": " "}]', "no record"),
        ("textless.jsonl", b'{"name": "x", "text": ""}', "no record"),
        ("bad.jsonl", b"x\ny\n", "not valid JSON lines"),
        ("header.csv", b"a,b\n", "no record"),
        ("blank_cells.csv", b"a,b\n , \n", "no record"),
        (".hidden.txt", b"x", "hidden file"),
    ],
)
def test_a_file_without_a_document_is_skipped_with_the_reason_and_the_rest_goes_on(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    files = {name: content, "good.txt": "A good one.", "zz/good.pdf": pdfs.pdf("Good too.")}
    documents, verdicts = load_all(write(tmp_path, files))
    assert sorted(documents) == ["good.txt", "zz/good.pdf"]
    assert verdicts[name].status == "skipped"
    assert reason in verdicts[name].reason
    assert verdicts[name].documents == ()


def test_a_pdf_that_loops_ends_within_its_time_limit(tmp_path: Path) -> None:
    files = {"a_loop.pdf": pdfs.endless(), "b_good.pdf": pdfs.pdf("Good.")}
    documents, verdicts = load_all(write(tmp_path, files), seconds=5.0)
    assert "longer than 5 s" in verdicts["a_loop.pdf"].reason
    assert sorted(documents) == ["b_good.pdf"]


def test_a_pdf_with_pages_like_scans_is_indexed_with_a_warning(tmp_path: Path) -> None:
    _, verdicts = load_all(write(tmp_path, {"half.pdf": pdfs.pdf("Text.", "")}))
    assert verdicts["half.pdf"].status == "warning"
    assert verdicts["half.pdf"].reason == "1 of 2 pages have no text"


def test_too_large_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.retrieval.loading.MAX_TEXT_BYTES", 1_000_000)
    _, verdicts = load_all(write(tmp_path, {"big.txt": "x" * 1_000_001}))
    assert "larger than 1 MB" in verdicts["big.txt"].reason


def test_links_are_followed_only_inside_the_folder(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.txt": "Secret."})
    root = write(tmp_path / "corpus", {"a.txt": "Inside."})
    (root / "link.txt").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "dangling.txt").symlink_to(root / "nothing.txt")
    (root / "itself.txt").symlink_to(root / "itself.txt")
    documents, verdicts = load_all(root)
    assert sorted(documents) == ["a.txt"]
    assert verdicts["link.txt"].reason == "it is a link out of the folder"
    assert verdicts["folder"].reason == verdicts["loop"].reason == "it is a link to a folder"
    assert verdicts["dangling.txt"].reason == "it is not a file"
    assert verdicts["itself.txt"].reason == "it cannot be opened"


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    _, verdicts = load_all(tmp_path)
    assert verdicts["pipe.txt"].reason == "it is not a file"


def test_hidden_folders_are_skipped_whole(tmp_path: Path) -> None:
    documents, verdicts = load_all(write(tmp_path, {".git/a.md": "x", "b.md": "y"}))
    assert sorted(documents) == ["b.md"]
    assert verdicts[".git"].reason == "it is a hidden folder"


def test_a_missing_folder_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no folder"):
        scan(tmp_path / "nothing")


# --- names -----------------------------------------------------------------------------------


def test_odd_names_become_safe_distinct_ids(tmp_path: Path) -> None:
    names = [
        "🎬.md",
        "🍿.md",
        "a\u202eb.md",
        "ab.md",
        "ملف.md",
        "x/a.md",
        "y/a.md",
        "a" * 240 + ".md",
    ]
    documents, verdicts = load_all(write(tmp_path, {name: f"Text of {name}." for name in names}))
    assert len(documents) == len(names)
    assert {"ملف.md", "x/a.md", "y/a.md", "ab.md"} <= set(documents)
    assert "a\\u202eb.md" in verdicts


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))).write_text("Text.")
    documents, verdicts = load_all(tmp_path)
    assert len(documents) == 1
    for verdict in verdicts.values():
        verdict.model_dump_json().encode()


# --- the sidecar -----------------------------------------------------------------------------


def test_the_sidecar_wins_and_joins_by_name(tmp_path: Path) -> None:
    files = {
        "docs/b.md": "---\ntitle: Old\ntenant: aurora\n---\nB.",
        "docs/a.txt": "A.",
        "r.jsonl": '{"id": "k", "text": "R."}',
        "metadata.csv": "document;title;source_tier\nb.md;New;official\n"
        "docs/a.txt;;draft\nr.jsonl#k;Record;\nnowhere.md;x;y\nb.md;Again;\n",
    }
    documents, verdicts = load_all(write(tmp_path, files))
    assert documents["docs/b.md"].title == "New"
    assert documents["docs/b.md"].metadata == Metadata(source_tier="official", tenant="aurora")
    assert documents["docs/a.txt"].title == "a"
    assert documents["docs/a.txt"].metadata.source_tier == "draft"
    assert documents["r.jsonl#k"].title == "Record"
    assert verdicts["metadata.csv"].status == "warning"
    assert "named by line 5" in verdicts["metadata.csv"].reason
    assert "named again by line 6" in verdicts["metadata.csv"].reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [("title\nx\n", "no column"), (b"\x00\x01\x02", "NUL"), ("", "no column")],
)
def test_an_unusable_sidecar_is_said_and_loses_nothing(
    tmp_path: Path, content: str | bytes, reason: str
) -> None:
    documents, verdicts = load_all(write(tmp_path, {"a.txt": "A.", "metadata.csv": content}))
    assert sorted(documents) == ["a.txt"]
    assert reason in verdicts["metadata.csv"].reason


def test_a_fingerprint_tells_every_change(tmp_path: Path) -> None:
    def fingerprint(files: dict[str, str | bytes]) -> str:
        folder = scan(write(tmp_path, files))
        (source,) = [file for file in folder.files if file.name == "a.txt"]
        return folder.fingerprint(source)

    first = fingerprint({"a.txt": "A.", "metadata.csv": "document,title\n"})
    assert fingerprint({"b.txt": "B."}) == first
    assert fingerprint({"metadata.csv": "document,title\na.txt,New\n"}) != first
    assert fingerprint({"a.txt": "A!", "metadata.csv": "document,title\n"}) != first


def test_of_two_files_with_one_id_the_second_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.retrieval.loading.document_id", lambda name: "same.txt")
    documents, verdicts = load_all(write(tmp_path, {"a.txt": "A.", "b.txt": "B."}))
    assert [d.text for d in documents.values()] == ["A."]
    assert "rename it" in verdicts["b.txt"].reason
