#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells what is in a release, from packaging/third-party.txt.

Usage: sbom.py notices
       sbom.py spdx --version VERSION --commit COMMIT DIRECTORY

notices prints the licences of all that is linked into the portable build, whose
sources ./run portable fetched. spdx prints an SPDX 2.3 document of the artefacts
in a directory and of what is linked into them; its time is SOURCE_DATE_EPOCH.
"""

import argparse
import hashlib
import json
import os
import re
import sys
import time

import project
import rooms

NAME = "gpukit"
TABLE = "packaging/third-party.txt"
SOURCES = "tools/portable/sources.txt"
PACKAGES = "tests/portable.txt"
JOE_KUO = "src/fronts/curand/joe_kuo.txt"


def lines_of(path):
    """Yields the words of each line that is no comment."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                yield line.split()


def rows():
    """Yields (name, source, licence, where, file) of the table."""
    return lines_of(TABLE)


def versions():
    """Returns the version of each source of the portable build, as its packager
    names it."""
    found = {words[0]: words[1] for words in lines_of(SOURCES)}
    for (word,) in lines_of(PACKAGES):
        name, _, version = word.partition("==")
        found[name] = version
    return found


def upstream(version):
    """A version without what Debian adds to it."""
    return re.sub(r"([+](dfsg|ds)[^-]*)?(-[^-]*)?$", "", version)


def parts():
    """Returns a dictionary for each row, with its version."""
    known = versions()
    found = [{"name": name, "source": source, "licence": licence, "where": where,
              "file": file, "packaged": known.get(source)}
             for name, source, licence, where, file in rows()]
    for part in found:
        if not part["packaged"]:
            sys.exit(f"sbom: no version of {part['source']} in {SOURCES}")
        part["version"] = upstream(part["packaged"])
    return found


# ---- notices ----

def text_of(part):
    place = "build/zig/ziglang" if part["source"] == "ziglang" else \
        os.path.join("build/portable/work/sources", part["source"])
    path = os.path.join(place, part["file"])
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError as error:
        sys.exit(f"sbom: {path}: {error.strerror}; ./run portable fetches it")


def print_notices():
    print("gpukit is licensed under Apache-2.0 (LICENSE). This build of it is "
          "linked with:\n")
    linked = parts()
    for part in linked:
        print(f"  {part['name']} {part['version']} ({part['licence']}): "
              f"{part['where']}")
    print("  the table of Joe and Kuo (BSD-3-Clause): libcurand\n\n"
          "The sources are those of Debian's packages and of ziglang on PyPI;\n"
          "tools/portable in gpukit's sources has their names, versions, "
          "checksums and the\nfew changes, and ./run portable links another "
          "version of a library under the LGPL.\n")
    for part in linked:
        print("=" * 72)
        print(f"{part['name']} {part['version']}\n")
        print(text_of(part) + "\n")
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
    return {"SPDXID": "SPDXRef-File-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
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


def document(arguments):
    """Returns the SPDX document as a dictionary."""
    facts = project.read_conf()
    mine = f"SPDXRef-Package-{NAME}"
    linked = parts()
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
        sourceInfo=f"{part['source']} {part['packaged']}, see tools/portable",
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
    verbs.add_parser("notices")
    spdx = verbs.add_parser("spdx")
    spdx.add_argument("--version", required=True)
    spdx.add_argument("--commit", required=True)
    spdx.add_argument("directory")
    arguments = parser.parse_args(argv)
    if arguments.verb == "notices":
        print_notices()
        return
    arguments.directory = os.path.abspath(arguments.directory)
    print(json.dumps(document(arguments), indent=1, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1:])
