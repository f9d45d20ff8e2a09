# SPDX-License-Identifier: Apache-2.0
"""python -m _gpukit_torch --table: prints how each operator is run; --doctor:
says whether PyTorch will run at all."""

import sys

from . import doctor, table

_ACTIONS = {"--table": table.main, "--doctor": doctor.main}


def main(words):
    if not words or words[0] not in _ACTIONS or words[1:] not in (
            [], ["--json"]):
        sys.stderr.write("usage: gpukit fake -- python -m _gpukit_torch "
                         "--table|--doctor [--json]\n")
        return 2
    return _ACTIONS[words[0]](bool(words[1:]))


sys.exit(main(sys.argv[1:]))
