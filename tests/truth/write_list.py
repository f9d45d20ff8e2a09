# SPDX-License-Identifier: Apache-2.0
"""Rewrites LIST.txt: build/venv/bin/python tests/truth/write_list.py"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

# pylint: disable=wrong-import-position
import follows  # noqa: E402
import truth  # noqa: E402

with open(os.path.join(HERE, "LIST.txt"), "w", encoding="utf-8") as listing:
    listing.write(follows.list_of(truth.all_rows()))
