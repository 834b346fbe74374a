from __future__ import annotations

import pytest
from pydantic import ValidationError

from ci_eval.evaluators.catalog import NAMES, SHORTHAND, SPECS, name_clash, resolve_name, unusable
from tests.evaluators.builders import row, spec


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("f1_score", "f1_score"),
        ("f1", "f1_score"),
        ("F1", "f1_score"),
        (" builtin.f1_score ", "f1_score"),
        ("F1ScoreEvaluator", "f1_score"),
        ("azureai://built-in/evaluators/f1_score", "f1_score"),
        ("azureml://registries/azureml/models/F1Score-Evaluator/versions/3", "f1_score"),
        ("azureml://registries/azureml/evaluators/builtin.tool_call_success/labels/latest", "tool_call_success"),
        ("TaskNavigationEfficiencyEvaluator", "task_navigation_efficiency"),
        ("builtin.task_navigation_efficiency", "task_navigation_efficiency"),
        ("ToolCallSuccess", "tool_call_success"),
        ("ExactMatch", "exact_match"),
        ("PartialMatch", "partial_match"),
        ("exact-match", "exact_match"),
        ("string_check", "string_check"),
        ("python", "python"),
        ("field", "field"),
        ("relevance_of_nothing", None),
        ("", None),
        ("evaluator", None),
    ],
)
def test_every_spelling_of_a_name_is_understood(written, ours) -> None:
    assert resolve_name(written) == ours


def test_every_evaluator_has_its_own_name_and_no_alias_is_taken_twice() -> None:
    kinds = [one.model_fields["kind"].default for one in SPECS]
    assert len(kinds) == len(set(kinds)) == 8
    assert set(NAMES.values()) == set(kinds)
    assert len(NAMES) == len(kinds) + sum(len(one.aliases) for one in SPECS)
    assert set(SHORTHAND) <= set(kinds)


def test_metrics_of_your_own_leave_the_built_in_names_alone() -> None:
    assert name_clash(spec("python", function="checks:exact_match"))
    assert name_clash(spec("field", path="sample.f1"))
    assert name_clash(spec("field", path="sample.reward")) is None
    assert name_clash(spec("exact_match")) is None


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        pytest.param("exact_match", {"case_sensitve": False}, "Extra inputs", id="misspelt option"),
        pytest.param("exact_match", {"name": "my metric"}, "String should match pattern", id="name with a space"),
        pytest.param(
            "exact_match", {"inputs": {"answer": "{{item.a}}"}}, "exact_match takes: response, ground_truth", id="input"
        ),
        pytest.param("exact_match", {"inputs": {"response": "{{sample.output_text"}}, "never closed", id="template"),
        pytest.param("task_navigation_efficiency", {"matching_mode": "exact"}, "exact_match", id="mode"),
        pytest.param("task_navigation_efficiency", {"f1_threshold": 2}, "less than or equal to 1", id="share threshold"),
    ],
)
def test_mistakes_are_refused_with_what_is_allowed(kind, options, words) -> None:
    with pytest.raises(ValidationError, match=words):
        spec(kind, **options)


def test_a_template_without_placeholder_is_told() -> None:
    (told,) = spec("exact_match", inputs={"ground_truth": "answer"}).warnings()
    assert "inputs.ground_truth: 'answer' has no placeholder such as {{item.answer}}" in told


def test_a_fingerprint_changes_with_the_meaning_and_with_nothing_else() -> None:
    plain = spec("exact_match")
    assert plain.fingerprint == spec("exact_match", name="same", case_sensitive=True, threshold=3).fingerprint
    others = [
        spec("exact_match", case_sensitive=False),
        spec("exact_match", inputs={"response": "{{item.x}}"}),
        spec("f1_score"),
        spec("f1_score", threshold=0.6),
        spec("partial_match"),
    ]
    assert len({plain.fingerprint, *(other.fingerprint for other in others)}) == len(others) + 1
    assert all(metric.fingerprint == plain.fingerprint for metric in plain.metrics())


@pytest.mark.parametrize("kind", ["exact_match", "f1_score", "partial_match"])
def test_a_reference_missing_in_every_row_is_told_before_anything_runs(kind) -> None:
    assert unusable(spec(kind), [row(query="q"), row(query="r")]) == "no case of the dataset has ground_truth"
    assert unusable(spec(kind), [row(query="q", grund_truth="x")]).endswith("(is the column grund_truth meant?)")
    assert unusable(spec(kind), [row(query="q"), row(query="r", ground_truth="")]) is None
    mapped = spec(kind, inputs={"ground_truth": "{{item.refrence}}"})
    assert unusable(mapped, [row(query="q", my_reference="x")]).endswith("did you mean my_reference?")


def test_scores_are_shared_between_arms_only_when_the_output_decides_them() -> None:
    assert spec("exact_match").metrics()[0].output_only is True
    assert spec("exact_match", inputs={"ground_truth": "{{item.x}}"}).metrics()[0].output_only is True
    assert spec("exact_match", inputs={"response": "{{sample.summary}}"}).metrics()[0].output_only is False
    assert spec("python", function="a:b").metrics()[0].output_only is False
