# SPDX-License-Identifier: Apache-2.0
"""The package's NA, sizes and times as text, ttl_cache and Snapshot are checked
against values computed by hand, and against defects of nvitop."""

import copy
import datetime
import math
import pickle
import sys

import pytest

from python_package import PACKAGE, check_built

check_built()
sys.path.insert(0, PACKAGE)

from gpukit import utils  # noqa: E402
from gpukit.utils import NA, Snapshot, ttl_cache  # noqa: E402

OTHERS = (0, 1, -2.5, True)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_na_can_be_pickled_and_copied(protocol):
    assert pickle.loads(pickle.dumps([NA], protocol))[0] is NA
    assert copy.deepcopy({"a": NA})["a"] is NA and copy.copy(NA) is NA


@pytest.mark.parametrize("number", OTHERS)
def test_na_and_a_number_is_nan(number):
    for value in (NA + number, number + NA, NA - number, number - NA,
                  NA * number, number * NA, number / NA, number // NA,
                  number % NA, *divmod(number, NA), -NA, +NA, abs(NA)):
        assert isinstance(value, float) and math.isnan(value)


@pytest.mark.parametrize("number", OTHERS)
def test_na_sorts_behind_every_number(number):
    assert NA > number and NA >= number and number < NA and number <= NA
    assert not (NA < number or NA <= number or NA == number)
    assert max(number, NA) is NA and min(NA, number) == number


def test_na_is_a_text_among_texts():
    assert NA == "N/A" and hash(NA) == hash("N/A") and not NA
    assert NA + "x" == "N/Ax" and "x" + NA == "xN/A"
    assert f"{NA:>5}|{NA:.1f}" == "  N/A|nan" and int(NA) == 0
    with pytest.raises(ValueError):
        format(NA, "d")


def test_na_refuses_what_is_no_number():
    for wrong in (lambda: NA * "x", lambda: NA - "x", lambda: 2 ** NA,
                  lambda: NA + 1j):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ZeroDivisionError):
        NA / 0


@pytest.mark.parametrize("size, text", [
    (0, "0B"), (1023, "1023B"), (1 << 20, "1.00MiB"), (100 << 20, "100.0MiB"),
    (1000 << 20, "1000MiB"), (20 << 30, "20.00GiB"), (100 << 30, "100.0GiB"),
    (1000 << 30, "0.98TiB"), (1 << 50, "1.00PiB"), (NA, "N/A"),
    (math.nan, "N/A"), ("12", "12B")])
def test_a_size_is_readable(size, text):
    assert utils.bytes2human(size) == text


@pytest.mark.parametrize("text, size", [
    ("1k", 1000), ("1KI", 1024), (" +1.5 GiB ", 3 << 29), ("7", 7), (7, 7)])
def test_a_readable_size_is_bytes(text, size):
    assert utils.human2bytes(text) == size


@pytest.mark.parametrize("text", ["-1", -1, "1e3", "", "k", "1.2.3"])
def test_other_texts_are_no_size(text):
    with pytest.raises(ValueError):
        utils.human2bytes(text)


@pytest.mark.parametrize("time, text", [
    (59, "0:59"), (3661, "1:01:01"), (302400, "84:00:00"),
    (datetime.timedelta(days=4), "4.0 days"), (-5, "-0:05"), (NA, "N/A")])
def test_a_time_is_readable(time, text):
    assert utils.timedelta2human(time) == text


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def counted(**options):
    calls = []
    cached = ttl_cache(**options)(lambda key: calls.append(key) or key)
    return cached, calls


def test_a_hit_keeps_a_result_from_being_evicted():
    cached, calls = counted(maxsize=2)
    for key in (1, 2, 1, 3, 1):
        cached(key)
    assert calls == [1, 2, 3] and cached.cache_info()[:2] == (2, 3)


@pytest.mark.parametrize("maxsize", [None, 128])
def test_results_expire_whatever_the_size(maxsize):
    clock = Clock()
    cached, calls = counted(maxsize=maxsize, ttl=10, timer=clock)
    cached(1)
    clock.now = 9.9
    cached(1)
    clock.now = 10.0
    cached(1)
    assert calls == [1, 1]


def test_a_cache_of_size_0_keeps_nothing():
    cached, calls = counted(maxsize=0)
    cached(1), cached(1)
    assert calls == [1, 1] and cached.cache_info().currsize == 0


def test_a_negative_ttl_is_refused():
    with pytest.raises(ValueError):
        ttl_cache(ttl=-1)


class Thing:
    asked = 0

    def later(self):
        self.asked += 1
        return self.asked

    def __repr__(self):
        return "Thing()"


def test_a_snapshot_asks_for_what_was_not_taken_and_keeps_it():
    shot = Snapshot(Thing(), taken=5)
    assert (shot.taken, shot["taken"], list(shot)) == (5, 5, ["taken"])
    assert shot.later == shot.later == 1 and dict(shot)["later"] == 1
    assert repr(Snapshot(Thing(), b=NA, a=1)) == (
        "ThingSnapshot(\n    real=Thing(),\n    a=1,\n    b='N/A',\n)")
