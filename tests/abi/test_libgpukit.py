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


def undocumented(text):
    """Functions, structs and enums of a header without a comment that ends
    where they begin; a function may stand in that of the one before it, by its
    name, where no empty line comes between them."""
    begin = r"^(?:GK_API|static inline)[^;{]*?(\w+)\(|^(?:struct|enum) (\w+) \{"
    bare = []
    for block in text.split("\n\n"):
        names = [a or b for a, b in re.findall(begin, block, flags=re.M)]
        comment = re.match(r"\s*/\*.*?\*/\n", block, flags=re.S)
        told = comment[0] if comment else ""
        bare += [name for name in names[bool(told):] if name not in told]
    return bare


def test_all_of_the_header_is_documented():
    with open(HEADER, encoding="utf-8") as f:
        text = f.read()
    assert undocumented(text) == []
    assert undocumented(re.sub(r"/\* Whether a GPU answers. \*/\n", "", text)) \
        == ["gk_health"]
    assert undocumented(re.sub(r"gk_snapshot_free\(\)", "it", text)) == [
        "gk_snapshot_free"]


def test_every_row_of_the_tables_has_a_text(tmp_path):
    """The metrics, facts and links that a program finds by their numbers."""
    program = tmp_path / "rows"
    source = program.with_suffix(".c")
    source.write_text("""
#include <gpukit/gpukit.h>
#include <stdio.h>
#define TELL(rows, count) \\
	for (int i = 0; i < (count); i++) \\
		printf("%s: %s\\n", rows[i].name, rows[i].help)
int main(void)
{
	TELL(gk_metrics, GK_M_COUNT);
	TELL(gk_process_metrics, GK_PM_COUNT);
	TELL(gk_link_metrics, GK_L_COUNT);
	TELL(gk_facts, GK_T_COUNT);
	return 0;
}
""")
    subprocess.run(["gcc", "-I", libgpukit.INCLUDE, source, "-o", program,
                    libgpukit.LIBRARY], check=True)
    rows = subprocess.run(
        [program], text=True, capture_output=True, check=True,
        env={"LD_LIBRARY_PATH": os.path.dirname(libgpukit.LIBRARY)}
    ).stdout.splitlines()
    assert len(rows) > 100 and len(set(rows)) == len(rows)
    assert [row for row in rows if not re.fullmatch(
        r"[a-z][a-z0-9_]*: \S.{5,}", row)] == []


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
