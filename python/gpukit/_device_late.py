"""Attributes of Device that cost an import: made when first asked for."""


def _gpu_process():
    from gpukit.process import GpuProcess

    return GpuProcess


def _uuid_pattern():
    """The full UUID of a GPU, of a MIG device, or of one as it was told
    before driver 470, with its instances behind it."""
    import re

    digits = "-".join(f"[0-9A-Fa-f]{{{n}}}" for n in (8, 4, 4, 4, 12))
    old = r"/(?P<GpuInstanceId>\d+)/(?P<ComputeInstanceId>\d+)"
    return re.compile(
        f"^(?P<MigMode>MIG(?=-))?-?(?P<GpuUuid>GPU(?=-))?-?"
        f"(?<=[UG]-)(?P<UUID>{digits})(?(MigMode)(?(GpuUuid){old}))$")


_MAKERS = {"GPU_PROCESS_CLASS": _gpu_process, "UUID_PATTERN": _uuid_pattern}


def make(name):
    """The value of the attribute of this name."""
    return _MAKERS[name]()
