#!/bin/sh
# Renew the locked dependencies for every supported Python; needs uv.
set -eu
cd "$(dirname "$0")/.."
export UV_CUSTOM_COMPILE_COMMAND="make lock"
uv pip compile -q --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
  pyproject.toml -o requirements/run.txt
uv pip compile -q --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
  --extra test --extra lint requirements/build.in pyproject.toml -c requirements/run.txt -o requirements/dev.txt
uv pip compile -q --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
  requirements/build.in -o requirements/build.txt
