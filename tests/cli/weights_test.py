"""Weights of rows and of classes."""
import unittest

import numpy as np

from yosida_cli import Cli, classification, margins, predictions, regression, several_classes, strict_json

RAW = ["--x", "raw", "--target", "y"]


class Rows(Cli):
    def write_weighted(self, file, x, y, weight):
        return self.write_csv(file, np.column_stack([x, weight]), y, names=["x0", "x1", "x2", "x3", "w"])

    def setUp(self):
        super().setUp()
        self.x, self.y = regression(60)
        self.weight = np.arange(60) % 3 + 1
        self.write_weighted("train.csv", self.x, self.y, self.weight)
        x_valid, y_valid = regression(40, seed=1)
        self.write_weighted("valid.csv", x_valid, y_valid, np.ones(40))
        self.write_csv("plain-valid.csv", x_valid, y_valid)
        self.files_given = ["--train", "train.csv", "--valid", "valid.csv", *RAW]

    def test_a_weight_is_how_often_a_row_is_there(self):
        self.write_csv("often.csv", np.repeat(self.x, self.weight, axis=0), np.repeat(self.y, self.weight))
        options = ["--y", "raw", "--lambda0", -1, "--method", "hoag", "--max-iterations", 5]
        weighted = self.tune(*self.files_given, *options, "--weights", "w")
        often = self.tune("--train", "often.csv", "--valid", "plain-valid.csv", *RAW, *options)
        for part in ["train", "validation"]:
            for measure in ["loss", "scaled_loss", "r_squared"]:
                self.assertAlmostEqual(weighted[measure][part] / often[measure][part], 1, delta=1e-6)
        self.assertAlmostEqual(weighted["lambda"][0], often["lambda"][0], delta=1e-4)

    def test_only_their_ratio_matters(self):
        first = self.tune(*self.files_given, "--weights", "w")
        self.write_weighted("train.csv", self.x, self.y, 1000 * self.weight)
        self.assertAlmostEqual(self.tune(*self.files_given, "--weights", "w")["loss"]["train"] / first["loss"]["train"], 1,
                               delta=1e-9)

    def test_they_are_no_feature(self):
        result = self.tune(*self.files_given, "--weights", "w", "--save", "model.json")
        model = strict_json(self.read("model.json"))
        self.assertEqual(model["feature_names"], ["x0", "x1", "x2", "x3"])
        error = (self.y - predictions(model, self.x)) ** 2 / 2
        self.assertAlmostEqual(result["loss"]["train"], np.average(error, weights=self.weight), delta=1e-9)
        self.assertEqual(list(result["equivalents"]), ["sklearn_ridge_alpha"])  # glmnet would rescale y by them
        self.yosida("predict", "--from", "model.json", "--data", "train.csv", "--out", "out.csv")

    def test_by_index_and_with_drawn_parts(self):
        one = ["--train", "train.csv", *RAW]
        self.assertEqual(self.tune(*one, "--weights", "w")["loss"], self.tune(*one, "--weights", "-1")["loss"])
        self.assertNotEqual(self.tune(*one, "--weights", "w")["loss"], self.tune(*one, "--ignore", "w")["loss"])

    def test_refused(self):
        weight = self.weight.astype(float)
        weight[4] = -0.5
        self.write_weighted("bad.csv", self.x, self.y, weight)
        self.tune_refused("--train", "bad.csv", *RAW, "--weights", "w", names=["bad.csv:6", '"w"', "-0.5", ">= 0"])
        self.write_weighted("bad.csv", self.x, self.y, 0 * weight)
        self.tune_refused("--train", "bad.csv", *RAW, "--weights", "w", names=["bad.csv", "column w", "0", "> 0"])
        self.write_weighted("one.csv", self.x, self.y, np.eye(len(weight))[0])
        self.tune_refused("--train", "one.csv", *RAW, "--weights", "w", "--folds", 2,
                          names=["one.csv", "column w", f"{len(weight) - 1} of {len(weight)} rows have weight 0"])
        self.tune_refused("--train", "train.csv", "--valid", "bad.csv", *RAW, "--weights", "w",
                          names=["bad.csv", "validation", "> 0"])
        self.tune_refused(*self.files_given, "--weights", "v", names=["train.csv", "weights", '"v"'])
        self.tune_refused(*self.files_given, "--weights", "y", names=["train.csv", "target", "weights"])
        self.tune_refused(*self.files_given, "--weights", "w", "--ignore", "w", names=["weights", "ignore"])
        self.tune_refused("--train", "train.csv", "--valid", "plain-valid.csv", *RAW, "--weights", "w",
                          names=["plain-valid.csv", '"w"'])
        self.tune_refused("--data", "spectra", "--weights", "w", names=["--weights", "--data"])
        self.write_libsvm("train.libsvm", self.x, self.y)
        self.tune_refused("--train", "train.libsvm", "--weights", "2", names=["train.libsvm", "CSV"])
        lines = self.read("train.csv").splitlines()
        lines[3] = lines[3].rsplit(",", 1)[0] + ","
        self.write("bad.csv", "\n".join(lines))
        self.tune_refused("--train", "bad.csv", *RAW, "--weights", "w", "--missing", "mean",
                          names=["bad.csv:4", '"w"', "empty", "drop"])


class Classes(Cli):
    def setUp(self):
        super().setUp()
        x, y = classification(120, labels=(0, 1))
        self.keep = (y == 1) | (np.arange(120) % 3 == 0)
        self.x, self.y = x[self.keep], y[self.keep]
        self.write_csv("train.csv", self.x, self.y)
        self.write_csv("valid.csv", *classification(60, seed=1))
        self.files_given = ["--train", "train.csv", "--valid", "valid.csv", "--target", "y", "--model", "logistic"]

    def test_balanced(self):
        result = self.tune(*self.files_given, "--class-weights", "balanced", "--save", "model.json")
        m = margins(strict_json(self.read("model.json")), self.x)
        loss = np.log1p(np.exp(np.where(self.y == 1, -m, m)))
        self.assertAlmostEqual(result["loss"]["train"], (loss[self.y == 0].mean() + loss[self.y == 1].mean()) / 2,
                               delta=1e-9)
        self.assertAlmostEqual(result["accuracy"]["train"], np.mean((m >= 0) == (self.y == 1)), delta=1e-12)

    def test_by_label(self):
        ratio = np.mean(self.y == 1) / np.mean(self.y == 0)
        balanced = self.tune(*self.files_given, "--class-weights", "balanced")
        given = self.tune(*self.files_given, "--class-weights", f"0={float(ratio)!r}")  # 1 has weight 1
        self.assertAlmostEqual(given["loss"]["train"] / balanced["loss"]["train"], 1, delta=1e-9)
        plain = self.tune(*self.files_given)
        self.assertEqual(self.tune(*self.files_given, "--class-weights", "0=2,1=2")["lambda"], plain["lambda"])
        self.assertNotEqual(given["loss"], plain["loss"])

    def test_of_several_classes(self):
        x, y = several_classes(150)
        self.write_csv("several.csv", x, y)
        data = ["--train", "several.csv", "--target", "y", "--model", "softmax"]
        self.assertNotEqual(self.tune(*data, "--class-weights", "3=10")["loss"], self.tune(*data)["loss"])
        self.tune(*data, "--class-weights", "balanced", "--folds", 3)

    def test_refused(self):
        for value, names in [("heavy", ["heavy", "balanced or LABEL=W"]), ("0=2,7=1", ["7=1", "0, 1"]),
                             ("0=0", ["0=0", "> 0"]), ("0=-1", ["0=-1", "> 0"]), ("0=nan", ["0=nan", "> 0"]),
                             ("0=1,0=2", ["0=2", "twice"]), ("0=", ["0=", "> 0"]), ("a=1", ["a=1", "LABEL=W"])]:
            with self.subTest(value):
                self.tune_refused(*self.files_given, "--class-weights", value, names=["class-weights", *names])
        self.tune_refused("--data", "spectra", "--model", "ridge", "--class-weights", "balanced", names=["--class-weights", "logistic"])
        self.tune_refused("--data", "spectra", "--class-weights", "balanced", names=["needs classes", "--model ridge"])


if __name__ == "__main__":
    unittest.main()
