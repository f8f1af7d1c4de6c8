"""Which server a model string means, and whether it can be used: found out before a run starts.

Every refusal is one sentence that names what is missing and offers the extractive reasoner.
No key is sent to an address that the caller gave unless the caller gave the key as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from rapidfuzz import process

from core.adapters.litellm_client import load
from core.adapters.model_errors import EXTRACTIVE_OFFER
from core.errors import BadInput

OLLAMA = "http://localhost:11434"
NO_KEY = "none"
"""Sent where a server's client insists on a key and none is meant for it."""
_OLLAMA_PROVIDERS = ("ollama", "ollama_chat")
_OPENAI_BASES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Route:
    """Where a model string leads. ``own`` is a server whose address the person gave."""

    given: str
    model: str
    provider: str
    api_base: str | None
    own: bool
    proxied: bool = False

    def key(self, api_key: str | None) -> str | None:
        """The key to send: the session's, else the proxy's own for it, else none to an own
        server; None leaves the choice to litellm, which reads the provider's variable."""
        if api_key:
            return api_key
        if self.proxied:
            return os.environ.get("LITELLM_API_KEY") or NO_KEY
        return NO_KEY if self.own else None


@dataclass(frozen=True, slots=True)
class Served:
    """A model as a server lists it; ``context`` in tokens where it says so."""

    id: str
    context: int | None = None
    any_name: bool = False


def route(model: str, api_base: str | None = None) -> Route:
    """Where a model string leads.

    Raises:
        BadInput: an empty or unknown string, or an address that is no HTTP address.
    """
    model = model.strip()
    if not model:
        raise BadInput(f"Name a model, such as openai/gpt-4o-mini, {EXTRACTIVE_OFFER}.")
    if api_base:
        base = _address(api_base)
        provider = _provider(model)
        if provider is None or provider[1] == "openai":
            return Route(model, model.removeprefix("openai/"), "openai", base, own=True)
        return Route(model, *provider, base, own=True)
    if proxy := os.environ.get("LITELLM_BASE_URL"):
        name = model.removeprefix("openai/").removeprefix("litellm_proxy/")
        return Route(model, name, "openai", _address(proxy), own=True, proxied=True)
    provider = _provider(model)
    if provider is None:
        known = [str(p.value) for p in load().provider_list]
        near = process.extractOne(model.partition("/")[0], known, score_cutoff=75)
        hint = f" Did you mean {near[0]}/...?" if near else ""
        raise BadInput(
            f"No provider is known for the model {model!r}.{hint} Write provider/model, such as "
            f"openai/gpt-4o-mini or ollama/llama3, give the address of your own server, "
            f"{EXTRACTIVE_OFFER}."
        )
    return Route(model, *provider, None, own=False)


def check_model(
    model: str, api_key: str | None = None, api_base: str | None = None, *, timeout: float = 5.0
) -> Route:
    """Make sure that a model can be used, without spending a token. Waits ``timeout`` seconds.

    Where the provider has a free way to ask for a model, a wrong key and an unknown model are
    found as well; elsewhere the first call tells.

    Raises:
        BadInput: unknown provider or model, missing or refused key, or a server that is down.
    """
    found = route(model, api_base)
    if not found.own and found.provider not in _OLLAMA_PROVIDERS and not api_key:
        missing = load().validate_environment(model)["missing_keys"]
        if missing:
            raise BadInput(
                f"The model {model} needs a key and {' or '.join(missing)} is not set; set it, or "
                f"give a key for this session, {EXTRACTIVE_OFFER}."
            )
    asked = _one_model(found, api_key)
    if asked is not None:
        _ask(found, *asked, timeout)
        return found
    listing = _listing(found, api_key)
    if listing is None:
        return found
    served = _served(_ask(found, *listing, timeout))
    if served and not any(s.any_name or _same(s.id, found.model) for s in served):
        names = [s.id for s in served]
        near = [n for n, _, _ in process.extract(found.model, names, limit=_SHOWN)]
        pull = f"; run `ollama pull {found.model}`" if found.provider in _OLLAMA_PROVIDERS else ""
        raise BadInput(
            f"The server serves no model {found.model!r} but, among others, {', '.join(near)}"
            f"{pull}; choose one of them {EXTRACTIVE_OFFER}."
        )
    return found


def served_models(
    api_base: str, api_key: str | None = None, *, timeout: float = 1.0
) -> tuple[Served, ...]:
    """What an OpenAI-compatible server lists; empty when it does not answer.

    Raises:
        BadInput: ``api_base`` is no HTTP address.
    """
    found = Route("", "", "openai", _address(api_base), own=True)
    listing = _listing(found, api_key)
    assert listing is not None
    try:
        return _served(_ask(found, *listing, timeout))
    except BadInput:
        return ()


def context_of(found: Route, api_key: str | None) -> int | None:
    """Tokens that the model's context holds, as litellm or its own server says."""
    if found.own and found.provider == "openai":
        served = served_models(found.api_base or "", found.key(api_key))
        for entry in served:
            if entry.any_name or _same(entry.id, found.model):
                return entry.context
        return None
    try:
        known = load().get_model_info(found.model, found.provider)
    except Exception:
        return None
    limit = known.get("max_input_tokens") or known.get("max_tokens")
    return int(limit) if limit else None


def _provider(model: str) -> tuple[str, str] | None:
    """The model's name at its provider and the provider, as litellm reads the string."""
    try:
        name, provider, _, _ = load().get_llm_provider(model)
    except Exception:
        return None
    return str(name), str(provider)


def _address(text: str) -> str:
    wrong = BadInput(
        "The address of a model server starts with http:// or https:// and names a host, such "
        "as http://127.0.0.1:8080/v1."
    )
    try:
        parts = urlsplit(text.strip())
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is none
        raise wrong from None
    if not named or re.search(r"\s", text.strip()):
        raise wrong
    if parts.username or parts.password:
        raise BadInput("The address of a model server must not hold a password; give a key.")
    return text.strip().rstrip("/")


Asked = tuple[str, dict[str, str]]


def _one_model(found: Route, api_key: str | None) -> Asked | None:
    """Address and headers that ask a provider for this one model, where that costs nothing."""
    if found.own:
        return None
    name = quote(found.model, safe=":")
    if found.provider == "openai":
        key = api_key or os.environ.get("OPENAI_API_KEY", "")
        base = next((b for v in _OPENAI_BASES if (b := os.environ.get(v))), None)
        return f"{(base or 'https://api.openai.com/v1').rstrip('/')}/models/{name}", _bearer(key)
    if found.provider == "anthropic":
        key = api_key or os.environ.get("ANTHROPIC_API_KEY", "")
        base = os.environ.get("ANTHROPIC_API_BASE") or "https://api.anthropic.com"
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        return (f"{base.rstrip('/')}/v1/models/{name}", headers) if key else None
    if found.provider == "gemini":
        key = api_key or os.environ.get("GEMINI_API_KEY") or os.environ.get("GOOGLE_API_KEY", "")
        base = "https://generativelanguage.googleapis.com/v1beta"
        return f"{base}/models/{name}", {"x-goog-api-key": key}
    return None


def _listing(found: Route, api_key: str | None) -> Asked | None:
    """Address and headers of a server's list of models."""
    if found.provider in _OLLAMA_PROVIDERS:
        base = found.api_base or os.environ.get("OLLAMA_API_BASE") or OLLAMA
        return f"{base.rstrip('/')}/api/tags", {}
    if found.own and found.provider == "openai":
        return f"{found.api_base}/models", _bearer(found.key(api_key) or "")
    return None


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key and key != NO_KEY else {}


def _ask(found: Route, url: str, headers: Mapping[str, str], timeout: float) -> Any:
    """The JSON that a server answers; None where it has no such page.

    Raises:
        BadInput: it does not answer, refuses the key, or does not know the model.
    """
    host = urlsplit(url).netloc
    try:
        response = httpx.get(url, headers=dict(headers), timeout=timeout, follow_redirects=False)
    except (httpx.HTTPError, ValueError) as error:
        ready = "start it (ollama serve)" if found.provider in _OLLAMA_PROVIDERS else "start it"
        raise BadInput(
            f"The model server at {host} does not answer ({type(error).__name__}); {ready} or "
            f"check its address and the network, {EXTRACTIVE_OFFER}."
        ) from None
    if response.status_code == 401 or (
        response.status_code in (400, 403) and "API_KEY_INVALID" in response.text
    ):
        raise BadInput(
            f"The provider refused the key for {found.given}; set a valid one {EXTRACTIVE_OFFER}."
        )
    if response.status_code == 404 and _one_model(found, NO_KEY) is not None:
        raise BadInput(
            f"The provider knows no model {found.given}; check its name {EXTRACTIVE_OFFER}."
        )
    if response.status_code >= 500:
        raise BadInput(
            f"The model server at {host} is not ready (HTTP {response.status_code}); wait until it "
            f"is {EXTRACTIVE_OFFER}."
        )
    if response.status_code != 200:
        return None
    try:
        return response.json()
    except ValueError:
        return None


def _served(listing: Any) -> tuple[Served, ...]:
    """The models of a list in OpenAI's or Ollama's form; what is in neither form is none."""
    if not isinstance(listing, dict):
        return ()
    entries = listing.get("data") or listing.get("models") or []
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        name = entry.get("id") or entry.get("name")
        meta = entry.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        context = entry.get("max_model_len") or entry.get("context_length") or meta.get("n_ctx")
        if isinstance(name, str):
            found.append(
                Served(
                    name,
                    context if isinstance(context, int) and context > 0 else None,
                    any_name=entry.get("owned_by") == "llamacpp",
                )
            )
    return tuple(found)


def _same(served: str, asked: str) -> bool:
    return served == asked or served.removesuffix(":latest") == asked.removesuffix(":latest")
