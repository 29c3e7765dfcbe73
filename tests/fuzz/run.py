#!/usr/bin/env python3
"""Runs the fuzzers one after the other: run.py BUILD [--seconds 600] [--only reader] [--yosida build/release/yosida]

Each begins with its seeds (seeds.py) and with what earlier runs have found in BUILD/corpus. An input that ends a fuzzer is
written to BUILD/found: put it into tests/fuzz/cases/<fuzzer>/, mend the fault, and tests/fuzz/cases_test.py keeps it mended.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--only", default="")
    parser.add_argument("--yosida", default=str(HERE.parent.parent / "build/release/yosida"))
    options = parser.parse_args()
    corpus, found = options.build / "corpus", options.build / "found"
    found.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(HERE / "seeds.py"), options.yosida, str(corpus)], check=True)
    failed = []
    for program in sorted(options.build.glob("fuzz_*")):
        name = program.name.removeprefix("fuzz_")
        if not os.access(program, os.X_OK) or program.is_dir() or not name.startswith(options.only):
            continue
        folders = [str(corpus / name), *map(str, (HERE / "cases").glob(name))]
        done = subprocess.run([str(program), f"-max_total_time={options.seconds}", "-timeout=20", "-rss_limit_mb=2048", "-max_len=65536",
                               f"-artifact_prefix={found}/{name}-", "-print_final_stats=1", *folders], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        units = re.search(r"number_of_executed_units: (\d+)", done.stdout)
        edges = re.findall(r"cov: (\d+)", done.stdout)
        print(f"{name}: {units[1] if units else '?'} inputs, {edges[-1] if edges else '?'} edges, exit code {done.returncode}", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout[-6000:])
    sys.exit(f"found something: {', '.join(failed)}; see {found}" if failed else 0)


if __name__ == "__main__":
    main()
