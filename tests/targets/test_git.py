"""The door to git, where it could give something away."""

import base64
import os
from pathlib import Path

import pytest

from ci_eval.targets.git import FetchAccess, Git, GitRefused
from tests.targets.repos import new_repo

ACCESS = FetchAccess(server_url="https://github.com/", token="ghs_secret")


def test_the_token_replaces_the_header_that_the_checkout_left(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    repo.git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic b2xk")
    git = Git(folder=repo.path, environ=dict(os.environ), access=ACCESS)
    header = git.run("config", "--get-urlmatch", "http.extraheader", "https://github.com/o/r", with_access=True)
    assert header == "AUTHORIZATION: basic " + base64.b64encode(b"x-access-token:ghs_secret").decode()


def test_the_token_is_in_no_representation_and_in_no_other_command(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo")
    git = Git(folder=repo.path, environ={**os.environ, "INPUT_TOKEN": "ghs_secret"}, access=ACCESS)
    assert "ghs_secret" not in repr(git)
    assert git.ask("config", "--get-urlmatch", "http.extraheader", "https://github.com/o/r") is None


def test_credentials_in_a_remotes_address_do_not_reach_the_error(tmp_path: Path) -> None:
    git = Git(folder=new_repo(tmp_path / "repo").path, environ=dict(os.environ))
    with pytest.raises(GitRefused) as caught:
        git.run("fetch", "https://me:ghp_secret@127.0.0.1:1/x.git")
    assert "ghp_secret" not in str(caught.value)
