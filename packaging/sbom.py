#!/usr/bin/env python3
"""What a build of Yosida is made of, as SPDX 2.3 in JSON: sbom.py BUILD > yosida.spdx.json

Parts are those whose headers are compiled in, the files of others that the sources hold, and every library that the built
program, library and modules load, by the Debian packages that they come from. The same build gives the same bytes; the moment
is that of SOURCE_DATE_EPOCH, or of the last commit.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Compiled in: package, licence, copyright as NOTICE has it.
COMPILED_IN = {
    "libeigen3-dev": ("MPL-2.0", "Benoit Jacob"),
    "libcli11-dev": ("BSD-3-Clause", "University of Cincinnati"),
    "nlohmann-json3-dev": ("MIT", "Niels Lohmann"),
    "libfmt-dev": ("MIT", "Victor Zverovich"),
    "node-d3": ("BSD-3-Clause AND ISC", "Mike Bostock"),
    "pybind11-dev": ("BSD-3-Clause", "Wenzel Jakob"),
}
# Loaded at run time: licences of the packages that the built files name. libpq5 is loaded by name.
LOADED = {
    "libc6": "LGPL-2.1-or-later", "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1", "libgomp1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libfmt9": "MIT", "zlib1g": "Zlib", "liblzma5": "0BSD", "libsqlite3-0": "blessing", "libssl3": "Apache-2.0",
    "libopenblas0-pthread": "BSD-3-Clause", "libopencv-core406": "Apache-2.0", "libopencv-imgproc406": "Apache-2.0",
    "libopencv-objdetect406": "Apache-2.0", "libpq5": "PostgreSQL", "libopenmpi3": "BSD-3-Clause",
}


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def version_of(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           encoding="utf-8")
    return found.stdout if found.returncode == 0 else ""


def built_files(build):
    names = [build / "yosida", *build.glob("libyosida*.so"), *build.glob("python/yosida/_core*.so")]
    return [path.resolve() for path in names if path.is_file()]


def packages_loaded(files):
    """The Debian packages of the libraries that these files name."""
    packages = set()
    for file in files:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-W", "-d", str(file)))
        for line in output("ldd", str(file)).splitlines():
            name, _, rest = line.strip().partition(" => ")
            if name not in needed or not rest or name.startswith("libyosida"):
                continue
            path = os.path.realpath(rest.split(" (")[0])
            # Since /lib is a link into /usr, dpkg may know the file by either name.
            owners = [subprocess.run(["dpkg-query", "-S", each], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     encoding="utf-8").stdout for each in [path, path.removeprefix("/usr")]]
            owner = next((text for text in owners if text), None)
            if owner is None:
                sys.exit(f"sbom: {file.name} loads {name}, which no package holds")
            packages.add(owner.split(":")[0])
    return packages


def moment():
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", str(ROOT), "log", "-1", "--format=%ct")
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def part(name, version, licence, holder, purpose):
    return {"name": name, "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "versionInfo": version or "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": holder, "primaryPackagePurpose": purpose,
            **({"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:deb/debian/{name}@{version}"}]} if version else {})}


def document(build):
    version = re.search(r'YOSIDA_VERSION "(.*)"', (ROOT / "include/yosida/version.hpp").read_text())[1]
    own = part("yosida", "", "Apache-2.0", "The Yosida maintainers", "APPLICATION")
    own["versionInfo"] = version
    parts, relations = [own], []
    for name, (licence, holder) in COMPILED_IN.items():
        parts.append(part(name, version_of(name), licence, holder, "LIBRARY"))
        relations.append(("yosida", "CONTAINS", name))
    parts.append(part("joe-kuo", "", "BSD-3-Clause", "Frances Y. Kuo and Stephen Joe", "SOURCE"))
    relations.append(("yosida", "CONTAINS", "joe-kuo"))
    for name in sorted(packages_loaded(built_files(build)) | {"libpq5"}):
        if name not in LOADED:
            sys.exit(f"sbom: the licence of {name} is not known; add it to LOADED")
        parts.append(part(name, version_of(name), LOADED[name], "NOASSERTION", "LIBRARY"))
        relations.append(("yosida", "DEPENDS_ON", name))
    body = json.dumps(parts, sort_keys=True).encode()
    identity = {each["name"]: each["SPDXID"] for each in parts}
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"yosida-{version}",
            "documentNamespace": f"urn:yosida:spdx:{version}:{hashlib.sha256(body).hexdigest()}",
            "creationInfo": {"created": moment(), "creators": ["Tool: packaging/sbom.py"]},
            "packages": parts,
            "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                               "relatedSpdxElement": identity["yosida"]},
                              *({"spdxElementId": identity[a], "relationshipType": kind, "relatedSpdxElement": identity[b]}
                                for a, kind, b in relations)]}


if __name__ == "__main__":
    print(json.dumps(document(pathlib.Path(sys.argv[1])), indent=2))
