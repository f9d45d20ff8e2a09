# SPDX-License-Identifier: Apache-2.0
"""nvitop's API, provided by gpukit: programs for nvitop run unchanged.

`nvitop.api`, `nvitop.select`, `nvitop.callbacks` and the modules below them
are gpukit's modules under nvitop's names.
"""

from nvitop import _modules

_modules.refuse_beside_nvitop()
_modules.install()

from nvitop.api import __all__ as _api  # noqa: E402
from nvitop.version import __version__ as __version__  # noqa: E402

__all__ = [*_api, "select_devices"]
__getattr__, __dir__ = _modules.attributes(
    __name__, __all__,
    ("api", "callbacks", "caching", "cli", "collector", "device", "host",
     "libcuda", "libcudart", "libnvml", "process", "select", "termcolor",
     "utils"))
