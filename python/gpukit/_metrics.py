"""The statistics of ResourceMetricCollector: mean over time, min, max, last."""

from math import isnan

NAN = float("nan")
_INF = float("inf")


class Series:
    """One value over time: the first one counts from when the buffer began,
    each one until the next; a sample that is missed ends the last one."""

    __slots__ = ("_start", "_time", "_last", "_area", "_known", "_min",
                 "_max")

    def __init__(self, start):
        self._start = start
        self._time = self._last = None
        self._area = self._known = 0.0
        self._min, self._max = _INF, -_INF

    def add(self, value, now):
        if isnan(value):
            self._time = None
            return
        if self._time is None and self._last is None:
            self._advance(value, value, now - self._start)
        elif self._time is not None:
            self._advance(self._last, value, now - self._time)
        self._time, self._last = now, value
        self._min, self._max = min(self._min, value), max(self._max, value)

    def _advance(self, before, after, seconds):
        self._area += 0.5 * (before + after) * seconds
        self._known += seconds

    def mean(self, now):
        """Over the time in which the value was known."""
        area, known = self._area, self._known
        if self._time is not None:
            area += self._last * (now - self._time)
            known += now - self._time
        return area / known if known > 0 else self._last

    def rows(self, now):
        if self._last is None:
            return tuple((name, NAN) for name in ("mean", "min", "max",
                                                  "last"))
        return (("mean", self.mean(now)), ("min", self._min),
                ("max", self._max), ("last", self._last))


class Buffer:
    """The series of one tag since it was activated or cleared."""

    def __init__(self, tag, prefix, start, wall):
        self.tag, self.prefix = tag, prefix
        self.clear(start, wall)

    def clear(self, start, wall):
        self.start, self.series = start, {}
        self.wall = self.last_wall = wall

    def add(self, sample, now, wall):
        self.last_wall = wall
        for key, value in sample.items():
            series = self.series.get(key)
            if series is None:
                series = self.series[key] = Series(self.start)
            series.add(value, now)
        for key in self.series.keys() - sample.keys():
            self.series[key].add(NAN, now)

    def collect(self, now, wall):
        found = {}
        for key, series in self.series.items():
            for name, value in series.rows(now):
                found[f"{self.prefix}/{key}/{name}"] = value
        for key in [k for k in self.series if "running_time" in k]:
            self._shorten(found, f"{self.prefix}/{key}")
        found[f"{self.prefix}/duration (s)"] = now - self.start
        found[f"{self.prefix}/timestamp"] = wall
        found[f"{self.prefix}/last_timestamp"] = self.last_wall
        return found

    @staticmethod
    def _shorten(found, key):
        """Of a time that only grows, mean and extremes say nothing."""
        found[key] = found.pop(f"{key}/max", None)
        for name in ("mean", "min"):
            found.pop(f"{key}/{name}", None)
        if found[key] is None:
            del found[key]
