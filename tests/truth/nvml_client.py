# SPDX-License-Identifier: Apache-2.0
"""A client of NVML in this process: ctypes on the front, for the current
machine, and nvidia-ml-py's structs and functions on the same library.

The front reads GPUKIT_MACHINE at nvmlInit, so one process can use many machines
one after the other.
"""

import ctypes
import os
import pickle

import pynvml

import can
from conftest import FAKE_DIR

INT = ctypes.c_int
UINT = ctypes.c_uint
ULL = ctypes.c_ulonglong
FRONT = os.path.join(FAKE_DIR, "libnvidia-ml.so.1")
NOBODY = 65534
CLONE_NEWUSER = 0x10000000


class Refused(Exception):
    """The return code of a call that is not success; equal when the codes are.
    """

    NAMES = {value: name.removeprefix("NVML_ERROR_")
             for name, value in vars(pynvml).items()
             if name.startswith("NVML_ERROR_")}

    def __init__(self, code):
        super().__init__(code)
        self.code = (code if isinstance(code, int)
                     else getattr(pynvml, f"NVML_ERROR_{code}"))

    def __eq__(self, other):
        return isinstance(other, Refused) and self.code == other.code

    def __hash__(self):
        return hash(self.code)

    def __repr__(self):
        return f"Refused({self.NAMES.get(self.code, self.code)!r})"


class Text:  # pylint: disable=too-few-public-methods
    """An argument: room for a text, followed by its size unless bare."""

    def __init__(self, size=96, bare=False):
        self.size, self.bare = size, bare


def friendly(value):
    """A value in a form that compares well: numbers, str, or a struct as a
    dict."""
    if isinstance(value, ctypes.Structure):
        return {name: friendly(getattr(value, name))
                for name, *_ in value._fields_}
    if isinstance(value, ctypes.Array):
        if value._type_ is ctypes.c_char:
            return value.value.decode()
        return [friendly(one) for one in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return getattr(value, "value", value)


def structure(*fields, version=None):
    """A struct with these fields, (name, type)...; with version= it is a
    callable that makes one with its size and version in the first field."""
    class Made(ctypes.Structure):
        """Laid out as in C."""
        _fields_ = list(fields)

    return Made if version is None else versioned(Made, version)


def versioned(kind, version):
    """A callable that makes such a struct with its version filled in."""
    return made(kind, version=ctypes.sizeof(kind) | version << 24)


def made(kind, **values):
    """A callable that makes such a struct (nvidia-ml-py's, for example) with
    these values; each call gets its own."""
    def make(**more):
        one = kind()
        for name, value in (values | more).items():
            setattr(one, name, value)
        return one
    return make


class Nvml:
    """The client. `function` is the row's, `gpu` the GPU that is asked."""

    nvml = pynvml

    def __init__(self):
        self.lib = None
        self.function, self.gpu = None, 0
        self.keep = {}  # what a call needs from the one before
        self.machine = None
        self.load(FRONT)

    # ---- which machine ----

    def load(self, front):
        """Uses this library from now on, for nvidia-ml-py as well."""
        self.lib = pynvml.nvmlLib = ctypes.CDLL(front)
        # pylint: disable-next=protected-access
        pynvml._nvmlGetFunctionPointer_cache.clear()

    def attach(self, machine, front=FRONT):
        """Uses this machine from now on, through this library."""
        self.detach()
        os.environ["GPUKIT_MACHINE"] = machine.path
        self.load(front)
        self.machine = machine
        pynvml.nvmlInit()

    def detach(self):
        """Leaves the machine; NVML is shut down however often it was opened."""
        while self.lib.nvmlShutdown() == 0:
            pass
        os.environ.pop("GPUKIT_MACHINE", None)
        self.machine = None

    # ---- calls ----

    @property
    def device(self):
        """The handle of the GPU that is asked."""
        return self.handle(self.gpu)

    def handle(self, gpu):
        return pynvml.nvmlDeviceGetHandleByIndex(gpu)

    def raw(self, name, *args):
        """The return code of a call with arguments as ctypes takes them."""
        return getattr(self.lib, name)(*args)

    def call(self, name, *args):
        """Calls and returns what was written. Of the arguments, a ctypes type
        is made and passed by address and is a result; so are structs and Text;
        an array is passed as it is and is a result; all others are passed on.
        Raises Refused.
        """
        passed, results = [], []
        for arg in args:
            if isinstance(arg, type):
                arg = arg()
                results.append(arg)
                passed.append(ctypes.byref(arg))
            elif isinstance(arg, ctypes.Structure):
                results.append(arg)
                passed.append(ctypes.byref(arg))
            elif isinstance(arg, Text):
                results.append(ctypes.create_string_buffer(arg.size))
                passed += [results[-1]] + ([] if arg.bare else [arg.size])
            elif isinstance(arg, ctypes.Array):
                results.append(arg)
                passed.append(arg)
            else:
                passed.append(arg.encode() if isinstance(arg, str) else arg)
        code = self.raw(name, *passed)
        if code:
            raise Refused(code)
        told = tuple(friendly(result) for result in results)
        return told[0] if len(told) == 1 else told or None

    def records(self, name, record, *args, tail=()):
        """The list of a function that is called twice: function(ARG..., &count,
        records, TAIL...), first without room, for the count.
        """
        count = UINT(0)
        code = self.raw(name, *args, ctypes.byref(count), None, *tail)
        if code == pynvml.NVML_ERROR_INSUFFICIENT_SIZE:
            count.value += 4  # more may join meanwhile
            room = (record * count.value)()
            code = self.raw(name, *args, ctypes.byref(count), room, *tail)
        else:
            room = (record * 0)()
        if code:
            raise Refused(code)
        return [friendly(one) for one in room[:count.value]]

    # ---- the calling user ----

    def being(self, who, what, *args):
        """what(*args) in a child of this process that is "root" or "nobody";
        returns its result, or the Refused or NVMLError that it raised."""
        if who == "root" and os.geteuid():
            can.need("user-namespaces")
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                become(who)
                told = answer(what, *args)
            except BaseException as error:  # pylint: disable=broad-except
                told = AssertionError(f"in the child: {error!r}")
            os.write(write, pickle.dumps(told))
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            told = pickle.loads(pipe.read())
        os.waitpid(child, 0)
        if isinstance(told, AssertionError):
            raise told
        return told


def become(who):
    """Changes the rights of this process. Unless it is root already, root is
    that of a new user namespace."""
    uid = os.geteuid()
    if who == "nobody" and uid == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    elif who == "root" and uid != 0:
        gid = os.getegid()
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
            raise OSError(ctypes.get_errno(), "no user namespace")
        for name, text in (("uid_map", f"0 {uid} 1"), ("setgroups", "deny"),
                           ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    assert (os.geteuid() == 0) == (who == "root")


def answer(what, *args):
    """The result of a call, or its refusal as a value."""
    try:
        return what(*args)
    except Refused as refused:
        return refused
    except pynvml.NVMLError as error:
        return Refused(error.value)
