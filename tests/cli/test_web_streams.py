# SPDX-License-Identifier: Apache-2.0
"""`gpukit web` serves many streams, and none of them stalls."""

import pytest

from conftest import sanitized
from exporter import BUILT
from streams import Crowd
from web import EIGHT, web

pytestmark = BUILT
assert web  # the fixture


@pytest.mark.parametrize("count, seconds", [
    (60, 4), pytest.param(110, 30, marks=pytest.mark.slow)])
def test_no_stream_stands_still(web, count, seconds):
    """No stream stalls, whoever else reads slowly, disconnects in the middle,
    or comes back."""
    w = web(EIGHT, "-i", "0.1")
    crowd = Crowd(w, count)
    for _ in range(2):
        crowd.read(seconds / 2)
        assert not crowd.behind()
    before = min(one.frames for one in crowd.all)
    assert before > 0
    assert w.memory() < 64 << 20 or sanitized()
    crowd.close()


def test_who_left_makes_room(web):
    """Room is made even where nothing is sent for long, which would show that a
    client left."""
    w = web(["--gpus", "t4:1"], "-i", "10")
    for _ in range(3):
        streams = [w.stream() for _ in range(110)]
        assert {s.status for s in streams} == {200}
        for s in streams:
            s.close()
        assert w.get("/")[0] == 200
