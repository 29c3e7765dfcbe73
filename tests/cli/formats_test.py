"""The same data gives the same result, whatever kind of file it stands in."""
import unittest

import numpy as np

from yosida_cli import Cli, classification, column_names, regression, without_seconds

PACKINGS = ["", ".gz", ".xz"]


class Formats(Cli):
    def setUp(self):
        super().setUp()
        self.parts = {part: regression(rows, seed=seed) for seed, (part, rows) in
                      enumerate({"train": 40, "valid": 20, "test": 30}.items())}
        self.expected = self.result(self.given(self.write_csv, ".csv"), "--target", "y")

    def result(self, files, *options):
        return without_seconds(self.tune(*files, *options))

    def given(self, write, ending):
        """Writes every part with `write(file, x, y)`; gives the flags that name them."""
        flags = []
        for part, (x, y) in self.parts.items():
            flags += [f"--{part}", write(part + ending, x, y)]
        return flags

    def given_apart(self, write, x_ending, y_ending):
        """The same with the target of each part in a file of its own."""
        flags = []
        for part, (x, y) in self.parts.items():
            flags += [f"--{part}", write(f"{part}-x{x_ending}", x), f"--{part}-target", write(f"{part}-y{y_ending}", y)]
        return flags

    def assert_same(self, files, *options):
        self.assertEqual(self.result(files, *options), self.expected)

    def test_separated_text(self):
        for ending, delimiter in [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", " "), (".txt", "\t"),
                                  (".txt", ",")]:
            for header, target in [(True, "y"), (True, "0"), (False, "0"), (False, "-5")]:
                for packing in PACKINGS:
                    with self.subTest(f"{ending}{packing} {delimiter!r} {'header' if header else 'bare'} {target}"):
                        def write(file, x, y):
                            return self.write_csv(file, x, y, delimiter=delimiter, header=header)
                        self.assert_same(self.given(write, ending + packing), "--target", target)

    def test_numbers_of_four_bytes(self):
        """--float rounds features to seven digits and targets not at all; what it cannot hold is refused."""
        rounded = {part: (x.astype(np.float32).astype(float), y) for part, (x, y) in self.parts.items()}
        exact = self.given(self.write_csv, ".csv")
        singles = self.result(exact, "--target", "y", "--float")
        self.parts = rounded
        expected = self.result(self.given(self.write_csv, ".csv"), "--target", "y")
        self.assertAlmostEqual(singles["loss"]["validation"], expected["loss"]["validation"], delta=1e-12)
        np.testing.assert_allclose(singles["lambda"], expected["lambda"], atol=1e-6)
        self.write("large.csv", "y,a\n" + "".join(f"{i},{i}e37\n" for i in range(1, 40)))
        self.refused("tune", "--train", "large.csv", "--target", "y", "--float", names=["large.csv", "--float", "row 34", "3.5e38", "3.4e38"])

    def test_text_as_other_programs_write_it(self):
        plain = {part: self.read(f"{part}.csv") for part in self.parts}
        names = "y," + ",".join(column_names(self.parts["train"][0]))
        quoted_names = ",".join(f'"{name}"' for name in names.split(","))
        for case, change in {
                "CRLF": lambda text: text.replace("\n", "\r\n"),
                "byte order mark": lambda text: "\ufeff" + text,
                "no newline at the end": lambda text: text.rstrip("\n"),
                "blank lines at the end": lambda text: text + "\n\n",
                "spaces around": lambda text: text.replace(",", " , "),
                "quoted names": lambda text: text.replace(names, quoted_names),
                "quoted numbers": lambda text: "\n".join(
                    ",".join(f'"{field}"' for field in line.split(",")) for line in text.splitlines()),
                "names with commas": lambda text: text.replace("x0", '"x0, in %"').replace("x1", '"the ""x1"""'),
        }.items():
            with self.subTest(case):
                files = []
                for part, text in plain.items():
                    files += [f"--{part}", self.write(f"other-{part}.csv", change(text))]
                self.assert_same(files, "--target", "y")

    def test_libsvm(self):
        for ending in [".libsvm", ".svm", ".t", ""]:
            for packing in PACKINGS:
                with self.subTest(ending + packing):
                    self.assert_same(self.given(self.write_libsvm, f"-data{ending}{packing}"), "--dense")

    def test_libsvm_zeros(self):
        for x, _ in self.parts.values():
            x[np.abs(x) < 1] = 0
        expected = self.result(self.given(self.write_csv, ".csv"), "--target", "y")
        self.assertEqual(self.result(self.given(self.write_libsvm, ".libsvm"), "--dense"), expected)
        # Raw features are the same dense or sparse but for the order of sums.
        sparse = self.result(self.given(self.write_libsvm, ".libsvm"), "--x", "raw", "--max-iterations", 20)
        dense = self.result(self.given(self.write_csv, ".csv"), "--target", "y", "--x", "raw", "--max-iterations", 20)
        for part, loss in dense["loss"].items():
            self.assertAlmostEqual(sparse["loss"][part], loss, delta=1e-8 * loss)

    def test_npy(self):
        for packing in PACKINGS:
            with self.subTest(packing):
                self.assert_same(self.given_apart(self.write_npy, ".npy" + packing, ".npy" + packing))
        with self.subTest("target as a column"):
            def write(file, x, y):
                return self.write_npy(file, np.column_stack([x, y]))
            self.assert_same(self.given(write, ".npy"), "--target", "-1")
        with self.subTest("column by column"):
            def write_fortran(file, array):
                return self.write_npy(file, np.asfortranarray(array))
            self.assert_same(self.given_apart(write_fortran, ".npy", ".npy"))
        with self.subTest("big-endian"):
            def write_big(file, array):
                return self.write_npy(file, array.astype(">f8"))
            self.assert_same(self.given_apart(write_big, ".npy", ".npy"))

    def test_npz(self):
        for names in [("x", "y"), ("X", "y")]:
            for packing in PACKINGS:
                with self.subTest(f"{names} {packing}"):
                    def write(file, x, y):
                        return self.write_npz(file, **dict(zip(names, [x, y])))
                    self.assert_same(self.given(write, ".npz" + packing))

    def test_idx(self):
        for x_ending, y_ending in [(".idx", ".idx"), ("-images-idx3-ubyte", "-labels-idx1-ubyte")]:
            for packing in PACKINGS:
                with self.subTest(x_ending + packing):
                    self.assert_same(self.given_apart(self.write_idx, x_ending + packing, y_ending + packing))

    def test_idx_images(self):
        random = np.random.default_rng(0)
        images = random.integers(0, 256, size=(30, 3, 2), dtype=np.uint8)
        labels = (images[:, 0, 0] > 127).astype(np.uint8)
        self.write_idx("images-idx3-ubyte.gz", images)
        self.write_idx("labels-idx1-ubyte.gz", labels)
        self.write_csv("flat.csv", images.reshape(30, 6), labels)
        options = ["--model", "logistic", "--max-iterations", 50]
        idx = ["--train", "images-idx3-ubyte.gz", "--train-target", "labels-idx1-ubyte.gz"]
        self.assertEqual(self.result(idx, *options), self.result(["--train", "flat.csv", "--target", "y"], *options))

    def test_a_target_file_beside_csv(self):
        def write(file, array):
            return self.write_csv(file, array if array.ndim == 2 else array[:, None])
        self.assert_same(self.given_apart(write, ".csv", ".csv"))

    def test_parts_of_different_kinds(self):
        (x, y), (x_valid, y_valid), (x_test, y_test) = self.parts.values()
        files = ["--train", self.write_npz("train.npz", x=x, y=y),
                 "--valid", self.write_npz("valid.npz.gz", X=x_valid, y=y_valid),
                 "--test", self.write_libsvm("test.t.xz", x_test, y_test), "--dense"]
        self.assert_same(files)

    def test_sparse_parts_that_use_different_columns(self):
        x, y = classification(40, labels=(-1, 1))
        narrow = x.copy()
        narrow[:, -1] = 0
        self.write_libsvm("wide", x, y)
        self.write_libsvm("narrow", narrow, y)
        for train, valid in [("wide", "narrow"), ("narrow", "wide")]:
            with self.subTest(train):
                result = self.tune("--train", train, "--valid", valid, "--model", "logistic")
                self.assertEqual(result["data"]["features"], 4)

    def test_file_names(self):
        for name in ["with spaces.csv", "füße.csv", "UPPER.CSV", "two.dots.csv", "-minus.csv"]:
            with self.subTest(name):
                x, y = self.parts["train"]
                self.write_csv(name, x, y)
                result = self.tune(f"--train={name}", "--target", "y")
                self.assertEqual(result["data"]["source"], name)

    def test_a_target_in_the_middle(self):
        x, y = self.parts["train"]
        names = column_names(x)
        shifted = np.column_stack([x[:, :2], y, x[:, 2:]])
        self.write_csv("middle.csv", shifted, names=[*names[:2], "y", *names[2:]])
        for target in ["y", "2", "-3"]:
            with self.subTest(target):
                self.assertEqual(self.result(["--train", "middle.csv"], "--target", target),
                                 self.result(["--train", "train.csv"], "--target", "y"))


if __name__ == "__main__":
    unittest.main()
