"""The tools: each takes the world and JSON arguments, and gives a JSON object. A refusal is an object with `error`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from agent.world import Booking, World

Result = dict[str, Any]


class ToolError(Exception):
    """The tool refuses, in words for whoever called it."""


def use_tool(world: World, tool: str, arguments: dict[str, Any]) -> Result:
    """Run one tool by name."""
    try:
        return TOOLS[tool](world, **arguments)
    except ToolError as error:
        return {"error": str(error)}


def search_flights(world: World, origin: str, destination: str, date: str) -> Result:
    """Flights of one day, the cheapest first."""
    if not world.flies_on(date):
        return {"flights": []}
    found = [flight for flight in world.flights if (flight.origin, flight.destination) == (origin, destination)]
    found.sort(key=lambda flight: flight.listed_eur)
    return {"flights": [{"flight": f.code, "departs": f.departs, "price_eur": f.listed_eur} for f in found]}


def confirm_price(world: World, flight: str, passengers: int) -> Result:
    """What the seats cost right now."""
    found = world.flight(flight)
    if found is None:
        raise ToolError(f"there is no flight {flight}")
    return {"flight": flight, "total_eur": found.current_eur * passengers}


def book_flight(world: World, flight: str, date: str, passengers: int, total_eur: int) -> Result:
    """Buy the seats at a price that was confirmed before."""
    if confirm_price(world, flight, passengers)["total_eur"] != total_eur:
        raise ToolError(f"{total_eur} EUR is not the current price of {flight}")
    reference = f"N{len(world.bookings)}Z{passengers}{flight[-2:]}"
    world.bookings[reference] = Booking(reference, "Guest", flight, date, passengers, "standard", total_eur)
    return {"reference": reference, "flight": flight, "date": date, "passengers": passengers, "paid_eur": total_eur}


def get_booking(world: World, reference: str) -> Result:
    """One booking by its reference."""
    booking = world.bookings.get(reference)
    return {"found": booking is not None, "booking": _shown(world, booking) if booking else None}


def find_bookings(world: World, surname: str) -> Result:
    """All bookings under a surname."""
    return {"bookings": [_shown(world, booking) for booking in world.bookings.values() if booking.surname == surname]}


def check_fare_rules(world: World, fare: str) -> Result:
    """What a fare allows, and the fees for each passenger."""
    return {"fare": fare, **asdict(world.fare(fare))}


def cancel_booking(world: World, reference: str) -> Result:
    """Give the seats back. This cannot be undone."""
    world.bookings[reference].status = "cancelled"
    return {"reference": reference, "status": "cancelled"}


def refund_payment(world: World, reference: str, amount_eur: int) -> Result:
    """Pay money back to the card; never more than the fare allows."""
    booking = world.bookings[reference]
    fare = world.fare(booking.fare)
    most = max(0, booking.paid_eur - fare.cancel_fee_eur * booking.passengers) if fare.refundable else 0
    if amount_eur > most:
        raise ToolError(f"the {booking.fare} fare allows {most} EUR back, not {amount_eur} EUR")
    return {"reference": reference, "refunded_eur": amount_eur}


def change_booking(world: World, reference: str, date: str) -> Result:
    """Move a booking to another day and charge the fare's fee."""
    booking = world.bookings[reference]
    booking.date = date
    return {"reference": reference, "date": date, "charged_eur": world.fare(booking.fare).change_fee_eur * booking.passengers}


def search_hotels(world: World, city: str, check_in: str, nights: int) -> Result:
    """Hotels with a free room, the cheapest first."""
    found = sorted((hotel for hotel in world.hotels if hotel.city == city), key=lambda hotel: hotel.night_eur)
    rooms = [{"hotel": h.name, "night_eur": h.night_eur, "total_eur": h.night_eur * nights} for h in found]
    return {"check_in": check_in, "nights": nights, "hotels": rooms}


def book_hotel(world: World, hotel: str, check_in: str, nights: int) -> Result:
    """Take a room."""
    found = world.hotel(hotel)
    if found is None:
        raise ToolError(f"there is no hotel {hotel}")
    return {"hotel": hotel, "check_in": check_in, "nights": nights, "total_eur": found.night_eur * nights}


def get_weather(world: World, city: str, date: str) -> Result:
    """The forecast of one day."""
    sky, degrees = world.forecast(city, date) or ("unknown", None)
    return {"city": city, "date": date, "sky": sky, "degrees_c": degrees}


def _shown(world: World, booking: Booking) -> Result:
    flight = world.flight(booking.flight)
    route = {"origin": flight.origin, "destination": flight.destination, "departs": flight.departs} if flight else {}
    return {**asdict(booking), **route}


TOOLS: dict[str, Callable[..., Result]] = {
    "search_flights": search_flights,
    "confirm_price": confirm_price,
    "book_flight": book_flight,
    "get_booking": get_booking,
    "find_bookings": find_bookings,
    "check_fare_rules": check_fare_rules,
    "cancel_booking": cancel_booking,
    "refund_payment": refund_payment,
    "change_booking": change_booking,
    "search_hotels": search_hotels,
    "book_hotel": book_hotel,
    "get_weather": get_weather,
}
