"""The switches of a device that root turns."""

from nvml_client import UINT
from truth import Sets


def get(name, *results):
    """Asks another function than the row's."""
    return lambda c: c.call(name, c.device, *(results or (UINT,)))


def put(*args):
    """Calls the row's function with these arguments."""
    return lambda c: c.call(c.function, c.device, *args)


ROWS = [
    Sets("nvmlDeviceSetPersistenceMode", put(0),
         get("nvmlDeviceGetPersistenceMode"), before=1, after=0),
]
