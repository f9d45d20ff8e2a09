# SPDX-License-Identifier: Apache-2.0
"""Finds the command gpukit; exit handling for `python -m gpukit...`."""

import errno
import os
import sys


def find():
    """Returns the path of the command gpukit, or None: next to this Python,
    where pip puts a user's commands, or on the PATH."""
    import shutil
    import sysconfig

    return (shutil.which("gpukit", path=os.path.dirname(sys.executable))
            or shutil.which("gpukit", path=sysconfig.get_path(
                "scripts", "posix_user"))
            or shutil.which("gpukit"))


def run(name, main):
    """Exits with the status that main() returns. It is not a failure if the
    reader of stdout has closed it (`| head`). A full disk is a failure, which
    is reported in one line."""
    if sys.stdout is None:  # stdout is closed
        print(f"{name}: cannot write the output: {os.strerror(errno.EBADF)}",
              file=sys.stderr)
        sys.exit(1)
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        status = 0
    except KeyboardInterrupt:
        status = 130
    except OSError as error:
        print(f"{name}: cannot write the output: {error.strerror}",
              file=sys.stderr)
        status = 1
    else:
        sys.exit(status)
    # Python flushes stdout at exit, so discard what is still in the buffer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
