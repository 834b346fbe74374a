from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ci_eval.domain.message import (
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    calls_in,
    final_text,
)
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.views import foundry_messages
from ci_eval.messages.conversation import read_conversation


def only_part(message: object) -> Part:
    (found,) = read_conversation([message]).messages
    (part,) = found.parts
    return part


def assistant(**members: object) -> dict[str, object]:
    return {"role": "assistant", **members}


def call(name: str, call_id: str | None = None, **members: object) -> dict[str, object]:
    return assistant(content=[{"type": "tool_call", "tool_call_id": call_id, "name": name, **members}])


@pytest.mark.parametrize(
    ("written", "role"),
    [("developer", "system"), ("human", "user"), ("ai", "assistant"), ("model", "assistant"), ("bot", "assistant")],
)
def test_roles_of_other_tools_have_ours(written: str, role: str) -> None:
    assert read_conversation([{"role": written, "content": "x"}]).messages[0].role == role


@pytest.mark.parametrize(
    ("content", "part"),
    [
        pytest.param("words", Text(text="words"), id="text"),
        pytest.param([{"type": "input_text", "text": "words"}], Text(text="words"), id="input_text"),
        pytest.param([{"type": "output_text", "text": "words"}], Text(text="words"), id="output_text"),
        pytest.param(" ", Text(text=" "), id="blanks are text"),
        pytest.param([{"type": "refusal", "refusal": "no"}], Refusal(text="no"), id="refusal"),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}], Media(kind="image", mime=None, ref="https://x/y.png"),
            id="image",
        ),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
            Media(kind="image", mime="image/png", ref="inline"), id="embedded data is not kept",
        ),
        pytest.param(
            [{"type": "file", "file": {"file_id": "f-1"}}], Media(kind="file", mime=None, ref="f-1"), id="file",
        ),
        pytest.param([{"type": "hologram", "beam": 1}], Other(source_type="hologram"), id="a kind nobody knows"),
    ],
)  # fmt: skip
def test_content_becomes(content: object, part: Part) -> None:
    assert only_part(assistant(content=content)) == part


def test_an_unknown_item_is_told() -> None:
    notices = read_conversation([assistant(content=[{"type": "hologram"}, {"type": "hologram"}])]).notices
    assert [(notice.code, notice.count) for notice in notices] == [("unknown_item", 2)]


def test_refusal_and_spoken_words_beside_the_content_count() -> None:
    assert only_part(assistant(content=None, refusal="I can't")) == Refusal(text="I can't")
    assert only_part(assistant(content=None, audio={"transcript": "spoken"})) == Text(text="spoken")


def test_text_and_calls_of_one_message_stay_together() -> None:
    (message,) = read_conversation(
        [assistant(content="Let me look.", tool_calls=[{"id": "c", "function": {"name": "look", "arguments": '{"q": 1}'}}])]
    ).messages
    assert message.parts == (Text(text="Let me look."), ToolCall(name="look", arguments={"q": 1}, id="c"))


def test_a_message_without_parts_is_dropped() -> None:
    assert read_conversation([assistant(content=None), assistant(content="x")]).messages == (
        Message(role="assistant", parts=(Text(text="x"),)),
    )


@pytest.mark.parametrize(
    ("entry", "arguments"),
    [
        ({"function": {"name": "f", "arguments": '{"a": 1}'}}, {"a": 1}),
        ({"type": "custom", "custom": {"name": "f", "input": "select 1;"}}, {"input": "select 1;"}),
        ({"name": "f", "args": {"a": 1}}, {"a": 1}),
        ({"function": "f", "arguments": {"a": 1}}, {"a": 1}),
    ],
)
def test_calls_beside_the_content(entry: dict[str, object], arguments: object) -> None:
    part = only_part(assistant(content=None, tool_calls=[entry]))
    assert isinstance(part, ToolCall)
    assert (part.name, part.arguments) == ("f", arguments)


@pytest.mark.parametrize(
    ("written", "arguments", "error"),
    [
        pytest.param({}, {}, None, id="object"),
        pytest.param("{}", {}, None, id="JSON text"),
        pytest.param("", {}, None, id="empty text"),
        pytest.param("  ", {}, None, id="blank text"),
        pytest.param(None, {}, None, id="null"),
        pytest.param('"{\\"k\\": 1}"', {"k": 1}, None, id="encoded twice"),
        pytest.param({"level": 0, "dry": False, "note": ""}, {"level": 0, "dry": False, "note": ""}, None, id="falsy values"),
        pytest.param("{zone: CET", "{zone: CET", "invalid_json", id="broken"),
        pytest.param('{"zone": "CET"}"', '{"zone": "CET"}"', "invalid_json", id="a stray quote is not repaired"),
        pytest.param('{"x": NaN}', '{"x": NaN}', "invalid_json", id="NaN"),
        pytest.param("[1]", [1], "not_an_object", id="JSON of a list"),
        pytest.param(5, 5, "not_an_object", id="a number"),
    ],
)
def test_arguments_of_a_call(written: object, arguments: object, error: str | None) -> None:
    part = only_part(call("f", "c", arguments=written))
    assert isinstance(part, ToolCall)
    assert (part.arguments, part.arguments_error) == (arguments, error)


def test_a_call_without_arguments_has_none() -> None:
    assert only_part(call("f", "c")) == ToolCall(name="f", arguments={}, id="c")


def test_broken_arguments_are_told_once_with_their_count() -> None:
    notices = read_conversation([call("f", "a", arguments="{"), call("f", "b", arguments="{")]).notices
    assert [(notice.code, notice.count) for notice in notices] == [("broken_arguments", 2)]


@pytest.mark.parametrize("kind", ["tool_call", "function_call", "openapi_call"])
@pytest.mark.parametrize("key", ["tool_call_id", "call_id", "id"])
def test_foundry_calls_have_their_id_under_any_key(kind: str, key: str) -> None:
    part = only_part(assistant(content=[{"type": kind, key: "c", "name": "f", "arguments": "{}"}]))
    assert part == ToolCall(name="f", arguments={}, id="c", source_type=kind)


def test_a_call_may_be_nested() -> None:
    part = only_part(
        assistant(content=[{"type": "tool_call", "tool_call": {"id": "c", "function": {"name": "f", "arguments": "{}"}}}])
    )
    assert part == ToolCall(name="f", arguments={}, id="c")


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "tool_result", "tool_result": {"n": 1}}],
        [{"type": "function_call_output", "function_call_output": {"n": 1}}],
        [{"type": "openapi_call_output", "output": {"n": 1}}],
        {"n": 1},
    ],
)
def test_results_of_tool_messages(content: object) -> None:
    messages = read_conversation([call("f", "c"), {"role": "tool", "tool_call_id": "c", "content": content}]).messages
    assert messages[1].parts == (ToolResult(output={"n": 1}, id="c", name="f"),)


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("5", "5"),
        ("", ""),
        (None, None),
        ([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}], "a\n[image]\nb"),
        ([1, 2], [1, 2]),
    ],
)
def test_output_of_a_tool_message(content: object, output: object) -> None:
    messages = read_conversation([call("f", "c"), {"role": "tool", "tool_call_id": "c", "content": content}]).messages
    assert messages[1].parts[0] == ToolResult(output=output, id="c", name="f")


def test_a_text_that_starts_with_error_decides_nothing_but_a_flag_does() -> None:
    plain = (
        read_conversation([call("f", "c"), {"role": "tool", "tool_call_id": "c", "content": "Error: no"}]).messages[1].parts[0]
    )
    flagged = (
        read_conversation([call("f", "c"), {"role": "tool", "tool_call_id": "c", "is_error": True, "content": "no"}])
        .messages[1]
        .parts[0]
    )
    assert isinstance(plain, ToolResult)
    assert isinstance(flagged, ToolResult)
    assert (plain.is_error, flagged.is_error) == (None, True)


def test_an_error_beside_an_empty_content_is_the_result() -> None:
    message = {"role": "tool", "tool_call_id": "c", "content": "", "error": "HTTP 503"}
    result = read_conversation([call("f", "c"), message]).messages[1].parts[0]
    assert result == ToolResult(output="HTTP 503", id="c", name="f", is_error=True)


def test_old_function_calls_pair_by_name() -> None:
    messages = read_conversation(
        [
            assistant(content=None, function_call={"name": "add", "arguments": '{"a":2}'}),
            {"role": "function", "name": "add", "content": "5"},
        ]
    ).messages
    assert messages[0].parts == (ToolCall(name="add", arguments={"a": 2}, id="auto_1"),)
    assert messages[1] == Message(role="tool", parts=(ToolResult(output="5", id="auto_1", name="add"),))


def test_a_result_inside_a_message_cuts_it() -> None:
    roles = [
        message.role
        for message in read_conversation(
            [
                assistant(
                    content=[
                        "a",
                        {"type": "tool_call", "id": "c", "name": "f"},
                        {"type": "tool_result", "id": "c", "output": 1},
                        "b",
                    ]
                )
            ]
        ).messages
    ]
    assert roles == ["assistant", "tool", "assistant"]


RESPONSES_ITEMS = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "must check"}]},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": '{"city":"Oslo"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": '{"sky":"rain"}'},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Rain."}]},
]


def test_responses_items_become_messages() -> None:
    first, result, last = read_conversation(RESPONSES_ITEMS).messages
    assert first.parts == (
        Reasoning(text="must check"),
        ToolCall(name="get_weather", arguments={"city": "Oslo"}, id="call_1", source_type="function_call"),
    )
    assert result.parts == (ToolResult(output='{"sky":"rain"}', id="call_1", name="get_weather"),)
    assert final_text((first, result, last)) == "Rain."


def test_responses_items_may_stand_among_messages() -> None:
    messages = read_conversation([{"role": "user", "content": "hi"}, *RESPONSES_ITEMS]).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    ("item", "name", "arguments"),
    [
        ({"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "x"}}, "web_search", {"query": "x"}),
        ({"type": "file_search_call", "id": "w", "queries": ["x"], "results": None}, "file_search", {"queries": ["x"]}),
        ({"type": "custom_tool_call", "call_id": "w", "name": "sql", "input": "select"}, "sql", {"input": "select"}),
        ({"type": "mcp_call", "id": "w", "name": "read", "arguments": "{}"}, "read", {}),
        ({"type": "brand_new_call", "id": "w", "speed": 3}, "brand_new", {"speed": 3}),
    ],
)
def test_hosted_tools_are_calls(item: object, name: str, arguments: object) -> None:
    (found,) = calls_in(read_conversation([item]).messages)
    assert (found.name, found.arguments) == (name, arguments)


def test_an_mcp_error_is_a_failed_result() -> None:
    messages = read_conversation(
        [{"type": "mcp_call", "id": "m", "name": "read", "arguments": "{}", "error": {"message": "gone"}}]
    ).messages
    assert messages[1].parts == (ToolResult(output="gone", id="m", name="read", is_error=True),)


@pytest.mark.parametrize(
    ("messages", "waits"),
    [
        pytest.param([assistant(content=[{"type": "function_call", "name": "f"}])], True, id="a function_call last"),
        pytest.param([call("f")], False, id="a tool_call last"),
        pytest.param([assistant(content=[{"type": "mcp_approval_request", "name": "f"}])], True, id="an approval request last"),
        pytest.param([{"type": "mcp_approval_request", "name": "f"}], True, id="a bare approval request"),
        pytest.param(RESPONSES_ITEMS[:2], True, id="a bare function_call"),
        pytest.param(RESPONSES_ITEMS, False, id="answered"),
        pytest.param(
            [{"role": "tool", "tool_call_id": "c", "content": "r"}, assistant(content=[{"type": "function_call", "id": "c", "name": "f"}])],
            False, id="answered, though the result was sorted first",
        ),
        pytest.param([assistant(content=[{"type": "function_call", "name": "f"}]), {"role": "user", "content": "?"}], False, id="user last"),
    ],
)  # fmt: skip
def test_an_agent_may_wait_for_its_caller(messages: list[object], waits: bool) -> None:
    assert read_conversation(messages).awaits_caller is waits


@pytest.mark.parametrize("wrapped", [json.dumps, lambda m: {"messages": m}, lambda m: {"conversation": {"messages": m}},
                                     lambda m: {"values": {"messages": m}}])  # fmt: skip
def test_a_list_is_taken_out_of_what_is_around_it(wrapped: object) -> None:
    assert callable(wrapped)
    assert read_conversation(wrapped([assistant(content="x")])).messages == (Message(role="assistant", parts=(Text(text="x"),)),)


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        (["hello"], "message_not_object", "[0]"),
        ({"role": "user", "content": "x"}, "wrong_type", ""),
        (7, "wrong_type", ""),
        ("no json", "wrong_type", ""),
        ([{"role": "user", "content": "a"}, {"role": "narrator", "content": "b"}], "unknown_role", "[1].role"),
        ([{"content": "a"}], "unknown_role", "[0].role"),
        ([{"role": ["user"], "content": "a"}], "unknown_role", "[0].role"),
        ([{"role": "user", "content": 7}], "wrong_type", "[0].content"),
        ([{"role": "user", "content": [7]}], "wrong_type", "[0].content[0]"),
        ([call("", "c")], "tool_call_no_name", "[0].content[0].name"),
        ([assistant(tool_calls=[{"function": {}}])], "tool_call_no_name", "[0].tool_calls[0].function.name"),
        ([assistant(tool_calls="x")], "wrong_type", "[0].tool_calls"),
    ],
)
def test_what_fits_no_rule_is_refused_with_its_place(value: object, code: str, path: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_conversation(value)
    assert (caught.value.code, caught.value.path) == (code, path)


TEXTS = st.text(min_size=1, max_size=8)
PARTS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda text: {"type": "refusal", "refusal": text}, TEXTS),
    st.builds(
        lambda name, arguments: {"type": "tool_call", "name": name, "arguments": arguments},
        st.sampled_from(["f", "g"]), st.dictionaries(TEXTS, st.integers() | TEXTS, max_size=2),
    ),
)  # fmt: skip
RESULTS = st.builds(
    lambda output, name: {"role": "tool", "content": [{"type": "tool_result", "tool_result": output, "name": name}]},
    st.integers() | TEXTS, st.sampled_from(["f", "g", None]),
)  # fmt: skip
MESSAGES = st.lists(
    st.one_of(st.builds(lambda parts: assistant(content=parts), st.lists(PARTS, min_size=1, max_size=3)), RESULTS), max_size=6
)


@given(MESSAGES)
@settings(max_examples=100, deadline=None)
def test_messages_written_in_the_foundry_form_read_back_the_same(messages: list[object]) -> None:
    once = read_conversation(messages)
    assume(not once.notices)  # a result nobody asked for has no place of its own
    assert read_conversation(foundry_messages(once.messages)).messages == once.messages


@given(MESSAGES)
@settings(max_examples=100, deadline=None)
def test_no_call_and_no_result_is_lost(messages: list[dict[str, object]]) -> None:
    found = read_conversation(messages).messages
    written = json.dumps(messages)
    assert len(calls_in(found)) == written.count('"type": "tool_call"')
    assert sum(isinstance(part, ToolResult) for message in found for part in message.parts) == written.count('"role": "tool"')


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.sampled_from(["role", "content", "type", "tool_calls", "function", "name", "arguments", "messages", "choices", "id"]), inner, max_size=4,
), max_leaves=12))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        read_conversation([value])
        read_conversation(value)
    except Unreadable:
        pass


REAL: list[object] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "input_image", "image_url": "y"}]},
    {
        "role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "1", "name": "f", "arguments": {"a": 1}}],
        "tool_calls": [{"id": "2", "type": "function", "function": {"name": "g", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": [{"type": "tool_result", "tool_result": "ok"}], "status": "ok"},
    {"role": "tool", "tool_call_id": "2", "content": "ok"},
    {"type": "function_call", "call_id": "3", "name": "h", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "3", "output": "ok"},
    {"type": "mcp_call", "name": "m", "server_label": "s", "arguments": "{}", "output": "o", "error": None},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}]},
    {"role": "assistant", "content": "done", "refusal": None},
]  # fmt: skip


def places(value: object) -> list[list[str | int]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, member in members for place in [[key], *([key, *rest] for rest in places(member))]]


@pytest.mark.parametrize("instead", [None, True, 7, "", "tool", [], [[]], ["x"], {}, {"type": []}, [{"type": {}}], [None]])
def test_one_odd_value_anywhere_is_read_or_refused(instead: object) -> None:
    for place in places(REAL):
        messages = json.loads(json.dumps(REAL))
        around = messages
        for key in place[:-1]:
            around = around[key]
        around[place[-1]] = instead
        try:
            read_conversation(messages)
        except Unreadable:
            continue
