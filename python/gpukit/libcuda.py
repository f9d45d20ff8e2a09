"""The CUDA version of the driver. For libcuda itself there is cuda-python."""

from gpukit.na import NA

__all__ = ["cuDriverGetVersion"]


def cuDriverGetVersion():
    """The highest CUDA version that the driver can, such as 13.0, or NA."""
    from gpukit._errors import NVMLError
    from gpukit.device import Device

    try:
        return Device.cuda_driver_version()
    except NVMLError:
        return NA
