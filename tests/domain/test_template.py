from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.domain.canonical import json_equal
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.template import MISSING, parse_template
from tests.shared import SHARED, needs_shared

ITEM = {
    "query": "Where?",
    "user.name": "Ada",
    "user": {"name": "Bob", "tags": ["x", "y"]},
    "n": 3,
    "none": None,
    "cell": '{"a": [10, 20]}',
    "braces": "{{item.query}}",
    "a b": {"c-d": "dash"},
}
SAMPLE = {"output_text": "There.", "usage": {"total_tokens": 12}}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("{{item.n}}", 3),
        (" {{ item.n }} ", 3),
        ("n={{item.n}}, nothing={{item.none}}", "n=3, nothing="),
        ("{{item.user.name}}", "Ada"),
        ('{{item.user["name"]}}', "Bob"),
        ("{{item.user.tags[-1]}}", "y"),
        ("{{item.user.tags.0}}", "x"),
        ("{{item.cell.a[1]}}", 20),
        ("{{item.cell}}", '{"a": [10, 20]}'),
        ("{{item.user}}", {"name": "Bob", "tags": ["x", "y"]}),
        ("u: {{item.user}}", 'u: {"name":"Bob","tags":["x","y"]}'),
        ('{{item["a b"]["c-d"]}}', "dash"),
        ("> {{item.braces}}", "> {{item.query}}"),
        ("\\{{item.query}} {{item.query}}", "{{item.query}} Where?"),
        ("${data.query}", "Where?"),
        ("${target.output_text}", "There."),
        ("${run.outputs.output_text}", "There."),
        ("{{item.sample.output_text}}", "There."),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_a_template_gives(written: str, value: object) -> None:
    assert parse_template(written).fill(item=ITEM, sample=SAMPLE) == value


@pytest.mark.parametrize("written", ["{{item.no}}", "{{item.none}}", "{{item.n.x}}", "{{item.user.tags[9]}}", "{{item.user.tags.name}}",
                                     "{{item.user.tags.²}}"])  # fmt: skip
def test_a_path_to_nothing_is_missing(written: str) -> None:
    assert parse_template(written).fill(item=ITEM, sample=SAMPLE) is MISSING


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("{{item.query", "mapping_syntax"),
        ("{{item.query}", "mapping_syntax"),
        ("{{item..x}}", "mapping_syntax"),
        ("{{item[}}", "mapping_syntax"),
        ("{{item[99999999999999999999]}}", "mapping_syntax"),
        ("{{}}", "mapping_syntax"),
        ("{{row.query}}", "mapping_root"),
        ("{{env.HOME}}", "mapping_root"),
    ],
)
def test_a_broken_template_is_refused(written: str, code: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse_template(written)
    assert caught.value.code == code


def test_a_judge_prompt_may_name_its_inputs() -> None:
    template = parse_template("{{query}} / {{response}}", roots=("item", "sample", "query", "response"))
    assert template.fill(item={}, sample={}, inputs={"query": "Q", "response": "R"}) == "Q / R"


def test_a_long_template_is_parsed_at_once() -> None:
    text = "x" * 1_000_000 + "{{item.n}}" + "y" * 1_000_000
    assert len(str(parse_template(text).fill(item=ITEM, sample={}))) == 2_000_001


@given(st.text(alphabet='{}[]".\\ ab$0-item', max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_parsed_or_refused(written: str) -> None:
    with contextlib.suppress(Unreadable):
        parse_template(written).fill(item=ITEM, sample=SAMPLE)


@needs_shared
def test_the_handed_templates_give_their_values() -> None:
    data = json.loads((SHARED / "data/formats/mapping/cases.expected.json").read_text("utf-8"))
    item, sample = data["item"], data["sample"]
    roots = ("item", "sample", "query", "response")
    inputs = {"query": item["query"], "response": sample["output_text"]}
    for entry in data["resolves"]:
        found = parse_template(entry["template"], roots=roots).fill(item=item, sample=sample, inputs=inputs)
        assert json_equal(found, entry["value"]), entry["template"]
    for written in data["missing"]:
        assert parse_template(written).fill(item=item, sample=sample) is MISSING, written
    for entry in data["errors"]:
        with pytest.raises(Unreadable) as caught:
            parse_template(entry["template"])
        assert caught.value.code == entry["code"], entry["template"]
