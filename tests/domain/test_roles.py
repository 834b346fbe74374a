from __future__ import annotations

import pytest

from ci_eval.domain.roles import normalised_name, read_roles, role_of, unwrap


@pytest.mark.parametrize(
    "name", ["Ground Truth", "groundTruth", "ground-truth", " ground_truth ", "item.ground_truth", "inputs.groundTruth"]
)
def test_spellings_of_one_name(name: str) -> None:
    assert normalised_name(name) == "ground_truth"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Question", "query"),
        ("expectedOutput", "ground_truth"),
        ("traj", "messages"),
        ("Tool Calls", "tool_calls"),
        ("reward", None),
    ],
)
def test_names_have_roles(name: str, role: str | None) -> None:
    assert role_of(name) == role


def test_the_earlier_name_of_the_table_wins_with_a_notice() -> None:
    roles = read_roles({"prompt": "b", "query": "a"}, purpose="dataset")
    assert roles.values["query"] == "a"
    assert [notice.message for notice in roles.notices] == ["query is taken as query; prompt stays a plain field"]


def test_an_exact_name_beats_another_spelling_of_it() -> None:
    roles = read_roles({"Ground Truth": "b", "ground_truth": "a"}, purpose="dataset")
    assert roles.values["ground_truth"] == "a"


def test_null_is_not_there_and_leaves_room_for_a_synonym() -> None:
    assert read_roles({"query": None, "question": "a"}, purpose="dataset").values == {"query": "a"}


@pytest.mark.parametrize("column", ["expected_actions", "actions", "tool_calls"])
def test_an_empty_list_of_calls_is_a_value(column: str) -> None:
    assert read_roles({column: []}, purpose="dataset").values == {column: []}


def test_an_empty_list_elsewhere_is_nothing() -> None:
    assert read_roles({"context": [], "ground_truth": []}, purpose="dataset").values == {}


def test_an_answer_is_the_reference_of_a_dataset_and_the_response_of_a_recording() -> None:
    row = {"query": "q", "answer": "a"}
    in_dataset, recorded = read_roles(row, purpose="dataset"), read_roles(row, purpose="outputs")
    assert (in_dataset.values, recorded.values) == ({"query": "q", "ground_truth": "a"}, {"query": "q", "response": "a"})
    assert len(in_dataset.notices) == len(recorded.notices) == 1


def test_an_answer_beside_a_reference_is_a_response() -> None:
    assert read_roles({"answer": "a", "ground_truth": "b"}, purpose="dataset").values == {"response": "a", "ground_truth": "b"}


def test_inputs_and_outputs_are_unwrapped() -> None:
    roles = read_roles({"inputs": {"question": "q"}, "outputs": {"answer": "a"}}, purpose="dataset")
    assert roles.values == {"query": "q", "ground_truth": "a"}


def test_outputs_as_text_beside_inputs_are_the_reference() -> None:
    assert read_roles({"inputs": {"question": "q"}, "outputs": "a"}, purpose="dataset").values == {
        "query": "q",
        "ground_truth": "a",
    }


def test_unwrapping_never_overwrites_a_name_at_the_top() -> None:
    assert unwrap({"item": {"id": 1, "x": 2}, "id": 3}) == {"x": 2, "id": 3}


def test_an_id_in_the_metadata_counts_when_no_column_has_one() -> None:
    assert read_roles({"query": "q", "metadata": {"id": 7}}, purpose="dataset").values["id"] == 7
    assert read_roles({"id": 1, "metadata": {"id": 7}}, purpose="dataset").values["id"] == 1


def test_a_mapped_role_is_taken_from_the_mapping_and_nowhere_else() -> None:
    roles = read_roles({"query": "a", "response": "r"}, purpose="dataset", given={"query": "mapped", "response": None})
    assert roles.values == {"query": "mapped"}
