"""The allow list."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.targets.environment import child_environment

NAMES = st.sampled_from(["INPUT_", "ACTIONS_", "GITHUB_", "RUNNER_", "input_", "Github_"]).flatmap(
    lambda prefix: st.text("ABCXYZ_-", max_size=8).map(lambda rest: prefix + rest)
)


@given(names=st.lists(NAMES, max_size=5))
@settings(deadline=None, max_examples=60)
def test_nothing_of_github_passes_even_if_listed(names: list[str]) -> None:
    environ = dict.fromkeys(names, "secret") | {"PATH": "/bin", "SECRET": "x", "LC_TIME": "C"}
    assert child_environment(environ, names=names) == {"PATH": "/bin", "LC_TIME": "C"}


def test_proxies_and_certificates_pass_in_both_spellings() -> None:
    environ = {"https_proxy": "a", "HTTPS_PROXY": "b", "no_proxy": "c", "SSL_CERT_FILE": "d", "PYTHONPATH": "e", "CI": "true"}
    assert set(child_environment(environ)) == {"https_proxy", "HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE"}


def test_a_listed_name_passes_and_one_that_is_not_set_is_left_out() -> None:
    assert child_environment({"KEY": "k"}, names=("KEY", "OTHER")) == {"KEY": "k"}
