# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators on made-up GPUs without the C++ part, which does the
same work faster.

Each operator has one kernel for the key CUDA. It turns tensors into CPU
tensors on the same bytes, runs PyTorch's CPU kernel or a function of
python_own.py, and turns the results into tensors of the device. Not supported,
and refused with an error that names the operator: tensors that consist of
other tensors, captured graphs, and operators that PyTorch has only for
GPUs."""

import ctypes
import warnings

import torch
from torch._prims_common import alert_not_deterministic

from . import build, python_driver, python_own, python_random, python_types

_C = torch._C
_CPU = _C.DispatchKeySet(_C.DispatchKey.CPU)
_OTHERS = ("SparseCUDA", "SparseCsrCUDA", "NestedTensorCUDA", "QuantizedCUDA")
# Operators that have no CUDA kernel but get one of ours: their composite form
# would choose cuDNN's kernel.
_BESIDES = ("aten::copy_", "aten::convolution", "aten::cudnn_is_acceptable")

_asserted = tuple(python_driver.facts("asserted"))
_host_checks = tuple(python_driver.facts("host_checks"))
_lacking = tuple(python_driver.facts("lacking"))
_with_host = frozenset(python_driver.facts("with_host"))
_host_numbers = dict(python_driver.facts("host_numbers"))
_nondeterministic = {name: rest for name, *rest in
                     python_driver.facts("nondeterministic")}
_kept = frozenset(python_driver.facts("kept"))
_kept_of_others = frozenset(python_driver.facts("kept_of_others"))
_refusals = python_driver.facts("refusals")

_lines = []  # rows of the table: key, operator, fate, reason
_libraries = {}  # keeps registrations alive


def _is_assertion(text):
    """Whether CUDA's kernel has an assertion where the CPU kernel raises this
    text. False for checks that both make on the host."""
    return any(part in text for part in _asserted) and not any(
        part in text for part in _host_checks)


def _tensor_on(storage, like):
    """A tensor with another storage that is otherwise the same as `like`."""
    made = torch.empty(0, dtype=like.dtype, device=storage.device)
    made.set_(storage, like.storage_offset(), like.size(), like.stride())
    if like.is_conj():
        _C._set_conj(made, True)
    if like.is_neg():
        _C._set_neg(made, True)
    return made


class _Aliases:
    """Makes CPU tensors (aliases) on the bytes of device tensors, and the
    reverse, for one call of an operator. The caller keeps the tensors alive.
    Each storage and each tensor has exactly one alias, so that tensors that
    share memory on the device also share it for the kernel."""

    def __init__(self, index):
        self._device = torch.device("cuda", index)
        self._of = {}  # id of a tensor -> (tensor, alias)
        self._original = {}  # id of an alias -> the tensor
        self._storages = {}  # device storage -> its alias
        self._devices = {}  # alias storage -> the device's

    def replace(self, value):
        """Converts an argument for the CPU kernel."""
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
                f"a tensor of layout {tensor.layout} is not supported by a "
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
        """Converts the result of the kernel for the caller."""
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
                f"a result of layout {tensor.layout} is not supported by a made-up "
                "GPU without the C++ part")
        return _tensor_on(self._device_storage(tensor.untyped_storage()),
                          tensor)

    def _device_storage(self, storage):
        """Returns a device storage with the same bytes. Two results on the
        same bytes share the storage."""
        device = self._devices.get(storage._cdata)
        if device is None:
            size = storage.nbytes()
            device = torch.empty(size, dtype=torch.uint8,
                                 device=self._device).untyped_storage()
            if size:
                ctypes.memmove(python_driver.view(device.data_ptr(), size),
                               storage.data_ptr(), size)
            self._devices[storage._cdata] = device
            # keep the object alive, so that its id stays unique
            self._storages[device._cdata] = storage
        return device

    def settle(self):
        """Resizes the tensors to the sizes that their aliases have now."""
        for tensor, alias in self._of.values():
            if tensor.size() != alias.size() or \
               tensor.stride() != alias.stride():
                tensor.set_(tensor.untyped_storage(), alias.storage_offset(),
                            alias.size(), alias.stride())

    def describe(self):
        """Describes the arguments; helps to find an index out of range."""
        said = ""
        for _, alias in self._of.values():
            whole = not alias.dtype.is_floating_point and \
                not alias.dtype.is_complex and alias.dtype != torch.bool
            said += f"; {str(alias.dtype)[6:]} " + (
                f"from {alias.min()} to {alias.max()}"
                if whole and alias.numel() else f"of sizes {[*alias.shape]}")
        return said


def _check_mask(tensor, mask):
    """For operators whose CUDA kernels compare the devices themselves, before
    TensorIterator does."""
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
    """The kernel of one operator."""

    def __init__(self, name):
        self.name = name
        self._function = None  # set by the first call

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
        # Whether tensors other than the first may be on the host.
        self._host = full in _with_host
        # The name of the one argument that may be a number on the host. None:
        # any argument may; "": none may.
        self._host_number = _host_numbers.get(full)
        self._to_host = full.startswith("aten::_copy_from")
        self._nondeterministic = _nondeterministic.get(full)
        self._rules = python_types.Rules(full)
        self._packet = packet
        # C++ may pass numbers in place of tensors. Most operators accept them
        # here. For the others, _compute() calls the overload packet, which has
        # an overload for numbers.
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
            self._check_types(args, options)
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
        """Checks devices in the way that CUDA's kernels do. PyTorch's table
        says which of them leave this to TensorIterator, which also accepts
        numbers on the host."""
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

    def _check_types(self, args, options):
        given = {**dict(zip(self._arguments, args)), **options}
        if self._rules.transforms:
            self._rules.check_signal(args[0], args[1],
                                     given.get("last_dim_size"))
        self._rules.check(
            list(_tensors(value for name, value in given.items()
                          if name not in self._outs)),
            given.get("dtype"),
            list(_tensors(given[name] for name in self._written
                          if name in given)))

    def _check_deterministic(self, given):
        """Makes the same check as src/deterministic.cpp."""
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
        """Copies a result into a tensor given by the caller. CUDA's resize_()
        copies the old contents in the stream's order, so it is called outside
        of any Work."""
        if out.size() != made.size():
            out.resize_(made.size())
            out.as_strided_(made.size(), made.stride())
        with python_driver.Work(index, self.name):
            _Aliases(index).replace(out).copy_(made)

    def _run(self, args, options, index, work):
        """Returns the result, and a list of (given tensor, value) that still
        have to be copied."""
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
            if any(words in str(error) for words in _lacking):
                python_driver.count_refusal(self.name)
            raise
        if self._written:
            aliases.settle()
        return aliases.give_back(answer), ()

    def _compute(self, args, options, index):
        if not self._seeded and not self._draws:
            try:
                return self._rules.call(self._function, args, options,
                                        self._written_places())
            except RuntimeError as error:
                if "Expected a value of type 'Tensor'" not in str(error):
                    raise
            return self._packet(*args, **options)
        args, given = self._take_generator(args, options)
        with python_random.turn(index):
            return self._draw(python_random.Drawing(given, index), args,
                              options)

    def _written_places(self):
        """The names of the results that the caller provides; [0] if the
        operator works in place."""
        return self._outs or [0] * (self._written == self._arguments[:1])

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
        """Returns the arguments without the generator, and the generator.
        Unless it is given by name, it is the last argument."""
        given = options.pop("generator", None)
        if self._generator and len(args) > self._arguments.index("generator"):
            args, given = args[:-1], args[-1]
        return args, given

    def _compute_anew(self, args, options, index):
        """If the results provided by the caller are too small, computes new
        ones; the provided ones are resized later."""
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
    """An empty tensor on the host, or a list of such tensors."""
    if isinstance(out, torch.Tensor):
        return torch.empty(0, dtype=out.dtype)
    return [_empty_like(one) for one in out]


class _Copy(Kernel):
    """copy_ between host and device, or between devices. Uses CUDA's own
    copies, in the order of the stream."""

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
    elif any(one.is_conj() or one.is_neg() for one in (to, src)):
        # CUDA's copies conjugate and negate by separate kernels.
        src = src.resolve_conj().resolve_neg()
        if to.is_conj() or to.is_neg():
            there = torch.empty(src.size(), dtype=to.dtype, device=to.device)
            return to.copy_(_copy_bytes(there, src, non_blocking))
    torch.ops.aten.copy_.default.redispatch(_CPU, to, src, non_blocking)
    return to


def _refusal(name, reason):
    def refused(*_, **__):
        python_driver.refuse(name, reason)
    return refused


def _reason(name, key):
    if key != "CUDA":
        return f"tensors of {key[:-4]} layouts need the C++ part"
    bare = name.split("::")[1]
    for prefix, reason in _refusals:
        if bare.startswith(prefix):
            return reason
    return "it needs the C++ part: PyTorch's kernel for the CPU, if there is " \
        "one, does less"


def _fate(name, key):
    """Decides in the same way as find_fate() in src/fate.cpp, but with fewer
    kernels of our own."""
    bare = name.split("::")[1]
    if key != "CUDA":
        return "cuda" if key != "QuantizedCUDA" and \
            bare.split(".")[0] in _kept_of_others else "refused"
    if bare.split(".")[0] in _kept:
        return "cuda"
    if bare == "copy_" or bare in python_own.KERNELS or \
       bare in python_own.DRAWING:
        return "own"
    if bare.startswith("_scaled_mm"):  # the CPU's kernel supports fewer scales
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
        _lines.append(f"{key}\t{name}\t{fate}\t{reason}\n")
    # Leave out CUDA-only operators of other libraries: they may be composed of
    # PyTorch's operators.
    if fate == "cuda" or fate == "refused" and space != "aten":
        return
    if (space, key) not in _libraries:
        _libraries[space, key] = _C._dispatch_library("IMPL", space, "")
    _libraries[space, key].impl(bare, _C._dispatch_key_parse(key),
                                _kernel(name, fate, reason))


def cover(space):
    """Replaces the kernels of a namespace with ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about replaced kernels
        for key in ("CUDA", *_OTHERS):
            names = _C._dispatch_get_registrations_for_dispatch_key(key)
            if key == "CUDA" and space == "aten":
                names = {*names, *_BESIDES}
            for name in sorted(names):
                if name.startswith(space + "::"):
                    _replace(name, key)


def table():
    """Returns the same lines as gpukit_torch_table()."""
    return "".join(_lines)


def install():
    """Installs the kernels, once per process. Raises RuntimeError if that
    fails."""
    if not python_driver.find():
        raise RuntimeError("the driver that was found is not gpukit's, or "
                           "too old")
    cover("aten")
