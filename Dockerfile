# The Action's image: two stages, so that neither pip's cache nor build tools travel along.
# The digest is that of 3.12.13-slim-trixie; Dependabot proposes newer ones (docs/release-checklist.md).
FROM python:3.12-slim@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY requirements/run.txt requirements/build.txt requirements/
# Locked dependencies first: this layer changes only with the lock.
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install -q --require-hashes -r requirements/build.txt \
 && python -m venv --without-pip /opt/ci-eval \
 && /opt/build/bin/pip --python /opt/ci-eval/bin/python install -q --require-hashes -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY report_templates report_templates
COPY ci_eval ci_eval
RUN /opt/build/bin/pip wheel -q --no-deps --no-build-isolation --wheel-dir /tmp/wheel . \
 && /opt/build/bin/pip --python /opt/ci-eval/bin/python install -q --no-deps /tmp/wheel/*.whl \
 && find /opt/ci-eval/lib -type d -name tests -prune -exec rm -rf {} + \
 && /opt/ci-eval/bin/python -I -m compileall -q /opt/ci-eval/lib

FROM python:3.12-slim@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="ci-eval" \
      org.opencontainers.image.description="Tells a reviewer whether a change made an AI agent better or worse" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# safe.directory: the checkout belongs to the runner's user while we are root, and git would refuse to read it.
RUN apt-get update -q \
 && apt-get install -q -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory '*'
COPY --from=build /opt/ci-eval /opt/ci-eval
# No USER: GitHub's folders are writable for root only. No WORKDIR: the runner chooses the workspace.
# -I: the working directory is the pull request's own code, and must not be able to replace a module; -u: the log in order.
ENTRYPOINT ["/opt/ci-eval/bin/python", "-I", "-u", "-m", "ci_eval.action"]
