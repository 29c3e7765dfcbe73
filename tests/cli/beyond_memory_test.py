"""Rows that are larger than the memory there is: arrays in several files, under a limit of a cgroup that holds for mapped pages, too.

A longer form: YOSIDA_GIGABYTES=6 YOSIDA_LIMIT_MB=600 YOSIDA_MODELS=ridge,logistic python3 tests/cli/beyond_memory_test.py; it prints seconds and bytes.
"""
import json
import os
import pathlib
import resource
import subprocess
import time
import unittest

import numpy as np

from yosida_cli import BINARY, Cli, strict_json

GIGABYTES = float(os.environ.get("YOSIDA_GIGABYTES", "0.21"))
LIMIT_MB = int(os.environ.get("YOSIDA_LIMIT_MB", "64"))
COLS = 500
SHARDS = 5
MODELS = os.environ.get("YOSIDA_MODELS", "ridge").split(",")
ROOT = pathlib.Path("/sys/fs/cgroup")


class Limited:
    """A cgroup of a limited memory, of the first or the second kind; what is cached of files counts, too."""

    def __init__(self, megabytes):
        old = (ROOT / "memory").is_dir()
        self.folder = (ROOT / "memory" if old else ROOT) / f"yosida-test-{os.getpid()}"
        self.limit = "memory.limit_in_bytes" if old else "memory.max"
        self.peak = "memory.max_usage_in_bytes" if old else "memory.peak"
        try:
            self.folder.mkdir()
            (self.folder / self.limit).write_text(str(megabytes << 20))
        except OSError as error:
            raise unittest.SkipTest(f"no cgroup of memory can be made here: {error}") from error

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def peak_bytes(self):
        return int((self.folder / self.peak).read_text())

    def remove(self):
        for _ in range(100):
            try:
                return self.folder.rmdir()
            except OSError:  # its last process is on its way out
                time.sleep(0.05)
        return None


class BeyondMemory(Cli):
    def write_shards(self):
        generator = np.random.default_rng(3)
        rows = int(GIGABYTES * 1e9 / 8 / COLS) // SHARDS
        weights = np.linspace(1.0, -1.0, COLS) / np.sqrt(COLS)
        for name in ("x", "y", "labels"):
            (self.folder / name).mkdir()
        for shard in range(SHARDS):
            shape = (rows + 17 * shard, COLS)
            x = np.lib.format.open_memmap(self.folder / "x" / f"part-{shard}.npy", "w+", float, shape)
            y = np.empty(shape[0])
            for begin in range(0, shape[0], 10_000):
                block = generator.normal(size=(min(10_000, shape[0] - begin), COLS))
                x[begin:begin + len(block)] = block
                y[begin:begin + len(block)] = block @ weights + generator.logistic(size=len(block))
            x.flush()
            del x
            np.save(self.folder / "y" / f"part-{shard}.npy", y)
            np.save(self.folder / "labels" / f"part-{shard}.npy", (y > 0).astype(float))

    def forget_pages(self):
        """What is cached of the files counts for who has read or written them: so for nobody."""
        for path in self.folder.glob("*/*.npy"):
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def tune(self, model, target, limited=None):
        command = [BINARY, "tune", "--quiet", "--train", "x", "--train-target", target, "--model", model, "--json", "-"]
        self.forget_pages()
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              preexec_fn=limited.enter if limited else None, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.returncode, 0, done.stderr)
        read = (after.ru_inblock - before.ru_inblock) * 512
        print(f"{model} {'limited' if limited else 'free'}: {time.monotonic() - begin:.1f} s, {after.ru_utime - before.ru_utime:.1f} s of the "
              f"processor, {read / 1e9:.2f} GB from disk", flush=True)
        return {key: value for key, value in strict_json(done.stdout).items() if "seconds" not in key}

    def test_same_answer_in_little_memory(self):
        limited = Limited(LIMIT_MB)
        self.addCleanup(limited.remove)
        self.write_shards()
        bytes_of_rows = sum(path.stat().st_size for path in (self.folder / "x").iterdir())
        self.assertGreater(bytes_of_rows, 3 * LIMIT_MB << 20)
        for model, target in (("ridge", "y"), ("logistic", "labels")):
            if model not in MODELS:
                continue
            little = self.tune(model, target, limited)
            self.assertLessEqual(limited.peak_bytes(), LIMIT_MB << 20)
            self.assertEqual(json.dumps(little), json.dumps(self.tune(model, target)))
        print(f"{bytes_of_rows / 1e9:.2f} GB of rows in {limited.peak_bytes() >> 20} MB")


if __name__ == "__main__":
    unittest.main()
