"""The door to GitHub: what is waited for, what is repeated, what never is."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.clients.base import HostError, HostTrouble
from ci_eval.clients.github_client import GitHubHost
from tests.fakes.fake_github import FakeGitHub
from tests.publish.publishing import BASE, HEAD, Clock, host_of


@pytest.fixture
def gh() -> Iterator[FakeGitHub]:
    with FakeGitHub(repo="octo/agent") as gh:
        gh.add_pull(7, head_sha=HEAD, base_sha=BASE)
        yield gh
        assert not gh.violations


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def host(gh: FakeGitHub, clock: Clock) -> GitHubHost:
    return host_of(gh, clock)


def trouble_of(host: GitHubHost) -> HostError:
    with pytest.raises(HostError) as caught:
        host.create_comment(7, "text")
    return caught.value


def test_a_read_is_repeated_with_growing_pauses(gh: FakeGitHub, host: GitHubHost, clock: Clock) -> None:
    gh.fail("GET", "/comments", status=502, times=3)

    assert host.list_comments(7) == []
    assert clock.slept == [1, 2, 4]


def test_a_read_that_never_succeeds_ends(gh: FakeGitHub, host: GitHubHost) -> None:
    gh.fail("GET", "/pulls/7", times=100, drop=True)

    with pytest.raises(HostError) as caught:
        host.pull_state(7)
    assert caught.value.trouble is HostTrouble.UNREACHABLE


@pytest.mark.parametrize("how", [{"status": 502}, {"drop": True}, {"after": True}])
def test_a_create_without_an_answer_is_not_repeated(
    gh: FakeGitHub, host: GitHubHost, clock: Clock, how: dict[str, object]
) -> None:
    gh.fail("POST", "/comments", times=1, **how)

    assert trouble_of(host).trouble is HostTrouble.LOST
    assert [entry["method"] for entry in gh.log] == ["POST"]
    assert clock.slept == []


def test_a_secondary_limit_is_waited_for_as_long_as_github_says(gh: FakeGitHub, host: GitHubHost, clock: Clock) -> None:
    gh.secondary_limit("POST", "/comments", times=2, retry_after="7")

    host.create_comment(7, "text")

    assert clock.slept == [7, 7]
    assert len(gh.comments) == 1


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_that_names_no_time_is_waited_for_a_minute(gh: FakeGitHub, host: GitHubHost, clock: Clock, status: int) -> None:
    body = {"message": "You have exceeded a secondary rate limit."}
    gh.fail("POST", "/comments", status=status, times=1, body=body)

    host.create_comment(7, "text")

    assert clock.slept == [60]


def test_the_hourly_limit_is_waited_for_until_it_is_reset(gh: FakeGitHub, host: GitHubHost, clock: Clock) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(clock.now) + 90)}
    gh.fail(
        "POST", "/comments", status=403, times=1, headers=headers, body={"message": "API rate limit exceeded for installation."}
    )

    host.create_comment(7, "text")

    assert clock.slept == [91]


def test_a_limit_beyond_our_patience_is_not_waited_for_at_all(gh: FakeGitHub, host: GitHubHost, clock: Clock) -> None:
    gh.secondary_limit("POST", "/comments", times=9, retry_after="3600")

    assert trouble_of(host).trouble is HostTrouble.RATE_LIMIT
    assert clock.slept == []


@pytest.mark.parametrize(
    ("status", "message", "trouble"),
    [
        (401, "Bad credentials", HostTrouble.CREDENTIALS),
        (403, "Resource not accessible by integration", HostTrouble.PERMISSION),
        (403, "Resource not accessible by personal access token", HostTrouble.PERMISSION),
        (403, "Unable to create comment because issue is locked.", HostTrouble.LOCKED),
        (403, "Repository was archived so is read-only.", HostTrouble.LOCKED),
        (404, "Not Found", HostTrouble.NOT_FOUND),
        (410, "Issues are disabled for this repo", HostTrouble.LOCKED),
        (422, "Validation Failed", HostTrouble.INVALID),
    ],
)
def test_a_refusal_is_understood_and_not_repeated(
    gh: FakeGitHub, host: GitHubHost, status: int, message: str, trouble: HostTrouble
) -> None:
    gh.fail("POST", "/comments", status=status, times=1, body={"message": message})

    error = trouble_of(host)

    assert (error.trouble, error.status, error.message) == (trouble, status, message)
    assert len(gh.log) == 1


def test_the_details_of_a_validation_error_are_kept(host: GitHubHost) -> None:
    with pytest.raises(HostError) as caught:
        host.create_comment(7, "x" * 70_000)
    assert caught.value.message == "Validation Failed; Body is too long (maximum is 65536 characters)"


def test_an_answer_that_is_no_json_is_no_exception_of_ours(gh: FakeGitHub, host: GitHubHost) -> None:
    gh._send, send = (
        lambda http, status, body, headers=None: send(http, status, b"<html>proxy</html>", headers, "text/html"),
        gh._send,
    )

    with pytest.raises(HostError):
        host.list_comments(7)


def test_deleting_what_is_gone_is_no_trouble(host: GitHubHost) -> None:
    host.delete_comment(7, 999)


def test_a_deleted_account_is_nobody(gh: FakeGitHub, host: GitHubHost) -> None:
    gh.add_comment(7, "text")["user"] = None

    (comment,) = host.list_comments(7)

    assert (comment.author, comment.by_bot) == ("", False)


def test_we_know_our_login_by_graphql(host: GitHubHost) -> None:
    assert host.viewer() == "github-actions[bot]"


def test_graphql_on_an_enterprise_server_is_beside_the_rest_api() -> None:
    with FakeGitHub(prefix="/api/v3") as gh:
        assert host_of(gh).viewer() == "github-actions[bot]"
        assert gh.log[-1]["path"] == "/api/graphql"


def test_the_token_is_not_shown() -> None:
    assert "ghs_" not in repr(GitHubHost(api_url="https://api.github.com", token="ghs_secret", repository="a/b"))


def test_a_private_certificate_authority_is_trusted_when_handed_in(gh: FakeGitHub, tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    gh._server.socket = server.wrap_socket(gh._server.socket, server_side=True)
    secure = f"https://127.0.0.1:{gh.port}"
    gh.url = secure

    host = host_of(gh)
    host.ca_bundle = str(certificate)
    assert host.pull_state(7).head_sha == HEAD

    with pytest.raises(HostError) as caught:
        host_of(gh).pull_state(7)
    assert caught.value.trouble is HostTrouble.UNREACHABLE


def self_signed(folder: Path) -> Path:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fake")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path
