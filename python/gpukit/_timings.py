"""Where the time goes, as `--timings` of the command tells it."""

from gpukit import _core

__all__ = ["timings", "Timing"]


class Timing:
    """One line of the table: times in seconds.

    name: an NVML function, or a part of gpukit's own work; calls; own: without
    what it called; total; longest: the longest single call.
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
    """Counts the calls of NVML within a `with`, in all threads.

    >>> with gpukit.timings() as t:
    ...     gpukit.Device(0).as_snapshot()
    >>> print(t)            # a table; t.rows has the numbers, t["nvmlInit_v2"]

    One at a time in a process: RuntimeError within another one.
    """

    _counting = None  # the one that counts

    def __init__(self):
        self._rows = []

    def __enter__(self):
        if timings._counting is not None:
            raise RuntimeError("timings are counted already, in all threads")
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
        """The lines, most of own time first; so far, within the `with`."""
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
