# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of lt_*_cases.py on a fake machine; test_lt.py starts it. A
case is a function named by a sentence, with the GPUs that it is for and lists
of values of its arguments, each combination of which is one case.
"""

import glob
import importlib
import json
import os
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))

CASES = {}  # (gpu, name): function and arguments
FEW = {}    # those that also run with the library of CUDA 12


def case(*gpus, few=False, **lists):
    def add(function):
        combinations = [{}]
        for key, values in lists.items():
            combinations = [{**before, key: value}
                            for before in combinations for value in values]
        for arguments in combinations:
            name = "-".join([function.__name__,
                             *(str(v).replace(" ", "")
                               for v in arguments.values())])
            for gpu in gpus or ("a100-sxm4-80gb",):
                assert (gpu, name) not in CASES, name
                CASES[gpu, name] = (function, arguments)
                if few:
                    FEW[gpu, name] = CASES[gpu, name]
        return function
    return add


def load():
    """The cases of all files."""
    for path in sorted(glob.glob(os.path.join(HERE, "lt_*_cases.py"))):
        importlib.import_module(os.path.basename(path)[:-3])
    return importlib.import_module("lt_cases")


def main(gpu, major):
    cases = load()
    lt = importlib.import_module("lt_client").Lt(int(major))
    told = {}
    wanted = cases.CASES if major == "13" else cases.FEW
    for (for_gpu, name), (function, arguments) in wanted.items():
        if for_gpu == gpu:
            told[name] = ""
            try:
                function(lt, **arguments)
            except Exception:  # pylint: disable=broad-exception-caught
                told[name] = traceback.format_exc()
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
