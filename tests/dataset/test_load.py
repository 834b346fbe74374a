from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.dataset.load import dataset_digest
from ci_eval.domain.case import ExpectedAction, Source
from ci_eval.domain.message import Message, Text
from ci_eval.errors import DataError
from tests.dataset.files import cases, outputs, problems
from tests.rows import json_lines


def lines(*rows: object) -> str:
    return json_lines(rows)


def system(text: str) -> dict[str, object]:
    return {"role": "system", "content": text}


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


FRANCE = "What is the capital of France?"


class TestIds:
    @pytest.mark.parametrize(
        "row",
        [
            {"query": FRANCE},
            {"question": f"  {FRANCE}\n"},
            {"query": [system("Be brief."), user(FRANCE)]},
            {
                "query": [
                    {
                        "role": "user",
                        "content": [{"type": "text", "text": "What is the capital "}, {"type": "text", "text": "of France?"}],
                    }
                ]
            },
            {"messages": [user(FRANCE), {"role": "assistant", "content": "Paris."}]},
            {"id": None, "query": FRANCE},
        ],
    )
    def test_without_one_the_question_makes_the_id(self, tmp_path: Path, row: dict[str, object]) -> None:
        (case,) = cases(tmp_path, "d.jsonl", lines(row)).items
        assert (case.id, case.id_is_given) == ("c-bf900ed91f88", False)

    def test_composed_and_decomposed_letters_are_one_question(self, tmp_path: Path) -> None:
        loaded = cases(tmp_path, "d.jsonl", lines({"query": "caf\u00e9"}, {"query": "cafe\u0301"}))
        assert loaded.items[1].id == f"{loaded.items[0].id}~2"

    def test_case_and_inner_blanks_make_another_question(self, tmp_path: Path) -> None:
        loaded = cases(tmp_path, "d.jsonl", lines({"query": "a b"}, {"query": "A b"}, {"query": "a  b"}))
        assert len({case.id for case in loaded.items}) == 3
        assert not any("~" in case.id for case in loaded.items)

    def test_equal_questions_are_numbered_with_one_notice(self, tmp_path: Path) -> None:
        loaded = cases(tmp_path, "d.jsonl", lines({"query": FRANCE}, {"query": FRANCE}, {"query": FRANCE}))
        assert [case.id for case in loaded.items] == ["c-bf900ed91f88", "c-bf900ed91f88~2", "c-bf900ed91f88~3"]
        assert [(notice.code, notice.count) for notice in loaded.notices] == [("hash_id_repeated", 2)]

    @pytest.mark.parametrize("row", [{"id": 7}, {"id": "7"}, {"id": " 7 "}, {"case_id": 7}, {"metadata": {"id": 7}}])
    def test_a_given_id_is_text(self, tmp_path: Path, row: dict[str, object]) -> None:
        assert cases(tmp_path, "d.jsonl", lines({"query": "q", **row})).items[0].id == "7"

    @pytest.mark.parametrize(
        ("bad", "word"), [("  ", "empty"), (["a"], "array"), (True, "boolean"), (1.5, "number"), ({}, "object")]
    )
    def test_what_is_no_id_is_refused(self, tmp_path: Path, bad: object, word: str) -> None:
        (problem,) = problems(tmp_path, "d.jsonl", lines({"id": bad, "query": "q"}))
        assert (problem.code, problem.line, problem.field) == ("bad_id", 1, "id")
        assert word in problem.message

    def test_an_id_given_twice_names_both_lines(self, tmp_path: Path) -> None:
        rows = lines({"id": "q7", "query": "first"}, {"id": "q8", "query": "other"}, {"id": "q7", "query": "second"})
        (problem,) = problems(tmp_path, "d.jsonl", rows)
        assert (problem.code, problem.line, problem.field) == ("duplicate_id", 3, "id")
        assert '"q7"' in problem.message
        assert "line 1" in problem.message
        assert "line 3" in problem.message

    def test_a_number_and_its_text_are_one_id(self, tmp_path: Path) -> None:
        assert problems(tmp_path, "d.jsonl", lines({"id": 7, "query": "a"}, {"id": "7", "query": "b"}))[0].code == "duplicate_id"

    def test_further_trials_of_a_case_add_no_case(self, tmp_path: Path) -> None:
        loaded = cases(tmp_path, "d.jsonl", lines({"id": "a", "trial": 0, "query": "q"}, {"id": "a", "trial": 1, "query": "q"}))
        assert [case.id for case in loaded.items] == ["a"]
        assert [notice.code for notice in loaded.notices] == ["trial_of_case"]

    def test_trials_of_one_id_that_ask_something_else_are_duplicates(self, tmp_path: Path) -> None:
        rows = lines({"id": "a", "trial": 0, "query": "q"}, {"id": "a", "trial": 1, "query": "other"})
        assert [problem.code for problem in problems(tmp_path, "d.jsonl", rows)] == ["duplicate_id"]


class TestCases:
    def test_a_row_is_understood_in_full(self, tmp_path: Path) -> None:
        row = {
            "id": "t-1", "query": "List my open tickets", "ground_truths": ["one", "two"], "expected_actions": ["list_tickets"],
            "description": "a label", "tags": ["slow"], "priority": 3,
        }  # fmt: skip
        (case,) = cases(tmp_path, "d.jsonl", lines(row)).items
        assert (case.query, case.ground_truths, case.title, case.tags) == (
            "List my open tickets",
            ("one", "two"),
            "a label",
            ("slow",),
        )
        assert case.expected_actions == (ExpectedAction(name="list_tickets"),)
        assert case.fields == row
        assert case.source == Source(file="d.jsonl", line=1)

    @pytest.mark.parametrize(
        ("row", "truths"),
        [
            ({"ground_truth": "x"}, ("x",)),
            ({"ground_truth": 42}, ("42",)),
            ({"ground_truth": True}, ("true",)),
            ({"ground_truth": ["x"]}, ("x",)),
            ({"ground_truth": ""}, ("",)),
            ({"ground_truth": None}, None),
            ({"ground_truth": []}, None),
            ({}, None),
            ({"answer": "x"}, ("x",)),
        ],
    )
    def test_references(self, tmp_path: Path, row: dict[str, object], truths: object) -> None:
        assert cases(tmp_path, "d.jsonl", lines({"query": "q", **row})).items[0].ground_truths == truths

    def test_a_reference_given_as_messages_holds_the_wanted_calls_too(self, tmp_path: Path) -> None:
        call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"k": 1}'}}]}
        row = {
            "query": "q",
            "reference_outputs": [call, {"role": "tool", "content": "r"}, {"role": "assistant", "content": "done"}],
        }
        (case,) = cases(tmp_path, "d.jsonl", lines(row)).items
        assert case.ground_truths == ("done",)
        assert case.expected_actions == (ExpectedAction(name="f", arguments={"k": 1}, match="exact"),)

    def test_no_call_and_unknown_are_two_expectations(self, tmp_path: Path) -> None:
        rows = lines({"query": "a", "expected_actions": []}, {"query": "b", "expected_actions": None}, {"query": "c"})
        assert [case.expected_actions for case in cases(tmp_path, "d.jsonl", rows).items] == [(), None, None]

    def test_a_query_given_as_messages_keeps_them(self, tmp_path: Path) -> None:
        (case,) = cases(
            tmp_path, "d.jsonl", lines({"query": [system("s"), user("a"), {"role": "assistant", "content": "b"}, user("c")]})
        ).items
        assert case.query == "c"
        assert [message.role for message in case.messages] == ["system", "user", "assistant", "user"]

    def test_of_a_conversation_only_what_came_before_the_agent_is_asked(self, tmp_path: Path) -> None:
        (case,) = cases(
            tmp_path, "d.jsonl", lines({"messages": [user("a"), {"role": "assistant", "content": "b"}, user("c")]})
        ).items
        assert (case.query, case.messages) == ("a", (Message(role="user", parts=(Text(text="a"),)),))

    def test_a_case_may_be_steps_alone(self, tmp_path: Path) -> None:
        (case,) = cases(tmp_path, "d.jsonl", lines({"id": "x", "actions": ["f"], "expected": "g"})).items
        assert (case.query, case.ground_truths) == (None, ("g",))

    @pytest.mark.parametrize(
        ("row", "code", "field"),
        [
            ({"query": {"text": "a"}}, "wrong_type", "query"),
            ({"query": "  "}, "missing_query", "query"),
            ({"qeury": "b", "ground_truth": "c"}, "missing_query", "query"),
            ({"messages": []}, "missing_query", "query"),
            ({"messages": ["hello"]}, "message_not_object", "messages[0]"),
            ({"conversation": [user("a"), {"role": "narrator", "content": "b"}]}, "unknown_role", "conversation[1].role"),
            ({"query": "q", "response": [{"role": "ai", "content": [{"type": "tool_call"}]}]}, "tool_call_no_name", "response[0].content[0].name"),
            ({"query": "q", "response": {"text": "a"}}, "wrong_type", "response"),
            ({"query": "q", "ground_truth": {"a": 1}}, "wrong_type", "ground_truth"),
            ({"query": "q", "ground_truth": ["a", ["b"]]}, "wrong_type", "ground_truth[1]"),
            ({"query": "q", "context": {"a": 1}}, "wrong_type", "context"),
            ({"query": "q", "tools": "get_weather"}, "wrong_type", "tools"),
            ({"query": "q", "tools": [1]}, "wrong_type", "tools[0]"),
            ({"query": "q", "retrieved_documents": 5}, "wrong_type", "retrieved_documents"),
            ({"query": "q", "title": {"a": 1}}, "wrong_type", "title"),
            ({"query": "q", "expected_tool_calls": 7}, "bad_expected_actions", "expected_tool_calls"),
        ],
    )  # fmt: skip
    def test_what_fits_no_rule_is_refused_with_its_place(
        self, tmp_path: Path, row: dict[str, object], code: str, field: str
    ) -> None:
        (problem,) = problems(tmp_path, "d.jsonl", lines({"id": "1", **row}))
        assert (problem.code, problem.line, problem.field) == (code, 1, field)

    def test_all_problems_of_a_row_and_of_a_file_are_told_at_once(self, tmp_path: Path) -> None:
        rows = lines(
            {"id": [], "query": {}, "expected_actions": 7}, {"id": "b", "query": "q"}, {"id": "b", "query": "r", "context": {}}
        )
        assert [(problem.line, problem.code) for problem in problems(tmp_path, "d.jsonl", rows)] == [
            (1, "wrong_type"), (1, "bad_id"), (1, "bad_expected_actions"), (3, "duplicate_id"), (3, "wrong_type"),
        ]  # fmt: skip

    def test_a_near_miss_is_suggested(self, tmp_path: Path) -> None:
        (problem,) = problems(tmp_path, "d.jsonl", lines({"id": "2", "qeury": "b"}))
        assert 'is "qeury" meant as the query?' in problem.message

    def test_text_in_messages_is_cut_and_tamed(self, tmp_path: Path) -> None:
        (problem,) = problems(tmp_path, "d.jsonl", lines({"id": "1", "query": {"\x1b[31m\n::error::": "x" * 500}}))
        assert "\x1b" not in str(problem)
        assert "\n" not in str(problem)
        assert len(str(problem)) < 250


class TestBadRows:
    ROWS = '{"id": "a", "query": "q"}\n{"id": \n{"id": "a", "query": "r"}\n{"id": "b", "query": 7}\n7\n'

    def test_skipping_leaves_them_out_and_tells_each(self, tmp_path: Path) -> None:
        loaded = cases(tmp_path, "d.jsonl", self.ROWS, on_bad_row="skip")
        assert [case.id for case in loaded.items] == ["a", "b"]
        assert [(notice.code, notice.location) for notice in loaded.notices] == [
            ("jsonl_syntax", "d.jsonl:2"), ("duplicate_id", "d.jsonl:3"), ("row_not_object", "d.jsonl:5"),
        ]  # fmt: skip

    def test_a_file_of_broken_rows_is_an_error_even_then(self, tmp_path: Path) -> None:
        (problem,) = problems(tmp_path, "d.jsonl", "{\n7\n", on_bad_row="skip")
        assert problem.code == "no_cases"


class TestMapping:
    def test_columns_take_the_roles_they_are_given(self, tmp_path: Path) -> None:
        rows = lines({"id": "a", "ask": {"text": "q"}, "want": ["x"]})
        (case,) = cases(
            tmp_path, "d.jsonl", rows, mapping={"query": "Please: {{item.ask.text}}", "expected_actions": "{{item.want}}"}
        ).items
        assert (case.query, case.expected_actions) == ("Please: q", (ExpectedAction(name="x"),))
        assert case.fields["ask"] == {"text": "q"}

    def test_a_bare_column_name_stands_for_the_column(self, tmp_path: Path) -> None:
        assert cases(tmp_path, "d.jsonl", lines({"my ask": "q"}), mapping={"query": "my ask"}).items[0].query == "q"

    def test_any_other_text_is_the_same_for_every_case_and_told(self, tmp_path: Path) -> None:
        loaded = cases(tmp_path, "d.jsonl", lines({"query": "q"}), mapping={"ground_truth": "yes"})
        assert loaded.items[0].ground_truths == ("yes",)
        assert [notice.code for notice in loaded.notices] == ["mapping_constant"]

    def test_text_of_the_data_is_no_template(self, tmp_path: Path) -> None:
        rows = lines({"ask": "{{item.secret}}", "secret": "s"})
        assert cases(tmp_path, "d.jsonl", rows, mapping={"query": "{{item.ask}}"}).items[0].query == "{{item.secret}}"

    @pytest.mark.parametrize(
        ("mapping", "code"),
        [
            ({"query": "{{item.x}"}, "mapping_syntax"),
            ({"query": "{{row.x}}"}, "mapping_root"),
            ({"query": "{{sample.output_text}}"}, "mapping_root"),
            ({"query": "{{item.questoin}}"}, "mapping_missing_everywhere"),
            ({"qery": "{{item.question}}"}, "mapping_role"),
        ],
    )
    def test_a_wrong_mapping_is_refused(self, tmp_path: Path, mapping: dict[str, str], code: str) -> None:
        found = problems(tmp_path, "d.jsonl", lines({"question": "q", "id": "a"}), mapping=mapping)
        assert found[0].code == code
        assert found[0].field == f"mapping.{next(iter(mapping))}"

    def test_near_names_are_suggested(self, tmp_path: Path) -> None:
        found = problems(tmp_path, "d.jsonl", lines({"question": "q"}), mapping={"query": "{{item.questoin}}"})
        assert found[0].hint == "nearest names: question"


class TestFingerprints:
    def fingerprint(self, tmp_path: Path, row: dict[str, object]) -> str:
        return cases(tmp_path, "d.jsonl", lines(row)).items[0].fingerprint

    def test_the_id_and_what_an_agent_did_do_not_count(self, tmp_path: Path) -> None:
        row: dict[str, object] = {"id": "a", "query": "q", "ground_truth": "g"}
        first = self.fingerprint(tmp_path, row)
        assert self.fingerprint(tmp_path, {**row, "id": "b"}) == first
        assert self.fingerprint(tmp_path, {"response": "r", "latency_ms": 5, **row}) == first
        assert self.fingerprint(tmp_path, {"question": "q", "expected": "g"}) == first

    @pytest.mark.parametrize(
        "change", [{"query": "p"}, {"ground_truth": "h"}, {"expected_actions": []}, {"priority": 1}, {"context": "c"}]
    )
    def test_everything_else_counts(self, tmp_path: Path, change: dict[str, object]) -> None:
        row: dict[str, object] = {"id": "a", "query": "q", "ground_truth": "g"}
        assert self.fingerprint(tmp_path, {**row, **change}) != self.fingerprint(tmp_path, row)

    def test_long_texts_count_to_their_last_letter(self, tmp_path: Path) -> None:
        assert self.fingerprint(tmp_path, {"query": "x" * 5000 + "a"}) != self.fingerprint(tmp_path, {"query": "x" * 5000 + "b"})

    def test_a_dataset_is_the_same_in_any_order(self, tmp_path: Path) -> None:
        first = cases(tmp_path, "d.jsonl", lines({"id": "a", "query": "q"}, {"id": "b", "query": "r"})).items
        assert dataset_digest(first) == dataset_digest(reversed(first))
        assert dataset_digest(first) != dataset_digest(first[:1])


class TestOutputs:
    def test_rows_are_kept_for_the_reply_reader(self, tmp_path: Path) -> None:
        loaded = outputs(tmp_path, "o.jsonl", lines({"id": "a", "response": "x"}, {"query": FRANCE, "response": "Paris."}))
        assert [(row.id, row.trial) for row in loaded.items] == [("a", 0), ("c-bf900ed91f88", 0)]
        assert loaded.items[0].value == {"id": "a", "response": "x"}
        assert str(loaded.items[1].source) == "o.jsonl:2"

    def test_trials_of_one_case_stand_side_by_side(self, tmp_path: Path) -> None:
        rows = lines({"id": "a", "trial": 0, "response": "x"}, {"id": "a", "epoch": 1, "response": "y"}, {"query": "q", "response": "z"},
                     {"query": "q", "trial": 1, "response": "z"})  # fmt: skip
        assert [(row.id == "a", row.trial) for row in outputs(tmp_path, "o.jsonl", rows).items] == [
            (True, 0),
            (True, 1),
            (False, 0),
            (False, 1),
        ]

    @pytest.mark.parametrize(
        ("rows", "code", "field"),
        [
            ([{"id": "a", "response": "x"}, {"id": "a", "response": "y"}], "duplicate_id", "id"),
            ([{"id": "a", "trial": 1.5, "response": "x"}], "wrong_type", "trial"),
            ([{"response": "x"}], "missing_query", "query"),
            ([{"id": "a", "response": {"x": 1}}], "wrong_type", "response"),
            ([{"id": "a", "response": "x", "latency_ms": -1}], "bad_number", "latency_ms"),
            ([{"id": "a", "status": "perhaps"}], "bad_status", "status"),
            ([{"id": "a", "messages": [{"role": "x"}]}], "unknown_role", "messages[0].role"),
        ],
    )
    def test_broken_rows_are_told_before_anything_runs(self, tmp_path: Path, rows: list[object], code: str, field: str) -> None:
        with pytest.raises(DataError) as caught:
            outputs(tmp_path, "o.jsonl", lines(*rows))
        (problem,) = caught.value.problems
        assert (problem.code, problem.line, problem.field) == (code, len(rows), field)
