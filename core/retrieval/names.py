"""Untrusted file names as safe, distinct identifiers."""

from __future__ import annotations

import hashlib
import unicodedata

import regex

from core.errors import BadInput

MAX_PART = 80
MAX_FOLDERS = 100
MAX_ID = 200
_SAFE_PART = regex.compile(r"[\p{L}\p{N}\p{M}_][\p{L}\p{N}\p{M}_.,()&'+@=\- ]*")
_EXTENSION = regex.compile(r"[A-Za-z0-9]{1,10}")
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
    parts = regex.split(r"[/\\]", name)
    if len(name) <= MAX_ID and all(map(_is_safe, parts)):
        return name
    stem, suffix = _split_suffix(parts[-1])
    folders = "/".join(filter(None, map(_made_safe, parts[:-1])))[:MAX_FOLDERS].rstrip("/. -")
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    base = f"{_made_safe(stem) or 'document'}-{mark}{suffix}"
    return f"{folders}/{base}" if folders else base


def _is_safe(part: str) -> bool:
    return (
        _SAFE_PART.fullmatch(part) is not None
        and _RESERVED.fullmatch(part) is None
        and len(part) <= MAX_PART
        and not part.endswith((".", " "))
        and unicodedata.is_normalized("NFC", part)
    )


def _split_suffix(part: str) -> tuple[str, str]:
    """Stem and extension with its dot (empty where there is none that is plain)."""
    stem, dot, suffix = part.rpartition(".")
    return (stem, dot + suffix) if dot and _EXTENSION.fullmatch(suffix) else (part, "")


def _made_safe(part: str) -> str:
    """What is left of a part of a name without all that is unsafe; may be empty."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFC", part))
    kept = _UNSAFE.sub("_", visible).strip(". _-")[:60].rstrip(". -")
    return f"_{kept}" if _RESERVED.fullmatch(kept) else kept


def printable(name: str) -> str:
    """A file name for people: invisible and direction-changing characters are escaped."""
    return str(_INVISIBLE.sub(lambda m: f"\\u{ord(m.group()):04x}", name))


def title_of(name: str) -> str:
    """A readable title from a file name: no folder, no extension, underscores as spaces."""
    base = _INVISIBLE.sub("", regex.split(r"[/\\]", name)[-1])
    stem, _ = _split_suffix(base)
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
