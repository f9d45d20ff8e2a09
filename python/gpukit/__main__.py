"""`python -m gpukit`: the GPUs and the processes on them, once."""

import sys

from gpukit._errors import NVMLError


def parse_arguments(arguments=None):
    """What the command line asks for. SystemExit (2) for a wrong one."""
    import argparse

    from gpukit import __version__

    parser = argparse.ArgumentParser(
        prog="python -m gpukit",
        description="Prints the GPUs and the processes on them, once.",
        epilog="exit status: 1 no driver, or another error of it")
    parser.add_argument("--json", action="store_true",
                        help="all values as JSON: bytes, MHz, mW, percent, C; "
                             "null where there is none")
    parser.add_argument("--version", "-V", action="version",
                        version=f"gpukit {__version__}")
    return parser.parse_args(arguments)


def _plain(value):
    """A value as JSON has it."""
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
    """The command; its status: 1 without a driver, or with an error of it."""
    asked = parse_arguments(arguments)
    from gpukit.collector import take_snapshots

    try:
        shot = take_snapshots()
    except NVMLError as error:
        print(f"gpukit: {error}", file=sys.stderr)
        return 1
    _print_json(shot) if asked.json else _print_table(shot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
