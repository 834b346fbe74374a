"""The whole report, looked at as GitHub would show it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.domain.comparison import (
    ArmUsage,
    CaseChange,
    CasePair,
    CaseSets,
    Change,
    Comparison,
    MetricClass,
    Outcome,
    Rule,
    Verdict,
)  # fmt: skip
from ci_eval.domain.message import ToolCall
from ci_eval.domain.notice import Notice
from ci_eval.domain.report import Report
from ci_eval.domain.sample import Failure
from ci_eval.domain.score import Metric, errored, skipped
from ci_eval.errors import InputError, NoVerdictError
from ci_eval.report.render import render_report, write_report
from ci_eval.report.settings import ReportSettings
from ci_eval.report.terminal import render_terminal
from tests.report.fixtures import (
    BLOCKED,
    PASSED,
    QUALITY,
    SETTINGS,
    STEPS,
    SUCCESS,
    broken,
    calls,
    compared,
    comparison,
    estimate,
    expected,
    flipped,
    gated_loss,
    header,
    record,
    score,
    travel_agent,
)  # fmt: skip
from tests.report.markdown_reader import Page, assert_is_harmless

OWN_LINKS = frozenset({str(SETTINGS.report_url)})
Golden = Callable[[str, str], None]


def test_a_blocked_merge(matches_golden: Golden) -> None:
    report = render_report(travel_agent(), BLOCKED, SETTINGS)
    matches_golden("comment_blocked.md", report.comment)
    matches_golden("summary_blocked.md", report.summary)
    matches_golden("check_blocked.md", report.check_summary + "\n" + report.check_text)
    matches_golden("comparison_blocked.json", report.comparison_json)
    for text in (report.comment, report.summary, report.check_summary, report.check_text):
        assert_is_harmless(text, own_links=OWN_LINKS)


def test_the_verdict_comes_first_and_says_what_it_means() -> None:
    lines = render_report(travel_agent(), BLOCKED, SETTINGS).comment.splitlines()
    assert lines[0] == "## ❌ Travel agent: regression, merging is blocked"
    assert lines[2].startswith("**`task_success` fell from 84.0 % to 70.0 %")


def test_the_sentence_of_a_rule_gets_its_metric_in_front_when_it_lacks_it() -> None:
    rule = Rule(
        name="must_pass",
        outcome=Outcome.BLOCK,
        sentence="The rate is below its floor of 80.0 %.",
        metric="task_success",
        case_ids=("a|b",),
    )
    verdict = dataclasses.replace(BLOCKED, rules=(rule,))
    assert (
        "**`task_success` — the rate is below its floor of 80.0 %.** Case: `a|b`."
        in render_report(travel_agent(), verdict, SETTINGS).comment
    )


def test_only_the_first_broken_case_is_open() -> None:
    comment = render_report(travel_agent(), BLOCKED, SETTINGS).comment
    assert comment.count("<details open>") == 1
    assert comment.index("<details open>") < comment.index("refund-021")


def test_losses_stand_before_gains() -> None:
    comment = render_report(travel_agent(), BLOCKED, SETTINGS).comment
    assert comment.index("### 8 cases broke") < comment.index("### 1 case was fixed")
    assert Page(comment).tags.count("h3") == 2


def test_a_pass_with_nothing_to_show_is_short() -> None:
    metric = compared(
        SUCCESS,
        estimate(0.84),
        estimate(0.84),
        (0.0, -0.05, 0.05),
        MetricClass.NO_DIFFERENCE,
        gated=True,
        reason="identical_outputs",
    )
    comment = render_report(comparison([metric], identical_outputs=50), PASSED, SETTINGS).comment
    assert comment.startswith("## ✅ Travel agent: no regression found\n")
    assert "### " not in comment
    assert "identical outputs" in comment
    assert "Other changes" not in comment


@pytest.mark.parametrize(
    ("outcome", "headline", "title"),
    [
        (Outcome.PASS, "Improved.", "## ✅ Travel agent: improved"),
        (Outcome.WARN, "No decision: 6 cases are too few.", "## ⚠️ Travel agent: no decision, 6 cases are too few"),
        (Outcome.BLOCK, "Regression: merging is blocked.", "## ❌ Travel agent: regression, merging is blocked"),
        (Outcome.INCOMPLETE, "Evaluation incomplete: no verdict.", "## ⛔ Travel agent: evaluation incomplete, no verdict"),
    ],
)
def test_every_outcome_has_a_title_of_its_own(outcome: Outcome, headline: str, title: str) -> None:
    report = render_report(travel_agent(), Verdict(outcome=outcome, headline=headline, rules=()), SETTINGS)
    assert report.comment.splitlines()[0] == title
    assert report.outcome is outcome
    assert report.headline == headline


def test_the_check_of_an_incomplete_evaluation_can_not_be_taken_for_a_regression() -> None:
    verdict = Verdict(outcome=Outcome.INCOMPLETE, headline="Evaluation incomplete: no verdict.", rules=())
    assert render_report(travel_agent(), verdict, SETTINGS).check_title == "Evaluation incomplete: no verdict"


def test_errors_and_skips_are_told_in_words() -> None:
    metrics = [
        compared(SUCCESS, estimate(1.0, agent_errors=1, skipped=3), estimate(0.9, skipped=3, evaluator_errors=2), (-0.1, -0.2, 0.0),
                 MetricClass.INCONCLUSIVE, gated=True),
    ]  # fmt: skip
    usage = ArmUsage(
        cost_usd=None, tokens=None, latency_median_s=None, latency_p95_s=None, agent_errors=2, infra_errors=1, not_run=0,
        failures={"timeout": 1, "exit_code": 1, "rate_limited": 1},
    )  # fmt: skip
    comment = render_report(comparison(metrics, usage_candidate=usage), PASSED, SETTINGS).comment
    assert "2 agent errors on the candidate (`exit_code` 1×, `timeout` 1×), counted as failures of the agent." in comment
    assert "1 infrastructure error on the candidate, left out, counted against nobody." in comment
    assert "Evaluator errors, left out: `task_success` 2 (baseline 0)." in comment
    assert "Skipped where a metric does not apply: `task_success` 3." in comment


def test_the_commonest_cause_is_told_in_its_own_words() -> None:
    def failed(case_id: str, code: str, message: str) -> CasePair:
        after = record(case_id, failure=Failure(stage="target", code=code, message=message))
        return CasePair(case_id=case_id, baseline=(record(case_id),), candidate=(after,))

    unscored = errored(SUCCESS, "exception", "checks:polite: KeyError: 'x'")
    unknown = skipped(SUCCESS, "no actions: only the text of the answer is known")
    pairs = [
        failed("a", "exception", "KeyError: 'plan'"),
        failed("b", "not_found", "agent has no traige; near names: triage"),
        failed("c", "not_found", "agent has no traige; near names: triage"),
        failed("d", "rate_limited", "429 from the model"),
        CasePair(case_id="e", baseline=(record("e"),), candidate=(record("e", scores={"task_success": unscored}),)),
        CasePair(case_id="f", baseline=(record("f"),), candidate=(record("f", scores={"task_success": unknown}),)),
    ]
    usage = ArmUsage(
        cost_usd=None, tokens=None, latency_median_s=None, latency_p95_s=None, agent_errors=3, infra_errors=1, not_run=0,
        failures={"not_found": 2, "exception": 1, "rate_limited": 1},
    )  # fmt: skip
    metrics = [
        compared(
            SUCCESS, estimate(1.0), estimate(0.9, evaluator_errors=1, skipped=1), (-0.1, -0.2, 0.0), MetricClass.INCONCLUSIVE
        )
    ]
    comment = render_report(comparison(metrics, pairs=pairs, usage_candidate=usage), PASSED, SETTINGS).comment
    assert "counted as failures of the agent. Most often: `agent has no traige; near names: triage`." in comment
    assert "counted against nobody. Most often: `429 from the model`." in comment
    assert "Evaluator errors, left out: `task_success` 1 (baseline 0). Most often: `checks:polite: KeyError: 'x'`." in comment
    assert "`task_success` 1 (baseline 0). Most often: `no actions: only the text of the answer is known`." in comment


def test_a_case_that_was_not_run_is_no_error_and_says_why() -> None:
    unrecorded = Failure(stage="target", code="not_recorded", message="no output is recorded for case a")
    after = dataclasses.replace(record("a"), status="not_run", failure=unrecorded)
    pair = CasePair(case_id="a", baseline=(record("a"),), candidate=(after,))
    usage = ArmUsage(
        cost_usd=None, tokens=None, latency_median_s=None, latency_p95_s=None, agent_errors=0, infra_errors=0, not_run=1
    )
    comment = render_report(comparison([gated_loss(1)], pairs=[pair], usage_candidate=usage), PASSED, SETTINGS).comment
    assert "\n\n1 planned run on the candidate, never started. Most often: `no output is recorded for case a`.\n" in comment
    assert comment.count("Most often") == 1


def test_metrics_that_only_inform_share_one_sentence() -> None:
    def aside(metric: str) -> Rule:
        sentence = "Possible regression, not gated: the mean fell."
        return Rule(name="possible_regression", outcome=Outcome.WARN, sentence=sentence, metric=metric)

    one, two = aside("f1_score"), aside("steps.recall")
    alone = dataclasses.replace(BLOCKED, rules=(*BLOCKED.rules, one))
    assert "`f1_score` — possible regression, not gated: the mean fell." in render_report(travel_agent(), alone, SETTINGS).comment
    several = dataclasses.replace(BLOCKED, rules=(*BLOCKED.rules, one, two))
    comment = render_report(travel_agent(), several, SETTINGS).comment
    assert "Possible regressions in metrics that are not gated: `f1_score`, `steps.recall`." in comment
    assert "the mean fell" not in comment


def test_unknown_usage_has_no_table_and_a_half_known_one_has_a_dash() -> None:
    assert "| cost |" not in render_report(comparison([gated_loss(3)]), BLOCKED, SETTINGS).comment
    known = ArmUsage(
        cost_usd=0.5, tokens=None, latency_median_s=None, latency_p95_s=None, agent_errors=0, infra_errors=0, not_run=0
    )
    comment = render_report(comparison([gated_loss(3)], usage_candidate=known), BLOCKED, SETTINGS).comment
    assert "| cost | – | 0.50 USD | – |" in comment
    assert "| tokens |" not in comment


def test_missing_added_removed_modified_and_flaky_cases_are_listed() -> None:
    sets = CaseSets(paired=("a", "b", "f", "m"), added=("new",), removed=("old",), modified=("other",), missing=("m",))
    changes = [
        CaseChange(case_id="f", metric=SUCCESS.name, change=Change.FLAKY_SAME, baseline=0.5, candidate=0.5, reason=""),
        CaseChange(case_id="a", metric=QUALITY.name, change=Change.MISSING, baseline=4, candidate=None, reason="no context"),
        CaseChange(case_id="b", metric=QUALITY.name, change=Change.DEGRADED, baseline=4, candidate=3.5, reason=""),
    ]
    metrics = [gated_loss(4), compared(QUALITY, estimate(4.0, 4), estimate(3.9, 4), (-0.1, None, None), MetricClass.INCONCLUSIVE)]
    comment = render_report(comparison(metrics, changes, cases=sets), BLOCKED, SETTINGS).comment
    for row in (
        "| 1 | no usable result on at least one arm | `m` |",
        "| 1 | no usable score of `intent_resolution` on one arm | `a` |",
        "| 1 | `intent_resolution` got worse | `b` |",
        "| 1 | flaky to the same degree on both arms | `f` |",
        "| 1 | added: only the candidate has them, not compared | `new` |",
        "| 1 | removed: only the baseline has them, not compared | `old` |",
        "| 1 | modified: same id, other content, not compared | `other` |",
    ):
        assert row in comment
    assert "Other changes in 7 cases" in comment


def test_a_failed_agent_is_shown_with_its_error() -> None:
    change, pair = flipped(
        "r1", SUCCESS, broke=True, reason="the agent failed",
        before=record("r1", scores={SUCCESS.name: score(SUCCESS, 1)}, answer="ok", steps=calls("a")),
        after=record("r1", failure=Failure(stage="target", code="timeout", message="no answer within 60 s")),
    )  # fmt: skip
    comment = render_report(comparison([gated_loss(1)], [change], [pair], paired=1), BLOCKED, SETTINGS).comment
    assert "The candidate gave no answer (`timeout`): `no answer within 60 s`" in comment
    assert "`task_success`: pass → **fail**\n" in comment
    assert "- baseline answered: `ok`" in comment
    assert "candidate answered" not in comment


def test_a_long_traceback_is_shown_with_its_last_line() -> None:
    traceback = (
        "Traceback (most recent call last):\n" + '  File "agent.py", line 3, in plan\n' * 25 + "KeyError: 'the real reason'"
    )
    told = f"the command ended with exit code 1; the end of its stderr:\n{traceback}"
    failed = Failure(stage="target", code="exit_code", message=told)
    change, pair = flipped(
        "r1", SUCCESS, broke=True, reason="the agent failed",
        before=record("r1", scores={SUCCESS.name: score(SUCCESS, 1)}, answer="ok", steps=calls("a")),
        after=dataclasses.replace(record("r1", failure=failed), status="error"),
    )  # fmt: skip
    usage = ArmUsage(
        cost_usd=None, tokens=None, latency_median_s=None, latency_p95_s=None, agent_errors=1, infra_errors=0, not_run=0
    )
    found = comparison([gated_loss(1)], [change], [pair], paired=1, usage_candidate=usage)
    comment = render_report(found, BLOCKED, SETTINGS).comment
    screen = re.sub(r"[│\s]+", " ", render_terminal(found, BLOCKED, SETTINGS, width=100, colour=False))
    for shown in (comment, screen):
        assert shown.count("exit code 1; the end of its stderr: Traceb") == 2  # the commonest cause, and the case
        assert shown.count("KeyError: 'the real reason'") == 2


def test_of_several_trials_the_telling_ones_are_shown_and_named() -> None:
    def trial(number: int, passed: float, answer: str) -> object:
        return record("r1", trial=number, scores={SUCCESS.name: score(SUCCESS, passed, answer)}, answer=answer)

    pair = CasePair(
        case_id="r1", baseline=(trial(0, 0, "b0"), trial(1, 1, "b1")), candidate=(trial(0, 1, "c0"), trial(1, 0, "c1")),  # type: ignore[arg-type] - records
    )  # fmt: skip
    change = CaseChange(case_id="r1", metric=SUCCESS.name, change=Change.DEGRADED, baseline=1.0, candidate=0.5, reason="c1")
    runs = {"baseline": header("baseline", "a", trials=2), "candidate": header("candidate", "b", trials=2)}
    comment = render_report(comparison([gated_loss(1)], [change], [pair], paired=1, **runs), BLOCKED, SETTINGS).comment
    assert "Shown: trial 2 of 2 on the baseline, trial 2 of 2 on the candidate." in comment
    assert "- baseline answered: `b1`\n- candidate answered: `c1`" in comment
    assert "### 1 case got worse" in comment
    assert "`task_success`: pass → **1 of 2 trials pass** · `c1`" in comment


def test_totals_stand_beside_the_pairs_where_those_are_fewer() -> None:
    before = dataclasses.replace(estimate(1.0, 5, passed=8, failed=2), overall=0.8, overall_n=10)
    after = dataclasses.replace(estimate(1.0, 5, passed=5, infra_errors=5), overall=1.0, overall_n=5)
    metrics = [compared(SUCCESS, before, after, (0.0, -0.35, 0.35), MetricClass.INVALID, gated=True, missing=5)]
    comment = render_report(comparison(metrics, paired=5), BLOCKED, SETTINGS).comment
    totals = "`task_success` 80.0 % (8/10) on the baseline, 100.0 % (5/5) on the candidate."
    assert f"Over all cases with a score, compared or not: {totals}" in comment
    changed = [dataclasses.replace(metrics[0], reason="evaluator_changed", result=MetricClass.TOO_FEW_CASES)]
    assert "Over all cases" not in render_report(comparison(changed, paired=5), BLOCKED, SETTINGS).comment
    assert "Over all cases" not in render_report(travel_agent(), BLOCKED, SETTINGS).comment


@pytest.mark.parametrize(
    ("direction", "words"), [("higher", "fail → **pass**"), ("lower", "pass → **fail**"), ("none", "0.00 → **1.00**")]
)
def test_pass_and_fail_follow_the_direction_of_the_metric(direction: str, words: str) -> None:
    metric = dataclasses.replace(SUCCESS, direction=direction, threshold={"higher": 1.0, "lower": 0.0, "none": None}[direction])
    change, pair = flipped(
        "r1", metric, broke=direction == "lower",
        before=record("r1", scores={metric.name: score(metric, 0)}), after=record("r1", scores={metric.name: score(metric, 1)}),
    )  # fmt: skip
    turned = dataclasses.replace(change, baseline=0.0, candidate=1.0)
    moved = compared(metric, estimate(0.0, 1), estimate(1.0, 1), (1.0, None, None), MetricClass.INCONCLUSIVE, gated=True)
    comment = render_report(comparison([moved], [turned], [pair], paired=1), BLOCKED, SETTINGS).comment
    assert f"`task_success`: {words}" in comment


# RPT-01: text of the run within table cells


NASTY_REASONS = {
    "pipe|in|id": "uses `x | y` in code",
    "newline\nid": "first line\nsecond line\r\nthird",
    "html<0.5>": "<b>bold</b> <img src=x onerror=1> <!-- hidden -->",
    "md_with_under_scores": "*stars* _under_ ~~gone~~ [link](https://example.invalid) # head",
    "backslash\\": "ends with backslash \\",
    "star*id": "1. list\n- item\n> quote",
    "mention": "Ask @example-user or @example-org/team; fixes #12, see owner/repo#34 and 0123456789abcdef0123456789abcdef01234567",
    "mail": "mail someone@example.invalid, https://example.invalid/?a=1&b=2, www.example.invalid",
    "close": "</summary></details>\n\n# taken over\n\n```\n</code></pre>",
    "fences": "```\n````\n~~~",
    "marker": "<!-- ci-eval:report:v1 key=x run=1.1 head=abc -->",
    "money": "$a$ and $b$, $$x$$",
    "hidden\u200b\u202eid": "a\u2066b\U000e0041c\ud800d\x1b[31m",
    "command": "::error file=a::x\n##[error]y",
}


def hostile_report() -> Report:
    return render_report(*hostile_parts())


def hostile_parts() -> tuple[Comparison, Verdict, ReportSettings]:
    """Everything that can come from outside says something nasty."""
    stories = []
    for line, (case_id, reason) in enumerate(NASTY_REASONS.items(), start=1):
        stories.append(broken(
            case_id, reason, line=line, answer=reason, query=f"{case_id} {reason}", title=None,
            expected_actions=expected("search"), steps=(ToolCall(name=reason, arguments={case_id: reason}),),
        ))  # fmt: skip
    nasty = Metric(name="a|b<i>@team</i>", evaluator="x", kind="binary", threshold=1)
    shares = [dataclasses.replace(part, name=f"st|eps @x.{part.name.rpartition('.')[2]}") for part in STEPS]
    metrics = [
        gated_loss(len(stories)),
        compared(nasty, estimate(1.0, skipped=1), estimate(0.9, evaluator_errors=1), (-0.1, -0.2, 0.0), MetricClass.INCONCLUSIVE),
        *(compared(share, estimate(0.9), estimate(0.8), (-0.1, -0.2, 0.0), MetricClass.INCONCLUSIVE) for share in shares),
    ]
    changes = [change for change, _ in stories]
    changes += [
        CaseChange(case_id=case_id, metric=nasty.name, change=Change.BROKEN, baseline=1, candidate=0, reason=reason)
        for case_id, reason in NASTY_REASONS.items()
    ]
    ids = tuple(NASTY_REASONS)
    arms = {
        arm: header(
            arm,
            "@team fixes #1 <img src=x>",
            dataset="e|vals/@x.jsonl",
            version="<b>",
            judge="@judge|x",
            environment={"a|@b": "#1"},
        )
        for arm in ("baseline", "candidate")
    }  # type: ignore[arg-type] - both are arms
    compared_runs = comparison(
        metrics, changes, [pair for _, pair in stories], paired=len(stories),
        cases=CaseSets(paired=ids, added=ids, removed=ids, modified=ids, missing=ids[:2]),
        notices=(Notice(code="x", message="@team | <b> #1", count=2, location="@x.jsonl:1"),), **arms,
    )  # fmt: skip
    rules = (
        Rule(name="must_pass", outcome=Outcome.BLOCK, sentence="2 cases that must pass failed.", case_ids=ids),
        Rule(name="threshold", outcome=Outcome.BLOCK, sentence=f"{nasty.name} is below its floor.", metric=nasty.name),
        Rule(name="odd", outcome=Outcome.WARN, sentence="someone slipped @team and <b> | fixes #1 into our words"),
    )
    verdict = Verdict(outcome=Outcome.BLOCK, headline="Blocked: @team <b>.", rules=rules)
    settings = ReportSettings(
        title="@org/team fixes #1 <img src=x> | `x`", repeat_command="echo ```\n</details> @team", report_url=SETTINGS.report_url
    )
    return compared_runs, verdict, settings


def test_nothing_from_outside_comes_alive(matches_golden: Golden) -> None:
    report = hostile_report()
    matches_golden("comment_hostile.md", report.comment)
    for text in (report.comment, report.summary, report.check_summary, report.check_text):
        page = assert_is_harmless(text, own_links=OWN_LINKS)
        for word in ("taken over", "Injected", "example.invalid", "team", "onerror"):
            assert word not in page.text_outside_code


def test_hostile_text_is_shown_as_typed() -> None:
    codes = Page(hostile_report().comment).codes
    assert "uses `x | y` in code" in codes
    assert "first line second line third" in codes
    assert "<b>bold</b> <img src=x onerror=1> <!-- hidden -->" in codes
    assert "*stars* _under_ ~~gone~~ [link](https://example.invalid) # head" in codes
    assert "ends with backslash \\" in codes
    assert "1. list - item > quote" in codes
    assert "pipe|in|id" in codes
    assert (
        "Ask @example-user or @example-org/team; fixes #12, see owner/repo#34 and 0123456789abcdef0123456789abcdef01234567"
        in codes
    )


def test_hostile_annotations_are_one_plain_line_each() -> None:
    annotations = hostile_report().annotations
    assert len(annotations) == len(NASTY_REASONS)
    for annotation in annotations:
        assert len(annotation.title) <= 255
        assert len(annotation.message) <= 4_000
        for text in (annotation.title, annotation.message):
            assert "\n" not in text
            assert "\r" not in text
            assert "\x1b" not in text


# RPT-03: a report longer than a comment may be


def long_report(cases: int, url: str | None = SETTINGS.report_url) -> Report:
    padding = "lorem ipsum dolor sit amet " * 12
    stories = [
        broken(f"row-{i:04d}", f"{i}: {padding}", line=i + 1, answer=f"```\n{padding}\n``` 🧪", query="🧪" * 200)
        for i in range(cases)
    ]  # fmt: skip
    told = comparison([gated_loss(cases)], [change for change, _ in stories], [pair for _, pair in stories], paired=cases)
    return render_report(told, BLOCKED, dataclasses.replace(SETTINGS, report_url=url))


@pytest.fixture(scope="module")
def nine_hundred() -> Report:
    return long_report(900)


def test_nine_hundred_broken_rows_fit_and_say_what_is_missing(nine_hundred: Report) -> None:
    report = nine_hundred
    assert len(report.comment.encode()) <= 60_000
    assert len(report.check_summary.encode()) <= 60_000
    assert len(report.check_text.encode()) <= 60_000
    assert len(report.summary.encode()) <= 1_000_000
    assert report.comment.startswith("## ❌ Travel agent: regression, merging is blocked")
    assert "row-0000" in report.comment
    assert "### 900 cases broke" in report.comment
    page = assert_is_harmless(report.comment, own_links=OWN_LINKS)
    assert "… 880 more broken cases are in the full report: " in page.text_outside_code
    line = next(line for line in report.comment.splitlines() if "880 more" in line)
    before = report.comment[: report.comment.index(line)]
    assert before.count("<details") == before.count("</details>")
    assert "… 700 more broken cases are in `comparison.json`: `row-0200`, " in report.summary


def test_without_a_link_the_reader_is_told_where_the_rest_is() -> None:
    assert (
        "… 10 more broken cases are in the job summary and in `comparison.json`: `row-0020`, `row-0021`, "
        in long_report(30, url=None).comment
    )


def test_the_same_input_gives_the_same_cut(nine_hundred: Report) -> None:
    assert long_report(900) == nine_hundred


def test_the_full_comparison_is_in_the_json(nine_hundred: Report) -> None:
    assert len(json.loads(nine_hundred.comparison_json)["changes"]) == 900


def test_at_most_two_hundred_annotations_are_made(nine_hundred: Report) -> None:
    assert len(nine_hundred.annotations) == 200


def test_blocks_of_the_largest_size_are_left_out_whole() -> None:
    steps = tuple(ToolCall(name="🧪" * 100, arguments={"k": "🧪" * 500}) for _ in range(100))
    stories = [
        broken(f"{i}-" + "🧪" * 300, "🧪" * 3_000, answer="🧪" * 9_000, query="🧪" * 9_000, steps=steps) for i in range(60)
    ]
    told = comparison([gated_loss(60)], [change for change, _ in stories], [pair for _, pair in stories], paired=60)
    report = render_report(told, BLOCKED, SETTINGS)
    assert len(report.comment.encode()) <= 60_000
    assert len(report.summary.encode()) <= 1_000_000
    page = assert_is_harmless(report.comment, own_links=OWN_LINKS)
    shown = page.tags.count("summary") - page.text_outside_code.count("How this was measured")
    assert f"… {60 - shown} more broken cases are" in page.text_outside_code


def test_a_hundred_and_fifty_metrics_and_rules_fit_too() -> None:
    metrics = [
        compared(dataclasses.replace(SUCCESS, name=f"metric_{i}_" + "x" * 150), estimate(1.0), estimate(0.0), (-1.0, -1.0, -0.9),
                 MetricClass.REGRESSED, gated=True)
        for i in range(150)
    ]  # fmt: skip
    rules = tuple(
        Rule(name="threshold", outcome=Outcome.BLOCK, sentence="x " * 500, metric=one.metric.name, case_ids=("c" * 90,) * 30)
        for one in metrics
    )
    report = render_report(comparison(metrics), dataclasses.replace(BLOCKED, rules=rules), SETTINGS)
    for text in (report.comment, report.check_summary, report.check_text):
        assert len(text.encode()) <= 60_000
        assert_is_harmless(text, own_links=OWN_LINKS)
    assert "more reasons are in the full report" in Page(report.comment).text_outside_code


# Annotations


def test_a_broken_case_is_annotated_on_its_row() -> None:
    first = render_report(travel_agent(), BLOCKED, SETTINGS).annotations[0]
    assert (first.path, first.line, first.level) == ("evals/dataset.jsonl", 17, "failure")
    assert first.title == "Case broke: refund-017"
    assert first.message == "task_success: pass before, fail now (2 of 3 expected calls made; missing: confirm_price)"


def test_without_a_blocked_merge_a_broken_case_is_a_warning() -> None:
    assert {one.level for one in render_report(travel_agent(), PASSED, SETTINGS).annotations} == {"warning"}


def test_a_row_without_a_line_is_not_annotated() -> None:
    change, pair = broken("r1", "x", line=None)  # type: ignore[arg-type] - a row of a JSON document
    assert render_report(comparison([gated_loss(1)], [change], [pair], paired=1), BLOCKED, SETTINGS).annotations == ()


# Files


def test_the_files_are_written(tmp_path: Path) -> None:
    report = render_report(travel_agent(), BLOCKED, SETTINGS)
    paths = write_report(report, tmp_path / "a" / "b")
    assert [path.name for path in paths] == ["comment.md", "summary.md", "comparison.json"]
    assert (tmp_path / "a" / "b" / "comment.md").read_text(encoding="utf-8") == report.comment
    assert json.loads((tmp_path / "a" / "b" / "comparison.json").read_text(encoding="utf-8"))["verdict"]["outcome"] == "block"


def test_lone_surrogates_and_control_characters_reach_the_disk(tmp_path: Path) -> None:
    report = hostile_report()
    write_report(report, tmp_path)
    changes = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))["changes"]
    assert {change["reason"] for change in changes} >= {"a\u2066b\U000e0041c\ud800d\x1b[31m"}


def test_a_file_where_the_folder_should_be_is_wrong_input(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="a folder for the report was expected, found a file"):
        write_report(render_report(travel_agent(), BLOCKED, SETTINGS), tmp_path / "out")


def test_a_place_that_can_not_be_written_gives_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "comment.md").mkdir()
    with pytest.raises(NoVerdictError, match="the report can't be written"):
        write_report(render_report(travel_agent(), BLOCKED, SETTINGS), tmp_path)
