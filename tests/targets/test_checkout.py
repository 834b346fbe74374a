"""Which two commits, in every situation a clone can be in; and the folders that hold them. Real git throughout."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ci_eval.errors import ConfigError, NoVerdictError
from ci_eval.targets.checkout import (
    EventCommits,
    ResolvedArm,
    ResolvedPair,
    open_checkout,
    open_directory,
    resolve_commits,
)
from tests.targets.repos import PullRequest, Repo, clone, new_repo, pull_request


@pytest.fixture(scope="module")
def pull(tmp_path_factory: pytest.TempPathFactory) -> PullRequest:
    return pull_request(tmp_path_factory.mktemp("pull") / "origin")


def pull_event(pull: PullRequest, *, event: str = "pull_request") -> EventCommits:
    return EventCommits(event=event, head_sha=pull.head, base_sha=pull.base, default_branch="main")


def resolved(
    repo: Repo,
    *,
    baseline: str = "merge-base",
    candidate: str = "head",
    event: EventCommits | None = None,
    may_fetch: bool = True,
) -> ResolvedPair:
    return resolve_commits(repo.door(), baseline=baseline, candidate=candidate, event=event, may_fetch=may_fetch)


def commits(pair: ResolvedPair) -> tuple[str, str]:
    assert pair.baseline is not None
    assert pair.candidate is not None
    return pair.baseline.commit, pair.candidate.commit


def candidate_of(pair: ResolvedPair) -> ResolvedArm:
    assert pair.candidate is not None
    return pair.candidate


def notices(pair: ResolvedPair) -> list[str]:
    return [notice.code for notice in pair.notices]


# Pull requests


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_a_test_merge_is_compared_with_its_first_parent(pull: PullRequest, tmp_path: Path, depth: int | None) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="refs/pull/7/merge", depth=depth)
    pair = resolved(repo, event=pull_event(pull))
    assert commits(pair) == (pull.base, pull.merge)
    assert pair.baseline == ResolvedArm(
        commit=pull.base, description=f"{pull.base[:7]} (what the pull request is merged into)", in_workspace=False
    )
    assert candidate_of(pair).in_workspace
    assert candidate_of(pair).description == f"{pull.head[:7]} merged into {pull.base[:7]} (test merge {pull.merge[:7]})"
    assert notices(pair) == []


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_the_head_itself_is_compared_with_the_merge_base_and_not_with_the_base_that_moved_on(
    pull: PullRequest, tmp_path: Path, depth: int | None
) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="feature", depth=depth)
    pair = resolved(repo, event=pull_event(pull))
    assert commits(pair) == (pull.fork_point, pull.head)
    assert candidate_of(pair).description == f"{pull.head[:7]} (head of the pull request)"


def test_when_the_workspace_is_neither_the_head_is_fetched_and_evaluated_in_a_folder_of_its_own(
    pull: PullRequest, tmp_path: Path
) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="main", depth=1)
    pair = resolved(repo, event=pull_event(pull, event="pull_request_target"))
    assert commits(pair) == (pull.fork_point, pull.head)
    assert not candidate_of(pair).in_workspace
    assert notices(pair) == ["head_moved"]


def test_a_comment_that_names_no_commit_never_compares_main_with_itself(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="main")
    event = EventCommits(event="issue_comment", head_sha=None, base_sha=None, default_branch="main")
    with pytest.raises(ConfigError, match="does not say which commit"):
        resolved(repo, event=event)


def test_a_merge_base_far_behind_is_found_by_deepening(tmp_path: Path) -> None:
    far = pull_request(tmp_path / "origin", base_commits=8, head_commits=60)
    repo = clone(far.origin, tmp_path / "clone", ref="feature", depth=1)
    assert commits(resolved(repo, event=pull_event(far))) == (far.fork_point, far.head)


def test_a_nearer_merge_base_hidden_by_a_shallow_clone_is_not_missed(tmp_path: Path) -> None:
    """The old fork point is two steps from the head, the nearer one at the end of a long branch that the head merged."""
    origin = new_repo(tmp_path / "origin")
    old = origin.commit("v1")
    near = origin.commit("landed", file="other.py")
    origin.git("checkout", "-q", "-b", "long")
    origin.commits("on the long branch", 60)
    origin.git("checkout", "-q", "-b", "feature", old)
    origin.commit("feature")
    origin.git("merge", "-q", "--no-ff", "-m", "update", "long")
    head = origin.git("rev-parse", "HEAD")
    origin.git("checkout", "-q", "main")
    base = origin.commit("landed later", file="other.py")
    event = EventCommits(event="pull_request", head_sha=head, base_sha=base)
    for depth in (1, 3):
        repo = clone(origin, tmp_path / f"clone-{depth}", ref="feature", depth=depth)
        assert commits(resolved(repo, event=event)) == (near, head)


def test_a_commit_that_cannot_be_had_is_no_verdict_and_names_the_setting(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="refs/pull/7/merge", depth=1)
    repo.git("remote", "set-url", "origin", "file:///nowhere/at/all")
    with pytest.raises(NoVerdictError, match=f"commit {pull.base} is not in this clone") as caught:
        resolved(repo, event=pull_event(pull))
    assert "fetch-depth: 0" in str(caught.value)


def test_nothing_is_fetched_where_that_is_switched_off(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="refs/pull/7/merge", depth=1)
    with pytest.raises(NoVerdictError, match="fetching is switched off"):
        resolved(repo, event=pull_event(pull), may_fetch=False)


def test_a_whole_clone_is_not_made_shallow_by_a_fetch(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="main")
    resolved(repo, event=pull_event(pull))
    assert repo.git("rev-parse", "--is-shallow-repository") == "false"


# Pushes and merge groups


def test_a_push_compares_after_with_before(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="main", depth=1)
    event = EventCommits(event="push", head_sha=pull.base, base_sha=pull.fork_point, default_branch="main")
    pair = resolved(repo, event=event)
    assert commits(pair) == (pull.fork_point, pull.base)
    assert pair.baseline is not None
    assert pair.baseline.description == f"{pull.fork_point[:7]} (before the push)"


@pytest.mark.parametrize("before", ["0" * 40, "1" * 40], ids=["a new branch", "a commit that is gone"])
def test_a_push_without_a_before_is_compared_with_the_default_branch(pull: PullRequest, tmp_path: Path, before: str) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="feature", depth=1)
    event = EventCommits(event="push", head_sha=pull.head, base_sha=before, default_branch="main")
    pair = resolved(repo, event=event)
    assert (commits(pair), notices(pair)) == ((pull.fork_point, pull.head), ["before_unknown"])


def test_a_merge_group_compares_its_head_with_its_base(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="refs/pull/7/merge", depth=1)
    event = EventCommits(event="merge_group", head_sha=pull.merge, base_sha=pull.base)
    assert commits(resolved(repo, event=event)) == (pull.base, pull.merge)


# At home


def test_on_a_branch_the_working_tree_is_compared_with_the_merge_base(pull: PullRequest) -> None:
    pull.origin.git("checkout", "-q", "feature")
    pair = resolved(pull.origin)
    pull.origin.git("checkout", "-q", "main")
    assert commits(pair) == (pull.fork_point, pull.head)
    assert candidate_of(pair).description == f"working tree at {pull.head[:7]}"


def test_uncommitted_changes_are_in_the_candidate_and_said_to_be(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    first = repo.commit("v1")
    (repo.path / "agent.py").write_text("v2")
    pair = resolved(repo)
    assert commits(pair) == (first, first)
    assert candidate_of(pair).description == f"working tree at {first[:7]}, with uncommitted changes"
    assert pair.baseline is not None
    assert pair.baseline.description == f"{first[:7]} (HEAD, without the uncommitted changes)"
    assert notices(pair) == []


def test_on_a_clean_main_the_last_commit_is_compared_with_its_parent(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    first, second = repo.commit("v1"), repo.commit("v2")
    (repo.path / "untracked.txt").write_text("of no account")
    pair = resolved(repo)
    assert (commits(pair), notices(pair)) == ((first, second), ["parent_as_baseline"])


@pytest.mark.parametrize(("baseline", "candidate"), [("v1", "head"), ("HEAD~1", "head"), ("main", "feature"), ("head", "head")])
def test_any_name_of_a_commit_will_do(tmp_path: Path, baseline: str, candidate: str) -> None:
    repo = new_repo(tmp_path / "repo")
    first = repo.commit("one")
    repo.git("tag", "v1")
    repo.git("checkout", "-q", "-b", "feature")
    second = repo.commit("two")
    pair = resolved(repo, baseline=baseline, candidate=candidate)
    expected = (second, second) if baseline == "head" else (first, second)
    assert commits(pair) == expected
    assert candidate_of(pair).in_workspace == (candidate == "head")
    assert notices(pair) == (["same_commit"] if baseline == "head" else [])


def test_a_branch_that_only_the_server_has_is_fetched(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="main", depth=1)
    assert commits(resolved(repo, baseline="feature")) == (pull.head, pull.base)
    assert commits(resolved(repo, baseline="HEAD~2")) == (pull.fork_point, pull.base)


def test_an_arm_that_is_no_commit_is_left_alone(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    only = repo.commit("the only commit")
    pair = resolve_commits(repo.door(), baseline=None)
    assert pair.baseline is None
    assert candidate_of(pair).commit == only


@pytest.mark.parametrize("ref", ["--upload-pack=touch /tmp/x", "main:other", "+main", "a b", "", "*", "x\ny"])
def test_what_is_no_name_never_reaches_git(tmp_path: Path, ref: str) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("v1")
    with pytest.raises(ConfigError, match=r"baseline\.ref: .* is no name of a commit"):
        resolved(repo, baseline=ref)


def test_a_name_nobody_knows_is_an_error_with_the_key_and_gits_reason(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="main", depth=1)
    with pytest.raises(ConfigError, match=r"baseline\.ref: there is no commit nope .*couldn't find remote ref nope"):
        resolved(repo, baseline="nope")


def test_the_first_commit_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit("v1")
    with pytest.raises(ConfigError, match="is the first commit"):
        resolved(repo)


def test_a_repository_without_a_commit_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no commit yet"):
        resolved(new_repo(tmp_path / "repo"))


def test_a_repository_without_a_known_default_branch_asks_for_one(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo", branch="trunk")
    repo.commit("v1")
    with pytest.raises(ConfigError, match="none of origin/HEAD, origin/main"):
        resolved(repo)


def test_a_folder_without_git_is_told_to_name_directories(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not in a git repository") as caught:
        resolved(Repo(tmp_path))
    assert "directory:" in str(caught.value)


# Folders


def test_both_arms_stand_side_by_side_and_the_worktree_is_gone_afterwards(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="refs/pull/7/merge", depth=1)
    scratch = tmp_path / "scratch"
    pair = resolved(repo, event=pull_event(pull))
    assert pair.baseline is not None
    with (
        open_checkout(repo.door(), pair.baseline, name="baseline", scratch=scratch) as baseline,
        open_checkout(repo.door(), candidate_of(pair), name="candidate", scratch=scratch) as candidate,
    ):
        assert (baseline.path / "agent.py").read_text() == "v1"
        assert (candidate.path / "agent.py").read_text() == "feature"
        assert candidate.path == repo.path
        assert scratch in baseline.path.parents
        (baseline.path / "left behind").write_text("x")
    assert list(scratch.iterdir()) == []
    assert len(repo.git("worktree", "list").splitlines()) == 1
    assert repo.git("status", "--porcelain") == ""


def test_a_worktree_is_removed_also_when_the_run_breaks(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    arm = ResolvedArm(commit=repo.commit("v1"), description="v1")
    with pytest.raises(RuntimeError), open_checkout(repo.door(), arm, name="baseline", scratch=tmp_path / "scratch"):
        raise RuntimeError
    assert list((tmp_path / "scratch").iterdir()) == []


def test_in_a_subfolder_of_the_repository_the_arm_is_that_subfolder(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    without = repo.commit("x", file="readme")
    arm = ResolvedArm(commit=repo.commit("v1", file="packages/agent/agent.py"), description="v1")
    git = Repo(repo.path / "packages/agent").door()
    with open_checkout(git, arm, name="baseline", scratch=tmp_path / "scratch") as checkout:
        assert (checkout.path / "agent.py").read_text() == "v1"
    with (
        pytest.raises(NoVerdictError, match="has no folder packages/agent"),
        open_checkout(git, replace(arm, commit=without), name="baseline", scratch=tmp_path / "scratch"),
    ):
        pass


def test_hooks_and_monitors_of_the_repository_do_not_run(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    first = repo.commit("v1")
    repo.commit("v2")
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho sprung >> {tmp_path}/sprung\n")
    trap.chmod(0o755)
    (repo.path / ".git/hooks/post-checkout").write_text(trap.read_text())
    (repo.path / ".git/hooks/post-checkout").chmod(0o755)
    repo.git("config", "core.fsmonitor", str(trap))
    resolved(repo)
    with open_checkout(repo.door(), ResolvedArm(commit=first, description="v1"), name="baseline", scratch=tmp_path / "scratch"):
        pass
    assert not (tmp_path / "sprung").exists()


def test_submodules_and_lfs_pointers_are_noticed(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.commit('[submodule "x"]\n', file=".gitmodules")
    repo.commit("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n", file="model.bin")
    arm = ResolvedArm(commit=repo.commit("*.bin filter=lfs\n", file=".gitattributes"), description="v1")
    repo.git("config", "filter.lfs.process", "git-lfs-that-is-not-here filter-process")
    repo.git("config", "filter.lfs.required", "true")
    with open_checkout(repo.door(), arm, name="baseline", scratch=tmp_path / "scratch") as checkout:
        assert [notice.code for notice in checkout.notices] == ["submodules", "lfs_pointers"]
        assert "model.bin first" in checkout.notices[1].message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_root_leaves_nothing_of_its_own_in_somebody_elses_repository(pull: PullRequest, tmp_path: Path) -> None:
    repo = clone(pull.origin, tmp_path / "clone", ref="refs/pull/7/merge", depth=1)
    for path in (repo.path, *repo.path.rglob("*")):
        os.lchown(path, 1001, 1001)
    pair = resolved(repo, event=pull_event(pull))
    assert pair.baseline is not None
    with open_checkout(repo.door(), pair.baseline, name="baseline", scratch=tmp_path / "scratch"):
        pass
    assert {path.lstat().st_uid for path in repo.path.rglob("*")} == {1001}


def test_a_plain_folder_is_an_arm_too(tmp_path: Path) -> None:
    (tmp_path / "agent-v2").mkdir()
    checkout = open_directory(tmp_path, "agent-v2", field="candidate.directory")
    assert (checkout.path, checkout.description, checkout.commit) == (tmp_path / "agent-v2", "./agent-v2", None)


def test_a_folder_that_is_not_there_is_an_error_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"candidate\.directory: agent-v3 is not there"):
        open_directory(tmp_path, "agent-v3", field="candidate.directory")
