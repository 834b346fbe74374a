from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publish.publishing import Scene, scene_of


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with scene_of(tmp_path) as scene:
        yield scene
