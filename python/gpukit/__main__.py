# SPDX-License-Identifier: Apache-2.0
"""`python -m gpukit`: runs the viewer if the command is installed. Otherwise,
prints the GPUs and the processes on them once."""

import os
import sys

from gpukit import _command
from gpukit._errors import NVMLError


def parse_arguments(arguments=None):
    """Returns the parsed command line; exits with status 2 if it is wrong."""
    import argparse

    from gpukit import __version__

    parser = argparse.ArgumentParser(
        prog="python -m gpukit",
        description="Prints the GPUs and the processes on them once. If "
                    "the command `gpukit` is installed, runs `gpukit top` "
                    "instead, except with the options below.",
        epilog="exit status: 1 no driver, or another driver error")
    parser.add_argument("--json", action="store_true",
                        help="all values as JSON: bytes, MHz, mW, percent, C; "
                             "null for missing values")
    parser.add_argument("--once", "-1", action="store_true",
                        help="the default without the command")
    parser.add_argument("--version", "-V", action="version",
                        version=f"gpukit {__version__}")
    return parser.parse_args(arguments)


def _own(arguments):
    """Whether an option is handled by this module, not by the command."""
    return any(each.startswith("--json") or each in ("--version", "-V")
               for each in arguments)


def _plain(value):
    """Converts a value to one that JSON can represent."""
    if hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return None if value == "N/A" else value


def _items(shot, left_out=()):
    return {name: _plain(value) for name, value in dict(shot).items()
            if name not in left_out}


def _print_json(shot):
    import json

    processes = [{**_items(each, ("device", "host")),
                  "device": each.device.index}
                 for each in shot.gpu_processes]
    print(json.dumps({"devices": [_items(each) for each in shot.devices],
                      "processes": processes}, indent=1))


def _print_table(shot):
    for gpu in shot.devices:
        print(f"{gpu.index!s:>7}  {gpu.name}  {gpu.memory_usage}  "
              f"{gpu.gpu_utilization}%  {gpu.temperature}C  "
              f"{gpu.power_status}")
    for process in shot.gpu_processes:
        print(f"{process.pid:>7}  {process.username}  gpu "
              f"{process.device.index}  {process.gpu_memory_human}  "
              f"{process.running_time_human}  {process.command}")


def main(arguments=None):
    """Runs the command and returns its status: 1 for an NVML error, such as a
    missing driver."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    command = None if _own(arguments) else _command.find()
    if command:
        os.execv(command, [command, "top", *arguments])
    asked = parse_arguments(arguments)
    from gpukit.collector import take_snapshots
    from gpukit.device import Device

    try:
        Device.count()  # raises NVMLError without a driver
        shot = take_snapshots()
    except NVMLError as error:
        print(f"gpukit: {error}", file=sys.stderr)
        return 1
    _print_json(shot) if asked.json else _print_table(shot)
    return 0


if __name__ == "__main__":
    _command.run("gpukit", main)
