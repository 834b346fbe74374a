"""The tiny world the tools work on: a timetable, hotels, bookings, fares, weather. Nothing in it is real."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True)
class Flight:
    code: str
    origin: str
    destination: str
    departs: str
    listed_eur: int
    current_eur: int
    """What a seat costs when it is really bought; now and then more than listed."""


@dataclass(frozen=True)
class Hotel:
    name: str
    city: str
    night_eur: int


@dataclass(frozen=True)
class Fare:
    refundable: bool
    cancel_fee_eur: int
    """For each passenger."""
    changeable: bool
    change_fee_eur: int
    """For each passenger."""


@dataclass
class Booking:
    reference: str
    surname: str
    flight: str
    date: str
    passengers: int
    fare: str
    paid_eur: int
    status: str = "confirmed"


FLIGHTS = (
    Flight("TA101", "Berlin", "Lisbon", "07:40", 169, 169),
    Flight("TA103", "Berlin", "Lisbon", "16:15", 142, 142),
    Flight("TA305", "Paris", "Rome", "09:10", 118, 118),
    Flight("TA307", "Paris", "Rome", "18:30", 96, 96),
    Flight("TA412", "Vienna", "Oslo", "11:05", 187, 187),
    Flight("TA520", "Madrid", "Dublin", "13:20", 129, 129),
    Flight("TA618", "Amsterdam", "Athens", "10:45", 201, 201),
    Flight("TA815", "Zurich", "Copenhagen", "08:25", 133, 151),
)
CLOSED_DAYS = ("2026-12-25",)

HOTELS = (
    Hotel("Casa do Rio", "Lisbon", 92),
    Hotel("Miradouro", "Lisbon", 138),
    Hotel("Villa Pinciana", "Rome", 121),
    Hotel("Albergo Sole", "Rome", 84),
    Hotel("Akropolis View", "Athens", 104),
    Hotel("Plaka Rooms", "Athens", 119),
)

FARES = {
    "flex": Fare(refundable=True, cancel_fee_eur=0, changeable=True, change_fee_eur=0),
    "standard": Fare(refundable=True, cancel_fee_eur=60, changeable=True, change_fee_eur=45),
    "saver": Fare(refundable=False, cancel_fee_eur=0, changeable=False, change_fee_eur=0),
}

WEATHER = {
    ("Copenhagen", "2026-03-15"): ("rain", 6),
    ("Lisbon", "2026-03-14"): ("sunny", 19),
}


def _bookings() -> dict[str, Booking]:
    rows = (
        Booking("K7Q2MX", "Lindqvist", "TA101", "2026-03-14", 1, "flex", 214),
        Booking("M8V2QA", "Moreau", "TA305", "2026-04-03", 1, "flex", 168),
        Booking("R4T8WB", "Haddad", "TA307", "2026-03-18", 1, "standard", 180),
        Booking("T3G7JS", "Novak", "TA412", "2026-04-09", 2, "standard", 374),
        Booking("B2Y5KU", "Silva", "TA520", "2026-03-27", 1, "standard", 129),
        Booking("P9L3ZD", "Keller", "TA618", "2026-04-06", 1, "saver", 142),
        Booking("H5N6CV", "Rossi", "TA815", "2026-03-21", 1, "saver", 98),
        Booking("W6X4NE", "Dubois", "TA103", "2026-03-30", 1, "saver", 111),
        Booking("C5J9RT", "Okafor", "TA618", "2026-05-10", 1, "standard", 201),
        Booking("D4F8HP", "Ivanov", "TA307", "2026-03-11", 1, "flex", 155, status="cancelled"),
    )
    return {row.reference: row for row in rows}


@dataclass
class World:
    """One copy for every conversation; tools may change the bookings."""

    today: date = date(2026, 3, 2)
    flights: tuple[Flight, ...] = FLIGHTS
    hotels: tuple[Hotel, ...] = HOTELS
    bookings: dict[str, Booking] = field(default_factory=_bookings)

    def flight(self, code: str) -> Flight | None:
        return next((flight for flight in self.flights if flight.code == code), None)

    def hotel(self, name: str) -> Hotel | None:
        return next((hotel for hotel in self.hotels if hotel.name == name), None)

    def fare(self, name: str) -> Fare:
        return FARES[name]

    def forecast(self, city: str, day: str) -> tuple[str, int] | None:
        return WEATHER.get((city, day))

    def flies_on(self, day: str) -> bool:
        return day not in CLOSED_DAYS
