# SPDX-License-Identifier: MIT
# The course with both backends. The image with the CUDA toolkit runs without a GPU, too; then the
# cpu backend is taken. A smaller one, with the cpu backend alone:
#   docker build --build-arg BASE=ubuntu:24.04 -t inter-block .
ARG BASE=nvidia/cuda:13.0.0-devel-ubuntu24.04
FROM ${BASE}

ENV DEBIAN_FRONTEND=noninteractive
# What lab would install by itself, here once for all runs; and what an editor and a debugger need.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates git python3 python3-venv g++ ninja-build pkg-config catch2 libcli11-dev \
        nlohmann-json3-dev libpng-dev python3-pytest python3-jsonschema clangd gdb \
    && rm -rf /var/lib/apt/lists/*
# Ubuntu 24.04's Meson is too old.
RUN python3 -m venv /opt/meson && /opt/meson/bin/pip install --quiet 'meson>=1.4.0,<2'
ENV PATH=/opt/meson/bin:${PATH}

WORKDIR /course
COPY . /course
RUN ./lab setup --backend cpu
CMD ["./lab", "run"]
