"""Secrets leave every text, however it spells them."""

from __future__ import annotations

import json

import pytest

from ci_eval.log import Redactor

SECRET = 'pa"ss\\w\u00f6rd'


@pytest.mark.parametrize("spell", [str, json.dumps, repr, lambda text: json.dumps(text, ensure_ascii=False)])
def test_a_secret_is_found_in_every_spelling(spell: object) -> None:
    assert callable(spell)
    told = Redactor([SECRET])(f"the key is {spell(SECRET)}.")
    assert told.replace('"', "").replace("'", "") == "the key is ***."


def test_each_line_of_a_secret_is_one() -> None:
    assert Redactor(["first line\nsecond line"])("the second line, then the first line") == "the ***, then the ***"


def test_short_values_are_left() -> None:
    assert Redactor(["abc", ""])("abc") == "abc"
