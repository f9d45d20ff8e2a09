# SPDX-License-Identifier: Apache-2.0
"""`gpukit smi mig` is tested here: what it lists, creates and destroys, its
lines and its exit codes. The lines and tables are those of captures, named in
docs/SMI.md."""

import pytest

from smi_tools import Smi

NO_MODE = (6, "No MIG-enabled devices found.\n")
NO_GI = (6, "No GPU instances found: Not Found\n")
NO_CI = (6, "No compute instances found: Not Found\n")
MADE = "Successfully created GPU instance ID {} on GPU  {} using profile MIG {}\n"
MADE_CI = ("Successfully created compute instance ID {} on GPU  {} GPU instance "
           "ID {} using profile MIG {}\n")
GONE = "Successfully destroyed GPU instance ID {} from GPU  {}\n"
GONE_CI = ("Successfully destroyed compute instance ID {} from GPU  {} GPU "
           "instance ID {}\n")


@pytest.fixture(name="smi")
def fixture_smi(machine):
    return Smi(machine("--gpus", "h100-sxm5-80gb:2"))


@pytest.fixture(name="split")
def fixture_split(smi):
    assert smi("-mig", "1")[0] == 0
    return smi


def test_without_the_mode(smi):
    for args in ("-lgi", "-lci", "-lcip", "-lcipp", "-dgi", "-dci", "-cci",
                 "-cgi 9"):
        assert smi("mig", *args.split()) == NO_MODE, args


def test_a_board_that_cannot_be_split(machine):
    smi = Smi(machine("--gpus", "t4"))
    assert smi("mig", "-lgip") == (6, "No MIG-supported devices found.\n")
    assert smi("mig", "-lgi") == NO_MODE


def test_instances_come_and_go(split):
    assert split("mig", "-lgi") == NO_GI
    assert split("mig", "-lci") == NO_GI[:1] + NO_CI[1:]
    assert split("mig", "-dci") == NO_GI
    assert split("mig", "-cgi", "19,3g.40gb", "-i", "0") == (
        0, MADE.format(13, 0, "1g.10gb (ID 19)") +
        MADE.format(" 1", 0, "3g.40gb (ID  9)"))
    assert split("mig", "-dci", "-i", "0") == NO_CI
    assert split("mig", "-cgi", "MIG 9") == (
        2, "Unable to create a GPU instance on GPU  0 using profile MIG 9: "
        "Invalid Argument\nFailed to create GPU instances: Invalid Argument\n")
    assert split("mig", "-cgi", "9,9,9", "-i", "1", "-C") == (
        255, MADE.format(" 2", 1, "3g.40gb (ID  9)") +
        MADE_CI.format(" 0", 1, " 2", "3g.40gb (ID  2)") +
        MADE.format(" 1", 1, "3g.40gb (ID  9)") +
        MADE_CI.format(" 0", 1, " 1", "3g.40gb (ID  2)") +
        "Unable to create a GPU instance on GPU  1 using profile 9: "
        "Insufficient Resources\n"
        "Failed to create GPU instances: Insufficient Resources\n")
    assert split("mig", "-cci", "0,1c.3g.40gb", "-gi", "1", "-i", "0") == (
        0, MADE_CI.format(" 0", 0, " 1", "1c.3g.40gb (ID  0)") +
        MADE_CI.format(" 1", 0, " 1", "1c.3g.40gb (ID  0)"))
    assert split("mig", "-cci", "-gi", "13") == (
        0, MADE_CI.format(" 0", 0, "13", "1g.10gb (ID  0)"))
    assert len(split.values("uuid")) == 2
    assert split("-L")[1].count("  MIG ") == 5
    assert split("mig", "-dgi", "-gi", "1", "-i", "0") == (
        255, "Unable to destroy GPU instance ID  1 from GPU  0: In use by "
        "another client\nFailed to destroy GPU instances: In use by another "
        "client\n")
    assert split("mig", "-dci", "-gi", "1", "-ci", "1", "-i", "0") == (
        0, GONE_CI.format(" 1", 0, " 1"))
    assert split("mig", "-dci") == (
        0, GONE_CI.format(" 0", 0, 13) + GONE_CI.format(" 0", 0, " 1") +
        GONE_CI.format(" 0", 1, " 1") + GONE_CI.format(" 0", 1, " 2"))
    assert split("mig", "-dgi") == (
        0, GONE.format(13, 0) + GONE.format(" 1", 0) + GONE.format(" 1", 1) +
        GONE.format(" 2", 1))
    assert split("mig", "-dgi") == NO_GI


def test_the_mode_stays_while_there_are_instances(split):
    assert split("mig", "-cgi", "9", "-i", "0")[0] == 0
    gpu = split.values("pci.bus_id")[0]
    assert split("-mig", "0", "-i", "0") == (
        255, f"Unable to disable MIG Mode for GPU {gpu}: In use by another "
        "client\nTerminating early due to previous errors.\n")
    assert split.values("mig.mode.pending") == ["Enabled"] * 2
    assert split("mig", "-dgi", "-i", "0")[0] == 0
    assert split("-mig", "0", "-i", "0")[0] == 0
    assert split.values("mig.mode.current") == ["Disabled", "Enabled"]


def test_an_instance_starts_where_it_shall(split):
    assert split("mig", "-cgi", "19:3,1g.10gb:5", "-i", "1")[0] == 0
    rows = [line.split() for line in split("mig", "-lgi")[1].splitlines()
            if " MIG " in line]
    assert [(row[1], row[3], row[6]) for row in rows] == [
        ("1", "1g.10gb", "3:1"), ("1", "1g.10gb", "5:1")]
    assert split("mig", "-cgi", "9:1", "-i", "1")[0] != 0


# The captures: docs/SMI.md.
LGIP = """\
+-------------------------------------------------------------------------------+
| GPU instance profiles:                                                        |
| GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  |
|                                Free/Total   GiB              CE    JPEG  OFA  |
|===============================================================================|
|   0  MIG 1g.10gb         19     5/7        """
LGI = """\
+---------------------------------------------------------+
| GPU instances:                                          |
| GPU   Name               Profile  Instance   Placement  |
|                            ID       ID       Start:Size |
|=========================================================|
|   0  MIG 1g.10gb           19       13          6:1     |
+---------------------------------------------------------+
|   0  MIG 1g.10gb           19       14          7:1     |
+---------------------------------------------------------+
"""
LCI = """\
+--------------------------------------------------------------------+
| Compute instances:                                                 |
| GPU     GPU       Name             Profile   Instance   Placement  |
|       Instance                       ID        ID       Start:Size |
|         ID                                                         |
|====================================================================|
|   0     13       MIG 1g.10gb          0         0          0:1     |
+--------------------------------------------------------------------+
"""
LCIP = """\
+--------------------------------------------------------------------------------------+
| Compute instance profiles:                                                           |
| GPU     GPU       Name             Profile  Instances   Exclusive       Shared       |
|       Instance                       ID     Free/Total     SM       DEC   ENC   OFA  |
|         ID                                                          CE    JPEG       |
|======================================================================================|
|   0      3       MIG 1c.2g.10gb       0      0/2           14        1     0     0   |
|                                                                      2     0         |
+--------------------------------------------------------------------------------------+
|   0      3       MIG 2g.10gb          1*     0/1           28        1     0     0   |
|                                                                      2     0         |
+--------------------------------------------------------------------------------------+
"""
OLD_LGIP = """\
+-----------------------------------------------------------------------------+
| GPU instance profiles:                                                      |
| GPU   Name             ID    Instances   Memory     P2P    SM    DEC   ENC  |
|                              Free/Total   GiB              CE    JPEG  OFA  |
|=============================================================================|
|   0  MIG 1g.5gb        19     0/7        4.75       No     14     0     0   |
|                                                             1     0     0   |
+-----------------------------------------------------------------------------+
"""
OLD_LGI = """\
+-------------------------------------------------------+
| GPU instances:                                        |
| GPU   Name             Profile  Instance   Placement  |
|                          ID       ID       Start:Size |
|=======================================================|
|   0  MIG 1g.5gb          19       11          4:1     |
+-------------------------------------------------------+
"""
OLDEST_LGI = """\
+----------------------------------------------------+
| GPU instances:                                     |
| GPU   Name          Profile  Instance   Placement  |
|                       ID       ID       Start:Size |
|====================================================|
|   0  MIG 3g.20gb       9        1          4:4     |
+----------------------------------------------------+
"""


def test_tables_of_580(split):
    assert split("mig", "-cgi", "19:0,19:1", "-i", "0")[0] == 0
    status, out = split("mig", "-lgip", "-i", "0")
    assert status == 0 and out.startswith(LGIP), out
    assert {len(line) for line in out.splitlines()} == {81}
    assert [line.split()[4] for line in out.splitlines()
            if " MIG " in line] == ["19", "20", "15", "14", "9", "5", "0"]
    titles = LGI.splitlines()[:5]
    status, out = split("mig", "-lgi")
    assert (status, out.splitlines()[:5]) == (0, titles)
    assert {len(line) for line in out.splitlines()} == {59}
    assert split("mig", "-cci", "-i", "0")[0] == 0
    out = split("mig", "-lci")[1].splitlines()
    assert out[:6] == LCI.splitlines()[:6]
    assert {len(line) for line in out} == {70}


def test_compute_instance_profiles(machine):
    smi = Smi(machine("--gpus", "a100-pcie-40gb", "--mig", "0=2g.10gb"))
    gi = smi("mig", "-lgi")[1].splitlines()[5].split()[5]
    expected = LCIP.replace("      3       MIG", f"{int(gi):7d}       MIG")
    assert smi("mig", "-lcip") == (0, expected)
    status, out = smi("mig", "-lcipp")
    assert (status, out.splitlines()) == (0, [
        f"GPU  0 GI {int(gi):2d} Profile ID  0 Placements: {{0,1}}:1",
        f"GPU  0 GI {int(gi):2d} Profile ID  1 Placement : {{0}}:2"])


def test_places(smi):
    status, out = smi("mig", "-lgipp", "-i", "0")
    lines = out.splitlines()
    assert status == 0
    assert lines[0] == "GPU  0 Profile ID 19 Placements: {0,1,2,3,4,5,6}:1"
    assert "GPU  0 Profile ID  5 Placement : {0}:4" in lines


@pytest.mark.parametrize("driver, mig, verb, expected", [
    ("535", "1g.5gb@4", "-lgi", OLD_LGI),
    ("470", "3g.20gb@4", "-lgi", OLDEST_LGI),
])
def test_tables_of_older_drivers(machine, driver, mig, verb, expected):
    smi = Smi(machine("--gpus", "a100-pcie-40gb", "--driver", driver, "--mig",
                      f"0={mig}"), driver)
    gi = smi("mig", verb)[1].splitlines()[5].split()[5]
    told = expected.splitlines()[5].split()[5]
    assert smi("mig", verb) == (
        0, expected.replace(f"{told:>9} ", f"{gi:>9} "))


def test_profiles_of_older_drivers(machine):
    smi = Smi(machine("--gpus", "a100-pcie-40gb", "--driver", "535"), "535")
    assert smi("mig", "-lgip")[1].startswith(OLD_LGIP)


@pytest.mark.parametrize("args, what", [
    ("-lgi", "GPU instances"), ("-lci", "GPU instances"),
    ("-lgip", "GPU instance profiles")])
def test_other_users_see_nothing(machine, args, what):
    smi = Smi(machine("--gpus", "h100-mig"), allowed="none")
    if args == "-lci":
        what = "compute instances"
    assert smi("mig", args) == (
        4, f"Failed to display {what}: Insufficient Permissions\n"
        f"No {what} found: Insufficient Permissions\n")


def test_other_users_make_nothing(machine):
    smi = Smi(machine("--gpus", "h100-mig"), allowed="none")
    assert smi("mig", "-cgi", "0") == (
        4, "Unable to create a GPU instance on GPU  0 using profile 0: "
        "Insufficient Permissions\nFailed to create GPU instances: "
        "Insufficient Permissions\n")
    assert smi("mig", "-dgi") == (
        4, "Failed to destroy GPU instances: Insufficient Permissions\n")


@pytest.mark.parametrize("args, status", [
    (["mig"], 2), (["mig", "-i", "0"], 2), (["mig", "-lgi", "-lci"], 2),
    (["mig", "-lgx"], 255), (["mig", "-cgi"], 255), (["mig", "-gi"], 255)])
def test_wrong_usage(smi, args, status):
    assert smi(*args)[0] == status


def test_the_first_gpu_without_instances_is_passed_over(split):
    assert split("mig", "-cgi", "9", "-C", "-i", "1")[0] == 0
    assert split("mig", "-dci") == (0, GONE_CI.format(" 0", 1, " 2"))
    assert split("mig", "-dgi") == (0, GONE.format(" 2", 1))


@pytest.mark.parametrize("args", [
    ["-dgi", "-gi", ""], ["-dci", "-gi", ""], ["-dgi", "-gi", "99,"],
    ["-dgi", "-gi", "1,foo"], ["-dci", "-ci", ""], ["-dgi", "-ci", "7"],
    ["-dgi", "-C"], ["-cgi", ""], ["-cgi", "19:-3"], ["-cgi", "19:4294967299"],
    ["-dgi", "-i", ""], ["-dgi", "-i", "1,"]])
def test_what_names_nothing_changes_nothing(split, args):
    assert split("mig", "-cgi", "9", "-C")[0] == 0
    before = split("mig", "-lci")
    assert split("mig", *args)[0] in (2, 6)
    assert split("mig", "-lci") == before


ERRORS = {"UNKNOWN": ("Unknown Error", 255), "GPU_IS_LOST": ("GPU is lost", 15),
          "NO_PERMISSION": ("Insufficient Permissions", 4)}
LISTS = {"-lgip": "GPU instance profiles", "-lgi": "GPU instances",
         "-lgipp": "GPU instance profile placements",
         "-lcip": "compute instance profiles", "-lci": "compute instances",
         "-lcipp": "compute instance profile placements"}
CHANGES = {"-cgi 9": "create GPU instances", "-cci": "create compute instances",
           "-dgi": "destroy GPU instances", "-dci": "destroy compute instances"}


@pytest.mark.parametrize("error", ERRORS)
def test_a_mode_that_cannot_be_read(split, error):
    """It is not told as a board that cannot be split."""
    text, status = ERRORS[error]
    assert split.one.ctl(
        "fail", f"nvmlDeviceGetMigMode=NVML_ERROR_{error}").returncode == 0
    for option, what in LISTS.items():
        none = f"No {what} found: {text}\n" if status == 4 else ""
        assert split("mig", option) == (
            status, f"Failed to display {what}: {text}\n" + none)
    for option, what in CHANGES.items():
        assert split("mig", *option.split()) == (
            status, f"Failed to {what}: {text}\n")


@pytest.mark.parametrize("error", ["UNKNOWN", "GPU_IS_LOST"])
def test_profiles_that_cannot_be_read(split, error):
    """The failure of -lgip stands below the table's title: docs/SMI.md."""
    text, status = ERRORS[error]
    title = split("mig", "-lgip")[1].split("|=")[0]
    for function in ("nvmlDeviceGetGpuInstanceProfileInfoV",
                     "nvmlDeviceGetGpuInstanceProfileInfo"):
        assert split.one.ctl(
            "fail", f"{function}=NVML_ERROR_{error}").returncode == 0
    code, out = split("mig", "-lgip")
    assert code == status and out.startswith(title)
    assert out.endswith(
        f"=|\nFailed to display GPU instance profiles: {text}\n")
    assert split("mig", "-lgi") == (
        status, f"Failed to display GPU instances: {text}\n")
    assert split("mig", "-cgi", "9") == (
        status, f"Failed to create GPU instances: {text}\n")


@pytest.mark.parametrize("error", ERRORS)
def test_a_place_that_cannot_be_read(split, error):
    text, status = ERRORS[error]
    function = "nvmlDeviceGetGpuInstancePossiblePlacements_v2"
    assert split.one.ctl(
        "fail", f"{function}=NVML_ERROR_{error}").returncode == 0
    assert split("mig", "-cgi", "19:3") == (
        status, "Unable to create a GPU instance on GPU  0 using profile 19: "
        f"{text}\nFailed to create GPU instances: {text}\n")
