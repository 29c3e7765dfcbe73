"""yosida tune --save and yosida predict: a model is what its file says, on columns found by name."""
import json
import unittest

import numpy as np

from yosida_cli import (Cli, classification, column_names, margins, predictions, probabilities, regression)

X_MODES = ["raw", "center", "standardize", "minmax", "difference", "difference,minmax"]
Y_MODES = ["raw", "center", "standardize"]


class PredictCase(Cli):
    def predict(self, file, *options):
        """The predictions of model.json as a dictionary of columns."""
        done = self.yosida("predict", "--from", "model.json", "--data", file, "--out", "out.csv", *options)
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        rows = self.read_table("out.csv")
        return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}

    def tune_ridge(self, *options):
        self.x, self.y = regression(60)
        self.write_csv("train.csv", self.x, self.y)
        return self.model("--train", "train.csv", "--target", "y", *options)

    def tune_logistic(self, *options, labels=(0, 1)):
        self.x, self.y = classification(80, labels=labels)
        self.write_csv("train.csv", self.x, self.y)
        return self.model("--train", "train.csv", "--target", "y", "--model", "logistic", *options)


class Ridge(PredictCase):
    def test_every_pretreatment(self):
        x_new, _ = regression(20, seed=9)
        self.write_csv("new.csv", x_new)
        for x_mode in X_MODES:
            for y_mode in Y_MODES:
                for intercept in ["--intercept", "--no-intercept"]:
                    with self.subTest(f"--x {x_mode} --y {y_mode} {intercept}"):
                        model = self.tune_ridge("--x", x_mode, "--y", y_mode, intercept)
                        self.assertEqual([step["kind"] for step in model["pretreatment"]["x"]], x_mode.split(","))
                        given = self.predict("new.csv")
                        self.assertEqual(list(given), ["prediction"])
                        np.testing.assert_allclose(given["prediction"], predictions(model, x_new), rtol=1e-10)

    def test_statistics_are_those_of_the_training_rows(self):
        x, y = regression(60)
        self.write_csv("valid.csv", 100 * x + 7, 100 * y)  # must not matter to any of them
        wanted = {"raw": ([], []), "center": (x.mean(axis=0), []), "standardize": (x.mean(axis=0), x.std(axis=0)),
                  "minmax": (x.min(axis=0), np.ptp(x, axis=0)), "difference": ([], [])}
        for mode, (shift, scale) in wanted.items():
            with self.subTest(mode):
                step, = self.tune_ridge("--valid", "valid.csv", "--x", mode)["pretreatment"]["x"]
                np.testing.assert_allclose(step["shift"], shift, rtol=1e-12)
                np.testing.assert_allclose(step["scale"], scale, rtol=1e-12)
        wanted = {"raw": (0, 1), "center": (y.mean(), 1), "standardize": (y.mean(), y.std())}
        for mode, (shift, scale) in wanted.items():
            with self.subTest(mode):
                step = self.tune_ridge("--valid", "valid.csv", "--y", mode)["pretreatment"]["y"]
                np.testing.assert_allclose([step["shift"], step["scale"]], [shift, scale], rtol=1e-12)

    def test_model_file(self):
        model = self.tune_ridge()
        self.assertEqual(set(model), {"schema", "model", "method", "lambda", "weights", "intercept", "pretreatment",
                                      "features", "feature_names", "target_name"})
        self.assertEqual((model["schema"], model["model"], model["method"]), (2, "ridge", "my-hpo"))
        self.assertEqual((model["features"], model["feature_names"]), (4, column_names(self.x)))
        self.assertEqual(model["target_name"], "y")

    def test_stdout_is_the_default(self):
        self.tune_ridge()
        self.predict("train.csv")
        for out in [[], ["--out", "-"]]:
            done = self.yosida("predict", "--from", "model.json", "--data", "train.csv", *out)
            self.assertEqual(done.stdout, self.read("out.csv"))

    def test_the_model_predicts(self):
        self.tune_ridge()
        x_new, y_new = regression(200, seed=9)
        self.write_csv("new.csv", x_new, y_new)  # the target is left out where it is there
        self.assertGreater(np.corrcoef(self.predict("new.csv")["prediction"], y_new)[0, 1], 0.9)

    def test_other_formats(self):
        model = self.tune_ridge()
        x_new, _ = regression(20, seed=9)
        for file in [self.write_npy("new.npy", x_new), self.write_npz("new.npz", x=x_new),
                     self.write_idx("new.idx", x_new), self.write_libsvm("new.libsvm", x_new, np.zeros(20)),
                     self.write_csv("new.csv.gz", x_new), self.write_csv("new.tsv.xz", x_new, delimiter="\t"),
                     self.write_csv("bare.csv", x_new, header=False)]:
            with self.subTest(file):
                np.testing.assert_allclose(self.predict(file)["prediction"], predictions(model, x_new), rtol=1e-10)

    def test_model_of_a_file_without_names(self):
        x, y = regression(60)
        self.write_csv("train.csv", x, y, header=False)
        model = self.model("--train", "train.csv", "--target", "0")
        self.write_csv("new.csv", x)
        np.testing.assert_allclose(self.predict("new.csv")["prediction"], predictions(model, x), rtol=1e-10)
        np.testing.assert_allclose(self.predict("train.csv", "--target", "0")["prediction"], predictions(model, x),
                                   rtol=1e-10)

    def test_sparse_model(self):
        x, y = regression(60)
        x[np.abs(x) < 1] = 0
        self.write_libsvm("train.libsvm", x, y)
        for mode, dense in [("raw", []), ("standardize", []), ("center", []), ("minmax", []),
                            ("center,standardize", []), ("standardize", ["--dense"]), ("minmax", ["--dense"]),
                            ("difference", ["--dense"])]:
            with self.subTest(f"{mode} {dense}"):
                model = self.model("--train", "train.libsvm", "--x", mode, *dense)
                given = self.predict("train.libsvm")["prediction"]
                np.testing.assert_allclose(given, predictions(model, x), rtol=1e-10)

    def test_a_sparse_file_that_uses_fewer_columns(self):
        x, y = regression(60)
        self.write_libsvm("train.libsvm", x, y)
        model = self.model("--train", "train.libsvm")
        x[:, -1] = 0
        self.write_libsvm("new.libsvm", x, y)
        np.testing.assert_allclose(self.predict("new.libsvm")["prediction"], predictions(model, x), rtol=1e-10)


class Columns(PredictCase):
    def setUp(self):
        super().setUp()
        self.saved = self.tune_ridge()
        self.names = column_names(self.x)
        self.wanted = predictions(self.saved, self.x)

    def assert_predicted(self, file):
        np.testing.assert_allclose(self.predict(file)["prediction"], self.wanted, rtol=1e-10)

    def test_a_prediction_that_overflows_is_refused(self):
        x = self.x.copy()
        x[2] = 1.7e308
        self.write_csv("huge.csv", x)
        self.refused("predict", "--from", "model.json", "--data", "huge.csv", names=["huge.csv", "row 3", "not finite"])

    def test_are_found_by_name_in_another_order(self):
        order = [2, 0, 3, 1]
        self.assert_predicted(self.write_csv("new.csv", self.x[:, order], names=[self.names[j] for j in order]))

    def test_more_than_the_model_has_are_ignored(self):
        x = np.column_stack([np.full(60, 5.0), self.x, self.y])
        self.assert_predicted(self.write_csv("new.csv", x, names=["more", *self.names, "more still"]))

    def test_validation_file_in_another_order_gives_the_same_result(self):
        order = [2, 0, 3, 1]
        self.write_csv("valid.csv", self.x, self.y)
        self.write_csv("other.csv", self.x[:, order], self.y, names=[self.names[j] for j in order])
        files = ["--train", "train.csv", "--target", "y", "--valid"]
        self.assertEqual(self.tune(*files, "valid.csv")["loss"], self.tune(*files, "other.csv")["loss"])

    def test_with_the_other_decimal_mark(self):
        wanted = self.predict("train.csv")
        for there, mark in [(";", ","), (";", ".")]:
            text = self.read("train.csv").replace(",", there).replace(".", mark)
            self.write("new.csv", text)
            for options in [], ["--decimal", mark]:
                with self.subTest(mark=mark, options=options):
                    np.testing.assert_array_equal(self.predict("new.csv", *options)["prediction"], wanted["prediction"])

    def test_a_missing_one_is_refused(self):
        self.write_csv("new.csv", self.x[:, :3], names=self.names[:3])
        self.refused("predict", "--from", "model.json", "--data", "new.csv", "--out", "out.csv",
                     names=["new.csv", "x3", "model"])

    def test_a_wrong_count_without_names_is_refused(self):
        self.write_npy("new.npy", self.x[:, :3])
        self.refused("predict", "--from", "model.json", "--data", "new.npy", names=["new.npy", "3", "4"])

    def test_an_empty_target_column_does_not_matter(self):
        lines = self.read("train.csv").splitlines()
        self.write("new.csv", "\n".join([lines[0], *("," + line.split(",", 1)[1] for line in lines[1:])]))
        self.assert_predicted("new.csv")

    def test_text_in_a_column_that_is_ignored_does_not_matter(self):
        lines = self.read("train.csv").splitlines()
        self.write("new.csv", "\n".join([lines[0] + ",name", *(line + ",somebody" for line in lines[1:])]))
        self.assert_predicted("new.csv")

    def test_text_in_a_column_that_tune_was_told_to_ignore_does_not_matter(self):
        lines = self.read("train.csv").splitlines()
        self.write("named.csv", "\n".join(["name," + lines[0], *("somebody," + line for line in lines[1:])]))
        model = self.model("--train", "named.csv", "--target", "y", "--ignore", "name")
        self.assertEqual(model, self.saved)
        self.assert_predicted("named.csv")
        self.assert_predicted("train.csv")

    def test_a_target_whose_name_is_a_number(self):
        self.write_csv("train.csv", self.x, self.y, target="3")
        self.model("--train", "train.csv", "--target", "3")
        self.assert_predicted(self.write_csv("new.csv", self.x))


class Logistic(PredictCase):
    def test_labels_and_probabilities(self):
        x_new, _ = classification(30, seed=9)
        self.write_csv("new.csv", x_new)
        for labels in [(0, 1), (-1, 1), (3, 7), (-0.5, 2.5)]:
            with self.subTest(labels):
                model = self.tune_logistic(labels=labels)
                self.assertEqual(model["labels"], list(labels))
                given = self.predict("new.csv")
                self.assertEqual(list(given), ["label", "probability"])
                np.testing.assert_allclose(given["probability"], probabilities(model, x_new), rtol=1e-10)
                wanted = np.where(margins(model, x_new) >= 0, labels[1], labels[0])
                np.testing.assert_array_equal(given["label"], wanted)

    def test_labels_do_not_change_the_model(self):
        first = self.tune_logistic(labels=(0, 1))
        second = self.tune_logistic(labels=(3, 7))
        self.assertEqual(first["weights"], second["weights"])

    def test_every_pretreatment(self):
        for mode in X_MODES:
            with self.subTest(mode):
                model = self.tune_logistic("--x", mode)
                given = self.predict("train.csv")
                np.testing.assert_allclose(given["probability"], probabilities(model, self.x), rtol=1e-9)

    def test_far_rows_have_probabilities_0_and_1(self):
        model = self.tune_logistic()
        self.write_csv("new.csv", 1e6 * np.outer([1, -1], np.linspace(-1, 1, 4)))
        given = self.predict("new.csv")
        np.testing.assert_array_equal(given["label"], [1, 0])
        np.testing.assert_allclose(given["probability"], [1, 0], atol=1e-12)
        self.assertEqual(model["model"], "logistic")


class Missing(PredictCase):
    def setUp(self):
        super().setUp()
        self.x, self.y = regression(60)
        self.write_csv("whole.csv", self.x, self.y)
        lines = self.read("whole.csv").splitlines()
        lines[4] = ",".join([*lines[4].split(",")[:-1], ""])  # the last field of the fourth row
        self.write("train.csv", "\n".join(lines) + "\n")
        self.write_csv("valid.csv", *regression(30, seed=1))
        self.options = ["--train", "train.csv", "--valid", "valid.csv", "--target", "y", "--missing"]

    def test_mean_fills_in_the_mean_of_the_training_rows(self):
        model = self.model(*self.options, "mean")
        present = np.delete(self.x[:, 3], 3)
        self.assertAlmostEqual(model["pretreatment"]["missing_fill"][3], present.mean(), delta=1e-12)
        filled = self.x.copy()
        filled[3, 3] = present.mean()
        np.testing.assert_allclose(model["pretreatment"]["x"][0]["scale"], filled.std(axis=0), rtol=1e-12)
        np.testing.assert_allclose(self.predict("train.csv")["prediction"], predictions(model, filled), rtol=1e-10)

    def test_drop_leaves_out_the_row(self):
        self.assertEqual(self.tune(*self.options, "drop")["data"]["train_rows"], 59)
        self.write_csv("without.csv", np.delete(self.x, 3, axis=0), np.delete(self.y, 3))
        self.assertEqual(self.tune(*self.options, "drop")["loss"],
                         self.tune("--train", "without.csv", "--valid", "valid.csv", "--target", "y")["loss"])

    def test_validation_rows_are_filled_too(self):
        result = self.tune("--train", "whole.csv", "--valid", "train.csv", "--target", "y", "--missing", "mean")
        self.assertEqual(result["data"]["validation_rows"], 60)

    def test_a_model_without_means_refuses_and_names_no_flag_that_predict_lacks(self):
        self.model("--train", "whole.csv", "--target", "y")
        message = self.refused("predict", "--from", "model.json", "--data", "train.csv",
                               names=["train.csv:5", "x3", "empty"])
        self.assertEqual(message.count("--missing"), message.count("tune --missing") + message.count(", --missing"))


class BadModels(PredictCase):
    def test_are_refused(self):
        model = self.tune_ridge()
        cases = {
            "no such file": (None, ["model.json"]),
            "empty": ("", ["model.json", "not a model"]),
            "no JSON": ("weights", ["model.json", "not a model"]),
            "not an object": ("[1, 2]", ["model.json", "not a model"]),
            "another schema": ({**model, "schema": 99}, ["model.json", "schema", "99"]),
            "a field too few": ({k: v for k, v in model.items() if k != "weights"}, ["model.json", "weights"]),
            "a weight too few": ({**model, "weights": model["weights"][1:]}, ["model.json", "weights", "3", "4"]),
            "a name too few": ({**model, "feature_names": ["x0"]}, ["model.json", "feature_names", "1", "4"]),
            "another model": ({**model, "model": "forest"}, ["model.json", "forest", "ridge, lasso"]),
            "text for a number": ({**model, "intercept": "high"}, ["model.json"]),
            "null for a number": ({**model, "intercept": None}, ["model.json"]),
            "another step": ({**model, "pretreatment": {**model["pretreatment"], "x": [
                {"kind": "whiten", "shift": [], "scale": []}]}}, ["model.json", "whiten"]),
            "a result of tune": (self.tune("--train", "train.csv", "--target", "y"), ["model.json"]),
        }
        for case, (content, names) in cases.items():
            with self.subTest(case):
                (self.folder / "model.json").unlink(missing_ok=True)
                if content is not None:
                    self.write("model.json", content if isinstance(content, str) else json.dumps(content))
                self.refused("predict", "--from", "model.json", "--data", "train.csv", "--out", "out.csv", names=names)

    def test_output_that_cannot_be_written(self):
        self.tune_ridge()
        self.refused("predict", "--from", "model.json", "--data", "train.csv", "--out", "none/out.csv",
                     names=["--out", "none/out.csv"])
        self.yosida("predict", "--from", "model.json", "--data", "train.csv", "--out", "/dev/full", code=4)

    def test_bad_rows_leave_the_old_predictions(self):
        self.tune_ridge()
        self.predict("train.csv")
        self.write("new.csv", "x0,x1,x2,x3\n1,2,3,4\n1,2,oops,4\n")
        self.refused("predict", "--from", "model.json", "--data", "new.csv", "--out", "out.csv",
                     names=["new.csv:3", "x2", "oops", "must be a number"])


if __name__ == "__main__":
    unittest.main()
