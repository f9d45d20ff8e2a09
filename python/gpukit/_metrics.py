# SPDX-License-Identifier: Apache-2.0
"""The statistics of ResourceMetricCollector: time-weighted mean, min, max,
last."""

from gpukit import _core

NAN = float("nan")


class Buffer:
    """The statistics of one tag since it was activated or cleared."""

    def __init__(self, tag, prefix, start, wall):
        self.tag, self.prefix = tag, prefix
        self.clear(start, wall)

    def clear(self, start, wall):
        self.start, self.wall, self.last_wall = start, wall, wall
        self._state, self._places = bytearray(), {}  # key -> index in state
        self._keys = self._order = self._values = ()  # of the previous sample

    def add(self, keys, values, now, wall):
        """Adds a sample: a tuple of keys and a list of floats in the same
        order."""
        self.last_wall = wall
        if keys is not self._keys:
            self._arrange(keys)
        self._values = values
        missed = len(self._order) - len(values)
        _core.series_add(self._state, self._order,
                         values + [NAN] * missed if missed else values,
                         self.start, now)

    def _arrange(self, keys):
        places = self._places
        before = len(places)
        for key in keys:
            places.setdefault(key, len(places))
        _core.series_new(self._state, len(places) - before)
        missed = places.keys() - set(keys)
        self._order = tuple([places[key] for key in (*keys, *missed)])
        self._keys = keys

    def collect(self, now, wall):
        """Returns a dict with a number for each key of the form
        tag/.../key/mean."""
        found = {}
        for key, row in zip(self._places, _core.series_rows(self._state, now)):
            name = f"{self.prefix}/{key}"
            if "running_time" in key:
                # A running time always grows, so that its mean and extremes
                # mean nothing.
                found[name + "/last"], found[name] = row[3], row[2]
            else:
                (found[name + "/mean"], found[name + "/min"],
                 found[name + "/max"], found[name + "/last"]) = row
        for key, value in zip(self._keys, self._values):
            if value != value:  # a key that has no value in this sample
                found[f"{self.prefix}/{key}/last"] = NAN
        found[f"{self.prefix}/duration (s)"] = now - self.start
        found[f"{self.prefix}/timestamp"] = wall
        found[f"{self.prefix}/last_timestamp"] = self.last_wall
        return found
