"""The one door to git.

In: arguments. Out: what git prints, or GitRefused with its own words.
The repository is not ours: no hook, no monitor, no pager, no prompt, no token on the command line, where `ps` shows it.
Source of the settings: the GitHub page, section 1.3.
"""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ci_eval.errors import NoVerdictError
from ci_eval.targets.environment import child_environment
from ci_eval.targets.processes import clean

TIMEOUT_S = 600
"""For one command; a fetch of a long history is the slowest."""
SETTINGS = (
    "safe.directory=*",  # in a container we are root, and the checkout is somebody else's
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
)
OWN_NAMES = ("GIT_SSH", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME")

_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")


class GitRefused(Exception):
    """git said no; the text is git's own, cleaned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAccess:
    """What a fetch from GitHub needs where the checkout kept no credentials."""

    server_url: str
    """`https://github.com`, or an Enterprise Server."""
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """Runs git in one folder."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)
    """The full environment of ci-eval; git gets the part that it needs."""
    access: FetchAccess | None = None

    def run(self, *arguments: str, settings: tuple[str, ...] = (), with_access: bool = False) -> str:
        """Return what git prints, without the last line end."""
        flags = [word for setting in (*SETTINGS, *settings) for word in ("-c", setting)]
        try:
            finished = subprocess.run(  # noqa: S603 - a fixed program and a list of arguments
                ["git", "--no-pager", *flags, *arguments],  # noqa: S607 - the machine's own git, wherever it is
                cwd=self.folder,
                env=self._environment(with_access=with_access),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=TIMEOUT_S,
            )
        except FileNotFoundError:
            raise NoVerdictError(
                f"git could not be started in {self.folder}", hint="install git, or give the arms as `directory:`"
            ) from None
        except subprocess.TimeoutExpired:
            raise GitRefused(f"git {arguments[0]} took longer than {TIMEOUT_S} s") from None
        if finished.returncode != 0:
            words = clean(finished.stderr.decode("utf-8", "replace")).strip()
            raise GitRefused(_USER_IN_URL.sub("***@", words) or f"git {arguments[0]} ended with {finished.returncode}")
        return finished.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def ask(self, *arguments: str) -> str | None:
        """Return what git prints, or None when it says no."""
        try:
            return self.run(*arguments)
        except GitRefused:
            return None

    def _environment(self, *, with_access: bool) -> dict[str, str]:
        environment = child_environment(self.environ, names=OWN_NAMES)
        environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        environment.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
        if with_access and self.access is not None:
            environment |= _header(self.access)
        return environment


def _header(access: FetchAccess) -> dict[str, str]:
    """The credentials as configuration from the environment; the empty value first drops a header the checkout left."""
    key = f"http.{access.server_url.rstrip('/')}/.extraheader"
    credentials = base64.b64encode(f"x-access-token:{access.token}".encode()).decode("ascii")
    return {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": key,
        "GIT_CONFIG_VALUE_0": "",
        "GIT_CONFIG_KEY_1": key,
        "GIT_CONFIG_VALUE_1": f"AUTHORIZATION: basic {credentials}",
    }
