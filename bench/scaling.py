#!/usr/bin/env python3
"""The cost model of docs/scaling.md: measures its constants and compares what it predicts with what a clock says.

    scaling.py [--yosida build/release/yosida] [--rows 1000000] [--columns 100] [--repeats 3]

A run on N processes of one thread takes, besides its start, `passes` passes of 8·rows·columns bytes over the cores that there are, and
`exchanges` exchanges. Constants come from one process (bytes read in a second, from runs of two lengths, so that the start cancels) and
from a tiny table on two and four (seconds of an exchange). The rest is predicted: 2 and 4 processes, and networks that are slower by
tests/cli/slow_network.cpp. At last the same formula is printed for 10⁹ rows on 100 machines.
"""
import argparse
import math
import os
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none"}
SHORT, LONG = 2, 12  # iterations


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.library = folder / "slow_network.so"
        subprocess.run(["mpicxx", "-std=c++20", "-O2", "-shared", "-fPIC", str(ROOT / "tests/cli/slow_network.cpp"), "-o", str(self.library)],
                       check=True)

    def write(self, name, rows, columns):
        generator = np.random.default_rng(7)
        x = generator.normal(size=(rows, columns))
        np.save(self.folder / f"{name}.npy", x)
        np.save(self.folder / f"{name}-y.npy", (x @ np.linspace(1.0, -1.0, columns) + generator.logistic(size=rows) > 0).astype(float))

    def once(self, name, ranks, iterations, network):
        """Seconds, exchanges, their bytes and the seconds inside them."""
        command = ["mpirun", "-n", str(ranks), "-x", f"LD_PRELOAD={self.library}", str(self.options.yosida), "tune", "--quiet",
                   "--train", f"{name}.npy", "--train-target", f"{name}-y.npy", "--model", "logistic", "--method", "hoag",
                   "--lambda-per", "feature", "--max-iterations", str(iterations), "--threads", "1"]
        begin = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, **ALLOWED, "YOSIDA_NETWORK": network}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", check=True)
        seconds = time.monotonic() - begin
        exchanges, size, inside = re.search(r"network: (\d+) exchanges of (\d+) bytes in ([\d.]+) seconds", done.stderr).groups()
        return seconds, int(exchanges), int(size), float(inside)

    def difference(self, name, ranks, network="0"):
        """Of a long run and a short one, the fastest of each: seconds, exchanges, bytes, seconds inside."""
        runs = {length: [self.once(name, ranks, length, network) for _ in range(self.options.repeats)] for length in (SHORT, LONG)}
        fastest = {length: min(each) for length, each in runs.items()}
        return [long - short for long, short in zip(fastest[LONG], fastest[SHORT])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yosida", type=pathlib.Path, default=ROOT / "build/release/yosida")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    options.yosida = options.yosida.resolve()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="yosida-scaling-") as folder:
        bench = Bench(options, pathlib.Path(folder))
        bench.write("x", options.rows, options.columns)
        bench.write("tiny", 50_000, 2)
        seconds, exchanges, _, _ = bench.difference("x", 1)
        exchange = {}
        for ranks in (2, 4):
            _, count, _, inside = bench.difference("tiny", ranks)
            exchange[ranks] = max(inside, 0.0) / max(count, 1)
        print(f"one process: {seconds:.2f} s for {exchanges} exchanges; an exchange takes " +
              ", ".join(f"{1e6 * each:.0f} µs on {ranks}" for ranks, each in exchange.items()) + f"; {cores} cores", flush=True)
        print("processes  network          exchanges  predicted s  measured s  ratio")
        for ranks, latency, rate in ((2, 0.0, 1e18), (4, 0.0, 1e18), (2, 0.001, 1.25e9), (4, 0.001, 1.25e9), (2, 0.005, 1.25e8)):
            measured, count, size, _ = bench.difference("x", ranks, f"{latency} {rate}")
            network = count * (exchange[ranks] + latency * math.ceil(math.log2(ranks))) + size / rate
            predicted = seconds / min(ranks, cores) + network
            print(f"{ranks:9d}  {'this machine' if latency == 0 else f'{1e3 * latency:g} ms, {8 * rate / 1e9:g} Gbit/s':15s}  {count:9d}  "
                  f"{predicted:11.2f}  {measured:10.2f}  {measured / predicted:5.2f}", flush=True)
        # The exchanges are as many on any number of processes: two for each pass, of a greeting and of the sums.
        a_pass = seconds / (count / 2) * (10**9 / options.rows) / 100
        b = 1024
        wire = 2 * (math.ceil(math.log2(100)) * 50e-6) + (8 * (options.columns + 2) * b + 40 * 100) / 1.25e9
        print(f"a pass over 10^9 x {options.columns} on 100 processes of one thread: {a_pass:.3f} s of rows, {1e3 * wire:.1f} ms of a network of "
              "50 µs and 10 Gbit/s")


if __name__ == "__main__":
    main()
