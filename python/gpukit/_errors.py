"""What NVML answers when it refuses, as exceptions.

Each nvmlReturn_t has a class of its own, named as nvidia-ml-py names it:
NVMLError_GpuIsLost for NVML_ERROR_GPU_IS_LOST. All derive from NVMLError.
"""

from gpukit import _core

_KNOWN = {code: (name, text) for code, name, text in _core.nvml_errors()}
_CLASSES = {}


class NVMLError(Exception):
    """NVML refused. `value` is its code, `name` the code's name, and the text
    is what nvmlErrorString says of it.

    >>> NVMLError(15)
    NVMLError_GpuIsLost(15)
    """

    value = None

    def __new__(cls, value=None):
        if cls is NVMLError and value is not None:
            cls = _CLASSES.get(value, cls)
        self = super().__new__(cls, value)
        if value is not None:
            self.value = value
        return self

    def __init__(self, value=None):
        super().__init__(self.value if value is None else value)

    @property
    def name(self):
        """The name of the code, as in nvml.h."""
        return _KNOWN.get(self.value, ("NVML_ERROR_UNKNOWN",))[0]

    def __str__(self):
        if self.value in _KNOWN:
            return _KNOWN[self.value][1]
        return "Unknown Error"

    def __eq__(self, other):
        if not isinstance(other, NVMLError):
            return NotImplemented
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __reduce__(self):
        return NVMLError, (self.value,)


def _class_name(name):
    words = name[len("NVML_ERROR_"):].split("_")
    return "NVMLError_" + "".join(word.capitalize() for word in words)


def _make_classes():
    for code, (name, text) in _KNOWN.items():
        if not code:
            continue
        made = type(_class_name(name), (NVMLError,),
                    {"value": code, "__module__": __name__,
                     "__doc__": f"{name} ({code}): {text}"})
        _CLASSES[code] = globals()[made.__name__] = made


_make_classes()


def error_of(value):
    """The exception of a code of NVML."""
    return NVMLError(value)
