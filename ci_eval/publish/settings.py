"""What a user may say about publishing. Defaults stand here and nowhere else."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

CHECK_NAME = "ci-eval"
IncompleteConclusion: TypeAlias = Literal["failure", "neutral", "action_required"]
"""Never success: no verdict is no pass."""


class PublishSettings(BaseModel):
    """Where the report goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    comment: bool = Field(default=True, description="Write the comment on the pull request.")
    check: bool = Field(default=True, description="Make the check run with annotations.")
    status: Literal["fallback", "always", "never"] = Field(
        default="fallback", description="Set a commit status: when the check run is refused, in any case, or never."
    )
    check_name: str = Field(
        default=CHECK_NAME,
        pattern=r"^[A-Za-z0-9_.:/()-]+(?: [A-Za-z0-9_.:/()-]+)*$",
        max_length=100,
        description="Name of the check run and of the commit status; branch protection refers to it.",
    )
    key: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9_.-]*$",
        max_length=50,
        description="Separates several evaluations of one pull request; each key has a comment and a check of its own.",
    )
    incomplete: IncompleteConclusion = Field(
        default="failure", description="Conclusion of the check when no verdict was reached."
    )

    @property
    def full_check_name(self) -> str:
        """`ci-eval`, or `ci-eval (key)`."""
        return f"{self.check_name} ({self.key})" if self.key else self.check_name
