"""Which steps belong together."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.report.step_alignment import Step, align

STEPS = st.lists(
    st.builds(lambda name, value: Step(name=name, arguments={"k": value}), st.sampled_from("abc"), st.integers(0, 1)), max_size=7
)


@settings(max_examples=150, deadline=None)
@given(STEPS, STEPS, STEPS)
def test_every_step_is_shown_once_and_in_order(reference: list[Step], baseline: list[Step], candidate: list[Step]) -> None:
    groups = align(reference, baseline, candidate)
    assert [group.reference for group in groups if group.reference] == reference
    assert [group.baseline for group in groups if group.baseline] == baseline
    assert [group.candidate for group in groups if group.candidate] == candidate


@settings(max_examples=50, deadline=None)
@given(STEPS, STEPS, STEPS)
def test_only_steps_of_one_name_share_a_line(reference: list[Step], baseline: list[Step], candidate: list[Step]) -> None:
    for group in align(reference, baseline, candidate):
        assert len({step.name for step in (group.reference, group.baseline, group.candidate) if step}) == 1


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_equal_trajectories_have_no_lonely_step(steps: list[Step]) -> None:
    for group in align(steps, steps, steps):
        assert group.reference == group.baseline == group.candidate
