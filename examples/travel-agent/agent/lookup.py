"""Find the booking a customer talks about.

In: the request and the notes. Out: the booking, or the next step towards it.
"""

from __future__ import annotations

from typing import Any

from agent.request import Request
from agent.steps import Call, Notes, Say


def look_up(request: Request, notes: Notes) -> dict[str, Any] | Call | Say:
    """By reference where there is one, else by surname."""
    if request.reference:
        return _by_reference(request.reference, notes)
    if request.surname:
        return _by_surname(request.surname, notes)
    return Say("Please tell me your booking reference, or the name the booking is under.")


def _by_reference(reference: str, notes: Notes) -> dict[str, Any] | Call | Say:
    found = notes.result("get_booking")
    if found is None:
        return Call("get_booking", {"reference": reference})
    if not found["found"]:
        return Say(f"I cannot find a booking {reference}. Please check the reference.")
    booking: dict[str, Any] = found["booking"]
    return booking


def _by_surname(surname: str, notes: Notes) -> dict[str, Any] | Call | Say:
    found = notes.result("find_bookings")
    if found is None:
        return Call("find_bookings", {"surname": surname})
    if len(found["bookings"]) != 1:
        return Say(f"I found {len(found['bookings'])} bookings under {surname}. Please tell me the booking reference.")
    booking: dict[str, Any] = found["bookings"][0]
    return booking
