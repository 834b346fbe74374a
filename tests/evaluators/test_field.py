from __future__ import annotations

import pytest
from pydantic import ValidationError

from ci_eval.domain.sample import Sample, Usage
from tests.evaluators.builders import row, said, score_of, spec

REWARD = spec("field", name="reward", path="sample.reward", threshold=1)


@pytest.mark.parametrize(
    ("value", "score", "passed"),
    [
        pytest.param(1.0, 1, True, id="one"),
        pytest.param(0, 0, False, id="zero"),
        pytest.param(True, 1, True, id="true"),
        pytest.param(False, 0, False, id="false"),
    ],
)
def test_a_number_or_boolean_becomes_the_score(value, score, passed) -> None:
    found = score_of(REWARD, row(query="q"), said("x", reward=value))
    assert (found.metric, found.score, found.passed) == ("reward", score, passed)


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        pytest.param("1", "wrong_type", 'sample.reward is the text "1"; a number or boolean was expected', id="text"),
        pytest.param("NaN", "wrong_type", "the text", id="text NaN"),
        pytest.param(float("nan"), "not_finite", "sample.reward is nan, which is no finite number", id="NaN"),
        pytest.param(float("inf"), "not_finite", "is inf", id="infinity"),
        pytest.param(10**400, "not_finite", "is inf", id="beyond a double"),
        pytest.param([1], "wrong_type", "sample.reward is [1]", id="list"),
        pytest.param(0.5, "out_of_range", "sample.reward is 0.5, and reward is declared to be 0 or 1", id="not 0 or 1"),
    ],
)
def test_everything_else_is_an_error_and_never_a_number(value, code, words) -> None:
    found = score_of(REWARD, row(query="q"), said("x", reward=value))
    assert (found.status, found.error_code) == ("error", code)
    assert words in found.reason


@pytest.mark.parametrize("fields", [{}, {"reward": None}])
def test_what_is_not_there_is_skipped_with_its_path(fields) -> None:
    found = score_of(REWARD, row(query="q"), said("x", **fields))
    assert (found.status, found.reason) == ("skipped", "no sample.reward")


def test_the_kind_follows_from_the_threshold_unless_it_is_given() -> None:
    assert REWARD.metrics()[0].kind == "binary"
    share = spec("field", path="sample.share", threshold=0.8).metrics()[0]
    assert (share.kind, share.minimum, share.maximum) == ("score", 0, 1)
    stars = spec("field", path="sample.stars", metric_kind="likert", threshold=4).metrics()[0]
    assert (stars.kind, stars.minimum, stars.maximum, stars.threshold) == ("likert", 1, 5, 4)
    seconds = spec("field", path="sample.latency_ms", metric_kind="ratio").metrics()[0]
    assert (seconds.kind, seconds.direction, seconds.maximum, seconds.threshold) == ("ratio", "lower", None, None)


def test_without_any_setting_the_values_are_0_or_1_and_pass_at_the_better_one() -> None:
    assert spec("field", path="sample.solved").metrics()[0].threshold == 1
    assert spec("field", path="sample.leaked", direction="lower").metrics()[0].threshold == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(
            {"threshold": 4}, "threshold: 4 is not within 0..1; give minimum and maximum", id="beyond the default range"
        ),
        pytest.param(
            {"threshold": 6, "minimum": 1, "maximum": 5}, "threshold: 6 is not within 1..5", id="beyond the declared one"
        ),
        pytest.param({"minimum": 5, "maximum": 1}, "minimum 5 is not below maximum 1", id="upside down"),
        pytest.param({"metric_kind": "binary", "maximum": 3}, "write metric_kind: score", id="binary has its range"),
        pytest.param({"direction": "none", "threshold": 1}, "nothing can pass a threshold", id="no direction"),
        pytest.param({"threshold": float("nan")}, "finite number", id="NaN"),
    ],
)
def test_contradictions_are_refused(options, words) -> None:
    with pytest.raises(ValidationError, match=words):
        spec("field", path="sample.reward", **options)


def test_values_outside_the_declared_range_are_errors_not_clamped() -> None:
    stars = spec("field", path="sample.stars", minimum=1, maximum=5, threshold=4)
    found = score_of(stars, row(query="q"), said("x", stars=7))
    assert (found.error_code, found.reason) == ("out_of_range", "sample.stars is 7, outside the declared range 1..5")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("sample.reward", "reward"),
        ("{{ sample.reward }}", "reward"),
        ("${run.outputs.reward}", "reward"),
        ('sample.scores["policy"]', "policy"),
        ("item.meta.difficulty", "difficulty"),
    ],
)
def test_the_path_names_the_metric(path, name) -> None:
    assert spec("field", path=path).metrics()[0].name == name


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("reward", "write sample.reward or item.reward", id="no root"),
        pytest.param("environ.TOKEN", "no root of a path", id="another root"),
        pytest.param("{{sample.a}} of {{sample.b}}", "one path such as sample.reward", id="two paths"),
        pytest.param("sample.scores[0]", "write name:", id="no name at the end"),
        pytest.param("", "path", id="empty"),
    ],
)
def test_other_paths_are_refused(path, words) -> None:
    with pytest.raises(ValidationError, match=words):
        spec("field", path=path)


def test_facts_of_the_run_are_fields_too() -> None:
    sample = Sample(output_text="x", cost_usd=0.25, usage=Usage(total_tokens=12))
    assert score_of(spec("field", path="sample.cost_usd", metric_kind="ratio"), row(query="q"), sample).score == 0.25
    assert score_of(spec("field", path="sample.usage.total_tokens", metric_kind="count"), row(query="q"), sample).score == 12


def test_a_column_missing_in_every_row_is_told_early_with_near_names() -> None:
    evaluator = spec("field", path="item.prioritty")
    assert evaluator.unusable([row(query="q", priority=1)]) == (
        "{{item.prioritty}} leads nowhere in every case; did you mean priority?"
    )
    assert evaluator.unusable([row(query="q", prioritty=1), row(query="q")]) is None
    assert REWARD.unusable([row(query="q")]) is None  # only a sample can tell
