# SPDX-License-Identifier: Apache-2.0
"""A process chooses its name and its arguments to deceive: no output of any
verb controls a terminal, hides or reverses text, makes a spreadsheet compute
it, or shows what looks like a secret."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest

from conftest import GPUKIT, clean_env
from exporter import Exporter
from tools import wait_until

NAME = "=1+1\u202eevil"  # 15 bytes at most
HIDDEN = ("\x1b]0;title\x07 \x9b2J \u202eturned \u2066isolated \u200bnothing "
          "\u061c \ufeff \u2028 \u2029 \u2067 \x7f \U000e0041")
ARGUMENTS = ["=cmd|'/C calc'!A0", HIDDEN, "--password", "hunter2",
             "Authorization: Bearer xyzzy", "https://a.b/?token=plugh&page=2",
             "DB_PW=plover", "pg://ana:qu/ux#@host", "--max-tokens", "512"]
SECRETS = ["hunter2", "xyzzy", "plugh", "plover", "qu/ux"]

PROGRAM = """
import ctypes, sys
ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv.pop(1)))  # PR_SET_NAME
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 30)) == 0
print("up", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """hostile(VERB...) runs gpukit beside the process, whose pid is
    hostile.pid."""
    from conftest import Machine
    place = tmp_path_factory.mktemp("hostile")
    made = Machine(place / "machine", "--gpus", "t4")
    arguments = [argument.encode() for argument in ARGUMENTS]
    process = subprocess.Popen(
        [arguments[0], "-SEsc", PROGRAM, NAME.encode().hex(), *arguments[1:],
         b"no \xff\xfe utf-8", b"two\nlines\rand \ttab"],
        executable=os.path.realpath(sys.executable), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env=clean_env(**made.env))
    assert process.stdout.readline() == b"up\n"
    process.stdout.close()
    env = clean_env(**made.env, LC_ALL="C.UTF-8", COLUMNS="500")

    def run(*args, stdin=None):
        done = subprocess.run([GPUKIT, *map(str, args)], env=env, cwd=place,
                              capture_output=True, input=stdin, check=False,
                              timeout=60)
        assert done.returncode == 0, (args, done.stderr)
        return done.stdout.decode()  # fails if it is not UTF-8

    run.pid, run.env, run.place, run.made = process.pid, env, place, made
    yield run
    process.stdin.close()
    process.wait(timeout=60)
    made.stop()


def harmless(text, lines="\n"):
    for c in text:
        assert c in lines or unicodedata.category(c) not in (
            "Cc", "Cf", "Zl", "Zp"), (hex(ord(c)), text)
    for secret in SECRETS:
        assert secret not in text, text
    return text


TEXTS = {
    "stat": ["stat", "-a", "-f"],
    "stat -c": ["stat", "-c", "-u", "-p"],
    "stat ascii": ["stat", "-f", "--ascii"],
    "boxed": ["stat", "--boxed", "--width", "500"],
    "boxed narrow": ["stat", "--boxed", "--width", "80"],
    "json": ["stat", "--json"],
    "json lines": ["stat", "--json-lines", "--count", "1"],
    "top": ["top", "--once"],
    "smi": ["smi"],
    "smi -q": ["smi", "-q"],
    "smi -q -x": ["smi", "-q", "-x"],
    "smi pmon": ["smi", "pmon", "-c", "1"],
    "smi apps": ["smi", "--query-compute-apps=process_name,pid",
                 "--format=csv"],
    "select": ["select"],
    "record": ["record", "--count", "1", "-o", "-"],
    "record name": ["record", "--count", "1", "-o", "-", "--cmd", "name"],
    "record jsonl": ["record", "--count", "1", "-o", "-", "--format",
                     "jsonl"],
    "record devices": ["record", "--count", "1", "-o", "-", "--devices"],
    "ctl show": ["fake", "ctl", "show", "all"],
    "ctl coverage": ["fake", "ctl", "coverage", "--by-caller"],
}


@pytest.mark.parametrize("form", TEXTS)
def test_text_is_harmless(hostile, form):
    args = TEXTS[form]
    if args[:2] == ["fake", "ctl"]:
        args = [*args[:2], "--name", hostile.made.path, *args[2:]]
    text = harmless(hostile(*args), "\n\t" if "-x" in args else "\n")
    if form not in ("select", "record devices", "ctl show", "ctl coverage",
                    "stat ascii"):
        assert re.search(r"calc|=1\+1\?", text), text


def test_csv_of_stat_computes_nothing(hostile):
    text = harmless(hostile("stat", "--csv=processes"), "\r\n")
    row, = csv.DictReader(io.StringIO(text))
    assert row["name"] == "'=1+1?evil"
    assert row["command"].startswith("'=cmd|'/C calc'!A0 ")
    assert row["command"].endswith("--max-tokens 512 no \ufffd\ufffd utf-8 "
                                   "two?lines?and ?tab")
    assert harmless(hostile("stat", "--csv"), "\r\n")


def test_csv_of_smi_computes_nothing(hostile):
    text = hostile("smi", "--query-compute-apps=process_name,pid",
                   "--format=csv,noheader")
    assert text == f"'=cmd|'/C calc'!A0, {hostile.pid}\n"


def test_rows_compute_nothing_and_can_be_drawn(hostile):
    text = harmless(hostile("record", "--count", 1, "-o", "-"))
    row, = csv.DictReader(io.StringIO(text))
    assert row["cmd"].startswith("'=cmd|'/C calc'!A0 ")
    assert "two\nlines?and ?tab" in row["cmd"]
    name, = csv.DictReader(io.StringIO(hostile(
        "record", "--count", 1, "-o", "-", "--cmd", "name")))
    assert name["cmd"] == "'=1+1?evil"
    picture = hostile.place / "x.svg"
    hostile("plot", "-", "--per-pid", "-o", picture, stdin=text.encode())
    drawn = harmless(picture.read_text(encoding="utf-8"), "\n\t")
    assert "'=cmd" not in drawn and "&#39;=cmd" not in drawn
    assert "=cmd" in drawn


def test_json_has_the_arguments_as_they_are(hostile):
    text = hostile("stat", "--json")
    process, = json.loads(text)["devices"][0]["processes"]
    assert process["args"][0] == ARGUMENTS[0]
    assert HIDDEN in process["args"]
    assert "two\nlines\rand \ttab" in process["args"]
    assert "no \ufffd\ufffd utf-8" in process["args"]
    assert process["args"][process["args"].index("--password") + 1] == "*" * 8
    assert "Authorization: ********" in process["args"]
    assert "https://a.b/?token=********&page=2" in process["args"]
    assert "pg://ana:********@host" in process["args"]
    row = json.loads(hostile("record", "--count", 1, "-o", "-", "--format",
                             "jsonl"))
    assert HIDDEN in row["cmd"] and "--password ********" in row["cmd"]


def test_a_recorder_finds_what_it_does_not_show(hostile):
    text = hostile("record", "--count", 1, "-o", "-", "--match", "hunter[2]")
    assert text.count("--max-tokens 512") == 1
    harmless(text)


@pytest.mark.parametrize("names", ["gpukit", "dcgm", "nvitop", "nvidia_smi",
                                   "otel"])
def test_exported_labels_are_harmless(hostile, names):
    exporter = Exporter(hostile.made.env, "--processes", "--commands",
                        "--names", names)
    try:
        wait_until(lambda: "evil" in exporter.get("/metrics")[2] or
                   "calc" in exporter.get("/metrics")[2] or
                  names in ("dcgm", "otel"))
        harmless(exporter.get("/metrics")[2])
        harmless(exporter.get("/api/v1/snapshot")[2])
    finally:
        exporter.stop()
