"""--cache keeps parsed files in the user's cache and finds them there."""
import os
import pathlib
import unittest
from unittest import mock

from yosida_cli import Cli, classification, regression, without_seconds


class Cache(Cli):
    def setUp(self):
        super().setUp()
        self.kept = self.folder / "cache" / "yosida" / "parsed"
        self.enterContext(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.folder / "cache")}))

    def result(self, *arguments):
        return without_seconds(self.tune(*arguments))

    def test_results_do_not_change(self):
        self.write_csv("train.csv", *regression(60))
        self.write_libsvm("train.svm", *classification(60, labels=(-1, 1)))
        for arguments in [["--train", "train.csv", "--target", "y"], ["--train", "train.svm", "--model", "logistic"]]:
            with self.subTest(arguments[1]):
                plain = self.result(*arguments)
                self.assertEqual(self.result(*arguments, "--cache"), plain)
                self.assertEqual(self.result(*arguments, "--cache"), plain)
        self.assertEqual(len(list(self.kept.iterdir())), 2)

    def test_a_damaged_file_is_told_of_and_read_anew(self):
        self.write_csv("train.csv", *regression(60))
        arguments = ["tune", "--train", "train.csv", "--target", "y", "--cache", "--quiet"]
        self.assertEqual(self.yosida(*arguments).stderr, "")
        kept = next(self.kept.iterdir())
        whole = kept.read_bytes()
        kept.write_bytes(whole[:-1000])
        told = self.yosida(*arguments).stderr
        self.assertIn(str(kept), told)
        self.assertIn("read anew", told)
        self.assertEqual(kept.read_bytes(), whole)
        self.assertEqual(self.yosida(*arguments).stderr, "")

    def test_where_it_does_not_belong(self):
        self.refused("tune", "--data", "spectra", "--cache", names=["--cache", "--train"])
        self.write_csv("train.csv", *regression(60))
        with mock.patch.dict(os.environ):
            del os.environ["XDG_CACHE_HOME"]
            os.environ["HOME"] = ""
            self.refused("tune", "--train", "train.csv", "--target", "y", "--cache", names=["HOME is not set"])

    def test_a_cache_that_cannot_be_written(self):
        self.write_csv("train.csv", *regression(60))
        pathlib.Path(self.folder, "cache").write_text("no folder", encoding="utf-8")
        told = self.yosida("tune", "--train", "train.csv", "--target", "y", "--cache", "--quiet").stderr
        self.assertIn("not kept", told)


if __name__ == "__main__":
    unittest.main()
