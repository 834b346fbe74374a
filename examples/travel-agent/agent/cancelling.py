"""Cancel a booking.

In: the request and the notes. Out: the next step. Cancelling cannot be undone, so the fare's rules are read first, and a
customer who would lose all the money is asked.
"""

from __future__ import annotations

from typing import Any

from agent.lookup import look_up
from agent.request import Request
from agent.steps import Call, Notes, Say, Step


def cancel(request: Request, notes: Notes) -> Step:
    booking = look_up(request, notes)
    if isinstance(booking, (Call, Say)):
        return booking
    if booking["status"] == "cancelled" and not notes.used("cancel_booking"):
        return Say(f"Booking {booking['reference']} was cancelled before. There is nothing left to do.")
    rules = notes.result("check_fare_rules")
    if rules is None:
        return Call("check_fare_rules", {"fare": booking["fare"]})
    refund = _refund_due(booking, rules)
    if refund == 0 and not request.accepts_loss:
        return Say(
            f"Booking {booking['reference']} is on a {booking['fare']} fare, so nothing would be refunded. "
            "Shall I cancel it all the same?"
        )
    return _give_back(booking, refund, notes)


def _refund_due(booking: dict[str, Any], rules: dict[str, Any]) -> int:
    if not rules["refundable"]:
        return 0
    return max(0, int(booking["paid_eur"]) - int(rules["cancel_fee_eur"]) * int(booking["passengers"]))


def _give_back(booking: dict[str, Any], refund: int, notes: Notes) -> Step:
    reference = booking["reference"]
    if not notes.used("cancel_booking"):
        return Call("cancel_booking", {"reference": reference})
    if refund == 0:
        return Say(f"Booking {reference} is cancelled. Its fare gives no refund.")
    if not notes.used("refund_payment"):
        return Call("refund_payment", {"reference": reference, "amount_eur": refund})
    if problem := notes.failure("refund_payment"):
        return Say(f"Booking {reference} is cancelled, but the refund was not possible: {problem}.")
    return Say(f"Booking {reference} is cancelled and {refund} EUR go back to your card.")
