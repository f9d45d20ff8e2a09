# SPDX-License-Identifier: Apache-2.0
"""The C API is frozen: tests/abi/libgpukit.txt is what programs may rely on.

Additions get lines of their own in the list (`python3 tests/abi/libgpukit.py`
writes them); existing lines never change. However, snapshots and details, which
only the library makes, may grow at their end.
"""

import os
import re
import subprocess

import pytest

import libgpukit
from conftest import sanitized



def wanted(*kinds):
    with open(libgpukit.LIST, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.split()[0] in kinds]


def test_nothing_that_programs_rely_on_has_changed(tmp_path):
    here = libgpukit.layout(tmp_path)
    frozen = wanted("size", "member", "number")
    assert len(here) > 500
    assert [line for line in frozen if line not in set(here)] == []
    assert [line for line in here if line not in set(frozen)] == []


def test_the_library_exports_the_list_with_its_versions():
    here = libgpukit.symbols()
    if sanitized():  # its objects have red zones
        here = [line.split()[1] for line in here]
        assert here == [line.split()[1] for line in wanted("symbol")]
    else:
        assert here == wanted("symbol")


def test_what_is_new_is_added_behind_what_comes_before_it():
    frozen = ["size a 4", "number B 0", "number C 1", "symbol d"]
    here = ["size a 4", "size e 8", "number B 0", "number C 1", "number F 2",
            "symbol d", "symbol g"]
    assert libgpukit.with_new(frozen, here) == here
    assert libgpukit.with_new(frozen, frozen) == frozen


def test_what_has_changed_is_not_added():
    with pytest.raises(ValueError, match="number C 2"):
        libgpukit.with_new(["number C 1"], ["number B 1", "number C 2"])


def test_what_the_header_declares_is_exported():
    declared = set(libgpukit.functions(libgpukit.preprocessed()))
    exported = {line.split()[1].split("@")[0] for line in wanted("symbol")}
    data = {"gk_metrics", "gk_process_metrics", "gk_facts", "gk_link_metrics"}
    assert declared | data == exported


def undocumented(text):
    """Functions, structs and enums of a header without a comment directly
    before them; a function may share the comment of the one before it if it is
    named there and no empty line separates them."""
    begin = r"^(?:GK_API|static inline)[^;{]*?(\w+)\(|^(?:struct|enum) (\w+) \{"
    bare = []
    for block in text.split("\n\n"):
        names = [a or b for a, b in re.findall(begin, block, flags=re.M)]
        comment = re.match(r"\s*/\*.*?\*/\n", block, flags=re.S)
        told = comment[0] if comment else ""
        bare += [name for name in names[bool(told):] if name not in told]
    return bare


def test_all_of_the_header_is_documented():
    text = libgpukit.headers()
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


OF_BOTH_LANGUAGES = """
#include <gpukit/gpukit.h>
#include <stdio.h>
int main(void)
{
	static const enum gk_metric metrics[] = {GK_M_POWER, GK_M_COUNT};
	struct gk_options options = GK_OPTIONS_DEFAULT;
	struct gk_metric_set set = {{0}};

	gk_metric_set_add_all(&set, metrics, 1);
	options.with |= GK_WITH_DETAIL;
	options.only = &set;
	printf("%d %d %d %s\\n", options.proc_fd, (int)options.with,
	       gk_metric_set_has(&set, GK_M_POWER) +
	           2 * gk_metric_set_has(&set, GK_M_COUNT),
	       gk_strerror(0));
	return 0;
}
"""


@pytest.mark.skipif(sanitized(), reason="a program without the sanitizer "
                    "cannot load it")
@pytest.mark.parametrize("words", [
    "gcc -std=c99", "clang -std=c99", "g++ -std=c++11", "clang++ -std=c++11",
    "g++ -std=c++20", "clang++ -std=c++20"])
def test_the_header_is_one_of_c_and_of_cpp(tmp_path, words):
    """As strictly as compilers can be; the tests need clang and g++."""
    source = tmp_path / ("it.cpp" if "++" in words else "it.c")
    source.write_text(OF_BOTH_LANGUAGES)
    subprocess.run([*words.split(), "-Wall", "-Wextra", "-Werror", "-pedantic",
                    "-I", libgpukit.INCLUDE, source, "-o", tmp_path / "it",
                    libgpukit.LIBRARY], check=True)
    told = subprocess.run([tmp_path / "it"], text=True, capture_output=True,
                          check=True, env={"LD_LIBRARY_PATH": os.path.dirname(
                              libgpukit.LIBRARY)}).stdout
    assert told == "-1 16 1 success\n"
