#!/bin/sh
# Check action.yml and the workflows with the linters that are installed beside Python's.
set -eu
cd "$(dirname "$0")/.."
check-jsonschema -q --builtin-schema vendor.github-actions action.yml
find .github/workflows examples -path '*workflows*' -name '*.yml' -exec \
  check-jsonschema -q --builtin-schema vendor.github-workflows {} +
check-jsonschema -q --builtin-schema vendor.dependabot .github/dependabot.yml
actionlint -no-color -shellcheck= -pyflakes=
zizmor --offline --no-progress -q --persona auditor .
