"""PyTorch's operators on made-up GPUs without the C++ part: the same, in Python,
and slower. Each has one kernel for the key CUDA: its tensors become CPU tensors
on the same bytes, PyTorch's kernel for the CPU runs, or one of python_own.py,
and what it answers becomes tensors of the device. What that cannot do is
refused by name: tensors that are made of others, captured graphs, and operators
that PyTorch has for GPUs alone."""

import ctypes
import warnings

import torch
from torch._prims_common import alert_not_deterministic

from . import build, python_driver, python_own, python_random

_C = torch._C
_CPU = _C.DispatchKeySet(_C.DispatchKey.CPU)
_OTHERS = ("SparseCUDA", "SparseCsrCUDA", "NestedTensorCUDA", "QuantizedCUDA")
# Without a kernel of CUDA's: made of others there, which would choose cuDNN's.
_BESIDES = ("aten::copy_", "aten::convolution", "aten::cudnn_is_acceptable")

_asserted = tuple(python_driver.facts("asserted"))
_host_checks = tuple(python_driver.facts("host_checks"))
_with_host = frozenset(python_driver.facts("with_host"))
_host_numbers = dict(python_driver.facts("host_numbers"))
_nondeterministic = {name: rest for name, *rest in
                     python_driver.facts("nondeterministic")}
_kept = frozenset(python_driver.facts("kept"))
_kept_of_others = frozenset(python_driver.facts("kept_of_others"))
_refusals = python_driver.facts("refusals")

_lines = []  # of the table: key, operator, fate, reason
_libraries = {}  # registrations hold as long as their library


def _is_assertion(text):
    """Whether CUDA's kernel has one where the CPU's raises that; what both
    check on the host is none."""
    return any(part in text for part in _asserted) and not any(
        part in text for part in _host_checks)


def _tensor_on(storage, like):
    """A tensor of other bytes, all else as in `like`."""
    made = torch.empty(0, dtype=like.dtype, device=storage.device)
    made.set_(storage, like.storage_offset(), like.size(), like.stride())
    if like.is_conj():
        _C._set_conj(made, True)
    if like.is_neg():
        _C._set_neg(made, True)
    return made


class _Aliases:
    """Device tensors as CPU tensors on the same bytes, and back again: of one
    call of an operator, whose tensors are kept by who called it. One storage
    for each storage and one tensor for each tensor, so that what is shared on
    the device is shared for the kernel too."""

    def __init__(self, index):
        self._device = torch.device("cuda", index)
        self._of = {}  # id of a tensor: it, its alias
        self._original = {}  # id of an alias: the tensor
        self._storages = {}  # of a device's storage: the alias'
        self._devices = {}  # of an alias' storage: the device's

    def replace(self, value):
        """An argument, as the CPU's kernel gets it."""
        if isinstance(value, torch.Tensor):
            return self._alias(value) if value.is_cuda else value
        if isinstance(value, (list, tuple)):
            return [self.replace(one) for one in value]
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device("cpu")
        return value

    def _alias(self, tensor):
        known = self._of.get(id(tensor))
        if known:
            return known[1]
        if tensor.layout != torch.strided or tensor.is_nested or \
           tensor.is_quantized:
            raise NotImplementedError(
                f"a tensor of layout {tensor.layout} is not worked on by a "
                "made-up GPU without the C++ part")
        alias = _tensor_on(self._alias_storage(tensor.untyped_storage()),
                           tensor)
        self._of[id(tensor)] = tensor, alias
        self._original[id(alias)] = tensor
        return alias

    def _alias_storage(self, storage):
        alias = self._storages.get(storage._cdata)
        if alias is None:
            size = storage.nbytes()
            alias = _C._construct_storage_from_data_pointer(
                python_driver.view(storage.data_ptr(), size),
                torch.device("cpu"), size)
            self._storages[storage._cdata] = alias
            self._devices[alias._cdata] = storage
        return alias

    def give_back(self, value):
        """What the caller gets for what the kernel answered."""
        if isinstance(value, torch.Tensor):
            return self._original_of(value)
        if isinstance(value, (list, tuple)):
            return type(value)([self.give_back(one) for one in value])
        return value

    def _original_of(self, tensor):
        known = self._original.get(id(tensor))
        if known is not None or tensor.device.type != "cpu":
            return tensor if known is None else known
        if tensor.layout != torch.strided or tensor.is_quantized:
            raise NotImplementedError(
                f"a result of layout {tensor.layout} is not made by a made-up "
                "GPU without the C++ part")
        return _tensor_on(self._device_storage(tensor.untyped_storage()),
                          tensor)

    def _device_storage(self, storage):
        """The same bytes on the device; a second result on them shares them."""
        device = self._devices.get(storage._cdata)
        if device is None:
            size = storage.nbytes()
            device = torch.empty(size, dtype=torch.uint8,
                                 device=self._device).untyped_storage()
            if size:
                ctypes.memmove(python_driver.view(device.data_ptr(), size),
                               storage.data_ptr(), size)
            self._devices[storage._cdata] = device
            self._storages[device._cdata] = storage  # keeps it, and its id
        return device

    def settle(self):
        """What the operator did to the sizes of its tensors."""
        for tensor, alias in self._of.values():
            if tensor.size() != alias.size() or \
               tensor.stride() != alias.stride():
                tensor.set_(tensor.untyped_storage(), alias.storage_offset(),
                            alias.size(), alias.stride())

    def describe(self):
        """For who looks for an index that is out of range."""
        said = ""
        for _, alias in self._of.values():
            whole = not alias.dtype.is_floating_point and \
                not alias.dtype.is_complex and alias.dtype != torch.bool
            said += f"; {str(alias.dtype)[6:]} " + (
                f"from {alias.min()} to {alias.max()}"
                if whole and alias.numel() else f"of sizes {[*alias.shape]}")
        return said


def _check_mask(tensor, mask):
    """The kernel itself compares them, before TensorIterator does."""
    if tensor.device != mask.device:
        raise RuntimeError("expected self and mask to be on the same device, "
                           f"but got mask on {mask.device} and self on "
                           f"{tensor.device}")


def _tensors(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


class Kernel:
    """Of one operator."""

    def __init__(self, name):
        self.name = name
        self._function = None  # until the first call

    def _learn(self):
        full, _, overload = self.name.partition(".")
        packet = getattr(torch.ops.aten, full[6:]) if full[:6] == "aten::" \
            else getattr(getattr(torch.ops, full.split("::")[0]),
                         full.split("::")[1])
        op = getattr(packet, overload or "default")
        own = python_own.KERNELS.get(self.name[6:])
        self._draws = python_own.DRAWING.get(self.name[6:])
        self._schema = op._schema
        self._arguments = [one.name for one in op._schema.arguments]
        self._generator = "generator" in self._arguments
        self._seeded = self._generator or \
            torch.Tag.nondeterministic_seeded in op.tags
        self._outs = [one.name for one in op._schema.arguments
                      if one.kwarg_only and one.alias_info]
        self._written = [one.name for one in op._schema.arguments
                         if one.alias_info and one.alias_info.is_write]
        # Which may take others than the first from the host.
        self._host = full in _with_host
        # Where it takes a number of the host's; None: anywhere; "": nowhere.
        self._host_number = _host_numbers.get(full)
        self._to_host = full.startswith("aten::_copy_from")
        self._nondeterministic = _nondeterministic.get(full)
        self._packet = packet
        # Which takes numbers for tensors, as they come from C++; of some
        # operators only the packet does, which has an overload for them.
        self._function = own or op._op

    def __call__(self, *args, **options):
        with _C._AutoDispatchBelowADInplaceOrView(), _C._DisableAutocast(), \
                _C.DisableTorchFunction():
            if self._function is None:
                self._learn()
            index = self._find_device(args, options)
            if self._nondeterministic:
                self._check_deterministic({**dict(zip(self._arguments, args)),
                                           **options})
            before = _C._cuda_exchangeDevice(index)
            try:
                return self._work(args, options, index)
            finally:
                _C._cuda_maybeExchangeDevice(before)

    def _find_device(self, args, options):
        values = (*args, *options.values())
        tensors = list(_tensors(values))
        found = next((one.device for one in tensors if one.is_cuda), None) or \
            next((one for one in values if isinstance(one, torch.device)
                  and one.type == "cuda" and one.index is not None), None)
        device = found or torch.device("cuda", _C._cuda_getDevice())
        if any(one.device != device for one in tensors):
            self._check_devices(args, options, device)
        return device.index

    def _check_devices(self, args, options, device):
        """What CUDA's kernels check: PyTorch's table says which let
        TensorIterator do so, which takes numbers of the host."""
        same = self.name not in build.marked("unchecked.inc")
        if self.name == "aten::masked_fill_.Scalar":
            _check_mask(*args[:2])
        for name, value in (*zip(self._arguments, args), *options.items()):
            for tensor in _tensors([value]):
                if tensor.device == device or not same and \
                   tensor.device.type == "cpu" and (
                       self._may_be_on_host(name, tensor)):
                    continue
                raise RuntimeError(
                    "Expected all tensors to be on the same device, but found "
                    f"at least two devices, {device} and {tensor.device}! "
                    f"(when checking argument {name} of {self.name})")

    def _check_deterministic(self, given):
        """As src/deterministic.cpp."""
        said, when = self._nondeterministic
        first = given[self._arguments[0]]
        if {"": True,
            "floating": first.is_floating_point() or first.is_complex(),
            "weights": given.get("weights") is not None,
            "prod": given.get("reduce") == "prod",
            "max": given.get("mode") == 2,
            "dim": ".dim" in self.name or ".names_dim" in self.name}[when]:
            alert_not_deterministic(said)

    def _may_be_on_host(self, name, tensor):
        if self._to_host:
            return True
        return name not in self._written and (
            self._host and name != self._arguments[0] or
            not tensor.dim() and self._host_number in (None, name))

    def _work(self, args, options, index):
        with python_driver.Work(index, self.name) as work:
            answer, made = self._run(args, options, index, work)
        for out, one in made:
            self._fill(out, one, index)
        return answer

    def _fill(self, out, made, index):
        """CUDA's resize_() copies what was there in the order of the stream:
        it comes between two works."""
        if out.size() != made.size():
            out.resize_(made.size())
            out.as_strided_(made.size(), made.stride())
        with python_driver.Work(index, self.name):
            _Aliases(index).replace(out).copy_(made)

    def _run(self, args, options, index, work):
        """What it answers; and results that are still to be filled, with what."""
        if not all(one.numel() for one in
                   _tensors(options[name] for name in self._outs)):
            return self._compute_anew(args, options, index)
        aliases = _Aliases(index)
        there = [aliases.replace(one) for one in args]
        named = {name: aliases.replace(one) for name, one in options.items()}
        try:
            answer = self._compute(there, named, index)
        except (RuntimeError, IndexError) as error:
            if self._outs and "not resizable" in str(error):
                return self._compute_anew(args, options, index)
            if _is_assertion(str(error)):
                work.fail(f"{self.name}: {error}{aliases.describe()}")
            if "DefaultCPUAllocator" in str(error):
                raise torch.OutOfMemoryError(
                    f"CUDA out of memory. {self.name}: the host, which "
                    f"computes it, has no memory for its result: {error}"
                ) from error
            raise
        if self._written:
            aliases.settle()
        return aliases.give_back(answer), ()

    def _compute(self, args, options, index):
        if not self._seeded and not self._draws:
            try:
                return self._function(*args, **options)
            except RuntimeError as error:
                if "Expected a value of type 'Tensor'" not in str(error):
                    raise
            return self._packet(*args, **options)
        args, given = self._take_generator(args, options)
        with python_random.turn(index):
            return self._draw(python_random.Drawing(given, index), args,
                              options)

    def _draw(self, drawing, args, options):
        if self._draws:
            answer = self._draws(drawing, *args, **options)
        elif self._generator:
            answer = self._function(*args, **options,
                                    generator=drawing.generator())
        else:
            answer = drawing.run(self._function, args, options)
        drawing.end()
        return answer

    def _take_generator(self, args, options):
        """Arguments without it, and it. It is the last one, where it is not
        given by its name."""
        given = options.pop("generator", None)
        if self._generator and len(args) > self._arguments.index("generator"):
            args, given = args[:-1], args[-1]
        return args, given

    def _compute_anew(self, args, options, index):
        """Results that are given are too small: new ones, whose sizes those
        get."""
        given = {name: options[name] for name in self._outs}
        aliases = _Aliases(index)
        there = [aliases.replace(one) for one in args]
        named = {name: aliases.replace(one) for name, one in options.items()}
        named.update((name, _empty_like(one)) for name, one in given.items())
        self._compute(there, named, index)
        made = list(zip(_tensors(given.values()),
                        _tensors(named[name] for name in given)))
        outs = tuple(given.values())
        if not self._schema.returns:
            return None, made
        return outs if len(outs) > 1 else outs[0], made


def _empty_like(out):
    """On the host, of no elements: a tensor, or a list of them."""
    if isinstance(out, torch.Tensor):
        return torch.empty(0, dtype=out.dtype)
    return [_empty_like(one) for one in out]


class _Copy(Kernel):
    """copy_: between the host and a device, and between devices, by CUDA's own
    copies, in the order of streams."""

    def __call__(self, to, src, non_blocking=False):
        if to.device == src.device:
            return super().__call__(to, src, non_blocking)
        with _C._AutoDispatchBelowADInplaceOrView(), _C._DisableAutocast(), \
                _C.DisableTorchFunction():
            if to.is_cuda and src.is_cuda and (
                    to.dtype != src.dtype or not to.is_contiguous()
                    or to.size() != src.size() or to.is_conj()
                    or to.is_neg()):
                there = torch.empty(to.size(), dtype=to.dtype,
                                    device=to.device)
                _copy_bytes(there, src, non_blocking)
                return to.copy_(there)
            return _copy_bytes(to, src, non_blocking)


def _copy_bytes(to, src, non_blocking):
    if to.is_cuda and src.is_cuda:
        src = src.resolve_conj().resolve_neg().to(to.dtype)
        src = src.expand_as(to).contiguous()
    torch.ops.aten.copy_.default.redispatch(_CPU, to, src, non_blocking)
    return to


def _refusal(name, reason):
    def refused(*_, **__):
        python_driver.refuse(name, reason)
    return refused


def _reason(name, key):
    if key != "CUDA":
        return f"tensors of {key[:-4]} layouts are worked on by the C++ part " \
            "alone"
    bare = name.split("::")[1]
    for prefix, reason in _refusals:
        if bare.startswith(prefix):
            return reason
    return "it takes the C++ part: PyTorch's kernel for the CPU, where it has " \
        "one, means less"


def _fate(name, key):
    """As find_fate() in src/fate.cpp, with less that is our own."""
    bare = name.split("::")[1]
    if key != "CUDA":
        return "cuda" if key != "QuantizedCUDA" and \
            bare.split(".")[0] in _kept_of_others else "refused"
    if bare.split(".")[0] in _kept:
        return "cuda"
    if bare == "copy_" or bare in python_own.KERNELS or \
       bare in python_own.DRAWING:
        return "own"
    if bare.startswith("_scaled_mm"):  # the CPU's knows fewer scales
        return "refused"
    if _C._dispatch_has_kernel_for_dispatch_key(name, "CPU"):
        return "cpu"
    if _C._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU"):
        return "composite"
    return "refused"


def _kernel(name, fate, reason):
    if fate == "refused":
        return _refusal(name, reason)
    return _Copy(name) if name == "aten::copy_" else Kernel(name)


def _replace(name, key):
    fate = _fate(name, key)
    space, bare = name.split("::")
    reason = _reason(name, key) if fate == "refused" else ""
    if space == "aten":
        _lines.append("\t".join((key, name, fate, reason)) + "\n")
    # Others' operators for CUDA alone may be made of PyTorch's.
    if fate == "cuda" or fate == "refused" and space != "aten":
        return
    if (space, key) not in _libraries:
        _libraries[space, key] = _C._dispatch_library("IMPL", space, "")
    _libraries[space, key].impl(bare, _C._dispatch_key_parse(key),
                                _kernel(name, fate, reason))


def cover(space):
    """Puts our kernels in the place of those of a namespace."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels are replaced
        for key in ("CUDA", *_OTHERS):
            names = _C._dispatch_get_registrations_for_dispatch_key(key)
            if key == "CUDA" and space == "aten":
                names = {*names, *_BESIDES}
            for name in sorted(names):
                if name.startswith(space + "::"):
                    _replace(name, key)


def table():
    """As gpukit_torch_table() tells it."""
    return "".join(_lines)


def install():
    """Once a process. Raises RuntimeError where it cannot be."""
    if not python_driver.find():
        raise RuntimeError("the driver that was found is none of gpukit's, or "
                           "too old")
    cover("aten")
