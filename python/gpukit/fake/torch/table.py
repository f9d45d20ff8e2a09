"""What becomes of each operator of PyTorch's that has a kernel for GPUs.

cpu        PyTorch's kernel for the CPU runs, on the bytes of the made-up GPU
composite  it is made of other operators, which are in this table
own        a kernel of gpukit's runs
cuda       CUDA's own code runs: it needs no GPU
refused    it is an error that names it, for the reason that stands here
"""

import json
import os
import sys

FATES = ("cpu", "composite", "own", "cuda", "refused")


def rows():
    """All of them, as dictionaries: key, operator, fate, reason."""
    from . import install

    text = install.table()
    if text is None:
        raise RuntimeError("it is made where PyTorch runs: on a made-up "
                           "machine, gpukit fake -- python -m ...")
    names = ("key", "operator", "fate", "reason")
    return sorted((dict(zip(names, line.split("\t")))
                   for line in text.splitlines()),
                  key=lambda row: (row["key"], row["operator"]))


def _beside(library):
    return os.path.join(os.path.dirname(library), "refused.json")


def keep(library):
    """Writes what is refused beside the built library, once, for whoever asks
    without running PyTorch."""
    path = _beside(library)
    if os.path.exists(path):
        return
    try:
        beside = f"{path}.{os.getpid()}"
        with open(beside, "w", encoding="utf-8") as f:
            json.dump([row for row in rows() if row["fate"] == "refused"], f)
        os.replace(beside, path)
    except OSError:
        pass  # it is not ours to write to, or full


def kept(library):
    """The rows that are refused; None: nobody has written them yet."""
    try:
        with open(_beside(library), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def text(found):
    """For people: the rows, and how many of each fate there are."""
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
    import torch  # noqa: F401 - which installs what the table is of

    try:
        found = rows()
    except RuntimeError as error:
        sys.stderr.write(f"gpukit: {error}\n")
        return 1
    print(json.dumps(found, indent=1) if as_json else text(found))
    return 0
