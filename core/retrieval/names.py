"""Untrusted file names as safe, distinct identifiers."""

from __future__ import annotations

import hashlib
import unicodedata

import regex

from core.errors import BadInput

MAX_PART = 80
MAX_ID = 200
_SAFE_PART = regex.compile(r"[\p{L}\p{N}\p{M}_][\p{L}\p{N}\p{M}_.,()&'+@=\- ]*")
_UNSAFE = regex.compile(r"[^\p{L}\p{N}\p{M}_.,()&'+@=\- ]+")
_RESERVED = regex.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", regex.IGNORECASE)
_INVISIBLE = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]")
_SLUG = regex.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?")


def document_id(name: str) -> str:
    """The identifier of a file by its relative name, with ``/`` between folders.

    A safe name is its own identifier. Otherwise what is unsafe (``..``, an absolute or drive
    path, control and direction characters, emoji, reserved device names, over-long parts) is
    taken out and a digest of the whole name is added, so that distinct names stay distinct.

    >>> document_id("docs/Iron_Man.md")
    'docs/Iron_Man.md'
    """
    parts = regex.split(r"[/\\]", unicodedata.normalize("NFC", name))
    kept = [part for part in (_safe_part(part) for part in parts) if part]
    result = "/".join(kept) or "document"
    if result == name and len(result) <= MAX_ID:
        return result
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem, dot, suffix = result.rpartition(".")
    if not dot or "/" in suffix or len(suffix) > 10:
        stem, dot, suffix = result, "", ""
    return f"{stem[: MAX_ID - 30]}-{mark}{dot}{suffix}"


def _safe_part(part: str) -> str:
    if _SAFE_PART.fullmatch(part) and not _RESERVED.fullmatch(part) and len(part) <= MAX_PART:
        trimmed = part.rstrip(". ")
        if trimmed == part:
            return part
        part = trimmed
    part = _UNSAFE.sub("_", _INVISIBLE.sub("", part)).strip(". _-")
    stem, dot, suffix = part.rpartition(".")
    if len(part) > MAX_PART:
        keep = MAX_PART - len(suffix) - 1
        part = f"{stem[:keep]}.{suffix}" if dot and 0 < len(suffix) <= 10 else part[:MAX_PART]
    return f"_{part}" if part and _RESERVED.fullmatch(part) else part


def printable(name: str) -> str:
    """A file name for people: invisible and direction-changing characters are escaped."""
    return str(_INVISIBLE.sub(lambda m: f"\\u{ord(m.group()):04x}", name))


def title_of(name: str) -> str:
    """A readable title from a file name: no folder, no extension, underscores as spaces."""
    base = _INVISIBLE.sub("", regex.split(r"[/\\]", name)[-1])
    stem = base.rpartition(".")[0] or base
    return regex.sub(r"[_\s]+", " ", stem).strip() or "Untitled"


def checked_slug(name: str, what: str) -> str:
    """A workspace or corpus name that is safe as a folder name, or a refusal.

    Raises:
        BadInput: the name is empty, longer than 64 characters, or has other characters than
            ASCII letters, digits, ``_``, ``-`` and ``.`` inside.
    """
    if not _SLUG.fullmatch(name) or _RESERVED.fullmatch(name) or ".." in name:
        raise BadInput(
            f"{printable(name)!r} cannot name a {what}; use 1 to 64 letters, digits, '_' or '-'."
        )
    return name
