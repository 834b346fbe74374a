"""Where the handed data lies; a user's clone does not have it, so its tests skip and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the handed data is not here: {SHARED}")
