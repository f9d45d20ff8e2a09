# SPDX-License-Identifier: Apache-2.0
"""docs/HOWTO_ALERTS.md is right: Prometheus accepts its files, and its rules
fire for a GPU that falls off the bus and for one that is gone."""

import json
import os
import re
import shutil

from conftest import ROOT
from test_prometheus import RULES, promtool

HOST = "atlas:9834"


def files():
    """{first word: text} of the YAML blocks."""
    with open(os.path.join(ROOT, "docs", "HOWTO_ALERTS.md"),
              encoding="utf-8") as file:
        blocks = re.findall(r"^```yaml\n(.*?)^```$", file.read(), re.M | re.S)
    return {block.split(":")[0]: block for block in blocks}


def series(gpus, values):
    return [{"series": f'gpukit_device_up{{instance="{HOST}",job="gpukit",'
                       f'gpu="{gpu}"}}', "values": values} for gpu in gpus]


def alerts(minute, name, *summaries, description=None, **labels):
    """The expectation that these alerts fire at that minute."""
    more = {"description": description} if description else {}
    return {"eval_time": f"{minute}m", "alertname": name, "exp_alerts": [{
        "exp_labels": {"severity": "critical", "instance": HOST, **labels},
        "exp_annotations": {"summary": f"{HOST}: {summary}", **more},
    } for summary in summaries]}


def test_prometheus_accepts_the_files(tmp_path):
    shutil.copy(RULES, tmp_path)
    (tmp_path / "gpus.rules.yml").write_text(files()["groups"])
    config = tmp_path / "prometheus.yml"
    config.write_text(files()["scrape_configs"])
    told = promtool("check", "config", str(config))
    assert "SUCCESS: 2 rule files found" in told
    assert "16 rules found" in told and "1 rules found" in told


def test_a_gpu_that_falls_off_the_bus_and_is_gone_after_a_restart(tmp_path):
    """GPU 7 does not answer from minute 10 on and is not listed from minute 20
    on; from minute 60 on, no GPU is."""
    shutil.copy(RULES, tmp_path)
    (tmp_path / "gpus.rules.yml").write_text(files()["groups"])
    input_series = (
        series(range(7), "1x59 _x60") + series([7], "1x9 0x9 _x100") +
        series(["0:0"], "1x59 _x60") +  # a MIG device does not count
        [{"series": f'up{{instance="{HOST}",job="gpukit"}}',
          "values": "1x120"}])
    expected = [
        *(alerts(5, name) for name in ("GpukitGpuDown", "GpukitGpuMissing",
                                       "GpusExpected")),
        alerts(12, "GpukitGpuDown", "GPU 7 is lost or hangs", gpu="7",
               job="gpukit",
               description=" has not answered; see dmesg for Xids."),
        alerts(14, "GpukitGpuMissing"),
        alerts(14, "GpusExpected", "7 of 8 GPUs work"),
        alerts(50, "GpukitGpuDown"),
        alerts(50, "GpukitGpuMissing",
               "fewer GPUs than within the last day, which was 8"),
        alerts(75, "GpusExpected", "0 of 8 GPUs work"),
    ]
    (tmp_path / "test.yml").write_text(json.dumps({
        "rule_files": ["gpukit.rules.yml", "gpus.rules.yml"],
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": input_series,
                   "alert_rule_test": expected}]}))
    assert "SUCCESS" in promtool("test", "rules", str(tmp_path / "test.yml"))
