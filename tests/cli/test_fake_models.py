# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake models` lists the boards and where their values come from."""
import os
import re

from conftest import ROOT

NAMES = sorted(name[:-5] for name in os.listdir(os.path.join(
    ROOT, "profiles")) if name.endswith(".yaml"))
T4 = """inherits: t4
source:
  - capture: "mine"
    keys: [power_limit_mw]
power_limit_mw: 65000
"""


def test_all_profiles_are_listed(gpukit):
    listed = gpukit.json("fake", "models", "--json")
    assert sorted(one["model"] for one in listed) == NAMES
    for one in listed:
        told = [origin for origin in one["sources"].values()
                if origin in ("capture", "document", "list")]
        assert one["facts_sourced"] == len(told) > 10, one["model"]
        assert one["facts"] == len(one["sources"]), one["model"]


def row(one):
    power = one["power_limit_default_watts"]
    return (f"| `{one['model']}` | {one['name']} "
            f"| {one['memory_total_bytes'] >> 20} "
            f"| {one['compute_capability']} "
            f"| {'-' if power is None else f'{power:g}'} "
            f"| {one['year'] or '-'} "
            f"| {one['facts_sourced']} of {one['facts']} |")


def test_the_page_lists_the_same(gpukit):
    with open(os.path.join(ROOT, "docs", "BOARDS.md"),
              encoding="utf-8") as file:
        told = [line for line in file.read().splitlines()
                if re.match(r"\| `[^`]*` \| .* of \d+ \|$", line)]
    assert told == [row(one) for one in gpukit.json("fake", "models",
                                                    "--json")]


def test_what_is_known_of_a_board(gpukit):
    listed = {one["model"]: one
              for one in gpukit.json("fake", "models", "--json")}
    h100 = listed["h100-80gb-hbm3"]
    assert {key: h100[key] for key in (
        "name", "memory_total_bytes", "compute_capability",
        "power_limit_default_watts", "year")} == {
            "name": "NVIDIA H100 80GB HBM3",
            "memory_total_bytes": 81559 << 20, "compute_capability": "9.0",
            "power_limit_default_watts": 700.0, "year": 2022}
    assert h100["sources"]["vbios"] == "capture"
    assert h100["sources"]["sm_count"] == "document"
    assert h100["sources"]["year"] == "list"
    assert h100["sources"]["temperature_tau_s"] == "estimated"


def test_a_directory_of_ones_own(gpukit, tmp_path):
    here = {"GPUKIT_PROFILES": str(tmp_path)}
    with open(os.path.join(ROOT, "profiles", "t4.yaml"),
              encoding="utf-8") as file:
        (tmp_path / "t4.yaml").write_text(file.read(), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(T4, encoding="utf-8")
    mine, t4 = gpukit.json("fake", "models", "--json", env=here)
    assert mine["sources"] == {**t4["sources"], "power_limit_mw": "capture"}
    assert mine["power_limit_default_watts"] == 65.0
    assert mine["year"] == 2018
    lines = gpukit.ok("fake", "models", env=here).splitlines()
    assert lines[0].split() == ["MODEL", "MEMORY", "CC", "POWER", "YEAR",
                                "SOURCED"]
    assert lines[1] == (f"{'mine':30}   15360 MiB   7.5    65 W  2018  "
                        f"{mine['facts_sourced']} of {mine['facts']}")


def test_what_is_wrong_is_told(gpukit, tmp_path):
    done = gpukit("fake", "models", env={"GPUKIT_PROFILES": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr == f"gpukit fake: no profiles in {tmp_path}\n"
    (tmp_path / "bad.yaml").write_text("inherits: bad\n", encoding="utf-8")
    done = gpukit("fake", "models", env={"GPUKIT_PROFILES": str(tmp_path)})
    assert done.returncode == 1
    assert re.match(r"gpukit fake: \S*/bad.yaml:1: inherits: ", done.stderr)
    assert gpukit("fake", "models", "--yaml").returncode == 2
