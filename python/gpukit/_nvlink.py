# SPDX-License-Identifier: Apache-2.0
"""Traffic over NVLinks."""

import time

from gpukit import _core
from gpukit._device_values import ThroughputInfo, add_method, speed_text
from gpukit._errors import NVMLError
from gpukit.na import NA


class _NvLinks:
    """The NVLink methods of a device."""

    def nvlink_link_count(self):
        """The number of NVLinks."""
        try:
            return len(_core.links(self._at[0])) if self._at[1] < 0 else 0
        except NVMLError:
            return 0

    def _read_links(self):
        rows = _core.links(self._at[0]) if self._at[1] < 0 else []
        return time.monotonic(), rows

    def nvlink_throughput(self, interval=None):
        """Traffic of each NVLink in KiB/s since the last call; the first call
        measures over 20 ms. interval: measure over that many seconds,
        beginning now."""
        if interval is not None and interval < 0:
            raise ValueError("interval must not be negative")
        try:
            before = None if interval else self._links
            if before is None:
                before = self._read_links()
                time.sleep(interval or 0.02)
            self._links = after = self._read_links()
        except NVMLError:
            return []
        seconds = max(after[0] - before[0], 1e-6)
        return [ThroughputInfo(_rate(old[2], new[2], seconds),
                               _rate(old[3], new[3], seconds))
                for old, new in zip(before[1], after[1])]

    def nvlink_total_throughput(self, interval=None):
        """Traffic of all NVLinks together in KiB/s."""
        return ThroughputInfo(*(_total(rates) for rates in self._sides(
            interval)))

    def nvlink_mean_throughput(self, interval=None):
        """Mean traffic of an NVLink in KiB/s."""
        return ThroughputInfo(*(_mean(rates) for rates in self._sides(
            interval)))

    def _sides(self, interval):
        rates = self.nvlink_throughput(interval)
        return [r.tx for r in rates], [r.rx for r in rates]


def _rate(before, after, seconds):
    if before is None or after is None:
        return NA
    return round((after - before) / 1024 / seconds)


def _known(rates):
    return [rate for rate in rates if rate != NA]


def _total(rates):
    known = _known(rates)
    return sum(known) if known else NA


def _mean(rates):
    known = _known(rates)
    return round(sum(known) / len(known)) if known else NA


_WAY = ("Traffic out of the GPU over", "Traffic into the GPU over")
_WHICH = {"": "each NVLink", "mean_": "an NVLink, the mean of all,",
          "total_": "all NVLinks together"}
_INTERVAL = ("interval: over so many seconds from now; without it since the "
             "last call. ValueError for a negative one.")


def _value_of(at, reduce):
    def value(self, interval=None):
        return reduce(self._sides(interval)[at])
    return value


def _text_of(name):
    def text(self, interval=None):
        rate = getattr(self, name)(interval)
        if isinstance(rate, list):
            return [speed_text(each) for each in rate]
        return speed_text(rate)
    return text


def _add_nvlink(side, at):
    """Adds the NVLink methods for one direction."""
    for prefix, reduce in (("", list), ("mean_", _mean), ("total_", _total)):
        name = f"nvlink_{prefix}{side}_throughput"
        which = _WHICH[prefix]
        add_method(_NvLinks, name, _value_of(at, reduce),
                   f"{_WAY[at]} {which} in KiB/s. {_INTERVAL}")
        add_method(_NvLinks, name + "_human", _text_of(name),
                   f"{_WAY[at]} {which} as text, such as 1.00MiB/s. "
                   f"{_INTERVAL}")


_add_nvlink("tx", 0)
_add_nvlink("rx", 1)
