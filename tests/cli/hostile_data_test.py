"""Data files and models that ask for more than they hold: exit code 2, a short message, and memory that stays bounded."""
import gzip
import io
import json
import lzma
import os
import struct
import subprocess
import threading
import unittest
import zipfile
import zlib

from yosida_cli import BINARY, Cli, regression

MB = 1_000_000
SANITIZED = "asan" in BINARY
# What the program takes for files of some bytes, and what the sanitizers keep beside each of its blocks.
SMALL_MB = 1500 if SANITIZED else 200
# What any file may take by rule (1 GB), and what is there beside it.
BY_RULE_MB = 4000 if SANITIZED else 1300
# 4096 bytes for each byte of a sparse file, of some 300 kB; tables grow by copies that are half as large again.
SPARSE_MB = 8000 if SANITIZED else 3900
LIMIT_SECONDS = 120


def npy(shape, version=1, order="False", kind="<f8", numbers=b"\0" * 64, header=None):
    """An array that says `shape`, whatever its numbers are."""
    text = header or f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"
    packing = "<H" if version == 1 else "<I"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(packing, len(text)) + text.encode() + numbers


def zeros_packed(megabytes):
    """A gzip file that unpacks to so many millions of zeros, a thousandth as long."""
    member = gzip.compress(b"0" * MB, mtime=0)
    return member * megabytes


def npz(name, content, sizes=None, zeros_mb=0):
    """An archive whose directory says `sizes` of its member, if any are given. Zeros behind `content` are never in memory at once: the
    system counts what a process has taken when it starts another one as taken by that one, too."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        member.write(content)
        for _ in range(zeros_mb):
            member.write(b"\0" * MB)
    made = bytearray(file.getvalue())
    if sizes:
        directory = made.rindex(b"PK\x01\x02")
        made[directory + 20:directory + 28] = struct.pack("<II", *sizes)
    return bytes(made)


def xz_of_large_dictionary():
    """Some bytes whose header asks for a dictionary of 1.5 GB. Of a packed file only the header has it, which has a checksum of its own."""
    packed = bytearray(lzma.compress(b"1,2\n3,4\n" * 10, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16}]))
    block = 12  # behind the header of the stream
    length = 4 * (packed[block] + 1)
    at = packed.index(b"\x21\x01", block, block + length) + 2  # the filter's name, the size of what describes it: one byte
    packed[at] = 39  # 3 GB: 2 | 1 times 2^(39 / 2 + 11)
    packed[block + length - 4:block + length] = struct.pack("<I", zlib.crc32(packed[block:block + length - 4]))
    return bytes(packed)


class Hostile(Cli):
    def refuses(self, arguments, names=(), most_mb=SMALL_MB):
        """Exit code 2, one message with `names`, and a peak of memory below `most_mb`."""
        with subprocess.Popen([BINARY, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8") as process:
            limit = threading.Timer(LIMIT_SECONDS, process.kill)
            limit.start()
            said = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            limit.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 2, f"{arguments}\n{said[-3000:]}")
        self.assertLess(len(said), 1000)
        for name in ("yosida: ", *names):
            self.assertIn(name, said)
        self.assertLess(usage.ru_maxrss * 1024 / MB, most_mb, f"peak of memory: {said}")

    def reading(self, file, content, names=(), most_mb=SMALL_MB, more=("--target", "0")):
        with self.subTest(file, names=names):
            if content is not None:
                (self.folder / file).write_bytes(content)
            self.refuses(["tune", "--quiet", "--train", file, *more], [file, *names], most_mb)
            if content is not None:
                (self.folder / file).unlink()


class Headers(Hostile):
    def test_arrays(self):
        for shape in [f"({2**62},)", f"({2**62}, 2)", f"(2, {2**62})", f"({2**31}, {2**31})", f"({2**64 - 1}, 2)", f"({2**64}, 2)", f"({10**40}, 2)",
                      "(-1, 2)", f"({2**32}, {2**32}, {2**32})"]:
            for kind in ["<f8", ">i2"]:
                self.reading("data.npy", npy(shape, kind=kind))
                self.reading("data.npy", npy(shape, order="True", kind=kind))
        self.reading("data.npy", npy("(" + "1, " * 20_000 + "2)"))
        self.reading("data.npy", npy("(" * 20_000 + "2" + ")" * 20_000))
        self.reading("data.npy", npy("", header="{'descr': " + "[" * 30_000))
        for length in [2**32 - 1, 2**31, 10**9]:
            self.reading("data.npy", b"\x93NUMPY\2\0" + struct.pack("<I", length) + b"{'descr': '<f8'" + b" " * 100)
        self.reading("data.npy.gz", gzip.compress(npy(f"({2**40}, 16)", numbers=b"\0" * 4 * MB)))

    def test_idx(self):
        for sizes in [[2**32 - 1], [2**32 - 1, 2**32 - 1], [2**31, 2**31], [2**32 - 1] * 255, [0] * 255, [1] * 255]:
            for kind in [0x08, 0x0E]:
                head = bytes([0, 0, kind, len(sizes)]) + b"".join(struct.pack(">I", size) for size in sizes)
                self.reading("data.idx", head + b"\0" * 64)
        self.reading("data.idx", bytes([0, 0, 8, 255]) + b"\0" * 8)

    def test_archives(self):
        array = npy("(4, 2)")
        self.reading("data.npz", npz("x.npy", array, (2**32 - 1, 2**32 - 1)), more=[])
        self.reading("data.npz", npz("x.npy", array, (len(array), 2**31)), more=[])
        self.reading("data.npz", npz("x.npy", npy(f"({2**62},)")), more=[])
        made = npz("x.npy", array)
        for at, packing, number in [(10, "<H", 2**16 - 1), (12, "<I", 2**32 - 1), (16, "<I", 2**32 - 1), (16, "<I", 0)]:
            end = made.rindex(b"PK\x05\x06")
            self.reading("data.npz", made[:end + at] + struct.pack(packing, number) + made[end + at + struct.calcsize(packing):], more=[])
        # All entries of the directory are of the same bytes, and each is as large as the file may be.
        directory, end = made.rindex(b"PK\x01\x02"), made.rindex(b"PK\x05\x06")
        entry, count = made[directory:end], 60_000
        tail = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, count * len(entry), directory, 0)
        self.reading("data.npz", made[:directory] + entry * count + tail, more=[])

    def test_indices(self):
        for index in [2**62, 2**63, 2**64 + 1, 2**31, 2**31 - 1, 10**30]:
            self.reading("data.libsvm", f"1 1:1\n-1 {index}:1\n".encode(), [":2:", str(index)], more=[])
            self.reading("data.libsvm", f"1 1:1\n-1 -{index}:1\n".encode(), [":2:"], more=[])
            self.reading("data.libsvm", f"1 1:1\n-1 1:1e{index}\n".encode(), [":2:"], more=[])


class Packed(Hostile):
    UNPACKED_MB = 1100

    def test_bombs(self):
        bomb = zeros_packed(self.UNPACKED_MB)
        self.reading("data.csv.gz", bomb, most_mb=BY_RULE_MB)
        self.reading("data.csv.gz", gzip.compress(bomb, mtime=0), most_mb=BY_RULE_MB)  # bytes that are packed twice are no text
        self.reading("data.npy.gz", gzip.compress(npy(f"({2**40}, 16)")) + gzip.compress(b"\0" * MB) * self.UNPACKED_MB, most_mb=BY_RULE_MB)
        self.reading("data.npz", npz("x.npy", npy("(1000000, 160)", numbers=b""), zeros_mb=1280), most_mb=BY_RULE_MB, more=[])

    def test_many_short_lines(self):
        for text in ["\n", "1\n", ",\n", "1 1:1\n", " ", "\"\n", ","]:
            member = gzip.compress(text.encode() * (MB // len(text)), mtime=0)
            for name, most_mb in [("data.csv.gz", BY_RULE_MB), ("data.libsvm.gz", SPARSE_MB)]:
                self.reading(name, member * 20, most_mb=most_mb)

    def test_xz(self):
        self.reading("data.csv.xz", xz_of_large_dictionary(), ["unpacking its xz data", "--max-memory"])
        packer = lzma.LZMACompressor(preset=0)
        zeros = b"".join([packer.compress(b"0" * MB) for _ in range(self.UNPACKED_MB)] + [packer.flush()])
        self.reading("data.csv.xz", zeros, most_mb=BY_RULE_MB)


class Lines(Hostile):
    """A line of a file that is as long as it says. Holes are zeros that take no room on the disk."""
    LINE_MB = 50

    def test_one_line(self):
        for name, byte in [("data.csv", b"1"), ("data.csv", b","), ("data.libsvm", b"1"), ("data.txt", b"1"), ("data.csv", b"\"")]:
            with open(self.folder / name, "wb") as file:
                for _ in range(self.LINE_MB):
                    file.write(byte * MB)
            self.reading(name, None, most_mb=12 * self.LINE_MB + SMALL_MB)
            (self.folder / name).unlink()

    def test_a_header_of_one_name(self):
        columns = 100_000
        for name in ["x", "x.2"]:
            header = ",".join(["y"] + [name] * columns)
            self.reading("data.csv", f"{header}\n{'1,' * columns}1\n".encode(), ["1 row"], most_mb=BY_RULE_MB, more=["--target", "y"])

    def test_columns_of_text(self):
        columns = 100_000
        for fields in [("x", "y"), ("1 kg", "2 lb"), ("1", ""), ("2026-01-31", "31.01.2026")]:
            text = "\n".join(",".join([field] * columns) for field in fields)
            self.reading("data.csv", text.encode(), most_mb=BY_RULE_MB)

    def test_holes(self):
        for name in ["data.csv", "data.libsvm", "data.npy", "data.idx", "data.npz", "data"]:
            with open(self.folder / name, "wb") as file:
                file.truncate(self.LINE_MB * MB)
            self.reading(name, None, most_mb=6 * self.LINE_MB + SMALL_MB)
            (self.folder / name).unlink()


class Models(Hostile):
    def setUp(self):
        super().setUp()
        x, y = regression(30)
        self.write_csv("data.csv", x, y)
        self.write_csv("new.csv", x)
        self.good = self.model("--train", "data.csv", "--target", "y")

    def loading(self, text, names=(), most_mb=SMALL_MB):
        with self.subTest(text[:60]):
            self.write("hostile.json", text)
            self.refuses(["predict", "--from", "hostile.json", "--data", "new.csv"], ["hostile.json", *names], most_mb)
            self.refuses(["coefficients", "hostile.json"], ["hostile.json", *names], most_mb)

    def test_nested_deep(self):
        depth = 200_000
        most_mb = SMALL_MB + depth // 5_000 * (3 if SANITIZED else 1)
        for text in ["[" * depth, "[" * depth + "]" * depth, "{\"a\":" * depth, "{\"a\":" * depth + "1" + "}" * depth]:
            self.loading(text, most_mb=most_mb)
        for name in ["weights", "lambda", "pretreatment", "labels", "table", "features", "target_names"]:
            text = json.dumps({**self.good, name: "HERE"}).replace('"HERE"', "[" * depth + "]" * depth)
            self.loading(text, most_mb=most_mb)

    def test_numbers_that_are_no_counts(self):
        for name in ["features", "schema"]:
            for number in [2**62, 2**63, 2**64, -1, 1e300, 10**30]:
                self.loading(json.dumps({**self.good, name: number}))

    def test_text_that_is_no_text(self):
        self.loading(b"\xff\xfe" * 100)
        self.loading('"' + "\\u0000" * 1000)
        self.loading(json.dumps({**self.good, "model": "x" * MB}), most_mb=SMALL_MB)


if __name__ == "__main__":
    unittest.main()
