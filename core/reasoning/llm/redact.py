"""What of a prompt or reply a log may keep."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

import regex

from core.types import digest

Redact = Callable[[str], str]

MASK = "[secret]"
_SHORTEST = 8
_SECRET_NAME = regex.compile(r"(?:_KEY|_TOKEN|_SECRET|_PASSWORD)$")
_KEY_LIKE = regex.compile(
    r"\b(?:sk|pk|gsk|xai|hf|AIza|ghp|glpat)[-_][A-Za-z0-9_\-]{16,}|\bBearer\s+[A-Za-z0-9._\-]{8,}"
)


def secrets(given: Iterable[str | None], environment: Mapping[str, str] = os.environ) -> list[str]:
    """Keys given for a session and those of the environment, longest first; short ones are none."""
    found = {value for value in given if value}
    found |= {value for name, value in environment.items() if _SECRET_NAME.search(name)}
    return sorted((v for v in found if len(v) >= _SHORTEST), key=lambda v: (-len(v), v))


def mask(text: str, known: Iterable[str] = ()) -> str:
    """``text`` with known secrets, and whatever is shaped like a provider's key, masked."""
    for secret in known:
        text = text.replace(secret, MASK)
    return str(_KEY_LIKE.sub(MASK, text))


def masking(*given: str | None) -> Redact:
    """Masks the given keys and those of the environment; the default for every prompt log."""
    known = secrets(given)
    return lambda text: mask(text, known)


def withhold(text: str) -> str:
    """Nothing of the text but its length and digest, for a log that must not hold documents."""
    return f"[withheld: {len(text)} characters, digest {digest(text)}]" if text else ""
