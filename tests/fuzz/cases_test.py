#!/usr/bin/env python3
"""What the fuzzers have found stays mended, and what they begin with passes: cases_test.py REPLAY YOSIDA [CHANGES]

Each case of tests/fuzz/cases and each seed goes through its fuzzer once as it is, and CHANGES times [40] with some bytes changed.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    replay, yosida = sys.argv[1:3]
    changes = sys.argv[3] if len(sys.argv) > 3 else "40"
    with tempfile.TemporaryDirectory(prefix="yosida-cases-") as folder:
        subprocess.run([sys.executable, "-B", str(HERE / "seeds.py"), yosida, folder], check=True, timeout=120)
        inputs = {}
        for path in [*pathlib.Path(folder).glob("*/*"), *(HERE / "cases").glob("*/*")]:
            inputs.setdefault(path.parent.name, []).append(str(path))
        if sorted(inputs) != ["model", "reader", "spec", "study", "trace", "words"]:
            sys.exit(f"seeds of {sorted(inputs)} alone")
        for name, files in sorted(inputs.items()):
            done = subprocess.run([replay, "--changes", changes, name, *sorted(files)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250,
                                  encoding="utf-8", errors="replace")
            if done.returncode:
                sys.exit(f"{name}: ended by {done.returncode}:\n{done.stdout[-3000:]}")
            print(f"{name}: {len(files)} inputs, each with {changes} changes", flush=True)


if __name__ == "__main__":
    main()
