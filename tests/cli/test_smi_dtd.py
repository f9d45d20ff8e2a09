# SPDX-License-Identifier: Apache-2.0
"""The DTD of `gpukit smi -q -x`: --dtd declares what the report has."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as tree

import pytest

from smi_tools import Smi

GENERATIONS = ["470", "535", "550", "570", "580", "590", "610"]


def declared(dtd):
    """{name: regular expression of an element's content}. A text stands for
    itself as #; each child is its name and a blank."""
    found = {}
    for name, model, stars in re.findall(
            r"<!ELEMENT (\S+) \((.*)\)(\*?)>\n", dtd):
        assert name not in found, name
        parts = [re.sub(r"^([\w#]+)([?*]?)$",
                        lambda m: f"(?:{'#' if m[1] == '#PCDATA' else m[1]} )"
                        + m[2], part) for part in re.split(r" \| |, ", model)]
        assert not (" | " in model and ", " in model), model
        found[name] = (f"(?:{'|'.join(parts)})*" if stars or model == "#PCDATA"
                       else "".join(parts))
    return found


def errors_of(element, models):
    if element.tag not in models:
        return [f"{element.tag} is not declared"]
    content = "".join(f"{child.tag} " for child in element)
    if (element.text or "").strip():
        content = "# " + content
    wrong = [] if re.fullmatch(models[element.tag], content) else [
        f"{element.tag} has {content}"]
    return wrong + [error for child in element
                    for error in errors_of(child, models)]


def parts(out):
    """The DTD, and the root of a report with it."""
    dtd = re.search(r"<!DOCTYPE nvidia_smi_log \[\n(.*?)\]>\n", out, re.S)[1]
    return dtd, tree.fromstring(out)


@pytest.mark.parametrize("driver", GENERATIONS)
def test_a_report_follows_its_dtd(machine, driver, tmp_path):
    smi = Smi(machine("--gpus", "h100-80gb-hbm3,a100-sxm4-80gb,t4,p40,gb10",
                      "--mig", "0=3g.40gb", "--load", "train:1", "--driver",
                      driver, "--any-driver"), driver)
    status, out = smi("-q", "-x", "--dtd")
    dtd, root = parts(out)
    models = declared(dtd)
    assert status == 0 and errors_of(root, models) == []
    assert len(root.findall("gpu/processes/process_info")) == 1
    assert root.find("gpu/mig_devices/mig_device/device_attributes") is not None
    # What the report can have is what it has, but for a few conditions.
    used = {element.tag for element in root.iter()}
    assert len(set(models) - used) < 30, sorted(set(models) - used)
    plain = smi("-q", "-x")[1]
    version = re.search(r'SYSTEM "nvsmi_device_v(\d+).dtd">', plain)[1]
    assert dtd.startswith(f"<!-- nvsmi_device_v{version}.dtd -->\n"
                          "<!ELEMENT nvidia_smi_log (timestamp, ")
    assert "attached_gpus, error_string?, gpu*)>" in dtd.splitlines()[1]
    assert smi("--dtd") == (0, dtd)
    if shutil.which("xmllint"):
        file = tmp_path / "report.xml"
        file.write_text(out)
        subprocess.run(["xmllint", "--valid", "--noout", file], check=True)


def test_the_dtd_tells_right_from_wrong(machine):
    smi = Smi(machine("--gpus", "t4"))
    dtd, root = parts(smi("-q", "-x", "--dtd")[1])
    models = declared(dtd)
    gpu = root.find("gpu")
    gpu.append(tree.Element("product_name"))
    assert [error.split()[0] for error in errors_of(root, models)] == ["gpu"]
    gpu.remove(gpu[-1])
    gpu.find("serial").tag = "number"
    assert errors_of(root, models)[1:] == ["number is not declared"]
    gpu.find("number").tag = "serial"
    gpu.text = "text"
    assert len(errors_of(root, models)) == 1


def test_a_file_and_wrong_usage(machine, tmp_path):
    smi = Smi(machine("--gpus", "none"))
    file = tmp_path / "dtd"
    assert smi("--dtd", "-f", str(file)) == (0, "")
    assert file.read_text().endswith("<!ATTLIST gpu id CDATA #REQUIRED>\n")
    assert smi("--dtd", "-u") == (3, "The DTD of units is not supported.\n")
    for args in (["-q", "--dtd"], ["--dtd", "-L"], ["--dtd", "-l", "1"],
                 ["--dtd", "-x"], ["--dtd", "-pm", "1"], ["--dtd", "-i", "0"]):
        assert smi(*args)[0] == 2, args
