#!/bin/sh
# Play one pull request: a repository with the agent as it is, a branch with the change, and ci-eval between the two.
# Needs git and ci-eval on the PATH; no key, no network. Ends with 0 when the change was blocked, as it should be.
# Usage: demo.sh [FOLDER FOR THE REPORT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/ci-eval-out}"
out=$(cd "${1:-$here/ci-eval-out}" && pwd)
shown=${out#"$PWD"/}
patch=${here#"$PWD"/}/pull-request.patch
command -v git >/dev/null || { echo "the demo needs git" >&2; exit 2; }
command -v ci-eval >/dev/null || { echo "ci-eval is not on the PATH; run \"make demo\" at the top of the repository" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# A clean environment: neither this machine's git settings nor a surrounding CI job take part in the demo.
alone() {
  env -i PATH="$PATH" HOME="$work" LANG="${LANG:-C.UTF-8}" TERM="${TERM:-dumb}" ${COLUMNS:+COLUMNS="$COLUMNS"} ${NO_COLOR:+NO_COLOR=1} \
    GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Demo GIT_AUTHOR_EMAIL=demo@example.com GIT_COMMITTER_NAME=Demo GIT_COMMITTER_EMAIL=demo@example.com \
    "$@"
}

mkdir "$work/travel-agent"
cp -R "$here/agent" "$here/evals" "$here/.github" "$here/ci-eval.yaml" "$work/travel-agent"
cd "$work/travel-agent"
alone git -c init.defaultBranch=main init -q
alone git add .
alone git commit -q -m "Travel agent"
alone git switch -q -c faster-cancelling
alone git apply "$here/pull-request.patch"
alone git commit -q -a -m "Cancel with one look-up less; understand tomorrow and weekdays"

status=0
alone ci-eval run -c ci-eval.yaml -o "$out" || status=$?

if [ "$status" -ne 1 ]; then
  echo "The demo went wrong: exit code 1 (blocked) was expected, found $status." >&2
  exit 3
fi
cat <<END

What you saw: a pull request that taught the agent "tomorrow" and "this Friday" (two cases fixed) and made cancelling
faster. The faster way no longer reads the fare's rules: it wants to pay back more than the fare allows, and it cancels
tickets without asking although all the money is lost (eight cases broken). ci-eval blocks the merge: exit code 1.

  the change              $patch
  the comment             $shown/comment.md
  the job summary         $shown/summary.md
  all numbers, as JSON    $shown/comparison.json
  every answer, per arm   $shown/baseline.jsonl, candidate.jsonl
END
