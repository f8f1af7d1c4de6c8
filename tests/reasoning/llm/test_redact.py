from core.reasoning.llm.redact import mask, masking, secrets, withhold

KEY = "sk-proj-abcdefghijklmnopqrstuvwx"


def test_known_secrets_and_key_shapes_are_masked():
    text = f"a {KEY} b topsecret99 c Bearer abc.def-12345 d AIza-0123456789abcdefgh"
    masked = mask(text, ["topsecret99"])
    assert "topsecret99" not in masked
    assert KEY not in masked
    assert masked == "a [secret] b [secret] c [secret] d [secret]"
    assert mask("sk-ip the task-force, a risk-averse-long-hyphenated-word") == (
        "sk-ip the task-force, a risk-averse-long-hyphenated-word"
    )


def test_secrets_are_those_given_and_those_of_the_environment():
    environment = {"X_API_KEY": "0123456789", "PATH": "/usr/bin:/bin", "A_TOKEN": "short"}
    assert secrets([None, "abcdefghijkl"], environment) == ["abcdefghijkl", "0123456789"]


def test_masking_follows_the_session_key(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "environment-key-1")
    redact = masking("session-key-1", None)
    assert redact("session-key-1 environment-key-1 x") == "[secret] [secret] x"


def test_withholding_keeps_length_and_digest_only():
    assert withhold("abc").startswith("[withheld: 3 characters, digest ")
    assert withhold("abc") != withhold("abd")
    assert withhold("") == ""
