# SPDX-License-Identifier: Apache-2.0
"""GPU statistics in training loops: keras, lightning, pytorch_lightning,
tensorboard, which are gpukit's, and utils."""
