"""The demo's two agents, run offline on all its cases: what is meant to break breaks, and nothing else moves."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "travel-agent"

BROKEN = {
    "cancel-asks-before-total-loss",
    "cancel-asks-despite-a-reason",
    "cancel-flexible-fare",
    "cancel-lower-case-reference",
    "cancel-saver-accepted",
    "cancel-standard-fare",
    "refund-money-back",
    "refund-two-passengers",
}
FIXED = {"hotel-from-tomorrow", "search-on-friday"}
FAILS_IN_BOTH = {"book-flight-and-hotel"}

ANSWER_ALL = """
import json, sys
sys.path.insert(0, ".")
from agent import answer
queries = json.load(sys.stdin)
json.dump({case_id: answer(query) for case_id, query in queries.items()}, sys.stdout)
"""

Call = tuple[str, dict[str, object]]


def cases() -> dict[str, dict[str, object]]:
    lines = (EXAMPLE / "evals" / "dataset.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["id"] for row in rows}) == len(rows) == 30
    return {row["id"]: row for row in rows}


def ask(folder: Path, *, dataset: dict[str, dict[str, object]]) -> dict[str, list[dict[str, object]]]:
    """Run the agent of a folder in an interpreter of its own, as ci-eval would."""
    queries = json.dumps({case_id: row["query"] for case_id, row in dataset.items()})
    done = subprocess.run(
        [sys.executable, "-B", "-c", ANSWER_ALL], cwd=folder, input=queries, capture_output=True, text=True, check=True
    )
    answers: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return answers


def calls(messages: list[dict[str, object]]) -> list[Call]:
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for message in messages
        for call in message.get("tool_calls", [])
    ]


def in_order(expected: list[object], made: list[Call]) -> bool:
    """The expected calls appear in this order; an empty expectation means "call nothing"."""
    if not expected:
        return not made
    rest = iter(made)
    return all(any(fits(action, call) for call in rest) for action in expected)


def fits(action: object, call: Call) -> bool:
    return action == call[0] if isinstance(action, str) else (action["name"], action["arguments"]) == call


@pytest.fixture(scope="module")
def baseline() -> dict[str, list[dict[str, object]]]:
    return ask(EXAMPLE, dataset=cases())


@pytest.fixture(scope="module")
def candidate(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    if shutil.which("git") is None:
        pytest.skip("git is not installed: the patch of the demo cannot be applied")
    folder = tmp_path_factory.mktemp("pull-request")
    shutil.copytree(EXAMPLE / "agent", folder / "agent", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "apply", str(EXAMPLE / "pull-request.patch")], cwd=folder, check=True)
    return ask(folder, dataset=cases())


def failing(answers: dict[str, list[dict[str, object]]]) -> set[str]:
    return {case_id for case_id, row in cases().items() if not in_order(row["expected_actions"], calls(answers[case_id]))}


def test_the_baseline_fails_only_what_it_does_not_understand(baseline):
    assert failing(baseline) == FIXED | FAILS_IN_BOTH


def test_the_pull_request_breaks_eight_cases_and_fixes_two(baseline, candidate):
    assert failing(candidate) - failing(baseline) == BROKEN
    assert failing(baseline) - failing(candidate) == FIXED


def test_nothing_else_changes(baseline, candidate):
    changed = {case_id for case_id in cases() if baseline[case_id] != candidate[case_id]}
    assert changed == BROKEN | FIXED


def test_the_pull_request_cancels_saver_tickets_without_asking(baseline, candidate):
    for case_id in ("cancel-asks-before-total-loss", "cancel-asks-despite-a-reason"):
        assert "cancel_booking" not in [name for name, _ in calls(baseline[case_id])]
        assert "cancel_booking" in [name for name, _ in calls(candidate[case_id])]


def test_every_answer_is_a_conversation_in_the_chat_form(baseline):
    for messages in baseline.values():
        *steps, last = messages
        assert last["role"] == "assistant"
        assert last["content"]
        for call, result in zip(steps[::2], steps[1::2], strict=True):
            assert [made["id"] for made in call["tool_calls"]] == [result["tool_call_id"]]


def test_the_agent_gives_the_same_answers_again(baseline):
    assert ask(EXAMPLE, dataset=cases()) == baseline


def test_requests_of_no_case_are_answered_too():
    asked = {
        "typed in capitals": {"query": "CANCEL K7Q2MX"},
        "nonsense": {"query": "¿ƒ∂ \x00 🛫"},
        "empty": {"query": ""},
        "no such day": {"query": "fly from Berlin to Lisbon on 31 February 2026"},
    }
    answers = ask(EXAMPLE, dataset=asked)
    assert [name for name, _ in calls(answers["typed in capitals"])][-1] == "refund_payment"
    assert calls(answers["nonsense"]) == calls(answers["empty"]) == calls(answers["no such day"]) == []
