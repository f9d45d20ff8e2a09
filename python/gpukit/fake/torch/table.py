# SPDX-License-Identifier: Apache-2.0
"""Lists how each PyTorch operator with a GPU kernel is run.

cpu        by PyTorch's kernel for the CPU, on the bytes of the made-up GPU
composite  by the operators of which it consists, which are in this table
own        by one of gpukit's kernels
cuda       by CUDA's own code, which needs no GPU
refused    not run: it raises an error with its name and the reason
"""

import json
import os
import sys

FATES = ("cpu", "composite", "own", "cuda", "refused")


def rows():
    """Returns the rows as dictionaries: key, operator, fate, reason."""
    from . import install

    text = install.table()
    if text is None:
        raise RuntimeError("the table needs a running PyTorch: on a made-up "
                           "machine, gpukit fake -- python -m ...")
    names = ("key", "operator", "fate", "reason")
    return sorted((dict(zip(names, line.split("\t")))
                   for line in text.splitlines()),
                  key=lambda row: (row["key"], row["operator"]))


def _beside(library):
    return os.path.join(os.path.dirname(library), "refused.json")


def keep(library):
    """Writes the refused rows to a file beside the built library, only once,
    for readers that do not run PyTorch."""
    path = _beside(library)
    if os.path.exists(path):
        return
    try:
        beside = f"{path}.{os.getpid()}"
        with open(beside, "w", encoding="utf-8") as f:
            json.dump([row for row in rows() if row["fate"] == "refused"], f)
        os.replace(beside, path)
    except OSError:
        pass  # this user may not write there, or the disk is full


def kept(library):
    """Returns the refused rows, or None if they have not been written yet."""
    try:
        with open(_beside(library), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def text(found):
    """Returns the rows as text, and then how many rows each fate has."""
    lines = [f'{row["key"]:17} {row["fate"]:10} {row["operator"]}'
             + (f': {row["reason"]}' if row["reason"] else "")
             for row in found]
    for key in sorted({row["key"] for row in found}):
        counts = [sum(row["key"] == key and row["fate"] == fate
                      for row in found) for fate in FATES]
        lines.append(f"{key}: " + ", ".join(
            f"{count} {fate}" for fate, count in zip(FATES, counts) if count))
    return "\n".join(lines)


def main(as_json):
    import torch  # noqa: F401 - installs the operators of the table

    try:
        found = rows()
    except RuntimeError as error:
        sys.stderr.write(f"gpukit: {error}\n")
        return 1
    print(json.dumps(found, indent=1) if as_json else text(found))
    return 0
