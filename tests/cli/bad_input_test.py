"""Bad data: exit code 2 and a message with file, place, value and rule; earlier results stay as they are."""
import gzip
import lzma
import unittest

import numpy as np

from yosida_cli import Cli, classification, idx_bytes, regression, strict_json

HEADER = "a,b,y\n"
ROWS = "1,2,3\n2,1,5\n3,5,4\n4,1,6\n5,3,5\n6,2,8\n"


class Text(Cli):
    def assert_refused(self, content, names, *options, file="data.csv", target="y"):
        self.write(file, content)
        target_flags = ["--target", target] if target else []
        return self.tune_refused("--train", file, *target_flags, *options, names=[file, *names])

    def test_the_good_file_is_fine(self):
        self.write("data.csv", HEADER + ROWS)
        self.tune("--train", "data.csv", "--target", "y")

    def test_no_such_file(self):
        self.write_csv("good.csv", *regression(20))
        self.tune_refused("--train", "none.csv", "--target", "y", names=["none.csv", "no such file"])
        for flag in ["--valid", "--test"]:
            self.tune_refused("--train", "good.csv", "--target", "y", flag, "none.csv",
                              names=["none.csv", "no such file"])
        self.tune_refused("--train", "good.csv", "--train-target", "none.csv", names=["none.csv", "no such file"])

    def test_a_directory(self):
        (self.folder / "folder.csv").mkdir()
        self.tune_refused("--train", "folder.csv", "--target", "y", names=["folder.csv", "directory"])

    def test_pieces_of_a_table(self):
        x, y = regression(20)
        self.write_csv("good.csv", x, y)
        header, row = self.read("good.csv").splitlines()[:2]
        self.write("other.csv", f"{header}z\n{row}\n")
        self.write("fewer.csv", f"{header.rsplit(',', 1)[0]}\n{row.rsplit(',', 1)[0]}\n")
        for other, names in [("none.csv", ["none.csv", "no such file"]), ("", ["good.csv,:", "a name is missing"]),
                             ("other.csv", ["other.csv:1", "header", header]),
                             ("fewer.csv", ["fewer.csv:1", "header", header])]:
            with self.subTest(other):
                self.tune_refused("--train", f"good.csv,{other}", "--target", "y", names=names)
        self.tune_refused("--train", "none-*.csv", "--target", "y", names=["none-*.csv", "no file has a name"])

    def test_pieces_of_an_array(self):
        np.save(self.folder / "y.npy", np.arange(6.0))
        for name, columns in [("good", 2), ("wide", 3)]:
            np.save(self.folder / f"{name}.npy", np.ones((3, columns)))
        (self.folder / "cut.npy").write_bytes((self.folder / "good.npy").read_bytes()[:-8])
        np.savetxt(self.folder / "text.csv", np.ones((3, 2)), delimiter=",")
        for other, names in [("none.npy", ["none.npy", "no such file"]), ("wide.npy", ["wide.npy", "3 columns", "good.npy", "2"]),
                             ("cut.npy", ["cut.npy", "truncated", "48 bytes", "40"]),
                             ("text.csv", ["text.csv", "another format", "good.npy"]),
                             ("good.npy,good.npy", ["y.npy", "6 rows", "9"])]:
            with self.subTest(other):
                self.tune_refused("--train", f"good.npy,{other}", "--train-target", "y.npy", names=names)

    def test_unknown_ending(self):
        self.assert_refused("PAR1", [".parquet", ".csv", ".npy"], file="data.parquet")

    def test_empty_files(self):
        for file in ["data.csv", "data.tsv", "data.txt", "data.libsvm", "data", "data.npy", "data.npz", "data.idx"]:
            for packing in ["", ".gz", ".xz"]:
                with self.subTest(file + packing):
                    self.assert_refused("", ["empty"], file=file + packing, target=None)
        for file in ["data.csv.gz", "data.csv.xz"]:
            with self.subTest(f"0 bytes in {file}"):
                (self.folder / file).write_bytes(b"")
                self.tune_refused("--train", file, "--target", "y", names=[file, "empty"])

    def test_no_rows(self):
        self.assert_refused("\n\n", ["no rows"])
        self.assert_refused(HEADER, ["no rows"])
        self.assert_refused("\n", ["no rows"], file="data.libsvm", target=None)

    def test_ragged_rows(self):
        for row, found in [("1,2", 2), ("1,2,3,4", 4), ("1,2,3,,4", 5), ("1", 1)]:
            with self.subTest(row):
                self.assert_refused(HEADER + ROWS + row + "\n", [":8:", "expected 3 fields", f"found {found}"])
        self.assert_refused(HEADER + "1,2,3\n\n" + ROWS, [":3:", "blank"])

    def test_values_that_are_no_numbers(self):
        for value, rule in [("red", "must be a number"), ("1.2.3", "must be a number"), ("1e", "must be a number"),
                            ("12abc", "must be a number"), ("1 2", "must be a number"), ("0x10", "must be a number"),
                            ("--1", "must be a number"), ("1;2", "must be a number"), ("nan", "must be a number"),
                            ("NaN", "must be a number"), ("-nan", "must be a number"), ("inf", "finite"),
                            ("-Infinity", "finite"), ("1e999", "finite")]:
            with self.subTest(value):
                self.assert_refused(f"{HEADER}{ROWS}1,{value},3\n", [":8:", "field 2", '"b"', value, rule])
                self.assert_refused(f"{HEADER}{ROWS}1,2,{value}\n", [":8:", "field 3", '"y"', value, rule])
                self.assert_refused(f"{ROWS}1,{value},3\n", [":7:", "field 2", value, rule], target="2")

    def test_text_among_numbers_says_the_way_on(self):
        self.assert_refused(f"{HEADER}{ROWS}1,red,3\n", ["--numeric b", "--categorical b", "it can be read with --numeric b --missing mean"])

    def test_missing_values(self):
        for value in ["", " ", "NA", "?", '""']:
            with self.subTest(value):
                self.assert_refused(f"{HEADER}{ROWS}1,{value},3\n", [":8:", "field 2", '"b"', "--missing mean", "drop"])
                message = self.assert_refused(f"{HEADER}{ROWS}1,2,{value}\n",
                                              [":8:", "field 3", '"y"', "--missing drop"], "--missing", "mean")
                self.assertNotIn("--missing mean", message)  # a target cannot be filled in
        self.assert_refused(f"{HEADER}{ROWS}1,,3\n", ["is empty"])

    def test_missing_values_that_no_rule_can_mend(self):
        self.assert_refused(HEADER + "1,,3\n2,,4\n,3,6\n", ["every row", "missing"], "--missing", "drop")
        self.assert_refused(HEADER + "1,,3\n2,,4\n3,,6\n4,,5\n", ["beside the target"], "--ignore", "a")

    def test_quotes(self):
        self.assert_refused(f'{HEADER}{ROWS}1,"2,3\n', [":8:", "not closed"])
        self.assert_refused(f'{HEADER}{ROWS}1,"2"x,3\n', [":8:", "quote"])

    def test_header(self):
        self.assert_refused("a,a,y\n" + ROWS, [":1:", '"a"', "must differ"], "--ignore", "a")

    def test_columns_to_ignore(self):
        self.assert_refused(HEADER + ROWS, ["c", "ignore"], "--ignore", "c")
        self.assert_refused(HEADER + ROWS, ["beside the target"], "--ignore", "a,b")
        self.assert_refused(HEADER + ROWS, ["y"], "--ignore", "y")

    def test_only_the_target(self):
        self.assert_refused("y\n1\n2\n3\n4\n", ["beside the target"])

    def test_target(self):
        self.assert_refused(HEADER + ROWS, ["target", "--target"], target=None)
        self.assert_refused("a,b,price\n" + ROWS, ['"prise"', 'did you mean "price"'], target="prise")
        for target in ["3", "-4"]:
            self.assert_refused(HEADER + ROWS, [target, "3 columns", "0 to 2"], target=target)
        self.assert_refused(ROWS, ['"y"', "no columns", "0 to 2"])

    def test_libsvm(self):
        for line, names in {
                "1 1:2 2:x": ['"2:x"', "number"], "1 1:nan": ['"1:nan"', "finite"], "1 1:inf": ['"1:inf"', "finite"],
                "1 -1:1": ['"-1:1"', "1"], "1 2:1 1:1": ['"1:1"', "ascend"],
                "1 2:1 2:1": ['"2:1"', "ascend"], "1 word": ['"word"', "index:value"], "red 1:1": ['"red"', "number"],
                "nan 1:1": ['"nan"', "finite"], "1 1:": ['"1:"', "number"], "1 :5": ['":5"', "index"],
                "1 99999999999:5": ['"99999999999:5"', "index"], "1 qid:3 1:1": ["qid"], "1,2,3": ['"1,2,3"', "number"],
        }.items():
            with self.subTest(line):
                self.assert_refused(f"1 1:1\n2 1:3 2:1\n{line}\n", [":3:", *names], file="data.libsvm", target=None)
        self.assert_refused("1 1:1\n2 1:3\n3 1:2\n", ['"price"', "first field"], file="data.libsvm", target="price")


class Binary(Cli):
    def setUp(self):
        super().setUp()
        self.x, self.y = regression(20)

    def assert_refused(self, file, content, names, *options):
        (self.folder / file).write_bytes(content)
        return self.tune_refused("--train", file, *options, names=[file, *names])

    def contents(self, file):
        return (self.folder / file).read_bytes()

    def test_truncated(self):
        table = np.column_stack([self.x, self.y])
        whole = {"data.npy": (self.write_npy, table), "data.idx": (self.write_idx, table)}
        for file, (write, array) in whole.items():
            for packing in ["", ".gz", ".xz"]:
                write(file + packing, array)
                content = self.contents(file + packing)
                for length in [1, 3, 7, 11, len(content) // 2, len(content) - 1]:
                    with self.subTest(f"{length} bytes of {file}{packing}"):
                        self.assert_refused(file + packing, content[:length], [], "--target", "0")
                message = self.assert_refused(file + packing, content[:-1], ["truncated"], "--target", "0")
                if not packing:
                    self.assertIn(f"{8 * array.size}", message)
                    self.assertIn(f"{8 * array.size - 1}", message)
        self.write_npz("data.npz", x=self.x, y=self.y)
        content = self.contents("data.npz")
        for length in [1, len(content) // 2, len(content) - 1]:
            with self.subTest(f"{length} bytes of data.npz"):
                self.assert_refused("data.npz", content[:length], ["truncated"])

    def test_truncated_text(self):
        text = self.write_csv("plain.csv", self.x, self.y)
        for file, pack in [("data.csv.gz", gzip.compress), ("data.csv.xz", lzma.compress)]:
            packed = pack(self.contents(text))
            for length in [len(packed) // 2, len(packed) - 1]:
                with self.subTest(f"{length} bytes of {file}"):
                    self.assert_refused(file, packed[:length], ["truncated"], "--target", "y")

    def test_damaged(self):
        text = self.write_csv("plain.csv", self.x, self.y)
        for file, pack in [("data.csv.gz", gzip.compress), ("data.csv.xz", lzma.compress)]:
            packed = bytearray(pack(self.contents(text)))
            packed[len(packed) // 2] ^= 0xFF
            with self.subTest(file):
                self.assert_refused(file, bytes(packed), ["corrupt"], "--target", "y")
        self.write_npz("data.npz", x=self.x, y=self.y)
        content = bytearray(self.contents("data.npz"))
        content[len(content) // 3] ^= 0xFF
        self.assert_refused("data.npz", bytes(content), ["corrupt"])

    def test_wrong_magic(self):
        for file, names in [("data.npy", ["NPY", "NUMPY"]), ("data.npz", ["zip"]), ("data.idx", ["IDX", "00 00"]),
                            ("train-ubyte", ["IDX"]), ("data.csv.gz", ["gzip", ".gz"]), ("data.csv.xz", ["xz", ".xz"])]:
            with self.subTest(file):
                self.assert_refused(file, b"a,b,y\n1,2,3\n", names, "--target", "0")

    def test_packed_without_the_ending(self):
        self.write_csv("packed.csv.gz", self.x, self.y)
        self.assert_refused("data.csv", self.contents("packed.csv.gz"), ["gzip", ".gz"], "--target", "y")

    def test_values(self):
        for value, names in [(np.nan, ["NaN", "--missing"]), (np.inf, ["infinite", "finite"]), (-np.inf, ["infinite"])]:
            x = self.x.copy()
            x[7, 2] = value
            for file, write in [("data.npy", self.write_npy), ("data.idx", self.write_idx)]:
                with self.subTest(f"{value} in {file}"):
                    write(file, x)
                    self.tune_refused("--train", file, "--target", "0", names=[file, "row 7", "column 2", *names])
            with self.subTest(f"{value} in data.npz"):
                self.write_npz("data.npz", x=x, y=self.y)
                self.tune_refused("--train", "data.npz", names=["data.npz", "row 7", "column 2", *names])

    def test_kinds_of_numbers(self):
        for array in [np.array([["a", "b"]] * 5), np.ones((5, 2), dtype=complex), np.array(3.0),
                      np.zeros((0, 3)), np.zeros(5, dtype=[("a", "f8"), ("b", "f8")])]:
            with self.subTest(array.dtype):
                self.write_npy("data.npy", array)
                self.tune_refused("--train", "data.npy", "--target", "0", names=["data.npy"])

    def test_a_shape_that_the_file_cannot_hold(self):
        huge = idx_bytes(self.x)[:4] + b"\xff" * 8 + self.x.tobytes()
        self.assert_refused("data.idx", huge, [], "--target", "0")
        self.write_npy("data.npy", self.x)
        header = self.contents("data.npy").replace(b"(20, 4), }      ", b"(20000000, 400)}")
        self.assertIn(b"(20000000, 400)", header)
        self.assert_refused("data.npy", header, ["truncated"], "--target", "0")

    def test_more_bytes_than_the_shape_holds(self):
        self.write_npy("data.npy", self.x)
        self.assert_refused("data.npy", self.contents("data.npy") + b"more", ["goes on"], "--target", "0")

    def test_npz_without_the_arrays(self):
        self.write_npz("data.npz", a=self.x, b=self.y)
        self.tune_refused("--train", "data.npz", names=["data.npz", "a, b", "x"])

    def test_target_files(self):
        self.write_npy("x.npy", self.x)
        self.write_npy("short.npy", self.y[:-1])
        self.tune_refused("--train", "x.npy", "--train-target", "short.npy", names=["short.npy", "19", "x.npy", "20"])
        self.write_npy("wide.npy", self.x)
        self.tune_refused("--train", "x.npy", "--train-target", "wide.npy",
                          names=["wide.npy", "4 columns", "one value"])
        self.tune_refused("--train", "x.npy", names=["x.npy", "--target", "--train-target"])

    def test_no_target_for_a_part(self):
        self.write_npz("train.npz", x=self.x, y=self.y)
        self.write_npz("valid.npz", x=self.x)
        self.tune_refused("--train", "train.npz", "--valid", "valid.npz", names=["valid.npz", "--valid-target"])


class Targets(Cli):
    def test_constant(self):
        x, y = regression(20)
        self.write_csv("data.csv", x, np.full(20, 3.5))
        self.tune_refused("--train", "data.csv", "--target", "y", names=["data.csv", "3.5", "constant"])
        self.write_csv("good.csv", x, y)
        # Only the training rows have to vary.
        result = self.tune("--train", "good.csv", "--valid", "data.csv", "--target", "y")
        self.assertIsNone(result["scaled_loss"]["validation"])

    def test_one_class(self):
        x, y = classification(20)
        self.write_csv("ones.csv", x, np.ones(20))
        self.write_csv("good.csv", x, y)
        options = ["--target", "y", "--model", "logistic"]
        self.tune_refused("--train", "ones.csv", *options, names=["ones.csv", "1", "two classes"])
        self.tune_refused("--train", "good.csv", "--valid", "ones.csv", *options, names=["ones.csv", "one class"])
        self.tune("--train", "good.csv", "--test", "ones.csv", *options)  # test rows are only reported

    def test_more_than_two_labels(self):
        x, _ = classification(20)
        self.write_csv("data.csv", x, np.arange(20) % 3)
        self.tune_refused("--train", "data.csv", "--target", "y", "--model", "logistic",
                          names=["data.csv", "3 values", "0, 1, 2", "two", "ridge"])

    def test_another_label_in_another_part(self):
        x, y = classification(20)
        self.write_csv("good.csv", x, y)
        y[5] = 9
        self.write_csv("other.csv", x, y)
        for flag in ["--valid", "--test"]:
            self.tune_refused("--train", "good.csv", flag, "other.csv", "--target", "y", "--model", "logistic",
                              names=["other.csv", "9", "0 and 1"])


class Parts(Cli):
    def setUp(self):
        super().setUp()
        self.x, self.y = regression(20)
        self.write_csv("train.csv", self.x, self.y)

    def assert_refused(self, names, *options):
        for flag in ["--valid", "--test"]:
            with self.subTest(flag):
                self.tune_refused("--train", "train.csv", flag, "other.csv", "--target", "y", *options,
                                  names=["other.csv", *names])

    def test_another_name(self):
        self.write_csv("other.csv", self.x, self.y, names=["x0", "x1", "x2", "z"])
        self.assert_refused(['"x3"', "train.csv"])

    def test_a_column_too_few(self):
        self.write_csv("other.csv", self.x[:, :3], self.y)
        self.assert_refused(['"x3"', "train.csv"])

    def test_a_column_too_many(self):
        self.write_csv("other.csv", np.column_stack([self.x, self.y]), self.y)
        self.assert_refused(['"x4"', "train.csv"])

    def test_another_count_without_names(self):
        self.write_csv("train.csv", self.x, self.y, header=False)
        self.write_csv("other.csv", self.x[:, :3], self.y, header=False)
        self.tune_refused("--train", "train.csv", "--valid", "other.csv", "--target", "0",
                          names=["other.csv", "3", "train.csv", "4"])

    def test_no_target(self):
        self.write_csv("other.csv", self.x)
        self.assert_refused(['"y"', "target"])

    def test_no_rows_after_the_split(self):
        self.write_csv("small.csv", *regression(3))
        for options, names in [
                (["--valid-fraction", 0.1], ["small.csv", "3 rows", "0 validation", "at least 1"]),
                (["--valid-fraction", 0.9], ["small.csv", "3 rows", "0 training", "at least 1"]),
                (["--test-fraction", 0.1], ["small.csv", "3 rows", "0 test", "at least 1"]),
                (["--valid-fraction", 0.6, "--test-fraction", 0.6], ["small.csv", "0 training"])]:
            with self.subTest(options):
                self.tune_refused("--train", "small.csv", "--target", "y", *options, names=names)
        self.write_csv("single.csv", *regression(1))
        self.tune_refused("--train", "single.csv", "--target", "y", names=["single.csv", "1 row split"])


class Sparse(Cli):
    def setUp(self):
        super().setUp()
        x, y = regression(30)
        x[np.abs(x) < 1] = 0
        self.write_libsvm("data.libsvm", x, y)

    def test_differences_need_dense(self):
        for mode in ["difference", "difference,minmax"]:
            with self.subTest(mode):
                self.tune_refused("--train", "data.libsvm", "--x", mode,
                                  names=["data.libsvm", "difference", "sparse", "--dense"])
                self.tune("--train", "data.libsvm", "--x", mode, "--dense")

    def test_centring_is_that_of_dense_rows(self):
        for mode, same in [("center", "center"), ("minmax", "minmax"), ("center,standardize", "standardize")]:
            with self.subTest(mode):
                for folds in [[], ["--folds", "3"]]:
                    sparse = self.model("--train", "data.libsvm", "--x", mode, *folds)
                    dense = self.model("--train", "data.libsvm", "--x", same, "--dense", *folds)
                    np.testing.assert_allclose(sparse["lambda"], dense["lambda"], atol=1e-5)
                    np.testing.assert_allclose(sparse["weights"], dense["weights"], rtol=1e-5)

    def test_standardising_scales_and_says_so(self):
        self.assertIn("without centring", self.yosida("tune", "--train", "data.libsvm").stdout)
        self.assertNotIn("without centring", self.yosida("tune", "--train", "data.libsvm", "--dense").stdout)
        step, = self.model("--train", "data.libsvm")["pretreatment"]["x"]
        self.assertEqual(step["shift"], [])
        self.assertEqual(len(step["scale"]), 4)


class Extremes(Cli):
    """Finite numbers whose squares are not, or that leave nothing to learn from."""

    def test_no_result_without_a_word(self):
        x, y = regression(20)
        for case, (x_case, y_case) in {"huge x": (x * 1e200, y), "huge y": (x, y * 1e200), "tiny y": (x, y * 1e-200),
                                       "largest": (np.where(x > 0, 1.7e308, -1.7e308), y)}.items():
            self.write_csv("data.csv", x_case, y_case)
            for method in ["my-hpo-bt", "my-hpo-full", "sho"]:
                for mode in ["standardize", "raw"]:
                    with self.subTest(f"{case}, --x {mode}, {method}"):
                        done = self.yosida("tune", "--train", "data.csv", "--target", "y", "--x", mode, "--quiet",
                                           "--method", method, "--json", "-", code=[0, 2, 3])
                        if done.returncode != 2:  # then there is a result
                            self.assertNotIn(None, [strict_json(done.stdout)["loss"][part]
                                                    for part in ["train", "validation"]])


if __name__ == "__main__":
    unittest.main()
