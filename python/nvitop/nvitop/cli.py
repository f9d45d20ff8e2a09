# SPDX-License-Identifier: Apache-2.0
"""The commands nvitop and nvisel."""

import sys

from gpukit import _command
from nvitop.version import __version__

_VERSION = ("--version", "-V")


def main():
    """Becomes `gpukit top` with nvitop's look and options. Without the command
    gpukit, prints the GPUs and the processes on them once."""
    from gpukit import __main__ as gpukit_main

    arguments = sys.argv[1:]
    if arguments and arguments[0] in _VERSION:
        print(f"nvitop {__version__}")
        return 0
    if _command.find():
        arguments = ["--look", "nvitop", *arguments]
    return gpukit_main.main(arguments)


def nvisel():
    """Runs gpukit.select, which has nvisel's options and exit statuses."""
    from gpukit import select

    if sys.argv[1:2] and sys.argv[1] in _VERSION:
        print(f"nvisel {__version__}")
        return 0
    return _command.run("nvisel", select.main)


if __name__ == "__main__":
    sys.exit(main())
