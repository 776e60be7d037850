# The same program as action.yml, as an image that can be pinned by digest.
#   docker build -t gpu-lol-action .
#   docker run --rm -e GITHUB_EVENT_NAME ... gpu-lol-action
# For a hermetic build, give the base image by digest: --build-arg PYTHON_IMAGE=python:3.12-slim@sha256:...
ARG PYTHON_IMAGE=python:3.12-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# The locks first: they change less often than the code.
COPY requirements/ requirements/
RUN python -m venv /opt/gpu-lol \
    && /opt/gpu-lol/bin/pip install --no-deps --require-hashes -r requirements/cloud.txt \
    && python -m venv /opt/build \
    && /opt/build/bin/pip install --no-deps --require-hashes -r requirements/build.txt
COPY LICENSE README.md pyproject.toml ./
COPY templates/ templates/
COPY gpu_lol_action/ gpu_lol_action/
RUN /opt/build/bin/hatchling build --target wheel \
    && /opt/gpu-lol/bin/pip install --no-deps --no-index dist/*.whl

FROM ${PYTHON_IMAGE}
# What SkyPilot and our SSH adapter call. Their versions come with the base image's release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client procps rsync \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/gpu-lol /opt/gpu-lol
ENV PATH=/opt/gpu-lol/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# The user id of GitHub's runners, so that the files which the runner mounts for outputs are writable.
RUN useradd --uid 1001 --create-home gpu-lol
USER 1001
# Exec form: the runner's signals reach the program itself, which then tears down what it started.
ENTRYPOINT ["gpu-lol-action"]
