import socket

import pytest

from core.adapters.local_model import HOST, Serving, local_model, running, serve_model
from core.errors import BadInput
from tests.adapters.model_server import ModelServer


def refused(path, **options):
    with pytest.raises(BadInput) as raised, local_model(path, **options):
        pass
    return raised.value.message


def test_what_is_no_model_is_refused_before_anything_loads(tmp_path):
    assert "no file gone.gguf" in refused(tmp_path / "gone.gguf")
    assert "no file" in refused(tmp_path)
    for content in (b"", b"GGU", b"PK\x03\x04zip"):
        (tmp_path / "x.gguf").write_bytes(content)
        assert "no GGUF file" in refused(tmp_path / "x.gguf")


def test_a_port_in_use_is_refused(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        assert "--port" in refused(tmp_path / "x.gguf", port=taken.getsockname()[1])
    assert "--port" in refused(tmp_path / "x.gguf", port=99_999)


def test_without_the_library_the_requirements_file_is_named(tmp_path, monkeypatch):
    (tmp_path / "x.gguf").write_bytes(b"GGUF")

    def absent(name, package=None):
        raise ImportError(name)

    monkeypatch.setattr("core.adapters.local_model.import_module", absent)
    assert "requirements-local-model.txt" in refused(tmp_path / "x.gguf", port=0)
    with pytest.raises(BadInput):
        serve_model(tmp_path / "x.gguf", 0)


def test_the_advice_names_model_and_address():
    advice = Serving("openai/tiny", "http://127.0.0.1:8012/v1").advice()
    assert "--model openai/tiny" in advice
    assert "--api-base http://127.0.0.1:8012/v1" in advice


def test_what_is_served_on_this_machine_is_listed_while_it_answers():
    with ModelServer() as server:
        server.models = [{"id": "tiny"}, {"id": "small"}]
        port = int(server.base.rsplit(":", 1)[1].partition("/")[0])
        assert running(port) == (
            Serving("openai/tiny", server.base),
            Serving("openai/small", server.base),
        )
    assert running(port) == ()
