#!/usr/bin/env python3
"""Writes what the fuzzers begin with: seeds.py YOSIDA FOLDER. Small files of every kind, made by other programs or by Yosida itself."""
import gzip
import io
import json
import lzma
import pathlib
import sqlite3
import struct
import subprocess
import sys
import zlib

import numpy as np

# As fuzz_reader.cpp has them.
ENDINGS = [".csv", ".tsv", ".txt", ".libsvm", ".npy", ".npz", ".idx", ".csv.gz", ".csv.xz", ".npy.gz", ".libsvm.xz", ".idx.gz", ""]


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def readers():
    csv = b"a,b,kind,y\n1,2.5,red,1\n-3e2,,blue,0\n4,\"5\",red,1\n"
    idx = struct.pack(">HBBII", 0, 8, 2, 3, 2) + bytes(range(6))
    libsvm = b"+1 1:0.5 3:2e-3 # note\n-1 2:7 qid:1\n"
    npz = io.BytesIO()
    np.savez(npz, x=np.arange(6.0).reshape(3, 2), y=np.arange(3))
    packed = io.BytesIO()
    np.savez_compressed(packed, x=np.ones((3, 2)), y=np.arange(3))
    of_ending = {".csv": [csv, b"\xef\xbb\xbf1;2,5\n3;4,5\n", b"d,y\n2026-01-31,1\n2026-02-01,0\n"], ".tsv": [csv.replace(b",", b"\t")],
                 ".txt": [b"1 2 3\n4 5 6\n"], ".libsvm": [libsvm], ".npy": [npy(np.arange(6.0).reshape(3, 2)), npy(np.ones((2, 2), ">i2"))],
                 ".npz": [npz.getvalue(), packed.getvalue()], ".idx": [idx], ".csv.gz": [gzip.compress(csv, mtime=0)],
                 ".csv.xz": [lzma.compress(csv)], ".npy.gz": [gzip.compress(npy(np.ones((2, 2))), mtime=0)],
                 ".libsvm.xz": [lzma.compress(libsvm)], ".idx.gz": [gzip.compress(idx, mtime=0)], "": [csv, libsvm, idx]}
    for ending, files in of_ending.items():
        for number, content in enumerate(files):
            yield f"{ENDINGS.index(ending):02}-{number}", bytes([ENDINGS.index(ending), 4 * number]) + content


def main():
    yosida, folder = sys.argv[1], pathlib.Path(sys.argv[2])

    def keep(kind, name, content):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / name).write_bytes(content)

    for name, content in readers():
        keep("reader", name, content)
    study, model = folder / "study.db", folder / "model.json"
    subprocess.run([yosida, "compare", "--data", "spectra", "--methods", "hoag,random", "--seeds", "1", "--max-iterations", "2", "--study",
                    str(study), "--quiet"], check=True)
    for number, extra in enumerate([["--data", "spectra"], ["--data", "spectra", "--model", "lasso", "--x", "raw"]]):
        subprocess.run([yosida, "tune", *extra, "--quiet", "--max-iterations", "2", "--save", str(model)], check=True)
        keep("model", str(number), model.read_bytes())
    database = sqlite3.connect(study)
    rows = database.execute("SELECT spec, outcome, trace FROM run").fetchall()
    database.execute("PRAGMA journal_mode = DELETE")
    database.close()
    keep("study", "two-runs", study.read_bytes())
    for number, (spec, outcome, trace) in enumerate(rows):
        keep("spec", f"spec-{number}", spec.encode())
        keep("spec", f"outcome-{number}", outcome.encode())
        keep("trace", f"packed-{number}", trace)
        keep("trace", f"text-{number}", zlib.decompress(trace))
    for number, words in enumerate(["sho:alpha=0.05", "standardize,pca=3", "host:5432/db?study=prices&password=x", "center", "drop"]):
        keep("words", str(number), words.encode())
    study.unlink()
    model.unlink()


if __name__ == "__main__":
    main()
