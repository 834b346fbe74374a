"""The settings that every target with a process of its own has: what prepares the checkout, how long, which environment."""

from __future__ import annotations

from pydantic import Field

from ci_eval.log import Redactor, secrets_in
from ci_eval.targets.base import TargetContext, TargetSpec
from ci_eval.targets.environment import EnvNames, child_environment
from ci_eval.targets.setup_command import SetupSettings


class ProcessSpec(TargetSpec):
    """What a configuration may say about any target that starts processes."""

    setup: str | None = Field(default=None, min_length=1)
    """Shell command, run once per arm in its checkout before the first case."""
    timeout_s: float = Field(default=120, gt=0, allow_inf_nan=False)
    """For one case, in seconds."""
    setup_timeout_s: float = Field(default=600, gt=0, allow_inf_nan=False)
    """For the set-up command, and for importing a Python function, in seconds each."""
    env: EnvNames = ()
    """Names of environment variables the agent may see besides PATH, HOME, language, proxies and certificates."""

    def setup_settings(self, context: TargetContext) -> SetupSettings | None:
        """Say what prepares this arm; None when nothing does."""
        if self.setup is None:
            return None
        return SetupSettings(
            command=self.setup,
            folder=context.checkout.path,
            environment=child_environment(context.environ, names=self.env),
            timeout_s=self.setup_timeout_s,
            log=context.setup_log,
            turn=context.setup_turn,
            redact=Redactor(secrets_in(context.environ)),
        )

    def unset_names(self, context: TargetContext) -> str:
        """Say which of the names under `env:` have no value, to be put behind an error message: the usual reason on a fork."""
        unset = [name for name in self.env if not context.environ.get(name)]
        return f" (listed under env, but not set: {', '.join(unset)})" if unset else ""
