# SPDX-License-Identifier: Apache-2.0
"""Where time is spent: the table that the command's option `--timings`
prints."""

from gpukit import _core

__all__ = ["timings", "Timing"]


class Timing:
    """One line of the table; times are in seconds.

    name: an NVML function, or a part of gpukit's own work; calls: how many;
    own: time without the functions that it called; total: time with them;
    longest: the time of the longest call.
    """

    __slots__ = ("name", "calls", "own", "total", "longest")

    def __init__(self, name, calls, own_ns, total_ns, longest_ns):
        self.name = name
        self.calls = calls
        self.own = own_ns / 1e9
        self.total = total_ns / 1e9
        self.longest = longest_ns / 1e9

    def __repr__(self):
        return (f"Timing(name={self.name!r}, calls={self.calls}, "
                f"own={self.own!r}, total={self.total!r}, "
                f"longest={self.longest!r})")


class timings:
    """Counts the NVML calls of all threads within a `with` block.

    >>> with gpukit.timings() as t:
    ...     gpukit.Device(0).as_snapshot()
    >>> print(t)            # a table; t.rows has the numbers, t["nvmlInit_v2"]

    Only one can be active in a process: RuntimeError within another one.
    """

    _counting = None  # the active `timings` object

    def __init__(self):
        self._rows = []

    def __enter__(self):
        if timings._counting is not None:
            raise RuntimeError(
                "timings are already being counted, in all threads")
        timings._counting = self
        self._rows = None
        _core.trace(True)
        return self

    def __exit__(self, *exc):
        self._rows = self._read()
        _core.trace(False)
        timings._counting = None
        return False

    @staticmethod
    def _read():
        rows = [Timing(*row) for row in _core.trace_rows()]
        return sorted(rows, key=lambda row: -row.own)

    @property
    def rows(self):
        """The lines of the table, sorted by own time. Within the `with` block,
        returns the lines so far."""
        return self._read() if self._rows is None else self._rows

    def __getitem__(self, name):
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def __str__(self):
        lines = ["   calls      self ms  cumulative ms  per call ms"
                 "       max ms  name"]
        for row in self.rows:
            lines.append(
                f"{row.calls:8d} {row.own * 1e3:12.3f} {row.total * 1e3:14.3f}"
                f" {row.total * 1e3 / row.calls:12.4f}"
                f" {row.longest * 1e3:12.3f}  {row.name}")
        return "\n".join(lines)
