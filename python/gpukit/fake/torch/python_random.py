# SPDX-License-Identifier: Apache-2.0
"""Random numbers for kernels in Python. They are the same as in the C++ part;
src/random.cpp and src/cuda_only_random.cpp explain how they are made."""

import math
import threading

import torch

_MASK = (1 << 32) - 1
_WORD = (1 << 64) - 1
_STEP = float(torch.tensor(2.3283064e-10))  # rounded to float32
_TURN = float(torch.tensor(_STEP) * torch.tensor(6.2831855))
_THREADS = 256  # per block

_default_lock = threading.RLock()
_turns = [threading.RLock() for _ in range(128)]  # one per device


def turn(index):
    """A lock. While a thread holds it, no other thread draws numbers on the
    device."""
    return _turns[index]


def _mix(x):
    """The final mixing steps of SplitMix64."""
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & _WORD
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & _WORD
    return x ^ (x >> 31)


class Drawing:
    """The random numbers of one operator. They begin at the state of the
    device's generator, which end() advances."""

    def __init__(self, given, index):
        if given is not None and given.device.type != "cuda":
            raise RuntimeError("Expected a 'cuda' device type for generator "
                               f"but found '{given.device.type}'")
        self._index = index
        self._from = (torch.cuda.default_generators[index] if given is None
                      else given)
        self.seed, self._offset = (self._from.initial_seed(),
                                   self._from.get_offset())
        self._drawn = 0

    def generator(self):
        """A CPU generator that replaces the device's generator."""
        self._drawn = 4
        return torch.Generator().manual_seed(_mix(
            self.seed + 0x9e3779b97f4a7c15 * (self._offset // 4 + 1) & _WORD))

    def run(self, function, args, options):
        """Calls a function while the CPU's default generator has that
        state."""
        with _default_lock:
            default = torch.default_generator
            before = default.get_state()
            default.set_state(self.generator().get_state())
            try:
                return function(*args, **options)
            finally:
                default.set_state(before)

    def end(self):
        if self._drawn:
            self._from.set_offset(self._offset + self._drawn)

    def words(self, count, of_step):
        """Computes Philox4x32-10 in the order of CUDA's kernels: four tensors
        of the shape (steps, threads), enough for `count` elements."""
        device = torch.cuda.get_device_properties(self._index)
        blocks = device.multi_processor_count * (
            device.max_threads_per_multi_processor // _THREADS)
        threads = _THREADS * min(-(-count // _THREADS), blocks)
        steps = (count - 1) // (threads * of_step) + 1
        counter = (torch.arange(steps) + self._offset // 4)[:, None]
        self._drawn = 4 * steps
        return _philox(self.seed, counter, torch.arange(threads)[None])


def _philox(seed, counter, thread):
    """The product of two 32-bit words may wrap around in int64, but then no
    bits are lost."""
    low, high = seed & _MASK, seed >> 32 & _MASK
    c = torch.broadcast_tensors(counter & _MASK, counter >> 32,
                                thread & _MASK, thread >> 32)
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = ((b >> 32) & _MASK ^ c[1] ^ low, b & _MASK,
             (a >> 32) & _MASK ^ c[3] ^ high, a & _MASK)
        low, high = (low + 0x9E3779B9) & _MASK, (high + 0xBB67AE85) & _MASK
    return c


def _uniform(w, wide):
    """Uniform numbers in (0, 1]: two doubles or four floats for each step."""
    if wide:
        unit = math.ldexp(1., -53)
        return [(w[i] ^ w[i + 1] << 21).double() * unit + unit / 2
                for i in (0, 2)]
    return [one.float() * _STEP + _STEP / 2 for one in w]


def _normal(w, wide):
    """Applies the Box-Muller transform to pairs of uniform numbers."""
    u = _uniform(w, wide)
    if wide:
        pairs = [(u[0], u[1] * (2 * math.pi))]
    else:
        pairs = [(u[i], w[i + 1].float() * _TURN + _TURN / 2) for i in (0, 2)]
    return [one for size, angle in pairs
            for one in ((-2 * size.log()).sqrt() * angle.sin(),
                        (-2 * size.log()).sqrt() * angle.cos())]


def _fill(drawing, self, numbers, put):
    """Fills the elements in the order in which they are in memory."""
    wide = self.dtype == torch.double
    parts = numbers(drawing.words(self.numel(), 2 if wide else 4), wide)
    flat = put(torch.stack(parts, 1).flatten()[:self.numel()])
    order = sorted(range(self.dim()), key=lambda dim: (-self.stride(dim), dim))
    lying = self.permute(order)
    lying.copy_(flat.view(lying.shape))
    return self


def _check_range(dtype, low, high):
    if not dtype.is_floating_point:
        raise NotImplementedError(f"uniform_ is not implemented for {dtype}")
    most = torch.finfo(dtype).max
    for name, value in (("from", low), ("to", high)):
        if not -most <= value <= most:
            raise RuntimeError(f"{name} is out of bounds for {dtype}")
    if low > high:
        raise RuntimeError("uniform_ expects to return a [from, to) range, but "
                           f"found from={low} > to={high}")
    if high - low > most:
        raise RuntimeError(f"uniform_ expects to - from to be a {dtype}, but "
                           f"found from={low} and to={high}")


def uniform_(drawing, self, low=0., high=1.):
    if self.is_complex():
        uniform_(drawing, torch.view_as_real(self), low, high)
        return self
    _check_range(self.dtype, low, high)
    low, high = (torch.tensor(one, dtype=self.dtype) for one in (low, high))
    work = torch.double if self.dtype == torch.double else torch.float

    def put(x):
        y = (x * (high - low).to(work) + low.to(work)).to(self.dtype)
        return torch.where(y == high, low, y)

    return _fill(drawing, self, _uniform, put) if self.numel() else self


def normal_(drawing, self, mean=0., std=1.):
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if self.is_complex():
        normal_(drawing, torch.view_as_real(self), mean, std / math.sqrt(2))
    elif not self.is_floating_point():
        raise NotImplementedError(f"normal_ is not implemented for {self.dtype}")
    elif self.numel():
        _fill(drawing, self, _normal,
              lambda x: (x * std + mean).to(self.dtype))
    return self
