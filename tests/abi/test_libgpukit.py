"""The C API is frozen: tests/abi/libgpukit.txt is what programs may rely on.

What is added gets a line of its own in the list (`python3 tests/abi/
test_libgpukit.py` prints them all); what is there never changes. But snapshots
and details, which the library alone makes, may grow at their end.
"""

import os
import re
import subprocess
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
    sys.path.insert(0, os.path.dirname(__file__))

import libgpukit
from conftest import ROOT, sanitized

LIST = os.path.join(ROOT, "tests", "abi", "libgpukit.txt")
HEADER = os.path.join(ROOT, "include", "gpukit", "gpukit.h")


def wanted(*kinds):
    with open(LIST, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.split()[0] in kinds]


def test_nothing_that_programs_rely_on_has_changed(tmp_path):
    here = libgpukit.layout(tmp_path)
    frozen = wanted("size", "member", "number")
    assert len(here) > 500
    assert [line for line in frozen if line not in set(here)] == []
    assert [line for line in here if line not in set(frozen)] == []


def test_the_library_exports_the_list_with_its_versions():
    here = libgpukit.symbols()
    if sanitized():  # whose objects have red zones
        here = [line.split()[1] for line in here]
        assert here == [line.split()[1] for line in wanted("symbol")]
    else:
        assert here == wanted("symbol")


def test_what_the_header_declares_is_exported():
    declared = set(libgpukit.functions(libgpukit.preprocessed()))
    exported = {line.split()[1].split("@")[0] for line in wanted("symbol")}
    data = {"gk_metrics", "gk_process_metrics", "gk_facts", "gk_link_metrics"}
    assert declared | data == exported


def test_every_function_is_documented():
    """By a comment that ends where it begins, or by that of the function
    before it where no empty line comes between them."""
    with open(HEADER, encoding="utf-8") as f:
        blocks = f.read().split("\n\n")
    bare = [block for block in blocks
            if re.search(r"^GK_API", block, flags=re.M) and
            not re.match(r"\s*/\*", block)]
    assert bare == []


def test_the_header_is_one_of_cpp_too(tmp_path):
    source = tmp_path / "it.cpp"
    source.write_text("#include <gpukit/gpukit.h>\nint main() { return 0; }\n")
    for language in ("c", "c++"):  # clang is among what tests need
        subprocess.run(["clang", "-x", language, "-fsyntax-only", "-Wall",
                        "-Wextra", "-Werror", "-pedantic", "-I",
                        libgpukit.INCLUDE, source], check=True)


if __name__ == "__main__":
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory() as top:
        print("\n".join(libgpukit.layout(pathlib.Path(top)) +
                        libgpukit.symbols()))
