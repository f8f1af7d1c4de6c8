"""PDF files written by hand, good and bad."""

from __future__ import annotations

import io


def pdf(*pages: str, title: str = "") -> bytes:
    """One page for each text; an empty text gives a page without any, like a scan."""
    streams = [
        f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1") if text else b""
        for text in pages
    ]
    return from_streams(streams, title=title)


def from_streams(
    streams: list[bytes], title: str = "", forms: dict[str, bytes] | None = None
) -> bytes:
    """A page for each content stream, with form objects that the streams may draw."""
    forms = forms or {}
    kids = " ".join(f"{10 + 2 * i} 0 R" for i in range(len(streams)))
    first_form = 10 + 2 * len(streams)
    names = " ".join(f"/{name} {first_form + i} 0 R" for i, name in enumerate(forms))
    resources = f"<< /Font << /F1 3 0 R >> /XObject << {names} >> >>"
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: f"<< /Title ({title}) >>".encode(),
    }
    for i, stream in enumerate(streams):
        number = 10 + 2 * i
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {resources} "
            f"/Contents {number + 1} 0 R >>"
        ).encode()
        objects[number + 1] = _stream(b"", stream)
    for i, stream in enumerate(forms.values()):
        kind = f"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources {resources}"
        objects[first_form + i] = _stream(kind.encode(), stream)
    return _file(objects)


def endless(levels: int = 40) -> bytes:
    """40 pages of form objects that each draw the next one twice: 2 ** levels drawings a page."""
    forms = {f"X{i}": f"/X{i + 1} Do /X{i + 1} Do".encode() for i in range(levels)}
    forms[f"X{levels}"] = b"BT /F1 12 Tf (x) Tj ET"
    return from_streams([b"/X0 Do"] * 40, forms=forms)


def locked(password: str) -> bytes:
    """A page behind a user password."""
    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf("Secret text.")))
    writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _stream(entries: bytes, content: bytes) -> bytes:
    head = b"<< " + entries + f" /Length {len(content)} >>".encode()
    return head + b"\nstream\n" + content + b"\nendstream"


def _file(objects: dict[int, bytes]) -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = out.tell()
        out.write(f"{number} 0 obj\n".encode() + body + b"\nendobj\n")
    table = out.tell()
    size = max(objects) + 1
    out.write(f"xref\n0 {size}\n0000000000 65535 f \n".encode())
    for number in range(1, size):
        place = places.get(number)
        entry = f"{place:010d} 00000 n \n" if place is not None else "0000000000 65535 f \n"
        out.write(entry.encode())
    out.write(f"trailer << /Size {size} /Root 1 0 R /Info 4 0 R >>\n".encode())
    out.write(f"startxref\n{table}\n%%EOF".encode())
    return out.getvalue()
