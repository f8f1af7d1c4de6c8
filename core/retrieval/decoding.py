"""Bytes to text: decoded right, or refused with the reason."""

from __future__ import annotations

import codecs

import regex

from core.errors import BadInput

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = regex.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SURROGATE = regex.compile(r"[\ud800-\udfff]")
_NEWLINES = regex.compile(r"\r\n?")
CONTROL_SHARE = 0.01
"""A text with a larger share of control characters is taken for a binary file."""
NON_LATIN_SHARE = 0.4
"""Above this share of bytes from 0x80 on, a legacy text is not in a Latin script."""


def decode(raw: bytes, declared: str | None = None) -> tuple[str, str | None]:
    """The text of a file and, where its encoding was not certain, a warning.

    Tried in order: a byte order mark, UTF-16 told by its NUL bytes, UTF-8, the encoding that the
    document declares, and for the rest Windows-1252 (a superset of Latin-1) for Latin scripts or
    what charset-normalizer detects for others. Line ends become ``\\n``.

    Raises:
        BadInput: the bytes are not text; the message is the reason.
    """
    text, warning = _decode(raw, declared)
    if "\x00" in text:
        raise BadInput("it contains NUL bytes, so it is not plain text; save it as UTF-8 text")
    if len(_CONTROL.findall(text)) > CONTROL_SHARE * len(text):
        raise BadInput("it is full of control characters, so it is not plain text")
    return _NEWLINES.sub("\n", whole_characters(text)), warning


def whole_characters(text: str) -> str:
    """The text without lone surrogates (each becomes U+FFFD), so that UTF-8 can carry it."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _decode(raw: bytes, declared: str | None) -> tuple[str, str | None]:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                return raw[len(mark) :].decode(encoding), None
            except UnicodeDecodeError:
                raise BadInput(f"it starts like {encoding.upper()} but is not valid") from None
    if b"\x00" in raw:
        return _utf16_without_mark(raw), "decoded as UTF-16, which it does not declare"
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError:
        pass
    if declared:
        try:
            return raw.decode(declared), None
        except (UnicodeDecodeError, LookupError):
            pass
    return _legacy(raw)


def _utf16_without_mark(raw: bytes) -> str:
    """Mostly ASCII text in UTF-16 has a NUL in every other byte, on one side."""
    even, odd = raw[0::2].count(0), raw[1::2].count(0)
    if len(raw) % 2 == 0 and max(even, odd) > 0.3 * (len(raw) / 2) and min(even, odd) == 0:
        try:
            return raw.decode("utf-16-le" if odd else "utf-16-be")
        except UnicodeDecodeError:
            pass
    raise BadInput("it contains NUL bytes, so it is not plain text; save it as UTF-8 text")


def _legacy(raw: bytes) -> tuple[str, str]:
    visible = len(raw) - sum(raw.count(byte) for byte in b" \t\r\n")
    high = len(raw) - len(raw.translate(None, bytes(range(0x80, 0x100))))
    if high > NON_LATIN_SHARE * visible:
        from charset_normalizer import from_bytes

        best = from_bytes(raw).best()
        if best is None:
            raise BadInput("its encoding is not known; save it as UTF-8")
        text, encoding = str(best), best.encoding.replace("_", "-")
    else:
        try:
            text, encoding = raw.decode("cp1252"), "Windows-1252"
        except UnicodeDecodeError:
            raise BadInput("its encoding is not known; save it as UTF-8") from None
    return text, f"decoded as {encoding}; save it as UTF-8 if letters look wrong"
