# SPDX-License-Identifier: Apache-2.0
"""Selects devices: `python -m gpukit.select --min-free-memory 10GiB`."""

import sys

from gpukit import _core
from gpukit._device_find import _index
from gpukit._errors import NVMLError
from gpukit.device import Device
from gpukit.utils import human2bytes

__all__ = ["select_devices"]

_FORMATS = ("index", "uuid", "device")


def _bytes(size):
    return -1 if size is None else human2bytes(size)


def _leaves(devices):
    return list(dict.fromkeys(leaf for device in devices
                              for leaf in device.to_leaf_devices()))


def select_devices(devices=None, *, format="index", force_index=False,
                   min_count=0, max_count=None, min_free_memory=None,
                   min_total_memory=None, max_gpu_utilization=None,
                   max_memory_utilization=None, tolerance=0,
                   free_accounts=None, sort=True):
    """Returns the devices that meet all conditions, best first: those with the
    most free memory, then those least used.

    devices: the candidates; None: all. format: index, uuid or device; a MIG
    device is given by UUID unless force_index is set. Memory is in bytes or
    text such as "10GiB", utilization and tolerance in percent. free_accounts:
    memory that processes of these users hold counts as free. sort=False: keep
    the order of the devices. Raises ValueError for invalid arguments.
    """
    if format not in _FORMATS:
        raise ValueError(f"format must be one of {', '.join(_FORMATS)}")
    if tolerance < 0 or min_count < 0 or (max_count or 0) < 0:
        raise ValueError("counts and tolerance must not be negative")
    if max_count is not None and max_count < min_count:
        raise ValueError("max_count must not be below min_count")
    leaves = None if devices is None else {
        device._at: device for device in _leaves(devices)}
    if leaves == {} or max_count == 0:
        return []
    wishes = {
        "least": min_count, "most": -1 if max_count is None else max_count,
        "min_free": _bytes(min_free_memory),
        "min_total": _bytes(min_total_memory),
        "max_gpu_util": _percent(max_gpu_utilization),
        "max_mem_util": _percent(max_memory_utilization),
        "tolerance": tolerance, "free_accounts": free_accounts or None,
        "sort": sort}
    if leaves is not None:
        return _told(_core.select(devices=list(leaves), **wishes), leaves.get,
                     format, force_index)
    try:
        return _told(_core.select(**wishes), _device_at, format, force_index)
    except NVMLError:  # without a driver there are no devices
        return []


def _device_at(pair):
    return Device(_index(pair))


def _percent(share):
    return -1 if share is None else share


def _told(pairs, device_at, format, force_index):
    if format == "device":
        return [device_at(pair) for pair in pairs]
    split = any(mig_index >= 0 for _, mig_index in pairs)
    if format == "uuid" or (split and not force_index):
        return [device_at(pair).uuid() for pair in pairs]
    return [_index(pair) for pair in pairs]


def _size(text):
    """Parses a size; argparse shows the function's __name__ in errors."""
    return human2bytes(text)


_size.__name__ = "size"


def parse_arguments(arguments=None):
    """Returns the parsed command line."""
    import argparse

    from gpukit import __version__

    parser = argparse.ArgumentParser(
        prog="python -m gpukit.select",
        description="Prints the devices that meet all conditions, for "
                    "CUDA_VISIBLE_DEVICES.",
        epilog="exit status: 1 no driver, 2 another driver error or a wrong "
               "option, 4 too few devices")
    add = parser.add_argument
    add("--inherit", "-i", nargs="?", default=argparse.SUPPRESS,
        metavar="VALUE",
        help="choose among the devices in CUDA_VISIBLE_DEVICES (or VALUE)")
    add("--account-as-free", nargs="*", metavar="USER", dest="free_accounts",
        help="count these users' memory as free (default: yours)")
    add("--min-count", "-c", type=int, default=0, metavar="N",
        help="at least N devices, or exit with status 4")
    add("--max-count", "-C", type=int, default=None, metavar="N",
        help="at most N devices")
    add("--count", "-n", type=int, default=None, metavar="N",
        help="exactly N devices")
    add("--min-free-memory", "-f", type=_size, metavar="SIZE",
        help="free memory, such as 10GiB")
    add("--min-total-memory", "-t", type=_size, metavar="SIZE",
        help="total memory, such as 10GiB")
    add("--max-gpu-utilization", "-G", type=int, metavar="PERCENT",
        help="highest share of time with a kernel running")
    add("--max-memory-utilization", "-M", type=int, metavar="PERCENT",
        help="highest share of time with memory traffic")
    add("--tolerance", "--tol", type=int, default=0, metavar="PERCENT",
        help="how far a device may miss a limit (default: 0)")
    add("--format", "-O", choices=("index", "uuid"), default="index",
        help="how to print a device (default: index)")
    add("--sep", "--separator", "-s", default=",", metavar="TEXT",
        help="separator of devices (default: a comma)")
    add("--newline", action="store_true", help="one device per line")
    add("--null", "-0", action="store_true", help="a zero byte between devices")
    add("--no-sort", "-S", action="store_false", dest="sort",
        help="keep their order; do not sort the best first")
    add("--version", "-V", action="version", version=f"gpukit {__version__}")
    asked = parser.parse_args(arguments)
    if asked.count is not None:
        asked.min_count = asked.max_count = asked.count
    if asked.free_accounts == []:
        from gpukit import host

        asked.free_accounts = [host.getuser()]
    asked.sep = "\n" if asked.newline else "\0" if asked.null else asked.sep
    _check(parser, asked)
    return asked


def _check(parser, asked):
    """Exits with the command's usage if a number is out of range."""
    for name in ("min_count", "max_count", "max_gpu_utilization",
                 "max_memory_utilization", "tolerance"):
        if (getattr(asked, name) or 0) < 0:
            parser.error(f"--{name.replace('_', '-')} must not be negative")
    if asked.max_count is not None and asked.max_count < asked.min_count:
        parser.error("--max-count must not be below --min-count")


def _inherited(asked):
    if "inherit" not in asked:
        return None
    from gpukit.device import parse_cuda_visible_devices

    parsed = parse_cuda_visible_devices() if asked.inherit is None else \
        parse_cuda_visible_devices(asked.inherit)
    return [Device(index) for index in parsed]


def main(arguments=None):
    """Runs the command and returns its exit status: 1 for no library, 2 for
    another error of the driver, 4 for too few devices."""
    asked = parse_arguments(arguments)
    try:
        Device.count()
        found = select_devices(
            _inherited(asked), format=asked.format,
            min_count=asked.min_count, max_count=asked.max_count,
            min_free_memory=asked.min_free_memory,
            min_total_memory=asked.min_total_memory,
            max_gpu_utilization=asked.max_gpu_utilization,
            max_memory_utilization=asked.max_memory_utilization,
            tolerance=asked.tolerance, free_accounts=asked.free_accounts,
            sort=asked.sort)
    except NVMLError as error:
        print(f"gpukit.select: {error}", file=sys.stderr)
        return 1 if error.value == 12 else 2
    text = asked.sep.join(str(each) for each in found)
    print(text, end="\0" if asked.sep == "\0" else "\n")
    if not sys.stdout.isatty():  # shows the user the chosen devices
        print(f'CUDA_VISIBLE_DEVICES="{",".join(map(str, found))}"',
              file=sys.stderr)
    if len(found) < asked.min_count:
        print(f"gpukit.select: {len(found)} devices, fewer than "
              f"{asked.min_count}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    from gpukit._command import run

    run("gpukit.select", main)
