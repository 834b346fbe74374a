"""`pytest --refresh-golden` writes the golden files anew; read the difference before you commit it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="write tests/golden/ anew instead of comparing with it")


@pytest.fixture
def matches_golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a golden file of that name."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--refresh-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.is_file(), f"{path} is missing: write it with pytest --refresh-golden"
        assert text == path.read_text(encoding="utf-8"), f"{path.name} differs: if that is meant, run pytest --refresh-golden"

    return check
