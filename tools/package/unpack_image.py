#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unpack_image.py ARCHIVE TREE: unpacks the layers of an image into a tree, after
checking every digest; prints the words of its entry point."""

import hashlib
import json
import shlex
import subprocess
import sys
import tarfile


def blob(archive, descriptor):
    """Returns the bytes that a descriptor names."""
    kind, digest = descriptor["digest"].split(":")
    data = archive.extractfile(f"blobs/{kind}/{digest}").read()
    if hashlib.sha256(data).hexdigest() != digest \
            or len(data) != descriptor["size"]:
        sys.exit(f"unpack_image: {digest} is not what its name says")
    return data


def main(path, tree):
    with tarfile.open(path) as archive:
        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(archive, index["manifests"][0]))
        config = json.loads(blob(archive, manifest["config"]))
        for layer in manifest["layers"]:
            subprocess.run(["tar", "-C", tree, "-xzpf", "-"],
                           input=blob(archive, layer), check=True)
    print(shlex.join(config["config"]["Entrypoint"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
