"""Find the day a customer means.

In: what the customer wrote, and today. Out: a day, or None.
"""

from __future__ import annotations

import re
from datetime import date

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join(MONTHS)})\b(?:,? (\d{{4}}))?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({'|'.join(MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE)


def find_date(text: str, *, today: date) -> date | None:
    """Find a calendar date; one without a year is the next that comes."""
    if match := _ISO.search(text):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    if match := _DAY_MONTH.search(text):
        return _coming(int(match[1]), match[2], match[3], today)
    if match := _MONTH_DAY.search(text):
        return _coming(int(match[2]), match[1], match[3], today)
    return None


def _coming(day: int, month_name: str, year: str | None, today: date) -> date | None:
    month = MONTHS.index(month_name.lower()) + 1
    if year:
        return _day(int(year), month, day)
    this_year = _day(today.year, month, day)
    return this_year if this_year and this_year >= today else _day(today.year + 1, month, day)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
