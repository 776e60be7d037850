# The same program as action.yml, as an image that can be pinned by digest.
#   docker build -t gpu-lol-action .
#   docker run --rm -e GITHUB_EVENT_NAME ... gpu-lol-action
# `scripts/build-image` builds it without Docker, and without a registry on a base that it makes itself. A release gives
# the base by digest: --build-arg PYTHON_IMAGE=python:3.12-slim@sha256:...
ARG PYTHON_IMAGE=python:3.12-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# The locks first: they change less often than the code. The program's own environment has no pip in it: nothing is
# installed at run time.
COPY requirements/build.txt requirements/cloud.txt requirements/
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --no-deps --require-hashes -r requirements/build.txt \
    && python -m venv --without-pip /opt/gpu-lol \
    && /opt/build/bin/pip --python /opt/gpu-lol/bin/python install --no-deps --require-hashes -r requirements/cloud.txt
COPY LICENSE README.md pyproject.toml ./
COPY requirements/pod.txt requirements/
COPY templates/ templates/
COPY gpu_lol_action/ gpu_lol_action/
# What packages carry for their own developers is an eighth of the program's size, and none of it runs here.
RUN /opt/build/bin/hatchling build --target wheel \
    && /opt/build/bin/pip --python /opt/gpu-lol/bin/python install --no-deps --no-index dist/*.whl \
    && find /opt/gpu-lol -type d -name tests -regex '.*/\(numpy\|pandas\|networkx\)/.*' -prune -exec rm -r {} + \
    && find /opt/gpu-lol -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.h' \) -delete

FROM ${PYTHON_IMAGE}
# What SkyPilot and our SSH adapter call. Their versions come with the base image's release, which the digest pins.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client procps rsync \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1001 --create-home gpu-lol
COPY --from=build /opt/gpu-lol /opt/gpu-lol
ENV PATH=/opt/gpu-lol/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# The user id of GitHub's runners, so that the files which the runner mounts for outputs are writable.
USER 1001
# Exec form: the runner's signals reach the program itself, which then tears down what it started.
ENTRYPOINT ["gpu-lol-action"]
