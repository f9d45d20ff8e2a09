"""`python -m gpukit`: the GPUs and the processes on them, once."""

import sys

from gpukit._errors import NVMLError


def main():
    from gpukit.collector import take_snapshots

    try:
        shot = take_snapshots()
    except NVMLError as error:
        print(f"gpukit: {error}", file=sys.stderr)
        return 1
    for gpu in shot.devices:
        print(f"{gpu.index!s:>7}  {gpu.name}  {gpu.memory_usage}  "
              f"{gpu.gpu_utilization}%  {gpu.temperature}C  "
              f"{gpu.power_status}")
    for process in shot.gpu_processes:
        print(f"{process.pid:>7}  {process.username}  gpu "
              f"{process.device.index}  {process.gpu_memory_human}  "
              f"{process.running_time_human}  {process.command}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
