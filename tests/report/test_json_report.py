"""`comparison.json`, for programs."""

from __future__ import annotations

import dataclasses
import json
import math

from ci_eval.domain.comparison import Change, MetricClass
from ci_eval.report.json_report import render_json
from tests.report.fixtures import BLOCKED, SUCCESS, broken, compared, comparison, estimate, gated_loss, travel_agent


def written() -> dict[str, object]:
    document = json.loads(render_json(travel_agent(), BLOCKED))
    assert isinstance(document, dict)
    return document


def test_it_says_what_it_is_and_decides_first() -> None:
    assert list(written()) == ["schema_version", "verdict", "metrics", "changes", "cases", "usage", "provenance", "notices"]
    assert written()["schema_version"] == "ci-eval/comparison/v1"


def test_the_configuration_stands_in_the_provenance() -> None:
    document = json.loads(render_json(travel_agent(), BLOCKED, {"gate": {"alpha": 0.05}}))
    assert document["provenance"]["configuration"] == {"gate": {"alpha": 0.05}}


def test_the_verdict_has_its_reasons() -> None:
    verdict = written()["verdict"]
    assert verdict == {
        "outcome": "block",
        "headline": "Regression: merging is blocked.",
        "reasons": [
            {"rule": "statistical", "outcome": "block", "sentence": BLOCKED.rules[0].sentence, "metric": "task_success",
             "case_ids": ["refund-017"]},
        ],
    }  # fmt: skip


def test_a_metric_has_both_arms_the_difference_and_its_class() -> None:
    metric = json.loads(render_json(travel_agent(), BLOCKED))["metrics"][0]
    assert (metric["name"], metric["kind"], metric["gated"], metric["class"], metric["n"]) == (
        "task_success",
        "binary",
        True,
        "regressed",
        50,
    )
    for arm in ("baseline", "candidate"):
        assert {"estimate", "low", "high", "passed", "failed", "errors", "skipped"} <= metric[arm].keys()
    assert {"estimate", "low", "high", "p_regress"} <= metric["difference"].keys()
    assert metric["minimum_detectable"] == 0.12


def test_numbers_are_not_rounded() -> None:
    loss = compared(SUCCESS, estimate(2 / 3, 3), estimate(1 / 3, 3), (-1 / 3, None, None), MetricClass.TOO_FEW_CASES, gated=True)
    metric = json.loads(render_json(comparison([loss]), BLOCKED))["metrics"][0]
    assert metric["difference"]["estimate"] == -1 / 3
    assert metric["baseline"]["estimate"] == 2 / 3


def test_an_interval_without_an_end_has_null_there() -> None:
    open_ended = compared(SUCCESS, estimate(1.0), estimate(0.9), (-0.1, -math.inf, math.inf), MetricClass.INCONCLUSIVE)
    text = render_json(comparison([open_ended]), BLOCKED)
    assert json.loads(text)["metrics"][0]["difference"]["low"] is None
    assert "Infinity" not in text
    assert "NaN" not in text


def test_every_change_and_case_is_there() -> None:
    document = json.loads(render_json(travel_agent(), BLOCKED))
    assert {"case_id", "metric", "change", "baseline", "candidate", "reason"} == document["changes"][0].keys()
    assert [one["change"] for one in document["changes"]].count(Change.BROKEN.value) == 9
    assert {"paired", "added", "removed", "modified", "missing"} <= document["cases"].keys()
    assert document["usage"]["candidate"]["failures"] == {"timeout": 2}
    assert document["provenance"]["baseline"]["source"]["description"] == "4f2c1aa (merge base)"


def test_text_from_outside_stands_unchanged_and_is_valid_utf_8() -> None:
    nasty = "a\ud800\u202e\x00 ä 🧪 </script> \u2028"
    change, pair = broken("r1", nasty)
    text = render_json(comparison([gated_loss(1)], [change], [pair], paired=1), BLOCKED)
    assert json.loads(text.encode("utf-8"))["changes"][0]["reason"] == nasty
    assert "ä 🧪" in text


def test_the_same_comparison_gives_the_same_bytes() -> None:
    one, other = travel_agent(), travel_agent()
    assert render_json(one, BLOCKED) == render_json(other, BLOCKED)
    shuffled = dataclasses.replace(one.usage_candidate, failures={"b": 1, "a": 2})
    sorted_ = dataclasses.replace(one.usage_candidate, failures={"a": 2, "b": 1})
    assert render_json(dataclasses.replace(one, usage_candidate=shuffled), BLOCKED) == render_json(
        dataclasses.replace(one, usage_candidate=sorted_), BLOCKED
    )  # fmt: skip
