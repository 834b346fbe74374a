"""Read what the customer wants.

In: the customer's words. Out: a Request; what was not said stays None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from agent.dates import find_date
from agent.world import FLIGHTS, HOTELS

CITIES = sorted({f.origin for f in FLIGHTS} | {f.destination for f in FLIGHTS} | {h.city for h in HOTELS})
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_NUMBER = rf"(\d+|{'|'.join(NUMBERS)})"

# The first intent whose words are found wins, so the narrow ones stand before the wide ones.
INTENTS = (
    ("ask_fare_rules", r"\brefundable\b|\bfare rules?\b|\bfees?\b"),
    ("cancel", r"\bcancel|\bcall off\b|\brefund|\bmoney back\b"),
    ("change", r"\bmove\b|\bchange\b|\brebook|\bpostpone"),
    ("weather", r"\bweather\b|\bumbrella\b|\bforecast\b|\brain"),
    ("book_hotel", r"\bbook\b.*\b(?:hotel|room)\b|\breserve\b.*\b(?:hotel|room)\b"),
    ("search_hotels", r"\bhotels?\b|\brooms?\b"),
    ("book_flight", r"\bbook\b|\breserve\b|\bbuy\b"),
    ("booking_status", r"\bmy flight\b|\bmy booking\b"),
    ("search_flights", r"\bflights?\b|\bfly\b"),
)


@dataclass(frozen=True)
class Request:
    """What was understood."""

    intent: str
    reference: str | None
    surname: str | None
    origin: str | None
    destination: str | None
    date: date | None
    people: int
    nights: int | None
    budget_eur: int | None
    accepts_loss: bool
    """The customer wants to cancel even if no money comes back."""

    @property
    def day(self) -> str | None:
        return self.date.isoformat() if self.date else None


def read_request(text: str, *, today: date) -> Request:
    """Read one message."""
    origin, destination = _places(text)
    return Request(
        intent=next((intent for intent, words in INTENTS if re.search(words, text, re.IGNORECASE)), "unknown"),
        reference=_reference(text),
        surname=_first(r"\b(?:name|under)(?: of| is)? ([A-Z][a-z]+)", text),
        origin=origin,
        destination=destination,
        date=find_date(text, today=today),
        people=_people(text),
        nights=_number(_first(rf"\b{_NUMBER} nights?\b", text)),
        budget_eur=_number(_first(r"\b(?:under|below|at most|up to|no more than) (\d+) ?(?:euros?|EUR|€)", text)),
        accepts_loss=bool(re.search(r"\b(?:even|also) (?:without|if)\b|\banyway\b", text, re.IGNORECASE)),
    )


def _reference(text: str) -> str | None:
    """Six letters and digits, mixed, in any case."""
    found = _first(r"\b(?=\w*\d)(?=\w*[a-z])([a-z0-9]{6})\b", text, re.IGNORECASE)
    return found.upper() if found else None


def _places(text: str) -> tuple[str | None, str | None]:
    """`from X` is the origin; any other city is where the customer is going."""
    origin = _first(rf"\bfrom ({'|'.join(CITIES)})\b", text)
    others = [city for city in re.findall("|".join(CITIES), text) if city != origin]
    return origin, others[0] if others else None


def _people(text: str) -> int:
    if re.search(r"\bboth of us\b|\bthe two of us\b", text, re.IGNORECASE):
        return 2
    return _number(_first(rf"\b{_NUMBER} (?:people|passengers|persons|adults|travellers)\b", text)) or 1


def _first(pattern: str, text: str, flags: int = 0) -> str | None:
    match = re.search(pattern, text, flags)
    return match[1] if match else None


def _number(word: str | None) -> int | None:
    if word is None:
        return None
    return NUMBERS.get(word.lower()) or int(word)
