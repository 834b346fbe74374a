"""The environment a user's program is given: a short allow list, and the names that the configuration adds.

In: our full environment and the names under `env:`. Out: a new environment.
A token of GitHub or of the Actions runner never passes, whatever the configuration says. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

PASSED = frozenset({
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV",
    "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
    "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "all_proxy", "http_proxy", "https_proxy", "no_proxy",
    "COMSPEC", "PATHEXT", "SYSTEMROOT",
})  # fmt: skip
"""What any program needs to find its files, its language, the network's proxy and the certificates."""
PASSED_PREFIXES = ("LC_",)

REFUSED = frozenset({"GH_TOKEN", "GH_ENTERPRISE_TOKEN"})
REFUSED_PREFIXES = ("INPUT_", "ACTIONS_", "GITHUB_", "RUNNER_")
"""Inputs hold the token, `ACTIONS_*` the run's own credentials, `GITHUB_*` the paths through which a step steers later ones."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def child_environment(environ: Mapping[str, str], *, names: Sequence[str] = ()) -> dict[str, str]:
    """Take what is allowed from `environ`; a name that is not set there is left out."""
    return {
        name: value
        for name, value in environ.items()
        if (name in PASSED or name.startswith(PASSED_PREFIXES) or name in names) and not is_refused(name)
    }


def is_refused(name: str) -> bool:
    """True for the variables that belong to GitHub and its runner, in any mix of cases."""
    upper = name.upper()
    return upper in REFUSED or upper.startswith(REFUSED_PREFIXES)


def _checked(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of an environment variable; list names only, never values")
        if is_refused(name):
            raise ValueError(
                f"{name} is never passed to the agent: variables of GitHub and its runner hold tokens and the files that steer "
                "later steps. Copy what the agent needs into a variable with a name of your own"
            )
    return names


EnvNames: TypeAlias = Annotated[tuple[str, ...], AfterValidator(_checked)]
"""Names of variables to pass on besides the allow list."""
