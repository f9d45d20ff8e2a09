"""`Snapshot`: what an object was at a moment."""

import time

__all__ = ["Snapshot"]


class Snapshot:
    """The values of `real` at `timestamp` (seconds since 1970), as attributes
    and as items.

    An attribute that was not taken is asked of `real` now, and then kept.
    `keys()` are the names without real and timestamp; dict(snapshot) works.
    """

    def __init__(self, real, **items):
        own = self.__dict__
        own["real"] = real
        own["timestamp"] = time.time()
        own.update(items)

    @classmethod
    def _of(cls, real, timestamp, fill):
        """One whose values are worked out when the first one is asked for:
        fill() gives them as a dict."""
        self = cls.__new__(cls)
        self.__dict__ = {"real": real, "timestamp": timestamp, "_fill": fill}
        return self

    def _filled(self):
        own = self.__dict__
        fill = own.get("_fill")
        if fill is not None:
            for name, value in fill().items():
                own.setdefault(name, value)
            own.pop("_fill", None)
        return own

    def __getstate__(self):
        return self._filled()

    def __getattr__(self, name):
        if name.startswith("__") or "real" not in self.__dict__:
            raise AttributeError(name)
        if "_fill" in self.__dict__ and name in self._filled():
            return self.__dict__[name]
        value = getattr(self.real, name)
        if callable(value):
            value = value()
        self.__dict__[name] = value
        return value

    def __getitem__(self, name):
        try:
            return getattr(self, name)
        except AttributeError as error:
            raise KeyError(name) from error

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def __contains__(self, name):
        return name in self._filled() and name not in ("real", "timestamp")

    def __iter__(self):
        return (name for name in self._filled()
                if name not in ("real", "timestamp"))

    def __len__(self):
        return sum(1 for _ in self)

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
