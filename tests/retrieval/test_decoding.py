from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.retrieval.decoding import decode, whole_characters

FRENCH = "Le café est fermé. Les élèves étudient à l'école."


@pytest.mark.parametrize(
    "raw",
    [
        FRENCH.encode(),
        codecs.BOM_UTF8 + FRENCH.encode(),
        codecs.BOM_UTF16_LE + FRENCH.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + FRENCH.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + FRENCH.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + FRENCH.encode("utf-32-be"),
    ],
)
def test_unicode_is_decoded_without_a_warning(raw: bytes) -> None:
    assert decode(raw) == (FRENCH, None)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(encoding: str) -> None:
    text, warning = decode(FRENCH.encode(encoding))
    assert text == FRENCH
    assert warning is not None
    assert "UTF-16" in warning


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize("before", [0, 30_000])
def test_western_legacy_text_wherever_its_first_accent_is(encoding: str, before: int) -> None:
    text = "plain words " * (before // 12) + FRENCH
    decoded, warning = decode(text.encode(encoding))
    assert decoded == text
    assert warning is not None
    assert "UTF-8" in warning


def test_windows_quotes_and_euro() -> None:
    assert decode("5 € “quoted” – dash".encode("cp1252"))[0] == "5 € “quoted” – dash"


def test_a_late_non_ascii_character_in_utf8() -> None:
    text = "a" * 200_000 + "é"
    assert decode(text.encode()) == (text, None)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Москва является столицей России. Население города растёт каждый год.", "cp1251"),
        ("Москва является столицей России. Население города растёт каждый год.", "koi8-r"),
        ("東京は日本の首都です。人口はとても多いです。新しい建物がたくさんあります。", "shift_jis"),
    ],
)
def test_other_scripts_in_legacy_encodings(text: str, encoding: str) -> None:
    decoded, warning = decode(text.encode(encoding))
    assert decoded == text
    assert warning is not None


def test_the_declared_encoding_is_believed() -> None:
    assert decode("Łódź".encode("iso8859-2"), "iso-8859-2") == ("Łódź", None)


@pytest.mark.parametrize("declared", ["no-such-encoding", "utf-8", "ascii"])
def test_a_wrong_declaration_is_not(declared: str) -> None:
    assert decode("café".encode("latin-1"), declared)[0] == "café"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"text\x00with a nul", "NUL"),
        (b"\x00" * 64, "NUL"),
        ("nul \x00 in utf-8 é".encode(), "NUL"),
        (codecs.BOM_UTF16_LE + "nul \x00 here".encode("utf-16-le"), "NUL"),
        (bytes(range(1, 32)) * 20, "control characters"),
        (codecs.BOM_UTF8 + b"\xff\xfe", "not valid"),
        (b"caf\xe9 \x81\x8d\x8f word word word word", "encoding is not known"),
    ],
)
def test_what_is_not_text_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        decode(raw)


def test_line_ends_become_one_form() -> None:
    assert decode(b"a\r\nb\rc\n")[0] == "a\nb\nc\n"


def test_lone_surrogates_become_replacement_characters() -> None:
    assert whole_characters("a\ud800b") == "a\ufffdb"
    assert whole_characters("\ud83c\udfac") == "🎬"


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_or_refused(raw: bytes) -> None:
    try:
        text, _ = decode(raw)
    except BadInput:
        return
    assert "\x00" not in text
    assert "\r" not in text
    text.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(text.encode())[0] == text.removeprefix("\ufeff")
