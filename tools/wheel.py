#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheels of gpukit and gpukit-nvitop out of what is built.

    tools/wheel.py gpukit --tree PREFIX --module _core.abi3.so [--glibc 2.17]
    tools/wheel.py nvitop

PREFIX has what `cmake --install` makes: bin/gpukit, lib/gpukit and share.
The command is one of the wheel's scripts, so pip puts it beside Python without
another program around it; the rest keeps its place below the prefix.

Wheels have no links. Those of the drop-in libraries become lines of the file
lib/gpukit/fake/links, and the command lays them at its first start
(src/cli/fake/launch/links.c).

With --glibc the wheel is tagged manylinux, and files that need a newer C
library or another library are refused. The same input gives the same bytes;
SOURCE_DATE_EPOCH is the time of the files.
"""

import argparse
import base64
import hashlib
import os
import re
import stat
import sys
import time
import zipfile

from elf_needs import needs_of

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EARLIEST = 315532800  # 1980: zip archives know no earlier time
# Libraries that every Linux has that a manylinux wheel may be installed on.
EVERYWHERE = re.compile(r"(lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)|ld-linux.*)"
                        r"\.so\.\d+")
LINKS = "lib/gpukit/fake/links"
# These are true for one prefix only.
NOT_SHIPPED = ("share/gpukit/manifest.txt", "share/gpukit/systemd/")


class Refused(Exception):
    """The input cannot become a wheel."""


# ---- what goes in ----

def files_below(top):
    """Yields paths relative to a directory, sorted. Links to directories are
    followed if they lead out of it; other links are kept."""
    found = []
    for path, directories, files in os.walk(top):
        directories[:] = sorted(
            name for name in directories
            if name != "__pycache__" and not os.path.islink(
                os.path.join(path, name)))
        for name in sorted(os.listdir(path)):
            full = os.path.join(path, name)
            if os.path.islink(full) and os.path.isdir(full):
                found += [os.path.join(os.path.relpath(full, top), below)
                          for below in files_below(os.path.realpath(full))]
            elif name in files or os.path.islink(full):
                found.append(os.path.relpath(full, top))
    return sorted(found)


def is_own_link(path, top):
    """Whether a path is a link to another installed file."""
    target = os.path.realpath(path)
    return os.path.islink(path) and target.startswith(top + os.sep)


def links_text(tree, version):
    """The file LINKS: after a line with the version, "PATH TARGET" for every
    library and link, both relative to the directory of the file."""
    fake = os.path.join(tree, os.path.dirname(LINKS))
    rows = []
    for name in files_below(fake):
        top = name.split("/")[0]
        path = os.path.join(fake, name)
        if top == "python":  # one link to the whole directory
            rows.append("python python")
        elif name != os.path.basename(LINKS):
            target = os.path.realpath(path) if is_own_link(path, tree) \
                else path
            rows.append(f"{name} {os.path.relpath(target, fake)}")
    return f"gpukit {version}\n" + "\n".join(sorted(set(rows))) + "\n"


def tree_files(tree):
    """{path below the prefix: file} of what the command needs; no links."""
    found = {}
    for below in ("lib/gpukit", "share"):
        for name in files_below(os.path.join(tree, below)):
            path = os.path.join(tree, below, name)
            if not is_own_link(path, tree) \
                    and not f"{below}/{name}".startswith(NOT_SHIPPED):
                found[f"{below}/{name}"] = path
    return found


PARTS = (".py", ".pyi", ".cpp", ".h", ".inc", "py.typed", "torch/ptxas")


def package_files(top, package):
    return {f"{package}/{name}": os.path.join(top, package, name)
            for name in files_below(os.path.join(top, package))
            if name.endswith(PARTS)}


# ---- the archive ----

def bytes_of(content):
    if isinstance(content, bytes):
        return content
    with open(content, "rb") as file:
        return file.read()


def mode_of(name, content):
    executable = name.split("/")[0].endswith(".data") and "/scripts/" in name \
        or not isinstance(content, bytes) and os.stat(content).st_mode & 0o100
    return stat.S_IFREG | (0o755 if executable else 0o644)


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"{name},sha256={digest.rstrip(b'=').decode()},{len(data)}\n"


def write_wheel(path, files, record):
    """files: {name: bytes, or the path of a file}; RECORD comes last."""
    epoch = max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)))
    when = time.gmtime(epoch)[:6]
    rows = []
    with zipfile.ZipFile(path + ".new", "w") as archive:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the mode counts
            entry.external_attr = mode << 16
            archive.writestr(entry, data, compresslevel=9)

        for name, content in sorted(files.items()):
            data = bytes_of(content)
            rows.append(record_row(name, data))
            add(name, data, mode_of(name, content))
        rows.append(f"{record},,\n")
        add(record, "".join(rows).encode(), stat.S_IFREG | 0o644)
    os.replace(path + ".new", path)
    return path


# ---- what is said about it ----

def read(*below):
    with open(os.path.join(ROOT, *below), encoding="utf-8") as file:
        return file.read()


def version():
    """PACKAGE_VERSION, for a package with another number, or the sources'."""
    return os.environ.get("PACKAGE_VERSION") or re.search(
        r"project\(gpukit VERSION ([0-9.]+)", read("CMakeLists.txt"))[1]


def metadata(project, more=()):
    """METADATA, from pyproject.toml and README.md."""
    def value(key):
        return re.search(rf'^{key} = "(.*)"$', project, re.MULTILINE)[1]

    classifiers = re.findall(r'^\t"(.* :: .*)",$', project, re.MULTILINE)
    lines = ["Metadata-Version: 2.1", f"Name: {value('name')}",
             f"Version: {version()}", f"Summary: {value('description')}",
             "License: Apache-2.0",
             *(f"Classifier: {each}" for each in classifiers),
             f"Requires-Python: {value('requires-python')}", *more,
             "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + read("README.md")


def wheel_text(tag, pure):
    tags = "".join(f"Tag: {'-'.join([*tag[:2], each])}\n"
                   for each in tag[2].split("."))
    return ("Wheel-Version: 1.0\nGenerator: gpukit\n"
            f"Root-Is-Purelib: {str(pure).lower()}\n{tags}")


def entry_points(project):
    """entry_points.txt, from [project.scripts]."""
    rows = re.findall(r'^(\w+) = "([\w.]+:\w+)"$', project, re.MULTILINE)
    return "[console_scripts]\n" + "".join(
        f"{name} = {where}\n" for name, where in rows)


def info_files(info, text, tag, pure, notices=None):
    licences = [os.path.join(ROOT, "LICENSE"), *([notices] if notices else [])]
    return {f"{info}/METADATA": text.encode(),
            f"{info}/WHEEL": wheel_text(tag, pure).encode(),
            **{f"{info}/licenses/{os.path.basename(path)}": path
               for path in licences}}


# ---- the two wheels ----

def as_number(text):
    return tuple(map(int, text.split(".")))


def check_needs(files, glibc):
    """Refuses files that need more than the tag promises. Returns the machine
    for which all of them are."""
    machines = set()
    for name, content in sorted(files.items()):
        found = needs_of(bytes_of(content))
        if not found:
            continue
        machine, libraries, versions = found
        machines.add(machine)
        ours = {os.path.basename(each) for each in files}
        foreign = [each for each in libraries if glibc and each not in ours
                   and not EVERYWHERE.fullmatch(each)]
        newer = [each for each in versions if glibc
                 and as_number(each) > as_number(glibc)]
        if foreign or newer:
            raise Refused(f"{name} needs {', '.join(foreign)}" if foreign else
                          f"{name} needs glibc {max(newer, key=as_number)}")
    if len(machines) != 1:
        raise Refused(f"files for {sorted(machines) or 'no machine'}")
    return machines.pop()


def platform_of(machine, glibc):
    if not glibc:
        return f"linux_{machine}"
    tag = f"manylinux_{glibc.replace('.', '_')}_{machine}"
    old = {"2.17": f".manylinux2014_{machine}"}  # for an old pip
    return tag + old.get(glibc, "")


def gpukit_wheel(tree, module, out, glibc=None, notices=None):
    """Makes the wheel of gpukit. tree: an installed prefix; module: the
    extension module; notices: a file of what is linked in. Returns the wheel's
    path."""
    tree = os.path.realpath(tree)
    data = f"gpukit-{version()}.data"
    inside = tree_files(tree)
    files = {f"{data}/data/{name}": path for name, path in inside.items()}
    files[f"{data}/scripts/gpukit"] = os.path.join(tree, "bin", "gpukit")
    files[f"{data}/data/{LINKS}"] = links_text(tree, version()).encode()
    files.update(package_files(os.path.join(ROOT, "python"), "gpukit"))
    files["gpukit/_core.abi3.so"] = module
    platform = platform_of(check_needs(files, glibc), glibc)
    tag = ("cp39", "abi3", platform)
    info = f"gpukit-{version()}.dist-info"
    files.update(info_files(info, metadata(read("python", "pyproject.toml")),
                            tag, False, notices))
    name = f"gpukit-{version()}-{'-'.join(tag)}.whl"
    return write_wheel(os.path.join(out, name), files, f"{info}/RECORD")


def nvitop_wheel(out):
    """Makes the wheel of gpukit-nvitop, which is Python only. Returns its
    path."""
    top = os.path.join(ROOT, "python", "nvitop")
    project = read("python", "nvitop", "pyproject.toml")
    tag = ("py3", "none", "any")
    info = f"gpukit_nvitop-{version()}.dist-info"
    files = package_files(top, "nvitop")
    files.update(info_files(info, metadata(
        project, [f"Requires-Dist: gpukit=={version()}"]), tag, True))
    files[f"{info}/entry_points.txt"] = entry_points(project).encode()
    name = f"gpukit_nvitop-{version()}-{'-'.join(tag)}.whl"
    return write_wheel(os.path.join(out, name), files, f"{info}/RECORD")


def parse_arguments():
    parser = argparse.ArgumentParser(description="Makes a wheel.")
    parser.add_argument("package", choices=("gpukit", "nvitop"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "wheels"),
                        help="its directory (default: build/wheels)")
    parser.add_argument("--tree", help="an installed prefix")
    parser.add_argument("--module", help="_core.abi3.so (default: "
                        "python/gpukit/_core.abi3.so of the tree)")
    parser.add_argument("--glibc", metavar="VERSION",
                        help="the oldest C library, for a manylinux tag")
    parser.add_argument("--notices", metavar="FILE",
                        help="licences of what is linked in")
    asked = parser.parse_args()
    if asked.package == "gpukit" and not asked.tree:
        parser.error("gpukit needs --tree")
    return asked


def main():
    asked = parse_arguments()
    os.makedirs(asked.out, exist_ok=True)
    try:
        if asked.package == "nvitop":
            print(nvitop_wheel(asked.out))
        else:
            module = asked.module or os.path.join(
                asked.tree, "python", "gpukit", "_core.abi3.so")
            print(gpukit_wheel(asked.tree, module, asked.out, asked.glibc,
                               asked.notices))
    except (Refused, OSError) as error:
        sys.exit(f"wheel: {error}")


if __name__ == "__main__":
    main()
