# SPDX-License-Identifier: Apache-2.0
"""There is one rule for sizes: the same text is the same number of bytes
wherever a size is given."""

import pytest

TOTAL = 80 << 30  # of a fake A100 with 80 GB
# Texts that mean 80 GiB, and slightly more: one of them by a byte.
EXACT = ["80G", "80g", "80Gi", "80GiB", "81920M", "81920MiB", "83886080K",
         "0.078125T", "85.89934592GB", "85899345.92KB", "85899345920",
         "85899345920B"]
MORE = ["80.000001G", "81921M", "83886081k", "0.0782T", "85.899346GB",
        "85899345921"]
SAME = [("4G", 4 << 30), ("4g", 4 << 30), ("4GiB", 4 << 30),
        ("4Gi", 4 << 30), ("4GB", 4 * 10**9), ("3072M", 3 << 30),
        ("3000MB", 3 * 10**9), ("524288K", 512 << 20), ("1e9", 10**9)]
WRONG = ["", "G", "4P", "4GiBs", "4 GiB", "+4G", "0x10", "-4G", "1e30",
         "inf"]


@pytest.fixture
def a100(machine):
    return machine("--gpus", "a100-sxm4-80gb:1", "--frozen")


@pytest.mark.parametrize("option", ["-t", "-f"])
def test_select_reads_them(gpukit, a100, option):
    told = gpukit.json("select", "--json", env=a100.env)["devices"][0]
    assert told["memory_total_bytes"] == TOTAL
    for text in EXACT:
        done = gpukit("select", "-n", 1, "-t", text, env=a100.env)
        assert (done.returncode, done.stdout) == (0, "0\n"), (text, done)
    for text in MORE:
        done = gpukit("select", "-n", 1, option, text, env=a100.env)
        assert (done.returncode, done.stdout) == (4, ""), (text, done)


def free_with(gpukit, m, extra):
    """The free memory when this much is taken by no process."""
    done = m.ctl("set", "0", f"extra-memory={extra}")
    assert done.returncode == 0, done.stderr
    told = gpukit.json("select", "--json", env=m.env)
    return told["devices"][0]["memory_free_bytes"]


@pytest.mark.parametrize("text, size", SAME)
def test_what_ctl_takes_in_a_text_select_misses_in_it(gpukit, a100, text,
                                                      size):
    room = free_with(gpukit, a100, 0)
    assert free_with(gpukit, a100, text) == room - size
    assert free_with(gpukit, a100, room - size) == size
    assert gpukit.ok("select", "-n", 1, "-f", text, env=a100.env) == "0\n"
    assert free_with(gpukit, a100, room - size + 4096) == size - 4096
    done = gpukit("select", "-n", 1, "-f", text, env=a100.env)
    assert done.returncode == 4, (text, done)


@pytest.mark.parametrize("text, size", SAME[:6])
def test_a_load_holds_what_its_text_says(gpukit, machine, text, size):
    m = machine("--gpus", "a100-sxm4-80gb:2", "--frozen", "--load",
                f"idle:0,mem={text}", "--load", f"idle:1,mem={size}")
    listed = gpukit.json("stat", "--json", env=m.env)["devices"]
    held = [d["processes"][0]["gpu_memory_bytes"] for d in listed]
    assert held[0] == held[1] >= size


def test_kib_are_sizes_too(gpukit, machine):
    m = machine("--gpus", "h100:1", "--frozen")

    def set_to(text):
        done = m.ctl("set", "0", f"unprotected-memory={text}")
        assert done.returncode == 0, done.stderr
        return m.show()["gpus"][0]["values"]["unprotected-memory"]

    assert set_to("4096") == set_to("4M") == set_to("4MiB")
    assert m.ctl("set", "0", "unprotected-memory=1000B").returncode == 2


@pytest.mark.parametrize("text", WRONG)
def test_none_takes_another(gpukit, a100, tmp_path, text):
    for words in (["select", "-f", text], ["select", "-t", text],
                  ["record", "--rotate", text, "--count", 1, "-o",
                   tmp_path / "log.csv"],
                  ["fake", "--gpus", "t4:1", "--load", f"idle:0,mem={text}",
                   "--", "true"],
                  ["fake", "ctl", "--name", a100.path, "set", "0",
                   f"extra-memory={text}"]):
        done = gpukit(*words, env=a100.env)
        assert done.returncode == 2, (words, done)


@pytest.mark.parametrize("text", [text for text, _ in SAME])
def test_all_take_these(gpukit, a100, tmp_path, text):
    gpukit.ok("record", "--rotate", text, "--count", 1, "-o",
              tmp_path / "log.csv", env=a100.env)
    gpukit.ok("select", "-f", text, env=a100.env)


@pytest.mark.parametrize("verb", [["select"], ["fake"], ["fake", "ctl"],
                                  ["fake", "load"], ["record"]])
def test_the_help_says_the_rule(gpukit, verb):
    told = " ".join(gpukit.ok(*verb, "--help").split())
    assert "are powers of 1024; KB, MB, GB, TB are powers of 1000." in told
