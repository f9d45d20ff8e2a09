# SPDX-License-Identifier: Apache-2.0
"""Attributes of Device that are made on first use, because they need an
import."""


def _gpu_process():
    from gpukit.process import GpuProcess

    return GpuProcess


def _uuid_pattern():
    """Matches the full UUID of a GPU or a MIG device. Also matches the UUIDs
    that drivers before 470 gave to MIG devices, which end with the ids of the
    instances."""
    import re

    digits = "-".join(f"[0-9A-Fa-f]{{{n}}}" for n in (8, 4, 4, 4, 12))
    old = r"/(?P<GpuInstanceId>\d+)/(?P<ComputeInstanceId>\d+)"
    return re.compile(
        f"^(?P<MigMode>MIG(?=-))?-?(?P<GpuUuid>GPU(?=-))?-?"
        f"(?<=[UG]-)(?P<UUID>{digits})(?(MigMode)(?(GpuUuid){old}))$")


_MAKERS = {"GPU_PROCESS_CLASS": _gpu_process, "UUID_PATTERN": _uuid_pattern}


def make(name):
    """Returns the value for the attribute with this name."""
    return _MAKERS[name]()
