# SPDX-License-Identifier: Apache-2.0
"""`Snapshot`: the values of an object at one moment."""

import time

__all__ = ["Snapshot"]


_OWN = ("real", "timestamp", "age", "stale")


class Snapshot:
    """The values of `real` at `timestamp` (seconds since 1970), as attributes
    and as items.

    A value that the snapshot does not have is read from `real` on first use,
    and kept. `keys()` leaves out real, timestamp, age and stale;
    dict(snapshot) works.
    """

    # Seconds since the driver reported the values; NA if it never did.
    age = 0.0
    # True if the GPU did not answer: values of the driver are then NA.
    stale = False

    def __init__(self, real, **items):
        own = self.__dict__
        own["real"] = real
        own["timestamp"] = time.time()
        own.update(items)

    @classmethod
    def _of(cls, real, timestamp, fill, *facts):
        """Makes a snapshot without values yet. On first use they are made by
        fill(*facts), which returns them as a dict without reading anything."""
        self = cls.__new__(cls)
        own = self.__dict__
        own["real"], own["timestamp"] = real, timestamp
        own["_fill"] = fill, facts
        return self

    def _is_late(self, age):
        own = self.__dict__
        own["age"], own["stale"] = age, True

    @classmethod
    def _later(cls, make, timestamp, fill):
        """Makes a snapshot whose values and `real` are made on first use;
        make() returns `real`."""
        self = cls.__new__(cls)
        own = self.__dict__
        own["_make"], own["timestamp"] = make, timestamp
        own["_fill"] = fill, ()
        return self

    def _made(self):
        own = self.__dict__
        make = own.get("_make")
        if make is None or "real" in own:
            return own["real"]
        real = own.setdefault("real", make())
        own.pop("_make", None)
        return real

    def _filled(self):
        own = self.__dict__
        if "_make" in own:
            self._made()
        fill = own.get("_fill")
        if fill is not None:
            items = fill[0](*fill[1])
            items.update(own)  # values that the user has set stay
            own.update(items)
            own.pop("_fill", None)
        return own

    def __getstate__(self):
        return self._filled()

    def __getattr__(self, name):
        if name.startswith("__") or "timestamp" not in self.__dict__:
            raise AttributeError(name)
        if name == "real":
            return self._made()
        if "_fill" in self.__dict__ and name in self._filled():
            return self.__dict__[name]
        value = getattr(self.real, name)
        if callable(value):
            value = value()
        self.__dict__[name] = value
        return value

    def __getitem__(self, name):
        try:
            return self.__dict__[name]
        except KeyError:
            pass
        try:
            return getattr(self, name)
        except AttributeError as error:
            raise KeyError(name) from error

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def __contains__(self, name):
        return name in self._filled() and name not in _OWN

    def __iter__(self):
        return iter([name for name in self._filled()
                     if name not in _OWN])

    def __len__(self):
        return len(list(iter(self)))

    def __dir__(self):
        self._filled()
        return super().__dir__()

    def keys(self):
        """The names of the values."""
        return iter(self)

    def __repr__(self):
        lines = [f"real={self.real!r},"]
        for name in sorted(self):
            value = self.__dict__[name]
            text = repr(str(value)) if value == "N/A" else repr(value)
            lines.append(f"{name}={text},".replace("\n", "\n    "))
        body = "\n    ".join(lines)
        return f"{type(self.real).__name__}Snapshot(\n    {body}\n)"

    __str__ = __repr__
