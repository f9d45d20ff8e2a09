# SPDX-License-Identifier: Apache-2.0
"""The caching allocator's history is evaluated: a hand-made history is followed
back from its end to its peak."""

import importlib.util
import os

from conftest import ROOT

_SPEC = importlib.util.spec_from_file_location("torch_report", os.path.join(
    ROOT, "python", "gpukit", "fake", "torch", "report.py"))
report = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(report)

# 100 bytes remain from before; 30 come and go, and others take their place.
TRACE = [{"action": action, "addr": addr, "size": size} for action, addr, size
         in (("alloc", 1000, 30), ("segment_alloc", 1, 1), ("alloc", 2000, 7),
             ("free_requested", 1000, 30), ("free_completed", 1000, 30),
             ("alloc", 1000, 5), ("free_requested", 2000, 7))]
LIVE = {500: 100, 1000: 5}


def test_only_what_the_program_did_counts():
    assert report.events_of(TRACE) == [
        (True, 1000, 30), (True, 2000, 7), (False, 1000, 30),
        (True, 1000, 5), (False, 2000, 7)]


def test_the_bytes_in_use_after_each():
    events = report.events_of(TRACE)
    assert report.totals(events, 105) == [130, 137, 107, 112, 105]


def test_what_lay_at_the_peak_is_not_what_lies_there_now():
    events = report.events_of(TRACE)
    assert report.what_lay(events, 1, LIVE) == ({500: 100}, 37)
    assert report.what_lay(events, 3, LIVE) == (LIVE, 7)
    assert report.what_lay(events, 4, LIVE) == (LIVE, 0)


def test_each_event_knows_the_allocations_before_it():
    events = report.events_of(TRACE)
    assert report.allocations_before(events, 43) == [40, 41, 42, 42, 43]


def test_blocks_of_a_segment_follow_each_other():
    assert report.live_blocks([{"address": 4096, "blocks": [
        {"size": 512, "requested_size": 500, "state": "active_allocated"},
        {"size": 1024, "requested_size": 0, "state": "inactive"},
        {"size": 512, "requested_size": 1, "state": "active_allocated"},
        {"size": 512, "requested_size": 9,
         "state": "active_pending_free"}]}]) == {4096: 500, 5632: 1}
