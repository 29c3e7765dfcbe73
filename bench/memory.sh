#!/bin/bash
# memory.sh YOSIDA [ROWS COLUMNS]: the peak memory of a my-hpo-c run on a dense logistic design (400 000 × 200 numbers,
# 640 MB, unless told), read from an .npy file. Limit: 1.2 × the design + 64 MB. Exit code 1 where it is exceeded.
set -euo pipefail
yosida=$(realpath "${1:?usage: memory.sh YOSIDA [ROWS COLUMNS]}")
rows=${2:-400000}
columns=${3:-200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The system's own python3 is the one with NumPy. Rows are written in pieces: they need not fit its memory either.
/usr/bin/python3 - "$work" "$rows" "$columns" <<'PYTHON'
import sys
import numpy as np

work, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(1)
x = np.lib.format.open_memmap(f"{work}/x.npy", mode="w+", dtype=np.float64, shape=(rows, columns))
y = np.empty(rows)
weights = rng.standard_normal(columns)
for begin in range(0, rows, 20000):
    block = rng.standard_normal((min(20000, rows - begin), columns))
    x[begin : begin + len(block)] = block
    y[begin : begin + len(block)] = np.where(block @ weights + rng.standard_normal(len(block)) > 0, 1.0, -1.0)
x.flush()
np.save(f"{work}/y.npy", y)
PYTHON

# A fresh python3 measures, because a child starts from the peak of the process that forked it.
/usr/bin/python3 - "$yosida" "$work" "$rows" "$columns" <<'PYTHON'
import resource
import subprocess
import sys

yosida, work, rows, columns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
subprocess.run(
    [yosida, "tune", "--train", f"{work}/x.npy", "--train-target", f"{work}/y.npy", "--model", "logistic",
     "--method", "my-hpo-c", "--max-iterations", "5"],
    check=True)
megabyte = 1e6
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / megabyte
design = rows * columns * 8 / megabyte
limit = 1.2 * design + 64 * 1024 * 1024 / megabyte
print(f"\ndesign {design:.0f} MB, peak memory {peak:.0f} MB = {peak / design:.2f} x design, limit {limit:.0f} MB")
sys.exit(peak > limit)
PYTHON
