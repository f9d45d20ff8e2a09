#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells what is in a release, from packaging/third-party.txt.

Usage: sbom.py notices [--versions FILE]
       sbom.py spdx --version VERSION --commit COMMIT [--versions FILE] DIRECTORY

notices prints the licences of all that is linked in. spdx prints an SPDX 2.3
document of the artefacts in a directory and of what is linked into them. FILE
has lines "SOURCE VERSION" for the libraries that the portable build used; without
one they are those of the packages that are installed here. The time of the
document is SOURCE_DATE_EPOCH.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time

import project
import rooms

NAME = "gpukit"
TABLE = "packaging/third-party.txt"
JOE_KUO = "src/fronts/curand/joe_kuo.txt"


def rows():
    """Yields (name, source, package, licence, where) of the table."""
    with open(TABLE, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                yield line.split()


def installed_version(package):
    """The upstream version of an installed package, without Debian's suffix."""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${source:Upstream-Version}", package],
        text=True, capture_output=True, check=False)
    if done.returncode or not done.stdout:
        sys.exit(f"sbom: {package} is not installed, and no version is given")
    return re.sub(r"[+~](dfsg|ds|really).*", "", done.stdout)


def read_versions(path):
    """Returns the lines "SOURCE VERSION" of a file as a dictionary."""
    if not path:
        return {}
    with open(path, encoding="utf-8") as f:
        return dict(line.split()[:2] for line in f if line.strip())


def parts(versions):
    """Returns a dictionary for each row, with its version."""
    return [{"name": name, "source": source, "package": package,
             "licence": licence, "where": where,
             "version": versions.get(source) or installed_version(package)}
            for name, source, package, licence, where in rows()]


# ---- notices ----

def copyright_of(package):
    path = f"/usr/share/doc/{package}/copyright"
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError as error:
        sys.exit(f"sbom: {path}: {error.strerror}; install {package}")


def print_notices(versions):
    print("gpukit is licensed under Apache-2.0 (LICENSE). It contains or is "
          "linked with:\n")
    linked = parts(versions)
    for part in linked:
        print(f"  {part['name']} {part['version']} ({part['licence']}) "
              f"in {part['where']}")
    print("  the table of Joe and Kuo (BSD-3-Clause) in libcurand\n\n"
          "The build takes the sources of Debian's packages of that name, "
          "unchanged. libmicrohttpd\nis the only one under the LGPL: "
          "whoever wants another version of it builds gpukit\nwith it from "
          "gpukit's sources (./run portable).\n")
    for part in linked:
        print("=" * 72)
        print(f"{part['name']} {part['version']}, as documented by Debian\n")
        print(copyright_of(part["package"]) + "\n")
    print("=" * 72)
    with open(JOE_KUO, encoding="utf-8") as f:
        print(f.read().strip())


# ---- SPDX ----

def checksum(path, kind):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, kind).hexdigest() \
            if hasattr(hashlib, "file_digest") \
            else hashlib.new(kind, f.read()).hexdigest()


def spdx_file(directory, name):
    path = os.path.join(directory, name)
    return {"SPDXID": "SPDXRef-File-" + re.sub(r"[^\w.-]", "-", name),
            "fileName": f"./{name}",
            "checksums": [
                {"algorithm": kind.upper(), "checksumValue": checksum(path, kind)}
                for kind in ("sha1", "sha256")],
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION"}


def spdx_package(name, version, licence, **more):
    return {"SPDXID": f"SPDXRef-Package-{name}", "name": name,
            "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind,
            "relatedSpdxElement": other}


def document(arguments, versions):
    """Returns the SPDX document as a dictionary."""
    facts = project.read_conf()
    mine = f"SPDXRef-Package-{NAME}"
    linked = parts(versions)
    files = [spdx_file(arguments.directory, name)
             for name in sorted(os.listdir(arguments.directory))
             if not name.endswith(".spdx.json") and name != "SHA256SUMS"]
    packages = [spdx_package(
        NAME, arguments.version, "Apache-2.0",
        homepage=facts["PROJECT_URL"],
        supplier=f"Organization: {facts['PROJECT_MAINTAINER']}",
        sourceInfo=f"commit {arguments.commit}")]
    packages += [spdx_package(
        part["name"], part["version"], part["licence"],
        sourceInfo=f"Debian source package {part['source']}",
        comment=f"linked into {part['where']} of the portable build")
        for part in linked]
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", mine)]
    relations += [relation(mine, "STATIC_LINK", f"SPDXRef-Package-{part['name']}")
                  for part in linked]
    relations += [relation(each["SPDXID"], "GENERATED_FROM", mine)
                  for each in files]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(
        int(os.environ["SOURCE_DATE_EPOCH"])))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"gpukit-{arguments.version}",
            "documentNamespace": f"{facts['PROJECT_URL']}/spdx/"
                                 f"gpukit-{arguments.version}-{arguments.commit}",
            "creationInfo": {"created": created,
                             "creators": ["Tool: gpukit-tools-sbom.py"]},
            "packages": packages, "files": files, "relationships": relations}


def main(argv):
    os.chdir(rooms.ROOT)
    parser = argparse.ArgumentParser(
        description="Tells what is in a release.", add_help=True)
    verbs = parser.add_subparsers(dest="verb", required=True)
    notices = verbs.add_parser("notices")
    spdx = verbs.add_parser("spdx")
    spdx.add_argument("--version", required=True)
    spdx.add_argument("--commit", required=True)
    spdx.add_argument("directory")
    for each in (notices, spdx):
        each.add_argument("--versions", help='lines "SOURCE VERSION"')
    arguments = parser.parse_args(argv)
    versions = read_versions(arguments.versions)
    if arguments.verb == "notices":
        print_notices(versions)
        return
    print(json.dumps(document(arguments, versions), indent=1, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1:])
