# SPDX-License-Identifier: Apache-2.0
"""GPU statistics in training loops: keras, lightning, pytorch_lightning,
tensorboard. Each needs only its own framework."""
