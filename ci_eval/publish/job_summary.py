"""The report on the page of the workflow run.

In: markdown. Out: text appended to the file behind GITHUB_STEP_SUMMARY. Needs no permission and no network.
"""

from __future__ import annotations

from pathlib import Path

SUMMARY_LIMIT = 1_048_576  # bytes a step; with one more GitHub drops the whole summary


class SummaryTooLong(Exception):
    """The file would pass GitHub's limit, and nothing of it would be shown."""


def append_summary(path: Path, markdown: str) -> None:
    """Append a block of markdown; SummaryTooLong, and nothing written, if the file would pass the limit."""
    block = (markdown.rstrip("\n") + "\n\n").encode("utf-8", errors="replace")
    used = path.stat().st_size if path.exists() else 0
    if used + len(block) > SUMMARY_LIMIT:
        raise SummaryTooLong(f"{used + len(block):,} bytes, GitHub shows at most {SUMMARY_LIMIT:,}")
    with path.open("ab") as file:
        file.write(block)
