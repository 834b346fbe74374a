from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.domain.case import ExpectedAction
from ci_eval.domain.message import ToolCall
from ci_eval.evaluators.alignment import align, largest_matching, satisfies

NAMES = st.sampled_from(["a", "b", "c"])
ARGUMENTS = st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from([1, 2]), max_size=2)
STEPS = st.lists(st.builds(lambda name, given: ToolCall(name=name, arguments=given), NAMES, ARGUMENTS), max_size=5)
ACTIONS = st.lists(
    st.builds(
        lambda name, given, match: ExpectedAction(name=name, arguments=given, match=match),
        NAMES, ARGUMENTS, st.sampled_from(["exact", "subset", "name"]),
    ),
    max_size=5,
)  # fmt: skip


def step(arguments: object, name: str = "pay") -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def exactly(arguments: dict[str, object], *, text_values: bool = False) -> ExpectedAction:
    return ExpectedAction(name="pay", arguments=arguments, match="exact", text_values=text_values)


@pytest.mark.parametrize(
    ("wanted", "made", "equal"),
    [
        pytest.param({"amount": 48}, {"amount": 48.0}, True, id="one number, two spellings"),
        pytest.param({"amount": 48}, {"amount": "48"}, False, id="a text is no number"),
        pytest.param({"on": True}, {"on": 1}, False, id="true is not 1"),
        pytest.param({"lat": 41.8781}, {"lat": 41.878100000000003}, True, id="the same double"),
        pytest.param({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, True, id="key order is free"),
        pytest.param({"b": [1, 2]}, {"b": [2, 1]}, False, id="list order is not"),
        pytest.param({"no": 9007199254740993}, {"no": 9007199254740992}, False, id="big integers are not merged"),
        pytest.param({"no": 9007199254740993}, {"no": 9007199254740992.0}, False, id="nor as floats"),
        pytest.param({"q": "x"}, {"q": " x "}, False, id="text is not trimmed"),
        pytest.param({"q": None}, {}, False, id="null is not absent"),
        pytest.param({}, {"q": 1}, False, id="no arguments expected, one given"),
    ],
)
def test_arguments_are_equal_as_json(wanted, made, equal) -> None:
    assert satisfies(step(made), exactly(wanted)) is equal


@pytest.mark.parametrize(
    ("wanted", "made", "equal"),
    [
        pytest.param("5", 5, True, id="number"),
        pytest.param("5", 5.0, False, id="5.0 is not written 5"),
        pytest.param("true", True, True, id="JSON spelling"),
        pytest.param("True", True, True, id="Python spelling"),
        pytest.param("true", "True", False, id="two texts as they are"),
        pytest.param("null", None, True, id="null"),
        pytest.param("None", None, True, id="None"),
        pytest.param('{"b":1,"a":[2]}', {"a": [2], "b": 1}, True, id="object in any layout"),
        pytest.param("{'a': 1}", {"a": 1}, True, id="object as Python writes it"),
        pytest.param(5, "5", True, id="the other way round"),
        pytest.param(5, 5.0, True, id="numbers as ever"),
        pytest.param("[" * 50_000, [], False, id="text nested without end"),
    ],
)
def test_only_the_pair_form_takes_a_value_for_its_text(wanted, made, equal) -> None:
    assert satisfies(step({"v": made}), exactly({"v": wanted}, text_values=True)) is equal
    if isinstance(wanted, str) != isinstance(made, str):
        assert not satisfies(step({"v": made}), exactly({"v": wanted}))


def test_subset_wants_the_given_arguments_and_allows_more() -> None:
    loose = ExpectedAction(name="pay", arguments={"amount": 1}, match="subset")
    assert satisfies(step({"amount": 1, "note": "x"}), loose)
    assert not satisfies(step({"note": "x"}), loose)


def test_names_are_trimmed_and_keep_their_case() -> None:
    assert satisfies(step({}, name=" pay "), ExpectedAction(name="pay  "))
    assert not satisfies(step({}, name="Pay"), ExpectedAction(name="pay"))


def test_a_loose_expectation_moves_on_for_a_strict_one() -> None:
    loose = ExpectedAction(name="pay", arguments={"amount": 2}, match="subset")
    found = align([step({"amount": 2}), step({"amount": 2, "note": "x"})], [loose, exactly({"amount": 2})])
    assert found.pairs == ((0, 1), (1, 0))
    assert found.missing == ()


def test_a_whole_chain_moves_on() -> None:
    assert largest_matching([[0, 1], [0, 2], [0], [2, 3]]) == {0: 1, 1: 2, 2: 0, 3: 3}


def test_ten_thousand_repeats_are_no_trouble() -> None:
    found = align([step({}, name="ping")] * 10_000, [ExpectedAction(name="ping")] * 50)
    assert (found.matched, len(found.extra)) == (50, 9_950)


def test_the_order_breaks_where_the_lists_part() -> None:
    a, b, c = (ExpectedAction(name=name) for name in "abc")
    swapped = align([step({}, name=name) for name in "acb"], [a, b, c])
    assert (swapped.first_difference, swapped.first_out_of_order) == (1, 2)
    longer = align([step({}, name=name) for name in "abcd"], [a, b, c])
    assert (longer.first_difference, longer.first_out_of_order) == (3, None)
    equal = align([step({}, name=name) for name in "abc"], [a, b, c])
    assert (equal.first_difference, equal.first_out_of_order) == (None, None)


@given(STEPS, ACTIONS)
@settings(max_examples=150, deadline=None)
def test_no_other_matching_is_larger(steps, actions) -> None:
    found = align(steps, actions)
    assert found.matched == largest_by_trying_all(steps, actions)
    assert len({one for one, _ in found.pairs}) == len({other for _, other in found.pairs}) == found.matched
    assert all(satisfies(steps[at], actions[place]) for place, at in found.pairs)


@given(STEPS, ACTIONS)
@settings(max_examples=150, deadline=None)
def test_shares_stay_within_0_and_1_and_agree_with_the_counts(steps, actions) -> None:
    found = align(steps, actions)
    assert 0 <= found.precision <= 1
    assert 0 <= found.recall <= 1
    assert 0 <= found.f1 <= 1
    assert found.matched + len(found.missing) == len(actions)
    assert found.matched + len(found.extra) == len(steps)
    if found.first_difference is None:
        assert found.first_out_of_order is None
    if found.first_out_of_order is None:
        assert not found.missing


@given(STEPS, ACTIONS, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_matching_does_not_depend_on_order(steps, actions, random) -> None:
    shuffled_steps, shuffled_actions = random.sample(steps, len(steps)), random.sample(actions, len(actions))
    assert align(steps, actions).matched == align(shuffled_steps, shuffled_actions).matched


@given(st.lists(NAMES, max_size=8), st.lists(NAMES, max_size=8))
@settings(max_examples=100, deadline=None)
def test_by_name_the_matching_is_the_common_multiset_both_ways(made, wanted) -> None:
    one = align([step({}, name=name) for name in made], [ExpectedAction(name=name) for name in wanted])
    other = align([step({}, name=name) for name in wanted], [ExpectedAction(name=name) for name in made])
    assert one.matched == other.matched == sum(min(made.count(name), wanted.count(name)) for name in set(made))
    if made or wanted:
        assert (one.precision, one.recall) == (other.recall, other.precision)


def largest_by_trying_all(steps, actions) -> int:
    few, many = (actions, steps) if len(actions) <= len(steps) else (steps, actions)
    actions_are_few = few is actions
    return max(
        (
            sum(
                satisfies(other, one) if actions_are_few else satisfies(one, other)
                for one, other in zip(few, order, strict=False)
            )
            for order in permutations(many, len(few))
        ),
        default=0,
    )
