"""Which commits and which pull request an event is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.errors import ConfigError
from ci_eval.publish.context import load_event, read_context
from tests.publish.publishing import BASE, HEAD, MERGE, context_of, environ_of, pull_event

ZEROS = "0" * 40


def test_outside_of_actions_there_is_no_context() -> None:
    assert read_context({"GITHUB_SHA": MERGE}, {}) is None


def test_a_pull_request_is_about_its_head_and_not_about_the_merge_commit() -> None:
    context = context_of()

    assert (context.head_sha, context.base_sha) == (HEAD, BASE)
    assert context.pull_number == 7
    assert not context.is_fork
    assert context.run_url == "https://github.com/octo/agent/actions/runs/42"


def test_a_push_is_about_the_pushed_commits() -> None:
    context = context_of(event={"before": BASE, "after": HEAD}, GITHUB_EVENT_NAME="push", GITHUB_SHA=HEAD)

    assert (context.head_sha, context.base_sha, context.pull_number) == (HEAD, BASE, None)


def test_a_new_branch_has_no_commit_before() -> None:
    assert context_of(event={"before": ZEROS, "after": HEAD}, GITHUB_EVENT_NAME="push").base_sha is None


def test_a_deleted_branch_has_no_commit_after() -> None:
    assert context_of(event={"before": HEAD, "after": ZEROS}, GITHUB_EVENT_NAME="push").head_sha is None


def test_a_merge_group_is_about_the_group_s_head() -> None:
    group = {"head_sha": HEAD, "base_sha": BASE, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-x"}
    context = context_of(event={"merge_group": group}, GITHUB_EVENT_NAME="merge_group")

    assert (context.head_sha, context.base_sha, context.pull_number) == (HEAD, BASE, None)


def test_a_workflow_run_is_about_the_run_s_head_and_not_about_the_default_branch() -> None:
    run = {
        "head_sha": HEAD,
        "head_repository": {"full_name": "octo/agent"},
        "pull_requests": [{"number": 7, "head": {"sha": HEAD}}],
    }
    context = context_of(event={"workflow_run": run}, GITHUB_EVENT_NAME="workflow_run", GITHUB_SHA=MERGE)

    assert (context.head_sha, context.pull_number, context.is_fork) == (HEAD, 7, False)
    assert not context.runs_trusted_code


def test_a_workflow_run_with_a_pull_request_of_another_head_names_none() -> None:
    run = {"head_sha": HEAD, "head_repository": None, "pull_requests": [{"number": 9, "head": {"sha": BASE}}]}
    context = context_of(event={"workflow_run": run}, GITHUB_EVENT_NAME="workflow_run")

    assert context.pull_number is None
    assert context.is_fork


def test_a_comment_on_a_pull_request_names_it_but_no_commit() -> None:
    event = {"issue": {"number": 7, "pull_request": {"url": "x"}}}
    context = context_of(event=event, GITHUB_EVENT_NAME="issue_comment")

    assert (context.pull_number, context.head_sha) == (7, None)
    assert context_of(event={"issue": {"number": 7}}, GITHUB_EVENT_NAME="issue_comment").pull_number is None


@pytest.mark.parametrize("name", ["workflow_dispatch", "schedule"])
def test_other_events_are_about_the_checkout(name: str) -> None:
    context = context_of(event={}, GITHUB_EVENT_NAME=name)

    assert (context.head_sha, context.base_sha, context.pull_number) == (MERGE, None, None)


def test_another_repository_is_a_fork() -> None:
    assert context_of(event=pull_event(head_repo="contributor/agent")).is_fork
    assert not context_of(event=pull_event(head_repo="Octo/Agent")).is_fork


def test_a_deleted_fork_is_a_fork() -> None:
    assert context_of(event=pull_event(head_repo=None)).is_fork


def test_dependabot_counts_as_a_fork() -> None:
    assert context_of(GITHUB_ACTOR="dependabot[bot]").is_fork


@pytest.mark.parametrize("name", ["pull_request", "push", "merge_group", "workflow_run", "issue_comment", "schedule", ""])
@pytest.mark.parametrize("key", ["pull_request", "merge_group", "workflow_run", "issue"])
@pytest.mark.parametrize("value", [None, [], "text", {"head": None, "base": {"repo": None}, "number": True, "head_sha": "main"}])
def test_any_part_of_a_payload_may_be_missing(name: str, key: str, value: object) -> None:
    context = context_of(event={key: value, "number": None}, GITHUB_EVENT_NAME=name, GITHUB_RUN_ID="")

    assert context.head_sha in (None, MERGE)
    assert context.run_url is None


def test_a_commit_that_is_no_commit_id_is_not_taken() -> None:
    assert context_of(event=pull_event(head="x --> <!--" + "a" * 29)).head_sha is None


def test_enterprise_addresses_are_taken_from_the_environment() -> None:
    context = context_of(GITHUB_API_URL="https://git.example/api/v3", GITHUB_SERVER_URL="https://git.example")

    assert context.api_url == "https://git.example/api/v3"
    assert context.run_url == "https://git.example/octo/agent/actions/runs/42"


def test_the_payload_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text('{"number": 7}')

    assert load_event(tmp_path / "event.json") == {"number": 7}
    assert load_event(None) == {}


@pytest.mark.parametrize("content", ["[1]", "{", '"text"', "[" * 100_000])
def test_a_payload_that_is_no_object_is_one_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "event.json").write_text(content)

    with pytest.raises(ConfigError, match=r"event\.json: the event's payload"):
        load_event(tmp_path / "event.json")


def test_a_missing_payload_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_event(tmp_path / "none.json")


def test_the_context_is_read_without_the_process_s_own_environment() -> None:
    assert read_context(environ_of(GITHUB_ACTIONS="false"), pull_event()) is None
