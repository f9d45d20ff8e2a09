"""Writes LIST.txt anew: build/venv/bin/python tests/truth/write_list.py"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import truth  # noqa: E402  pylint: disable=wrong-import-position

with open(os.path.join(HERE, "LIST.txt"), "w", encoding="utf-8") as listing:
    listing.write(truth.list_of(truth.all_rows()))
