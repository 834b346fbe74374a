"""The check run and its annotations."""

from __future__ import annotations

import pytest

from ci_eval.domain.comparison import Outcome
from ci_eval.publish.settings import PublishSettings
from tests.publish.publishing import HEAD, Scene, report_of


def only_check(scene: Scene) -> dict[str, object]:
    (run,) = scene.gh.check_runs.values()
    return dict(run)


@pytest.mark.parametrize(
    ("outcome", "conclusion"),
    [
        (Outcome.PASS, "success"),
        (Outcome.WARN, "neutral"),
        (Outcome.BLOCK, "failure"),
        (Outcome.INCOMPLETE, "failure"),
    ],
)
def test_the_check_is_completed_on_the_head_commit(scene: Scene, outcome: Outcome, conclusion: str) -> None:
    scene.publish(report_of(outcome))

    check = only_check(scene)
    assert (check["name"], check["head_sha"]) == ("ci-eval", HEAD)
    assert (check["status"], check["conclusion"]) == ("completed", conclusion)
    assert check["output"]["title"] == report_of(outcome).headline
    assert scene.asked.count("POST /check-runs") == 1


def test_an_incomplete_evaluation_concludes_as_set(scene: Scene) -> None:
    scene.publish(report_of(Outcome.INCOMPLETE), settings=PublishSettings(incomplete="neutral"))

    assert only_check(scene)["conclusion"] == "neutral"
    assert only_check(scene)["output"]["title"] == "Evaluation incomplete: no verdict."


def test_a_key_stands_in_the_name(scene: Scene) -> None:
    scene.publish(settings=PublishSettings(key="travel", check_name="agent quality"))

    assert only_check(scene)["name"] == "agent quality (travel)"


@pytest.mark.parametrize(("count", "patches"), [(0, 0), (50, 0), (51, 1), (120, 2), (137, 2)])
def test_annotations_go_in_batches_of_fifty(scene: Scene, count: int, patches: int) -> None:
    scene.publish(report_of(annotations=count))

    check = only_check(scene)
    notes = scene.gh.annotations[check["id"]]
    assert [note["start_line"] for note in notes] == list(range(1, count + 1))
    assert scene.asked.count(f"PATCH /check-runs/{check['id']}") == patches
    assert check["output"]["text"] == "Details."


def test_annotations_over_the_limit_are_counted_in_the_open(scene: Scene) -> None:
    scene.publish(report_of(annotations=337))

    check = only_check(scene)
    assert len(scene.gh.annotations[check["id"]]) == 250
    assert check["output"]["summary"] == "The check's report.\n\n250 lines are annotated, and 87 more are not."


def test_a_lost_answer_makes_no_second_check(scene: Scene) -> None:
    scene.gh.fail("POST", r"/check-runs$", times=1, after=True)

    publication = scene.publish(report_of(annotations=60))

    assert publication.complete
    assert len(scene.gh.annotations[only_check(scene)["id"]]) == 60


def test_a_check_that_was_not_made_is_tried_once_more(scene: Scene) -> None:
    scene.gh.fail("POST", r"/check-runs$", times=1)

    assert scene.publish().complete
    only_check(scene)


def test_annotations_whose_answer_was_lost_are_not_sent_twice(scene: Scene) -> None:
    scene.gh.fail("PATCH", r"/check-runs/", times=1, after=True)

    publication = scene.publish(report_of(annotations=120))

    assert len(scene.gh.annotations[only_check(scene)["id"]]) == 100
    assert [notice.message for notice in publication.notices] == ["70 of 120 annotations could not be added to the check run"]
    assert publication.complete


def test_a_check_refused_for_its_content_is_made_without_details_and_annotations(scene: Scene) -> None:
    scene.gh.fail("POST", r"/check-runs$", status=422, times=1, body={"message": "Validation Failed"})

    publication = scene.publish(report_of(Outcome.BLOCK, annotations=3))

    assert only_check(scene)["conclusion"] == "failure"
    assert scene.gh.annotations[only_check(scene)["id"]] == []
    assert publication.notices[0].code == "annotations_left_out"
