"""The sticky comment, against GitHub's own API description over real HTTP."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ci_eval.publish.comment import RunStamp, marker
from ci_eval.publish.settings import PublishSettings
from tests.publish.publishing import BOT, HEAD, NEWER, Scene, report_of, scene_of


def own(text: str = "old", *, key: str = "", run: int = 1, attempt: int = 1, head: str = HEAD) -> str:
    return f"{marker(key, RunStamp(run, attempt), head)}\n{text}"


def test_the_first_run_creates_and_the_second_edits(scene: Scene) -> None:
    first = scene.publish(report_of(comment="one"), run=42)
    second = scene.publish(report_of(comment="two"), run=43)

    assert scene.bodies == [f"<!-- ci-eval:report:v1 key= run=43.1 head={HEAD} -->\ntwo"]
    assert first.comment_url == second.comment_url
    assert first.complete
    assert second.complete


@pytest.mark.parametrize("position", [1, 101, 250])
def test_our_comment_is_found_on_any_page(scene: Scene, position: int) -> None:
    for number in range(1, 301):
        if number == position:
            scene.gh.add_comment(7, own(), BOT, "Bot")
        else:
            scene.gh.add_comment(7, f"remark {number}")

    scene.publish(report_of(comment="new"))

    assert len(scene.gh.comments) == 300
    assert scene.own_bodies == [own("new", run=42)]
    assert len(scene.gh.log) <= 15


def test_our_comment_is_found_although_the_server_makes_small_pages(scene: Scene) -> None:
    send_page = scene.gh._page
    scene.gh._page = lambda items, query, path, wrap=None: send_page(items, {**query, "per_page": "30"}, path, wrap)
    for number in range(1, 142):
        scene.gh.add_comment(7, own() if number == 127 else f"remark {number}", *((BOT, "Bot") if number == 127 else ()))

    scene.publish(report_of(comment="new"))

    assert len(scene.gh.comments) == 141
    assert scene.own_bodies == [own("new", run=42)]


def test_a_first_report_among_300_comments_stays_within_the_request_budget(scene: Scene) -> None:
    for number in range(300):
        scene.gh.add_comment(7, f"remark {number}")

    scene.publish(report_of(annotations=250))

    assert len(scene.own_bodies) == 1
    assert len(scene.gh.log) <= 15


def test_somebody_else_s_comment_with_our_marker_is_left_alone(scene: Scene) -> None:
    scene.gh.add_comment(7, own("forged"), "mallory", "User")

    scene.publish(report_of(comment="true"))

    assert scene.bodies == [own("forged"), own("true", run=42)]


def test_a_marker_quoted_within_a_comment_is_no_marker(scene: Scene) -> None:
    scene.gh.add_comment(7, f"See this:\n{own('quoted')}", BOT, "Bot")

    scene.publish(report_of(comment="true"))

    assert len(scene.bodies) == 2


def test_a_token_of_one_s_own_edits_its_own_comment(tmp_path: Path) -> None:
    with scene_of(tmp_path, login="release-robot") as scene:
        scene.publish(report_of(comment="one"), run=1)
        scene.publish(report_of(comment="two"), run=2)

        assert scene.bodies == [own("two", run=2)]


def test_a_hidden_comment_is_not_revived(scene: Scene) -> None:
    hidden = scene.gh.add_comment(7, own("hidden"), BOT, "Bot")
    hidden["minimized"] = {"reason": "OUTDATED"}

    scene.publish(report_of(comment="new"))

    assert scene.bodies == [own("hidden"), own("new", run=42)]


def test_two_keys_stand_side_by_side(scene: Scene) -> None:
    for run in (1, 2):
        for key in ("", "travel", "billing"):
            scene.publish(report_of(comment=f"{key} {run}"), run=run, settings=PublishSettings(key=key))

    assert [body.split("\n")[1] for body in scene.bodies] == [" 2", "travel 2", "billing 2"]


def test_an_older_run_does_not_overwrite_a_newer_one(scene: Scene) -> None:
    scene.publish(report_of(comment="newer"), run=50)
    late = scene.publish(report_of(comment="older"), run=49)

    assert scene.bodies == [own("newer", run=50)]
    assert late.complete
    assert [notice.code for notice in late.notices] == ["comment_left_alone"]


def test_a_rerun_overwrites_its_first_attempt_and_not_the_other_way_round(scene: Scene) -> None:
    scene.publish(report_of(comment="second try"), run=50, attempt=2)
    scene.publish(report_of(comment="first try"), run=50, attempt=1)
    assert scene.bodies == [own("second try", run=50, attempt=2)]

    scene.publish(report_of(comment="third try"), run=50, attempt=3)
    assert scene.bodies == [own("third try", run=50, attempt=3)]


@pytest.mark.parametrize("newer_has_the_lower_id", [True, False])
def test_of_two_comments_created_at_once_one_remains_with_the_newest_text(scene: Scene, newer_has_the_lower_id: bool) -> None:
    mine, other = (50, 49) if newer_has_the_lower_id else (49, 50)
    create = scene.gh.do_issues_create_comment

    def create_after_another_run(args: dict[str, str], query: dict[str, str], body: dict[str, str]) -> tuple[int, object]:
        answer = create(args, query, body)
        scene.gh.add_comment(7, own("other", run=other), BOT, "Bot")
        return answer

    scene.gh.do_issues_create_comment = create_after_another_run
    scene.publish(report_of(comment="mine"), run=mine)
    if not newer_has_the_lower_id:  # the other run looks after its own newer comment
        scene.publish(report_of(comment="other"), run=other)

    assert scene.bodies == [own("mine" if newer_has_the_lower_id else "other", run=50)]


def test_a_comment_created_just_before_ours_is_kept_and_gets_our_newer_text(scene: Scene) -> None:
    create = scene.gh.do_issues_create_comment

    def create_just_after_another_run(args: dict[str, str], query: dict[str, str], body: dict[str, str]) -> tuple[int, object]:
        scene.gh.add_comment(7, own("older", run=41), BOT, "Bot")
        return create(args, query, body)

    scene.gh.do_issues_create_comment = create_just_after_another_run
    scene.publish(report_of(comment="newer"), run=42)

    assert scene.bodies == [own("newer", run=42)]


def test_runs_that_really_start_together_leave_one_comment(scene: Scene) -> None:
    runs = [threading.Thread(target=scene.publish, args=(report_of(comment=f"run {n}"),), kwargs={"run": n}) for n in (60, 61)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()

    assert scene.own_bodies == [own("run 61", run=61)]


def test_a_lost_answer_makes_no_second_comment(scene: Scene) -> None:
    scene.gh.fail("POST", r"/issues/7/comments$", status=502, times=1, after=True)

    publication = scene.publish(report_of(comment="once"))

    assert scene.bodies == [own("once", run=42)]
    assert publication.complete
    assert scene.asked.count("POST /issues/7/comments") == 1


def test_a_create_that_did_not_happen_is_tried_once_more_after_looking(scene: Scene) -> None:
    scene.gh.fail("POST", r"/issues/7/comments$", status=502, times=1)

    scene.publish(report_of(comment="once"))

    assert scene.bodies == [own("once", run=42)]
    posts = [number for number, line in enumerate(scene.asked) if line == "POST /issues/7/comments"]
    assert "GET /issues/7/comments" in scene.asked[posts[0] : posts[1]]


def test_a_connection_cut_after_the_edit_is_repeated_without_harm(scene: Scene) -> None:
    scene.gh.add_comment(7, own(), BOT, "Bot")
    scene.gh.fail("PATCH", r"/issues/comments/", times=1, after=True)

    publication = scene.publish(report_of(comment="new"))

    assert scene.bodies == [own("new", run=42)]
    assert publication.complete


def test_a_comment_deleted_while_we_look_is_created_again(scene: Scene) -> None:
    scene.gh.add_comment(7, own(), BOT, "Bot")
    scene.gh.fail("PATCH", r"/issues/comments/", status=404, times=1, body={"message": "Not Found"})

    scene.publish(report_of(comment="new"))

    assert own("new", run=42) in scene.bodies


def test_the_head_that_moved_meanwhile_is_named(scene: Scene) -> None:
    scene.gh.pulls[7]["head"]["sha"] = NEWER

    scene.publish(report_of(comment="about the older commit"))

    assert "This report is about commit `aaaaaaaaaa`; the pull request has moved on to `dddddddddd` since." in scene.bodies[0]
    assert "about the older commit" in scene.bodies[0]


def test_the_report_of_the_newer_head_is_not_overwritten(scene: Scene) -> None:
    scene.gh.pulls[7]["head"]["sha"] = NEWER
    scene.gh.add_comment(7, own("newer commit", run=41, head=NEWER), BOT, "Bot")

    late = scene.publish(report_of(comment="older commit"), run=42)

    assert scene.bodies == [own("newer commit", run=41, head=NEWER)]
    assert late.complete


def test_a_closed_pull_request_still_gets_its_report(scene: Scene) -> None:
    scene.gh.pulls[7]["state"] = "closed"

    assert scene.publish().complete
    assert len(scene.own_bodies) == 1


def test_sixty_thousand_bytes_of_emoji_are_accepted(scene: Scene) -> None:
    report = "🙂" * 15_000

    assert scene.publish(report_of(comment=report)).complete
    assert scene.bodies == [own(report, run=42)]


def test_a_report_too_long_for_the_host_shrinks_to_the_headline_and_a_link(scene: Scene) -> None:
    publication = scene.publish(report_of(comment="x" * 70_000))

    assert publication.complete
    assert scene.bodies == [
        own(
            "No regression found.\n\nThe full report is on [the page of the run](https://github.com/octo/agent/actions/runs/42).",
            run=42,
        )
    ]


@pytest.mark.parametrize("status", [403, 500])
def test_a_second_comment_that_cannot_be_removed_does_not_make_the_first_unwritten(scene: Scene, status: int) -> None:
    scene.publish(run=41)
    scene.gh.add_comment(7, scene.bodies[0], login=BOT, user_type="Bot")
    scene.gh.fail("DELETE", r"/issues/comments/", status=status, times=99)

    publication = scene.publish(run=42)

    assert publication.complete
    assert publication.comment_url is not None
    assert "run=42.1" in scene.bodies[0]
    (notice,) = publication.notices
    assert notice.message == "further comments of ours could not be removed: 1; delete them by hand"
