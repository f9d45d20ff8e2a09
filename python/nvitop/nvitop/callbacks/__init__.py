# SPDX-License-Identifier: Apache-2.0
"""GPU statistics in training loops: keras, lightning, pytorch_lightning,
tensorboard, which are gpukit's, and utils."""

from nvitop import _modules

# nvitop has no such module: if it was installed later, it has replaced the
# package above, but not this one.
_modules.refuse_beside_nvitop()
