#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes container images of a portable tree, without Docker: archives of OCI
layouts, gpukit-VERSION-image-ARCH.tar and gpukit-fake-VERSION-image-ARCH.tar.

An image has two layers: the tar of a Debian tree, and the portable tree below
/usr/local. The same input gives the same bytes.
"""

import argparse
import gzip
import hashlib
import json
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import project  # noqa: E402 # beside, in tools/

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
PREFIX = "usr/local"
# The driver's tools and NVML come into the container from the host: the names
# are those that the NVIDIA container toolkit reads.
DRIVER = ["NVIDIA_VISIBLE_DEVICES=all",
          "NVIDIA_DRIVER_CAPABILITIES=utility,compute"]
IMAGES = {
    "gpukit": {
        "title": "Shows, records and shares NVIDIA GPUs",
        "entry": [f"/{PREFIX}/bin/gpukit"], "command": ["stat"], "env": DRIVER},
    "gpukit-fake": {
        "title": "Runs programs on made-up NVIDIA GPUs",
        "entry": [f"/{PREFIX}/bin/gpukit", "fake", "--"],
        "command": ["nvidia-smi"], "env": []},
}


def digest_of(path):
    with open(path, "rb") as f:
        value = hashlib.sha256()
        while block := f.read(1 << 20):
            value.update(block)
    return value.hexdigest()


class Layout:
    """An OCI layout in a directory."""

    def __init__(self, top):
        self.top = top
        self.blobs = os.path.join(top, "blobs", "sha256")
        os.makedirs(self.blobs)

    def add(self, path, kind):
        """Moves a file into the blobs; returns its descriptor."""
        digest, size = digest_of(path), os.path.getsize(path)
        os.replace(path, os.path.join(self.blobs, digest))
        return {"mediaType": f"application/vnd.oci.image.{kind}",
                "digest": f"sha256:{digest}", "size": size}

    def add_json(self, value, kind):
        path = os.path.join(self.top, "new")
        self.write(path, value)
        return self.add(path, kind)

    def add_layer(self, layer):
        """Adds a compressed layer, which other layouts may have, too."""
        path = os.path.join(self.top, "new")
        os.link(layer, path)
        return self.add(path, "layer.v1.tar+gzip")

    @staticmethod
    def write(path, value):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(value, f, sort_keys=True, separators=(",", ":"))


def compress(tar, path):
    """Compresses a tar; returns where, and the digest of its content."""
    with open(tar, "rb") as f, open(path, "wb") as out, \
            gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        shutil.copyfileobj(f, packed, 1 << 20)
    return path, f"sha256:{digest_of(tar)}"


def plain(entry, seconds):
    """An entry of a tar that tells nothing of who made it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = seconds
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def pack_tree(tree, path, seconds):
    """Writes a tar of a tree below PREFIX, sorted by name."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name in ("usr", PREFIX):
            entry = tarfile.TarInfo(name)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o755
            tar.addfile(plain(entry, seconds))
        for directory, directories, files in os.walk(tree):
            directories.sort()
            links = [name for name in directories
                     if os.path.islink(os.path.join(directory, name))]
            below = os.path.relpath(directory, tree)
            names = sorted(files + links)
            if below != ".":
                names.insert(0, "")
            for name in names:
                full = os.path.join(directory, name).rstrip("/")
                tar.add(full, os.path.normpath(os.path.join(
                    PREFIX, below, name)), recursive=False,
                    filter=lambda entry: plain(entry, seconds))


def make_config(image, layers, created, version, facts):
    return {
        "architecture": MACHINES[platform.machine()], "os": "linux",
        "created": created,
        "config": {
            "Entrypoint": image["entry"], "Cmd": image["command"],
            "Env": [f"PATH=/{PREFIX}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                    "LANG=C.UTF-8", *image["env"]],
            "Labels": {
                "org.opencontainers.image.title": image["title"],
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.url": facts["PROJECT_URL"]}},
        "rootfs": {"type": "layers", "diff_ids": [digest for _, digest in layers]},
        "history": [{"created": created, "created_by": name}
                    for name in ("debootstrap", "gpukit")]}


def make_image(name, place, layers, out, version, seconds):
    """Writes the archive of one image; returns its path."""
    facts = project.read_conf()
    image = IMAGES[name]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    layout = Layout(os.path.join(place, name))
    config = layout.add_json(
        make_config(image, layers, created, version, facts), "config.v1+json")
    manifest = layout.add_json(
        {"schemaVersion": 2,
         "mediaType": "application/vnd.oci.image.manifest.v1+json",
         "config": config,
         "layers": [layout.add_layer(path) for path, _ in layers]},
        "manifest.v1+json")
    address = facts["IMAGE_FAKE" if name == "gpukit-fake" else "IMAGE"]
    manifest["annotations"] = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"{address}:{version}"}
    layout.write(os.path.join(layout.top, "index.json"),
                 {"schemaVersion": 2, "manifests": [manifest]})
    layout.write(os.path.join(layout.top, "oci-layout"),
                 {"imageLayoutVersion": "1.0.0"})
    path = os.path.join(out, f"{name}-{version}-image-{platform.machine()}.tar")
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(os.listdir(layout.top)):
            tar.add(os.path.join(layout.top, name), name,
                    filter=lambda entry: plain(entry, seconds))
    return path


def main(argv):
    parser = argparse.ArgumentParser(
        description="Makes container images of a portable tree.")
    parser.add_argument("--tree", required=True, help="the portable tree")
    parser.add_argument("--base", required=True, help="tar of a Debian tree")
    parser.add_argument("--version", required=True)
    parser.add_argument("out", help="where the archives are written")
    arguments = parser.parse_args(argv)
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    out, tree, base = (os.path.abspath(each) for each in
                       (arguments.out, arguments.tree, arguments.base))
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as place:
        layer = os.path.join(place, "layer.tar")
        pack_tree(tree, layer, seconds)
        layers = [compress(tar, os.path.join(place, name))
                  for name, tar in (("base.gz", base), ("layer.gz", layer))]
        for name in IMAGES:
            print(make_image(name, place, layers, out,
                             arguments.version, seconds))


if __name__ == "__main__":
    main(sys.argv[1:])
