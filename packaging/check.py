#!/usr/bin/env python3
"""Builds the packages twice, in folders of different names, and compares them byte by byte; then runs lintian: check.py [FOLDER]

FOLDER is where it is done [a temporary one]; the packages of the first build stay there. As root it also unpacks them into a clean
Debian 12 (debootstrap), where the program and the Python package are run.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITE = "bookworm"


def build(folder):
    """Of what git knows. CCACHE_RECACHE would compile all of it anew; the compiler's cache is left to those who have one."""
    source = folder / "yosida"
    source.mkdir(parents=True)
    files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    archive = subprocess.run(["tar", "-C", str(ROOT), "--null", "-T", "-", "-cf", "-"], input=files, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-C", str(source), "-xf", "-"], input=archive, check=True)
    with open(folder / "log", "w") as log:
        if subprocess.run(["dpkg-buildpackage", "-us", "-uc", "-b"], cwd=source, stdout=log, stderr=subprocess.STDOUT).returncode:
            sys.exit(f"the packages cannot be built: see {folder / 'log'}")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.deb"))}


def run_in_clean_debian(folder, packages):
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        return print("not run in a clean Debian: wants root and debootstrap")
    root = folder / "debian"
    subprocess.run(["debootstrap", "--variant=minbase", SUITE, str(root)], check=True, stdout=subprocess.DEVNULL)
    for package in packages:
        shutil.copy(folder / "first" / package, root / "tmp")
    for command in ["apt-get update -q", "apt-get install -qy --no-install-recommends /tmp/*.deb", "yosida --version",
                    "yosida tune --data spectra", "apt-get install -qy --no-install-recommends openmpi-bin",
                    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 yosida tune --data spectra",
                    "python3 -c 'import yosida; print(yosida.__version__)'"]:
        subprocess.run(["chroot", str(root), "sh", "-ec", command], check=True)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="yosida-packages-"))
    first, second = build(folder / "first"), build(folder / "second-of-another-name")
    for name, digest in first.items():
        print(f"{digest}  {name}")
    if first != second:
        sys.exit(f"two builds differ: {[name for name in first if first[name] != second.get(name)]}")
    print("two builds, the same bytes")
    subprocess.run(["lintian", "--fail-on", "error,warning", *map(str, (folder / "first").glob("*.deb"))], check=True)
    run_in_clean_debian(folder, [name for name in first if "dbgsym" not in name])


if __name__ == "__main__":
    main()
