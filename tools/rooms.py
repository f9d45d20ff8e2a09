# SPDX-License-Identifier: Apache-2.0
"""The rooms of src, from tools/rooms.txt."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def read_rooms():
    """Returns room -> the rooms and headers that it may include."""
    rooms = {}
    with open(os.path.join(HERE, "rooms.txt"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                rooms[words[0]] = set(words[1:])
    return rooms


def room_of(path, rooms):
    """Returns the room of a path below src: that of the nearest folder with a
    row, or None."""
    folder = os.path.dirname(path)
    while folder and folder not in rooms:
        folder = os.path.dirname(folder)
    return folder or None


def list_tracked(*patterns):
    """Returns the files that git tracks, relative to the root."""
    return subprocess.run(["git", "ls-files", *patterns], check=True, cwd=ROOT,
                          capture_output=True, text=True).stdout.splitlines()


def list_sources(*endings):
    """Returns the tracked files below src with these endings, without
    "src/"."""
    return [path.removeprefix("src/") for path in
            list_tracked(*[f"src/*{ending}" for ending in endings])]
