#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A step of action.yml: installs nvcc of CUDA 13.0 from PyPI, and tells it to link
# the runtime as gpukit's archive, which starts on a made-up machine.
set -euo pipefail
cuda=$RUNNER_TEMP/cuda
python3 -m pip install --quiet --target "$cuda" nvidia-cuda-nvcc==13.0.88 \
	nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
	nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
echo "$cuda/nvidia/cu13/bin" >>"$GITHUB_PATH"
flags="-cudart shared -cudadevrt none -L$RUNNER_TEMP/gpukit/lib/gpukit/fake/cuda13"
echo "NVCC_APPEND_FLAGS=$flags" >>"$GITHUB_ENV"
