#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A step of action.yml: runs COMMANDS on a made-up machine with GPUS, as GitHub
# runs the commands of a step. OPTIONS are words for gpukit fake.
set -euo pipefail
PATH=$RUNNER_TEMP/gpukit/bin:$PATH
script=$(mktemp "$RUNNER_TEMP/gpukit-run.XXXXXX")
printf '%s\n' "$COMMANDS" >"$script"
read -ra options <<<"${OPTIONS:-}"
exec gpukit fake --gpus "$GPUS" "${options[@]}" -- \
	bash --noprofile --norc -eo pipefail "$script"
