# SPDX-License-Identifier: Apache-2.0
"""Errors of CUDA's libraries as exceptions: a class for each code, and calls
that raise them."""

import ctypes

DRIVER = """
    INVALID_VALUE=1 OUT_OF_MEMORY=2 NOT_INITIALIZED=3 DEINITIALIZED=4
    PROFILER_DISABLED=5 PROFILER_NOT_INITIALIZED=6
    PROFILER_ALREADY_STARTED=7 PROFILER_ALREADY_STOPPED=8 STUB_LIBRARY=34
    CALL_REQUIRES_NEWER_DRIVER=36 DEVICE_UNAVAILABLE=46 NO_DEVICE=100
    INVALID_DEVICE=101 DEVICE_NOT_LICENSED=102 INVALID_IMAGE=200
    INVALID_CONTEXT=201 CONTEXT_ALREADY_CURRENT=202 MAP_FAILED=205
    UNMAP_FAILED=206 ARRAY_IS_MAPPED=207 ALREADY_MAPPED=208
    NO_BINARY_FOR_GPU=209 ALREADY_ACQUIRED=210 NOT_MAPPED=211
    NOT_MAPPED_AS_ARRAY=212 NOT_MAPPED_AS_POINTER=213 ECC_UNCORRECTABLE=214
    UNSUPPORTED_LIMIT=215 CONTEXT_ALREADY_IN_USE=216
    PEER_ACCESS_UNSUPPORTED=217 INVALID_PTX=218
    INVALID_GRAPHICS_CONTEXT=219 NVLINK_UNCORRECTABLE=220
    JIT_COMPILER_NOT_FOUND=221 UNSUPPORTED_PTX_VERSION=222
    JIT_COMPILATION_DISABLED=223 UNSUPPORTED_EXEC_AFFINITY=224
    UNSUPPORTED_DEVSIDE_SYNC=225 CONTAINED=226 INVALID_SOURCE=300
    FILE_NOT_FOUND=301 SHARED_OBJECT_SYMBOL_NOT_FOUND=302
    SHARED_OBJECT_INIT_FAILED=303 OPERATING_SYSTEM=304 INVALID_HANDLE=400
    ILLEGAL_STATE=401 LOSSY_QUERY=402 NOT_FOUND=500 NOT_READY=600
    ILLEGAL_ADDRESS=700 LAUNCH_OUT_OF_RESOURCES=701 LAUNCH_TIMEOUT=702
    LAUNCH_INCOMPATIBLE_TEXTURING=703 PEER_ACCESS_ALREADY_ENABLED=704
    PEER_ACCESS_NOT_ENABLED=705 PRIMARY_CONTEXT_ACTIVE=708
    CONTEXT_IS_DESTROYED=709 ASSERT=710 TOO_MANY_PEERS=711
    HOST_MEMORY_ALREADY_REGISTERED=712 HOST_MEMORY_NOT_REGISTERED=713
    HARDWARE_STACK_ERROR=714 ILLEGAL_INSTRUCTION=715 MISALIGNED_ADDRESS=716
    INVALID_ADDRESS_SPACE=717 INVALID_PC=718 LAUNCH_FAILED=719
    COOPERATIVE_LAUNCH_TOO_LARGE=720 TENSOR_MEMORY_LEAK=721
    NOT_PERMITTED=800 NOT_SUPPORTED=801 SYSTEM_NOT_READY=802
    SYSTEM_DRIVER_MISMATCH=803 COMPAT_NOT_SUPPORTED_ON_DEVICE=804
    MPS_CONNECTION_FAILED=805 MPS_RPC_FAILURE=806 MPS_SERVER_NOT_READY=807
    MPS_MAX_CLIENTS_REACHED=808 MPS_MAX_CONNECTIONS_REACHED=809
    MPS_CLIENT_TERMINATED=810 CDP_NOT_SUPPORTED=811
    CDP_VERSION_MISMATCH=812 STREAM_CAPTURE_UNSUPPORTED=900
    STREAM_CAPTURE_INVALIDATED=901 STREAM_CAPTURE_MERGE=902
    STREAM_CAPTURE_UNMATCHED=903 STREAM_CAPTURE_UNJOINED=904
    STREAM_CAPTURE_ISOLATION=905 STREAM_CAPTURE_IMPLICIT=906
    CAPTURED_EVENT=907 STREAM_CAPTURE_WRONG_THREAD=908 TIMEOUT=909
    GRAPH_EXEC_UPDATE_FAILURE=910 EXTERNAL_DEVICE=911
    INVALID_CLUSTER_SIZE=912 FUNCTION_NOT_LOADED=913
    INVALID_RESOURCE_TYPE=914 INVALID_RESOURCE_CONFIGURATION=915
    KEY_ROTATION=916 UNKNOWN=999
"""

RUNTIME = """
    InvalidValue=1 MemoryAllocation=2 InitializationError=3
    CudartUnloading=4 ProfilerDisabled=5 ProfilerNotInitialized=6
    ProfilerAlreadyStarted=7 ProfilerAlreadyStopped=8
    InvalidConfiguration=9 InvalidPitchValue=12 InvalidSymbol=13
    InvalidHostPointer=16 InvalidDevicePointer=17 InvalidTexture=18
    InvalidTextureBinding=19 InvalidChannelDescriptor=20
    InvalidMemcpyDirection=21 AddressOfConstant=22 TextureFetchFailed=23
    TextureNotBound=24 SynchronizationError=25 InvalidFilterSetting=26
    InvalidNormSetting=27 MixedDeviceExecution=28 NotYetImplemented=31
    MemoryValueTooLarge=32 StubLibrary=34 InsufficientDriver=35
    CallRequiresNewerDriver=36 InvalidSurface=37 DuplicateVariableName=43
    DuplicateTextureName=44 DuplicateSurfaceName=45 DevicesUnavailable=46
    IncompatibleDriverContext=49 MissingConfiguration=52
    PriorLaunchFailure=53 LaunchMaxDepthExceeded=65 LaunchFileScopedTex=66
    LaunchFileScopedSurf=67 SyncDepthExceeded=68
    LaunchPendingCountExceeded=69 InvalidDeviceFunction=98 NoDevice=100
    InvalidDevice=101 DeviceNotLicensed=102
    SoftwareValidityNotEstablished=103 StartupFailure=127
    InvalidKernelImage=200 DeviceUninitialized=201
    MapBufferObjectFailed=205 UnmapBufferObjectFailed=206 ArrayIsMapped=207
    AlreadyMapped=208 NoKernelImageForDevice=209 AlreadyAcquired=210
    NotMapped=211 NotMappedAsArray=212 NotMappedAsPointer=213
    ECCUncorrectable=214 UnsupportedLimit=215 DeviceAlreadyInUse=216
    PeerAccessUnsupported=217 InvalidPtx=218 InvalidGraphicsContext=219
    NvlinkUncorrectable=220 JitCompilerNotFound=221
    UnsupportedPtxVersion=222 JitCompilationDisabled=223
    UnsupportedExecAffinity=224 UnsupportedDevSideSync=225 Contained=226
    InvalidSource=300 FileNotFound=301 SharedObjectSymbolNotFound=302
    SharedObjectInitFailed=303 OperatingSystem=304
    InvalidResourceHandle=400 IllegalState=401 LossyQuery=402
    SymbolNotFound=500 NotReady=600 IllegalAddress=700
    LaunchOutOfResources=701 LaunchTimeout=702
    LaunchIncompatibleTexturing=703 PeerAccessAlreadyEnabled=704
    PeerAccessNotEnabled=705 SetOnActiveProcess=708 ContextIsDestroyed=709
    Assert=710 TooManyPeers=711 HostMemoryAlreadyRegistered=712
    HostMemoryNotRegistered=713 HardwareStackError=714
    IllegalInstruction=715 MisalignedAddress=716 InvalidAddressSpace=717
    InvalidPc=718 LaunchFailure=719 CooperativeLaunchTooLarge=720
    TensorMemoryLeak=721 NotPermitted=800 NotSupported=801
    SystemNotReady=802 SystemDriverMismatch=803
    CompatNotSupportedOnDevice=804 MpsConnectionFailed=805
    MpsRpcFailure=806 MpsServerNotReady=807 MpsMaxClientsReached=808
    MpsMaxConnectionsReached=809 MpsClientTerminated=810
    CdpNotSupported=811 CdpVersionMismatch=812 StreamCaptureUnsupported=900
    StreamCaptureInvalidated=901 StreamCaptureMerge=902
    StreamCaptureUnmatched=903 StreamCaptureUnjoined=904
    StreamCaptureIsolation=905 StreamCaptureImplicit=906 CapturedEvent=907
    StreamCaptureWrongThread=908 Timeout=909 GraphExecUpdateFailure=910
    ExternalDevice=911 InvalidClusterSize=912 FunctionNotLoaded=913
    InvalidResourceType=914 InvalidResourceConfiguration=915 Unknown=999
"""


class _CodeError(Exception):
    """A CUDA library returned an error; `value` is its code."""

    _classes = {}

    def __new__(cls, value):
        self = Exception.__new__(cls._classes.get(value, cls), value)
        self.value = value
        return self

    def __init__(self, value=None):
        super().__init__(self.value)

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"

    def __eq__(self, other):
        if not isinstance(other, _CodeError):
            return NotImplemented
        return (self._classes is other._classes
                and self.value == other.value)

    def __hash__(self):
        return hash(self.value)

    def __reduce__(self):
        return self._base, (self.value,)


def make_errors(base, table, prefix, home):
    """Adds to a module, for each name in a table such as OUT_OF_MEMORY, a
    constant (prefix + "OUT_OF_MEMORY") and an exception class
    (base_OutOfMemory)."""
    base._classes, base._base = {}, base
    for row in table.split():
        name, code = row.split("=")
        home[prefix + name] = code = int(code)
        words = name.split("_") if name.isupper() else [name]
        words = [w.capitalize() if name.isupper() else w for w in words]
        made = type(f"{base.__name__}_{''.join(words)}", (base,), {
            "__new__": lambda cls, value=code: base.__new__(base, value),
            "__module__": base.__module__,
            "__doc__": f"{prefix}{name} ({code})."})
        base._classes[code] = home[made.__name__] = made


def class_of(base, code):
    """Returns the class of a code. Raises ValueError for an unknown code."""
    if code not in base._classes:
        raise ValueError(f"unknown error code: {code}")
    return base._classes[code]


class Library:
    """A library that is opened at its first call.

    late: the error code for a call that has not returned at the deadline.
    None: the calling thread makes the call itself and waits, as some libraries
    keep state per thread."""

    def __init__(self, names, error, absent, late=None):
        self.names, self.error, self.absent = names, error, absent
        self._opened, self._late = None, late

    def find(self, function):
        """Returns a function; raises the error for an absent library if the
        library or the function is missing."""
        if self._opened is None:
            self._opened = self._open()
        try:
            return getattr(self._opened, function)
        except AttributeError:
            raise self.error(self.absent) from None

    def _open(self):
        for name in self.names:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
        raise self.error(self.absent)

    def call(self, function, *arguments):
        """Calls a function, and raises its error if it returns an error
        code."""
        found = self.find(function)
        code = found(*arguments) if self._late is None else \
            self._within(found, arguments)
        if code:
            raise self.error(code)

    def _within(self, found, arguments):
        from gpukit._deadline import STARTS_SLOWER, call_within
        from gpukit._errors import NVMLError

        device = arguments[-1] if isinstance(arguments[-1], int) else None
        slower = STARTS_SLOWER if found.__name__ == "cuInit" else 1
        try:
            return call_within(found, arguments, {}, ("cuda", device), slower)
        except NVMLError:
            return self._late

    def ask(self, kind, function, *arguments):
        """Returns the value of type `kind` that a function writes to its first
        argument."""
        out = kind()
        self.call(function, ctypes.byref(out), *arguments)
        return out.value

    def read(self, function, size, *arguments):
        """Returns the text that a function writes to a buffer of `size`
        bytes."""
        out = ctypes.create_string_buffer(size)
        self.call(function, out, size, *arguments)
        return out.value.decode()


def version_text(number):
    """Turns 13000 into "13.0"."""
    return f"{number // 1000}.{number % 1000 // 10}"
