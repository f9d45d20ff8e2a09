# SPDX-License-Identifier: Apache-2.0
# For type checkers: the names that the package loads on first use.

from gpukit.utils import (
    NA as NA,
    NaType as NaType,
    NotApplicable as NotApplicable,
    NotApplicableType as NotApplicableType,
    UINT_MAX as UINT_MAX,
    ULONGLONG_MAX as ULONGLONG_MAX,
    KiB as KiB,
    MiB as MiB,
    GiB as GiB,
    TiB as TiB,
    PiB as PiB,
    SIZE_UNITS as SIZE_UNITS,
    bytes2human as bytes2human,
    human2bytes as human2bytes,
    timedelta2human as timedelta2human,
    utilization2string as utilization2string,
    colored as colored,
    set_color as set_color,
    boolify as boolify,
    Snapshot as Snapshot,
    ttl_cache as ttl_cache,
    command_join as command_join,
)
from gpukit._errors import (
    NVMLError as NVMLError,
)
from gpukit.libnvml import (
    nvmlCheckReturn as nvmlCheckReturn,
)
from gpukit.device import (
    Device as Device,
    PhysicalDevice as PhysicalDevice,
    MigDevice as MigDevice,
    CudaDevice as CudaDevice,
    CudaMigDevice as CudaMigDevice,
    parse_cuda_visible_devices as parse_cuda_visible_devices,
    normalize_cuda_visible_devices as normalize_cuda_visible_devices,
)
from gpukit.process import (
    HostProcess as HostProcess,
    GpuProcess as GpuProcess,
)
from gpukit.collector import (
    take_snapshots as take_snapshots,
    collect_in_background as collect_in_background,
    ResourceMetricCollector as ResourceMetricCollector,
)
from gpukit.select import (
    select_devices as select_devices,
)
from gpukit._timings import (
    timings as timings,
)
from gpukit import (
    host as host,
    libcuda as libcuda,
    libcudart as libcudart,
    libnvml as libnvml,
)
from gpukit import (
    caching as caching,
    callbacks as callbacks,
    collector as collector,
    device as device,
    fake as fake,
    na as na,
    process as process,
    snapshot as snapshot,
    termcolor as termcolor,
    utils as utils,
    version as version,
)
from gpukit.version import __version__ as __version__

def set_deadline(seconds: float, /) -> None: ...

__all__: list[str]
