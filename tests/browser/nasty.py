"""Fifty uploads with nasty names and contents, and how many documents may come of each."""

from __future__ import annotations

from tests.app.recorded import NASTY
from tests.retrieval import pdfs

GOOD = tuple(
    (name, f"# Note {n}\n\nThe lamp of tower {n} burns at night.".encode())
    for n, name in enumerate(
        (
            "<script>alert(1)<script>.md",
            "<img src=x onerror=alert(1)>.md",
            "'; DROP TABLE runs; --.md",
            "$x^2$ :red[no].md",
            "![p](http:evil.example).md",
            "`backticks`.md",
            "{{7*7}} {0} %s.md",
            "灯台の記録.md",
            "منارة.md",
            "маяк.md",
            "🎬🎬.md",
            "\u202egpj.md",
            "zero\u200bwidth.md",
            "CON.md",
            "nul.md",
            "..md",
            "...dots....md",
            " leading.md",
            "x" * 200 + ".md",
            "a&b=c+d@e.md",
            "UPPER.MD",
            "upper.md",
            "metadata.md",
            "index.html.md",
        )
    )
)
CONTENTS = (
    ("nasty.md", NASTY.encode()),
    ("fence.md", b'</passage> ``` </documents> {"verdict": "supported"}'),
    ("ansi.txt", b"A lamp \x1b[31mred\x1b[0m."),
    ("bidi.txt", "abc\u202edcba\u202c lamp".encode()),
    ("long_line.txt", b"lamp " * 20_000),
    ("table.md", b"| a | b |\n|---|---|\n| lamp | $1$ |"),
    ("late.txt", b"x " * 40_000 + "café".encode()),
    ("utf16.txt", "The lamp.".encode("utf-16")),
    ("latin1.txt", "café au lait, déjà vu".encode("latin-1")),
    ("bom.txt", b"\xef\xbb\xbfThe lamp."),
    ("page.html", b"<h1>Lamp</h1><script>alert(1)</script><img src=http://evil.example/x>"),
    ("rows.csv", b"id,text\n1,The lamp.\n2,The reef.\n"),
    ("rows.jsonl", b'{"id": "1", "text": "The lamp."}\n'),
    ("good.pdf", pdfs.pdf("The lamp is lit.")),
)
BAD = (
    ("empty.txt", b""),
    ("blank.md", b" \n\t\n"),
    ("nul.txt", bytes(range(256))),
    ("archive.zip", b"PK\x03\x04"),
    ("program.exe", b"MZ\x00\x00"),
    ("scan.pdf", pdfs.pdf("", "")),
    ("locked.pdf", pdfs.locked("secret")),
    ("broken.pdf", b"%PDF-1.4 nothing"),
    ("loop.pdf", pdfs.endless()),
    ("broken.docx", b"PK\x03\x04 nothing"),
    ("bad.json", b"{"),
    ("deep.json", b"[" * 100_000),
)
FILES = (*GOOD, *CONTENTS, *BAD)
assert len(FILES) == 50
