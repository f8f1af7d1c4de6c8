import pytest

from core.adapters.model_check import check_model, route, served_models
from core.errors import BadInput
from tests.adapters.model_server import KEY, ModelServer


@pytest.fixture(autouse=True)
def _bare(monkeypatch):
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GROQ_API_KEY",
        "LITELLM_BASE_URL",
        "LITELLM_API_KEY",
        "OLLAMA_API_BASE",
    ):
        monkeypatch.delenv(name, raising=False)


def refused(model, **options):
    with pytest.raises(BadInput) as raised:
        check_model(model, timeout=2.0, **options)
    message = raised.value.message
    assert KEY not in message
    assert "\n" not in message
    assert "--model extractive" in message
    return message


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("gpt-4o-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("groq/llama-3.1-8b-instant", "GROQ_API_KEY"),
    ],
)
def test_a_missing_key_is_named(model, variable):
    assert variable in refused(model)


def test_an_unknown_provider_gets_the_nearest_known_one():
    assert "Did you mean openai/" in refused("opnai/gpt-4o-mini")
    assert "provider/model" in refused("nobody/nothing")
    assert "Name a model" in refused("  ")


NO_ADDRESSES = (
    "localhost:8080",
    "ftp://host/v1",
    "http:///v1",
    "file:///etc/passwd",
    "http://[::1",
    "http://[nowhere]/v1",
    "http://host:port/v1",
    "http://host:99999/v1",
    "http://host:0/v1",
    "http://host/ v1",
    "http://host\nv1",
)


@pytest.mark.parametrize("base", NO_ADDRESSES)
def test_an_address_that_is_none(base):
    with pytest.raises(BadInput, match="http://"):
        check_model("openai/x", api_base=base)


def test_a_password_in_an_address_is_not_repeated():
    with pytest.raises(BadInput, match="password") as raised:
        check_model("openai/x", api_base="http://me:hunter22@host/v1")
    assert "hunter22" not in raised.value.message


def test_a_server_that_is_down_or_not_ready():
    with ModelServer() as server:
        base = server.base
        server.listing_status = 503
        assert "not ready" in refused("openai/ok", api_base=base)
    assert "does not answer" in refused("openai/ok", api_base=base)


def test_a_server_that_is_up(monkeypatch):
    with ModelServer() as server:
        found = check_model("openai/ok", KEY, server.base)
        assert (found.model, found.provider, found.own) == ("ok", "openai", True)
        assert server.keys == [f"Bearer {KEY}"]
        assert "no model 'oc'" in refused("openai/oc", api_base=server.base)
        server.models = [{"id": "x.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 512}}]
        check_model("openai/whatever", api_base=server.base)
        (served,) = served_models(server.base)
        assert (served.id, served.context) == ("x.gguf", 512)
        server.listing_status = 401
        assert "refused the key" in refused("openai/ok", api_key=KEY, api_base=server.base)
        server.listing_status = 404
        check_model("openai/ok", api_base=server.base)
        monkeypatch.setenv("LITELLM_BASE_URL", server.base)
        assert check_model("anthropic/claude-x").proxied
    assert served_models(server.base, timeout=0.5) == ()


def test_a_listing_in_no_known_form_decides_nothing():
    with ModelServer() as server:
        for models in ([], [7, None, {"name": 3}], {"a": 1}):
            server.models = models
            check_model("openai/ok", api_base=server.base)


def test_a_wrong_key_and_an_unknown_model_are_found_where_asking_is_free(monkeypatch):
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        check_model("openai/ok")
        assert "knows no model openai/gpt-0" in refused("openai/gpt-0")
        server.listing_status = 401
        assert "refused the key" in refused("openai/ok")
        assert set(server.keys) == {f"Bearer {KEY}"}


def test_an_ollama_server(monkeypatch):
    with ModelServer() as server:
        monkeypatch.setenv("OLLAMA_API_BASE", server.base)
        server.models = [{"name": "llama3:latest"}]
        check_model("ollama/llama3")
        assert "ollama pull qwen3" in refused("ollama/qwen3")
    assert "ollama serve" in refused("ollama/llama3")


def test_routes(monkeypatch):
    assert route("openai/gpt-4o-mini").key(None) is None
    assert route("openai/x", "http://h/v1/").api_base == "http://h/v1"
    assert route("openai/x", "http://h/v1").key(None) == "none"
    assert route("Qwen/Qwen3-8B", "http://h/v1").model == "Qwen/Qwen3-8B"
    assert route("groq/x", "http://h/v1").provider == "groq"
    monkeypatch.setenv("LITELLM_BASE_URL", "http://proxy/v1")
    assert route("openai/x").api_base == "http://proxy/v1"
    assert route("openai/x", "http://h/v1").api_base == "http://h/v1"
