"""Decide the next step: what was asked and what the tools said so far lead to one more call, or to the answer.

Each intent has one function. It is called again after every tool result and goes from its top to the first thing that is
still missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.cancelling import cancel
from agent.lookup import look_up
from agent.request import Request
from agent.steps import Call, Notes, Say, Step


def next_step(request: Request, notes: Notes) -> Step:
    """Pick the intent's function and ask it."""
    return FLOWS[request.intent](request, notes)


def search_flights(request: Request, notes: Notes) -> Step:
    missing = _missing_for_flight(request)
    if missing:
        return missing
    found = notes.result("search_flights")
    if found is None:
        return _flight_search(request)
    flights = [f for f in found["flights"] if request.budget_eur is None or f["price_eur"] <= request.budget_eur]
    if not flights:
        return Say(f"I found no flight from {request.origin} to {request.destination} on {request.day} that fits.")
    listed = "; ".join(f"{f['flight']} at {f['departs']} for {f['price_eur']} EUR" for f in flights)
    return Say(f"From {request.origin} to {request.destination} on {request.day}: {listed}.")


def book_flight(request: Request, notes: Notes) -> Step:
    missing = _missing_for_flight(request)
    if missing:
        return missing
    found = notes.result("search_flights")
    if found is None:
        return _flight_search(request)
    if not found["flights"]:
        return Say(f"There is no flight from {request.origin} to {request.destination} on {request.day}.")
    cheapest = found["flights"][0]
    if request.budget_eur is not None and cheapest["price_eur"] > request.budget_eur:
        return Say(f"The cheapest flight costs {cheapest['price_eur']} EUR; that is over your budget, so I booked nothing.")
    return _buy(cheapest, request, notes)


def _buy(flight: dict[str, Any], request: Request, notes: Notes) -> Step:
    """Confirm the price before money is spent; ask when it rose."""
    price = notes.result("confirm_price")
    if price is None:
        return Call("confirm_price", {"flight": flight["flight"], "passengers": request.people})
    listed = flight["price_eur"] * request.people
    if price["total_eur"] > listed:
        return Say(f"The price rose from {listed} to {price['total_eur']} EUR. Shall I book {flight['flight']} all the same?")
    booked = notes.result("book_flight")
    if booked is None:
        seats = {"flight": flight["flight"], "date": request.day, "passengers": request.people}
        return Call("book_flight", {**seats, "total_eur": price["total_eur"]})
    return Say(f"Booked: {booked['flight']} on {booked['date']} for {booked['paid_eur']} EUR, reference {booked['reference']}.")


def change(request: Request, notes: Notes) -> Step:
    booking = look_up(request, notes)
    if isinstance(booking, (Call, Say)):
        return booking
    if request.date is None:
        return Say(f"To which day shall I move booking {booking['reference']}?")
    rules = notes.result("check_fare_rules")
    if rules is None:
        return Call("check_fare_rules", {"fare": booking["fare"]})
    if not rules["changeable"]:
        return Say(f"Booking {booking['reference']} is on a {booking['fare']} fare, which cannot be changed.")
    return _move(booking, request, notes)


def _move(booking: dict[str, Any], request: Request, notes: Notes) -> Step:
    """Look for a flight on the new day, then change."""
    found = notes.result("search_flights")
    if found is None:
        route = {"origin": booking["origin"], "destination": booking["destination"]}
        return Call("search_flights", {**route, "date": request.day})
    if not found["flights"]:
        return Say(f"There is no flight on {request.day}; booking {booking['reference']} stays as it is.")
    changed = notes.result("change_booking")
    if changed is None:
        return Call("change_booking", {"reference": booking["reference"], "date": request.day})
    return Say(f"Booking {booking['reference']} is moved to {changed['date']}; the fee is {changed['charged_eur']} EUR.")


def ask_fare_rules(request: Request, notes: Notes) -> Step:
    booking = look_up(request, notes)
    if isinstance(booking, (Call, Say)):
        return booking
    rules = notes.result("check_fare_rules")
    if rules is None:
        return Call("check_fare_rules", {"fare": booking["fare"]})
    refund = f"refundable for a fee of {rules['cancel_fee_eur']} EUR" if rules["refundable"] else "not refundable"
    moving = f"changes cost {rules['change_fee_eur']} EUR" if rules["changeable"] else "changes are not possible"
    return Say(f"Booking {booking['reference']} is on a {booking['fare']} fare: {refund}, {moving} for each passenger.")


def booking_status(request: Request, notes: Notes) -> Step:
    booking = look_up(request, notes)
    if isinstance(booking, (Call, Say)):
        return booking
    return Say(
        f"Booking {booking['reference']}: {booking['flight']} from {booking['origin']} to {booking['destination']} "
        f"on {booking['date']} at {booking['departs']}, {booking['status']}."
    )


def search_hotels(request: Request, notes: Notes) -> Step:
    missing = _missing_for_hotel(request)
    if missing:
        return missing
    found = notes.result("search_hotels")
    if found is None:
        return _hotel_search(request)
    if not found["hotels"]:
        return Say(f"I know no hotel in {request.destination}.")
    listed = "; ".join(f"{h['hotel']} for {h['night_eur']} EUR a night" for h in found["hotels"])
    return Say(f"In {request.destination} from {request.day} for {request.nights} nights: {listed}.")


def book_hotel(request: Request, notes: Notes) -> Step:
    missing = _missing_for_hotel(request)
    if missing:
        return missing
    found = notes.result("search_hotels")
    if found is None:
        return _hotel_search(request)
    rooms = [h for h in found["hotels"] if request.budget_eur is None or h["night_eur"] <= request.budget_eur]
    if not rooms:
        return Say(f"No hotel in {request.destination} fits. I booked nothing.")
    booked = notes.result("book_hotel")
    if booked is None:
        return Call("book_hotel", {"hotel": rooms[0]["hotel"], "check_in": request.day, "nights": request.nights})
    return Say(f"Booked: {booked['hotel']} from {booked['check_in']}, {booked['nights']} nights for {booked['total_eur']} EUR.")


def weather(request: Request, notes: Notes) -> Step:
    if request.destination is None or request.date is None:
        return Say("For which city and day do you need the forecast?")
    found = notes.result("get_weather")
    if found is None:
        return Call("get_weather", {"city": request.destination, "date": request.day})
    if found["degrees_c"] is None:
        return Say(f"There is no forecast for {found['city']} on {found['date']} yet.")
    advice = " Take an umbrella." if found["sky"] == "rain" else ""
    return Say(f"{found['city']} on {found['date']}: {found['sky']}, {found['degrees_c']} degrees.{advice}")


def unknown(_request: Request, _notes: Notes) -> Step:
    return Say("I can search and book flights and hotels, change or cancel a booking, and look up the weather.")


def _missing_for_flight(request: Request) -> Say | None:
    if request.origin is None or request.destination is None:
        return Say("From where to where would you like to fly?")
    if request.date is None:
        return Say(f"On which day would you like to fly from {request.origin} to {request.destination}?")
    return None


def _missing_for_hotel(request: Request) -> Say | None:
    if request.destination is None:
        return Say("In which city do you need a hotel?")
    if request.date is None or request.nights is None:
        return Say(f"From which day, and for how many nights, do you need a hotel in {request.destination}?")
    return None


def _flight_search(request: Request) -> Call:
    return Call("search_flights", {"origin": request.origin, "destination": request.destination, "date": request.day})


def _hotel_search(request: Request) -> Call:
    return Call("search_hotels", {"city": request.destination, "check_in": request.day, "nights": request.nights})


FLOWS: dict[str, Callable[[Request, Notes], Step]] = {
    "ask_fare_rules": ask_fare_rules,
    "cancel": cancel,
    "change": change,
    "weather": weather,
    "book_hotel": book_hotel,
    "search_hotels": search_hotels,
    "book_flight": book_flight,
    "booking_status": booking_status,
    "search_flights": search_flights,
    "unknown": unknown,
}
