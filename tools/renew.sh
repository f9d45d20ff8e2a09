#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds, then writes again what people and tests read of the tables, after a
# change of a table. No build runs it; tests compare.
set -eu
cd "$(dirname "$0")/.."
ninja -C "${GPUKIT_BUILD:-build}" --quiet >&2
python3 tools/stat-schema.py
python3 tests/abi/libgpukit.py
python3 tools/coverage-page.py
