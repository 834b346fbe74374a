"""The whole publication: which doors are tried, what a refusal costs, what is written."""

from __future__ import annotations

import itertools
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from ci_eval.domain.comparison import Outcome
from ci_eval.publish.publish import publish
from ci_eval.publish.settings import PublishSettings
from tests.publish.publishing import HEAD, REPO, Scene, context_of, host_of, pull_event, report_of, scene_of

DOORS = {"comment": ("pull-requests", "issues"), "check run": ("checks",), "commit status": ("statuses",)}


def read_outputs(path: Path) -> dict[str, str]:
    """Read the file by the runner's rules for the long form."""
    lines, values = path.read_text(encoding="utf-8").split("\n"), {}
    while lines and lines[0]:
        name, mark = lines.pop(0).split("<<", 1)
        end = lines.index(mark)
        values[name] = "\n".join(lines[:end])
        lines = lines[end + 1 :]
    return values


def test_everything_is_published_in_few_requests(scene: Scene) -> None:
    publication = scene.publish(report_of(Outcome.BLOCK, annotations=120))

    assert publication.done == ("job summary", "comment", "check run", "outputs")
    assert publication.failed == ()
    assert publication.notices == ()
    assert len(scene.gh.log) <= 15
    assert scene.summary == "The long report.\n\n"
    assert read_outputs(scene.folder / "output") == {
        "outcome": "block",
        "headline": "Regression: merging is blocked.",
        "exit-code": "1",
        "regressed": "2",
        "improved": "0",
        "comment-url": publication.comment_url,
        "check-url": publication.check_url,
        "report-dir": "ci-eval-out",
        "comparison-json": "ci-eval-out/comparison.json",
    }


@pytest.mark.parametrize(
    "refused",
    [doors for size in range(4) for doors in itertools.combinations(DOORS, size)],
    ids=lambda doors: "+".join(doors) or "none",
)
@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.BLOCK])
def test_whatever_is_refused_the_outcome_stays_and_the_notice_names_the_permission(
    scene: Scene, refused: tuple[str, ...], outcome: Outcome
) -> None:
    for door in refused:
        for permission in DOORS[door]:
            scene.gh.permissions[permission] = "read"

    publication = scene.publish(report_of(outcome))

    assert read_outputs(scene.folder / "output")["outcome"] == outcome.value
    assert read_outputs(scene.folder / "output")["exit-code"] == ("1" if outcome is Outcome.BLOCK else "0")
    assert "The long report." in scene.summary
    fallback_needed = "check run" in refused
    expected = {door for door in refused if door != "commit status" or fallback_needed}
    assert {notice.code for notice in publication.notices} == {f"not_published_{door.replace(' ', '_')}" for door in expected}
    names = {"comment": "pull-requests: write", "check run": "checks: write", "commit status": "statuses: write"}
    for door in expected:
        assert any(names[door] in notice.message for notice in publication.notices)
        assert names[door] in scene.summary
    rescued = {"check run"} if fallback_needed and "commit status" not in refused else set()
    assert set(publication.failed) == expected - rescued
    assert scene.clock.slept == []


def test_the_notice_quotes_the_permissions_that_github_would_accept(scene: Scene) -> None:
    scene.gh.permissions["checks"] = "read"
    scene.gh.permissions["statuses"] = "none"

    notices = scene.publish().notices

    assert [notice.message for notice in notices] == [
        (
            "check run not written: the token lacks the permission checks: write (GitHub accepts: checks=write); "
            'add it to the permissions of the job. GitHub said: "Resource not accessible by integration"'
        ),
        (
            "commit status not written: the token lacks the permission statuses: write (GitHub accepts: statuses=write); "
            'add it to the permissions of the job. GitHub said: "Resource not accessible by integration"'
        ),
    ]


def test_a_refused_check_run_becomes_a_commit_status_on_the_head(scene: Scene) -> None:
    scene.gh.permissions["checks"] = "read"

    publication = scene.publish(report_of(Outcome.BLOCK))

    (status,) = scene.gh.statuses[HEAD]
    assert (status["context"], status["state"]) == ("ci-eval", "failure")
    assert status["description"] == "Regression: merging is blocked."
    assert status["target_url"] == "https://github.com/octo/agent/actions/runs/42"
    assert publication.complete


def test_a_read_only_token_of_a_fork_leaves_summary_and_outputs_and_points_to_the_second_workflow(tmp_path: Path) -> None:
    with scene_of(tmp_path) as scene:
        scene.gh.permissions = dict.fromkeys(scene.gh.permissions, "read")

        publication = scene.publish(report_of(Outcome.BLOCK), head_repo="contributor/agent")

        assert publication.done == ("job summary", "outputs")
        assert all("the report is in the job summary" in notice.message for notice in publication.notices)
        assert read_outputs(tmp_path / "output")["exit-code"] == "1"
        assert scene.clock.slept == []


def test_a_deleted_fork_publishes_like_any_fork(scene: Scene) -> None:
    assert scene.publish(head_repo=None).complete


def test_a_token_without_any_right_to_read_is_no_exception(scene: Scene) -> None:
    scene.gh.permissions = dict.fromkeys(scene.gh.permissions, "none")

    publication = scene.publish()

    assert publication.failed == ("comment", "check run", "commit status")


def test_a_locked_conversation_is_told_and_not_tried_again(scene: Scene) -> None:
    scene.gh.fail(
        "POST", r"/issues/7/comments", status=403, body={"message": "Unable to create comment because issue is locked."}
    )

    publication = scene.publish()

    assert publication.failed == ("comment",)
    assert "closed for writing" in publication.notices[0].message
    assert scene.asked.count("POST /issues/7/comments") == 1


def test_a_wrong_token_is_told(tmp_path: Path) -> None:
    with scene_of(tmp_path) as scene:
        context = context_of(tmp_path)
        publication = publish(report_of(), context, PublishSettings(), host_of(scene.gh, token="ghs_old"))

        assert publication.failed == ("comment", "check run", "commit status")
        assert all("github-token" in notice.message for notice in publication.notices)


def test_without_a_token_the_summary_and_the_outputs_are_written(tmp_path: Path) -> None:
    publication = publish(report_of(), context_of(tmp_path), PublishSettings(), None)

    assert publication.done == ("job summary", "outputs")
    assert "there is no token" in publication.notices[0].message


def test_a_host_out_of_reach_is_told(tmp_path: Path) -> None:
    with scene_of(tmp_path) as scene:
        gone = host_of(scene.gh, api_url="http://127.0.0.1:9")
    publication = publish(report_of(), context_of(tmp_path), PublishSettings(), gone)

    assert publication.failed == ("comment", "check run", "commit status")
    assert "GitHub gave no answer" in publication.notices[0].message


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (200, [1], {}),
        (200, "a sign-in page", {}),
        (200, {"id": "x", "head": [], "user": 5, "html_url": 7, "body": 9, "external_id": 1}, {}),
        (403, ["x"], {}),
        (301, {"message": "Moved"}, {"Location": "https://elsewhere.example/x"}),
    ],
    ids=["list", "text", "other types", "refusal without a message", "moved elsewhere"],
)
@pytest.mark.parametrize("asked", ["GET /pulls/7", "GET /issues/7/comments", "POST /issues/7/comments", "POST /check-runs"])
def test_a_proxy_that_answers_in_github_s_place_changes_no_verdict(
    scene: Scene, asked: str, status: int, body: object, headers: dict[str, str]
) -> None:
    method, path = asked.split()
    scene.gh.fail(method, f"{path}$", status=status, body=body, headers=headers, times=99)

    scene.publish(report_of(Outcome.BLOCK))

    outputs = read_outputs(scene.folder / "output")
    assert (outputs["outcome"], outputs["exit-code"]) == ("block", "1")


def test_a_limit_that_lasts_eleven_minutes_ends_in_notices_within_ten(scene: Scene) -> None:
    for method in ("GET", "POST", "PATCH"):
        scene.gh.secondary_limit(method, ".", times=1000, retry_after="60")

    publication = scene.publish()

    assert publication.failed == ("comment", "check run", "commit status")
    assert "rate limit" in publication.notices[0].message
    assert sum(scene.clock.slept) <= 600


def test_what_the_host_says_cannot_speak_in_log_or_summary(scene: Scene) -> None:
    body = {"message": "no\n::error::x\r##[error]<b>@octo/team</b> ```\n# big"}
    scene.gh.fail("POST", r"/issues/7/comments", status=403, body=body)

    (notice,) = scene.publish().notices

    assert "\n" not in notice.message
    assert scene.summary.count("```") == 2
    assert "<b>" not in scene.summary


def test_each_refusal_is_one_warning_in_the_log(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.gh.permissions["checks"] = "read"
    with caplog.at_level(logging.WARNING, logger="ci_eval"):
        publication = scene.publish()

    assert [record.getMessage() for record in caplog.records] == [notice.message for notice in publication.notices]


def test_files_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    context = context_of(tmp_path / "missing", pull_event(), GITHUB_EVENT_NAME="schedule")
    publication = publish(report_of(), context, PublishSettings(check=False), None)

    assert publication.failed == ("job summary", "outputs")


def test_a_summary_over_the_limit_is_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "summary").write_bytes(b"x" * 1_048_570)
    publication = publish(report_of(), context_of(tmp_path), PublishSettings(comment=False, check=False), None)

    assert publication.failed == ("job summary",)
    assert (tmp_path / "summary").stat().st_size == 1_048_570


def test_an_enterprise_server_is_asked_at_its_own_address(tmp_path: Path) -> None:
    with scene_of(tmp_path, prefix="/api/v3") as scene:
        assert scene.publish().complete
        scene.publish(run=43)

        assert len(scene.own_bodies) == 1
        assert all(entry["path"].startswith(f"/repos/{REPO}/") for entry in scene.gh.log)


def test_switched_off_doors_are_not_touched(scene: Scene) -> None:
    publication = scene.publish(settings=PublishSettings(comment=False, check=False))

    assert publication.done == ("job summary", "outputs")
    assert scene.gh.log == []


def test_an_evaluation_that_failed_before_a_comparison_has_neither_counts_nor_a_file_of_them(tmp_path: Path) -> None:
    report = replace(report_of(Outcome.INCOMPLETE), comparison_json="")
    settings = PublishSettings(comment=False, check=False)
    publish(report, context_of(tmp_path), settings, None, report_dir=tmp_path / "ci-eval-out", exit_code=2)

    outputs = read_outputs(tmp_path / "output")
    assert outputs["exit-code"] == "2"
    assert outputs["report-dir"] == "ci-eval-out"
    assert not {"regressed", "improved", "comparison-json"} & outputs.keys()
