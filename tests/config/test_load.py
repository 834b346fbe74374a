"""A configuration is checked whole: every problem at once, each with its place and the nearest right name."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from ci_eval.config.load import LoadedConfig, load_config
from ci_eval.errors import ConfigError, Problem

TODAY = datetime.date(2026, 11, 30)
RECORDED = "baseline: {outputs: a.jsonl}\ncandidate: {outputs: b.jsonl}\n"
GOOD = "dataset: data.jsonl\nevaluators:\n  - exact_match\n" + RECORDED


def load(tmp_path: Path, text: str, *overrides: str) -> LoadedConfig:
    path = tmp_path / "ci-eval.yaml"
    path.write_bytes(text.encode("utf-8"))
    return load_config(path, shown="ci-eval.yaml", overrides=overrides, today=TODAY)


def problems(tmp_path: Path, text: str, *overrides: str) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, *overrides)
    assert caught.value.exit_code == 2
    return list(caught.value.problems)


def test_a_small_file_is_enough(tmp_path: Path) -> None:
    config = load(tmp_path, GOOD).config
    assert config.dataset.path == "data.jsonl"
    assert [spec.kind for spec in config.evaluators] == ["exact_match"]
    assert (config.trials, config.gate.alpha, config.interval_level) == (1, 0.05, 0.90)


def test_misspelt_keys_and_names_are_all_reported_at_once_with_the_nearest_right_spelling(tmp_path: Path) -> None:
    text = (
        "dataset: data.jsonl\n" + RECORDED + "evaluators:\n"
        "  - f1_score: {threshhold: 0.4}\n"
        "  - exact_mach\n"
        "gate:\n"
        "  metrics: [f1_score, partial_match]\n"
        "fail_on_regresion: true\n"
    )
    found = problems(tmp_path, text)
    assert [(p.line, p.field) for p in found] == [
        (5, "evaluators[0].f1_score.threshhold"),
        (6, "evaluators[1]"),
        (8, "gate.metrics[1]"),
        (9, "fail_on_regresion"),
    ]
    assert found[0].hint == "did you mean threshold?"
    assert found[1].hint == "did you mean exact_match?"
    assert "'partial_match'" in found[2].message
    assert "unknown key" in found[3].message


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("", 1, None, "found an empty file"),
        ("- a\n- b\n", 1, None, "found a list"),
        (GOOD + "trials: 0\n", 6, "trials", "greater than or equal to 1"),
        (GOOD + "trials: many\n", 6, "trials", "'many'"),
        (GOOD + "concurrency: 1.5\n", 6, "concurrency", "1.5"),
        (GOOD + "gate: {mode: statistic}\n", 6, "gate.mode", "is not one of"),
        (GOOD + "gate: {alpha: 1.4}\n", 6, "gate.alpha", "1.4"),
        (GOOD + "gate: {metrics: []}\n", 6, "gate.metrics", "at least 1"),
        (GOOD + "metrics: {exact_match: {min_effect: 0.2, equivalence: 0.1}}\n", 6, "metrics.exact_match", "must not be above"),
        (GOOD + "metrics: {exact: {min: 0.2}}\n", 6, "metrics.exact", "no evaluator computes the metric 'exact'"),
        ("dataset: d\nevaluators: []\n" + RECORDED, 2, "evaluators", "at least 1"),
        ("dataset: d\nevaluators: [exact_match, exact_match]\n" + RECORDED, 2, "evaluators[1]", "computed twice"),
        ("dataset: d\nevaluators: [{name: exact_match}]\n" + RECORDED, 2, "evaluators[0]", "without `name:`"),
        ("dataset: d\nevaluators: [{exact_match: 5}]\n" + RECORDED, 2, "evaluators[0]", "`key: value` pairs"),
        ("dataset: d\nevaluators: [7]\n" + RECORDED, 2, "evaluators[0]", "is written `- name`"),
        ("evaluators: [exact_match]\n" + RECORDED, None, "dataset", "is required"),
        ("dataset: d\nevaluators: [exact_match]\n", None, "baseline", "no `target:`"),
        (GOOD.replace("{outputs: a.jsonl}", "{outputs: a, ref: b}"), 4, "baseline", "exactly one"),
        (GOOD.replace("{outputs: a.jsonl}", "{}"), 4, "baseline", "exactly one"),
        (GOOD + "target: {kind: telepathy}\n", 6, "target", "'telepathy'"),
        (GOOD + "target: {function: 'a:b'}\n", 6, "target", "`kind:` is missing"),
        (GOOD + "target: {kind: command, command: x, env: [GITHUB_TOKEN]}\n", 6, "target.env", "never passed to the agent"),
        (GOOD + "gate: {quarantine: [{case: a, until: 2026-11-29, reason: flaky}]}\n", 6, "gate.quarantine[0].until", "ran out"),
        (
            "dataset: d\nevaluators: [field: {path: sample.seconds, metric_kind: ratio}]\n" + RECORDED,
            2, "evaluators", "no evaluator yields a metric of quality",
        ),
        (GOOD + "gate: {metrics: [latency_s], mode: strict}\n", None, "metrics.latency_s.mode", "nothing passes or fails by latency_s"),
        ("dataset: d\nevaluators: [f1_score: {threshold: 1.4}]\n" + RECORDED, 2, "evaluators[0].f1_score.threshold", "1.4"),
        ("dataset: d\nevaluators: [python: {function: 'a:b', name: exact_match}]\n" + RECORDED, 2, "evaluators[0]", "built-in"),
    ],
)  # fmt: skip
def test_a_problem_names_its_place_and_its_cause(
    tmp_path: Path, text: str, line: int | None, field: str | None, words: str
) -> None:
    found = [p for p in problems(tmp_path, text) if words in p.message]
    assert found, [str(p) for p in problems(tmp_path, text)]
    assert (found[0].line, found[0].field) == (line, field)
    assert found[0].file == "ci-eval.yaml"


def test_a_metric_that_is_described_wrongly_is_not_called_unknown_as_well(tmp_path: Path) -> None:
    entries = "evaluators: [exact_match, {field: {name: steps, path: sample.steps, threshold: 5}}]\n"
    text = "dataset: d\n" + entries + RECORDED + "gate: {metrics: [steps]}\nmetrics: {steps: {kind: binary}}\n"
    assert [(p.field, p.message) for p in problems(tmp_path, text)] == [
        ("evaluators[1].field", "threshold: 5 is not within 0..1; give minimum and maximum")
    ]


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    config = load(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n")).config
    assert config.dataset.path == "data.jsonl"
    assert config.candidate.outputs == "b.jsonl"


def test_overrides_reach_any_key_and_are_read_as_yaml(tmp_path: Path) -> None:
    config = load(tmp_path, GOOD, "gate.alpha=0.1", "trials=3", "report.title='Nightly: run'").config
    assert (config.gate.alpha, config.trials, config.report.title) == (0.1, 3, "Nightly: run")


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("gate.alpha", "--set: key=value was expected"),
        ("=1", "--set: key=value was expected"),
        ("gate.alfa=1", "--set gate.alfa: unknown key 'alfa'"),
        ("trails=1", "--set trails: unknown key 'trails'"),
        ("trials=@x", "--set trials: found character '@' that cannot start any token"),
        ("trials=[1, 2", "--set trials: expected ',' or ']'"),
        ("trials.x=1", "--set trials.x: trials holds 2, in which there is no x to set"),
        ("evaluators[4]=f1_score", "--set evaluators[4]: evaluators holds ['exact_match'], in which there is no [4] to set"),
        ("evaluators[0].exact_match.name=x", "evaluators[0] holds 'exact_match', in which there is no exact_match to set"),
        ("trials=many", "--set trials: 'many'"),
        ("gate.metrics[0]=f1_score", "--set gate.metrics[0]: no evaluator computes the metric 'f1_score'"),
        ("gate.metrics=exact_match", "--set gate.metrics: a list was expected, found 'exact_match'"),
    ],
)
def test_a_bad_override_is_named_and_the_file_is_not_blamed_for_it(tmp_path: Path, override: str, words: str) -> None:
    (problem,) = problems(tmp_path, GOOD + "trials: 2\ngate: {metrics: [exact_match]}\n", override)
    assert str(problem).startswith(words) or f": {words}" in str(problem)
    assert problem.file is None


def test_overrides_reach_into_lists(tmp_path: Path) -> None:
    text = GOOD.replace("- exact_match", "- f1_score: {threshold: 0.5}\n  - exact_match")
    (first, second) = load(tmp_path, text, "evaluators[0].f1_score.threshold=0.7", "evaluators.1=partial_match").config.evaluators
    assert (first.kind, first.model_dump()["threshold"], second.kind) == ("f1_score", 0.7, "partial_match")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("target: {kind: python_function, function: a.b}", "`package.module:name` was expected, such as `agent:answer`, found 'a.b'"),
        ("target: {function: 'a:b'}", "`kind:` is missing\n    known: command, python_function"),
        ("gate: {metrics: exact_match}", "a list was expected, found 'exact_match'\n    write ['exact_match']"),
        ("target: {kind: command, command: x, timeout_s: soon}", "'soon': should be a valid number, unable to parse string as a number"),
    ],
)  # fmt: skip
def test_what_was_expected_is_said_in_plain_words(tmp_path: Path, text: str, told: str) -> None:
    assert any(str(problem).endswith(told) for problem in problems(tmp_path, GOOD + text + "\n"))


def test_a_missing_file_names_a_near_one(tmp_path: Path) -> None:
    (tmp_path / "ci-eval.yml").write_text(GOOD)
    with pytest.raises(ConfigError, match=r"ci-eval\.yaml: there is no such configuration file") as caught:
        load_config(tmp_path / "ci-eval.yaml", shown="ci-eval.yaml", today=TODAY)
    assert "ci-eval.yml" in str(caught.value)


def test_peers_names_of_evaluators_are_understood(tmp_path: Path) -> None:
    text = GOOD.replace(
        "- exact_match", "- builtin.task_navigation_efficiency\n  - F1ScoreEvaluator: {threshold: 0.6}\n  - ExactMatch"
    )
    assert [spec.kind for spec in load(tmp_path, text).config.evaluators] == [
        "task_navigation_efficiency",
        "f1_score",
        "exact_match",
    ]


def test_the_digest_follows_the_meaning_and_not_the_spelling(tmp_path: Path) -> None:
    one = load(tmp_path, GOOD)
    assert load(tmp_path, GOOD + "# a remark\ntrials: 1\n").digest == one.digest
    assert load(tmp_path, GOOD + "trials: 2\n").digest != one.digest
