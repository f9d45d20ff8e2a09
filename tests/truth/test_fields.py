# SPDX-License-Identifier: Apache-2.0
"""Every field id that is answered follows the machine, or equals its profile.
"""

import os

import pytest

from conftest import needed

needed("pynvml", __file__)

# pylint: disable=wrong-import-position
import rows_fields  # noqa: E402
import truth  # noqa: E402
from conftest import FAKE_DIR  # noqa: E402
from fields import IDS, name_and_scope, told  # noqa: E402
from nvml_client import Nvml, Refused  # noqa: E402

NEWEST = os.path.join(FAKE_DIR, "610", "libnvidia-ml.so.1")
ABSENT = (Refused("NOT_SUPPORTED"), Refused("INVALID_ARGUMENT"))


@pytest.fixture(scope="session")
def client():
    return Nvml()


@pytest.fixture
def run(client, tmp_path):
    """Machines of the newest driver, which knows all ids."""
    one = truth.Run(client, str(tmp_path))
    client.gpu = 0
    yield one
    one.stop()


def start(one, gpus):
    one.start("--gpus", gpus, "--driver", "610", "--any-driver",
              front=NEWEST)


def check(one, group):
    client = one.client
    first = {}
    for key in group.keys:
        wanted = group.fields.get(key, (lambda was: not isinstance(
            was, Refused),))[0]
        first[key] = truth.await_answer(
            lambda c, key=key: told(c, [key])[key], client, wanted,
            f"{key} before")
    for change in group.change:
        change.apply(one)
    for key in group.keys:
        was = first[key]
        wanted = group.fields[key][1] if key in group.fields else (
            lambda now, was=was: not isinstance(now, Refused) and now > was)
        last = truth.await_answer(lambda c, key=key: told(c, [key])[key],
                                  client, wanted, f"{key} after")
        assert last != was, f"{key}: nothing changed: {last!r}"


@pytest.mark.parametrize("group", rows_fields.GROUPS,
                         ids=[group.name for group in rows_fields.GROUPS])
def test_ids_follow(group, run):
    start(run, group.gpus)
    if group.load:
        truth.Load(group.load).apply(run)
    check(run, group)


def test_facts_are_of_the_profiles(run):
    boards = truth.profiles()
    start(run, ",".join(board["id"] for board in boards))
    seen = {}
    for run.client.gpu, board in enumerate(boards):
        for key, now in told(run.client, rows_fields.FACTS).items():
            assert now == rows_fields.FACTS[key](board), (key, board["id"])
            seen.setdefault(key, []).append(now)
    for key, all_of_it in seen.items():
        assert any(one != all_of_it[0] for one in all_of_it), \
            f"{key} is the same on every profile"


def answered(client):
    return {name for name, now in told(client, IDS).items()
            if now not in ABSENT}


def test_every_id_that_is_answered_has_a_row(run):
    boards = truth.profiles()
    start(run, ",".join(board["id"] for board in boards))
    proven = {name_and_scope(key)[0] for group in rows_fields.GROUPS
              for key in group.keys}
    proven |= set(rows_fields.FACTS) | set(rows_fields.UNMOVED)
    known, found = {IDS[name] for name in proven}, set()
    for run.client.gpu, board in enumerate(boards):
        for name in answered(run.client):
            assert IDS[name] in known, f"{name} of {board['id']} has no row"
            found.add(IDS[name])
    print(f"some board answers {len(found)} field ids")
    assert len(found) >= rows_fields.ANYWHERE


def test_an_h100_answers_enough(run):
    start(run, "h100:2")
    count = len({IDS[name] for name in answered(run.client)})
    print(f"an H100 answers {count} of {len(set(IDS.values()))} field ids")
    assert count >= rows_fields.FLOOR
