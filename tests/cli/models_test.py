"""The models of tune beyond ridge and logistic: what they learn, report, save and predict."""
import json
import math
import unittest

import numpy as np

from yosida_cli import (Cli, classification, counts, margins, predictions, regression, several_classes,
                        strict_json)


def shares(m):
    """Probabilities of the classes by their margins."""
    e = np.exp(m - m.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def pretreated(model, x):
    step, = model["pretreatment"]["x"]
    return (x - step["shift"]) / step["scale"]


class ModelCase(Cli):
    def write_parts(self, make, **options):
        """train.csv, valid.csv and test.csv; gives x and y of all."""
        self.parts = {"train": make(120, seed=0, **options), "validation": make(60, seed=1, **options),
                      "test": make(50, seed=2, **options)}
        for part, (x, y) in self.parts.items():
            self.write_csv(f"{part}.csv", x, y)
        self.files_given = ["--train", "train.csv", "--valid", "validation.csv", "--test", "test.csv", "--target", "y"]

    def result_and_model(self, *options):
        result = self.tune(*self.files_given, *options, "--save", "model.json")
        return result, strict_json(self.read("model.json"))

    def predict(self, file):
        self.yosida("predict", "--from", "model.json", "--data", file, "--out", "out.csv")
        rows = self.read_table("out.csv")
        return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


class Softmax(ModelCase):
    def test_loss_accuracy_and_predictions_are_those_of_the_saved_model(self):
        for labels in [(1, 3, 5), (-2, 0.5, 1e3, 7e3)]:
            with self.subTest(labels):
                self.write_parts(several_classes, labels=labels)
                result, model = self.result_and_model("--model", "softmax")
                self.assertEqual(model["labels"], list(labels))
                self.assertEqual(np.array(model["weights"]).shape, (4, len(labels)))
                self.assertEqual(len(model["intercept"]), len(labels))
                self.assertNotIn("area_under_roc", result)
                self.assertNotIn("r_squared", result)
                for part, (x, y) in self.parts.items():
                    p = shares(margins(model, x))
                    truth = np.searchsorted(labels, y)
                    self.assertAlmostEqual(result["loss"][part], -np.mean(np.log(p[np.arange(len(y)), truth])),
                                           delta=1e-9)
                    self.assertAlmostEqual(result["accuracy"][part], np.mean(p.argmax(axis=1) == truth), delta=1e-12)
                    given = self.predict(f"{part}.csv")
                    names = [f"probability_{label:g}" for label in labels]
                    self.assertEqual(list(given), ["label", *names])
                    np.testing.assert_allclose(np.column_stack([given[name] for name in names]), p, rtol=1e-9,
                                               atol=1e-12)
                    np.testing.assert_array_equal(given["label"], np.array(labels)[p.argmax(axis=1)])
                self.assertGreater(result["accuracy"]["test"], 0.5)

    def test_weights_are_the_minimum_of_the_training_loss(self):
        self.write_parts(several_classes)
        result, model = self.result_and_model("--model", "softmax", "--refit")
        x, y = (np.concatenate(both) for both in zip(self.parts["train"], self.parts["validation"]))
        x = pretreated(model, x)
        wrong = shares(x @ np.array(model["weights"]) + model["intercept"]) - (y[:, None] == np.array([1, 3, 5]))
        gradient = x.T @ wrong / len(y) + 2 * math.exp(result["lambda"][0]) * np.array(model["weights"])
        np.testing.assert_allclose(gradient, 0, atol=1e-6)
        np.testing.assert_allclose(wrong.sum(axis=0), 0, atol=1e-4)  # the intercepts are not penalised

    def test_equivalents(self):
        self.write_parts(several_classes)
        result, _ = self.result_and_model("--model", "softmax")
        penalty = 2 * math.exp(result["lambda"][0])
        self.assertEqual(list(result["equivalents"]), ["sklearn_logistic_C", "glmnet_lambda"])
        self.assertAlmostEqual(result["equivalents"]["sklearn_logistic_C"] * 120 * penalty, 1, delta=1e-9)
        self.write_parts(several_classes, labels=(0, 1))
        result, _ = self.result_and_model("--model", "softmax")  # LogisticRegression of two classes is another model
        self.assertEqual(list(result["equivalents"]), ["glmnet_lambda"])

    def test_targets_that_are_no_classes(self):
        self.write_csv("numbers.csv", *regression(30))
        self.tune_refused("--train", "numbers.csv", "--target", "y", "--model", "softmax",
                          names=["numbers.csv", "values", "softmax", "ridge"])
        x, y = several_classes(60)
        self.write_csv("good.csv", x, y)
        self.write_csv("other.csv", x, np.where(y == 5, 7, y))
        self.tune_refused("--train", "good.csv", "--valid", "other.csv", "--target", "y", "--model", "softmax",
                          names=["other.csv", "7", "1, 3 and 5"])
        for model in ["logistic", "svm"]:
            self.tune_refused("--train", "good.csv", "--target", "y", "--model", model,
                              names=["good.csv", "3 values", "exactly two", "softmax"])
        self.tune_refused("--train", "good.csv", "--target", "y", "--model", "softmax", "--y", "center", names=["--y"])


class Svm(ModelCase):
    def test_loss_and_predictions(self):
        self.write_parts(classification, labels=(3, 7))
        result, model = self.result_and_model("--model", "svm")
        self.assertEqual(result["equivalents"], {})  # LinearSVC would penalise the intercept
        for part, (x, y) in self.parts.items():
            m = margins(model, x)
            sign = np.where(y == 7, 1, -1)
            self.assertAlmostEqual(result["loss"][part], np.mean(np.maximum(0, 1 - sign * m) ** 2), delta=1e-9)
            self.assertAlmostEqual(result["accuracy"][part], np.mean((m >= 0) == (y == 7)), delta=1e-12)
            given = self.predict(f"{part}.csv")
            self.assertEqual(list(given), ["label", "margin"])  # a margin is no probability
            np.testing.assert_allclose(given["margin"], m, rtol=1e-9)
            np.testing.assert_array_equal(given["label"], np.where(m >= 0, 7, 3))

    def test_equivalents_without_an_intercept(self):
        self.write_parts(classification)
        result, _ = self.result_and_model("--model", "svm", "--no-intercept")
        c = 1 / (2 * 120 * math.exp(result["lambda"][0]))
        self.assertEqual(list(result["equivalents"]), ["sklearn_linear_svc_C", "liblinear_c"])
        for value in result["equivalents"].values():
            self.assertAlmostEqual(value / c, 1, delta=1e-9)


class Huber(ModelCase):
    def test_loss_of_a_standardised_target(self):
        self.write_parts(regression)
        result, model = self.result_and_model("--model", "huber")
        self.assertEqual(result["data"]["y"], "standardize")
        self.assertEqual(result["equivalents"], {})
        self.assertNotIn("scaled_loss", result)
        for part, (x, y) in self.parts.items():
            r = np.abs(y - predictions(model, x)) / model["pretreatment"]["y"]["scale"]
            self.assertAlmostEqual(result["loss"][part],
                                   np.mean(np.where(r <= 1.345, r ** 2 / 2, 1.345 * (r - 1.345 / 2))), delta=1e-9)
            np.testing.assert_allclose(self.predict(f"{part}.csv")["prediction"], predictions(model, x), rtol=1e-9)

    def test_outliers_matter_less_than_to_ridge(self):
        self.write_parts(regression)
        x, y = self.parts["train"]
        y = y + np.where(np.arange(len(y)) % 15 == 0, 500, 0)
        self.write_csv("train.csv", x, y)
        errors = {}
        for model in ["ridge", "huber"]:
            self.result_and_model("--model", model)
            errors[model] = np.median(np.abs(self.predict("test.csv")["prediction"] - self.parts["test"][1]))
        self.assertLess(errors["huber"], errors["ridge"] / 2)

    def test_another_target_on_request(self):
        self.write_parts(regression)
        self.assertEqual(self.result_and_model("--model", "huber", "--y", "raw")[0]["data"]["y"], "raw")


class Poisson(ModelCase):
    def test_loss_and_predictions(self):
        self.write_parts(counts)
        result, model = self.result_and_model("--model", "poisson")
        self.assertEqual(list(result["equivalents"]), ["sklearn_poisson_alpha", "glmnet_lambda"])
        self.assertEqual(result["data"]["y"], "raw")
        for part, (x, y) in self.parts.items():
            m = margins(model, x)
            self.assertAlmostEqual(result["loss"][part], np.mean(np.exp(m) - y * m - (y - y * np.log(np.maximum(y, 1e-300)))), delta=1e-9)
            self.assertAlmostEqual(result["r_squared"][part], 1 - np.mean((y - np.exp(m)) ** 2) / np.var(y), delta=1e-9)
            np.testing.assert_allclose(self.predict(f"{part}.csv")["prediction"], np.exp(m), rtol=1e-9)

    def test_negative_targets_are_refused(self):
        x, y = counts(40)
        y[6] = -2
        self.write_csv("data.csv", x, y)
        self.tune_refused("--train", "data.csv", "--target", "y", "--model", "poisson",
                          names=["data.csv", "row 7", "-2", "at least 0", "poisson"])

    def test_the_target_stays_as_it_is(self):
        self.write_parts(counts)
        self.tune_refused(*self.files_given, "--model", "poisson", "--y", "center", names=["--y", "center", "raw"])
        self.tune(*self.files_given, "--model", "poisson", "--y", "raw")


class Every(ModelCase):
    CASES = {"ridge": regression, "logistic": classification, "softmax": several_classes, "svm": classification,
             "huber": regression, "poisson": counts, "lasso": regression, "elastic-net": regression}

    def test_text_json_and_derivatives(self):
        for name, make in self.CASES.items():
            with self.subTest(name):
                self.write_parts(make)
                result, model = self.result_and_model("--model", name)
                self.assertEqual((result["model"], model["model"], model["schema"]), (name, name, 2))
                self.assertEqual(result["status"], "converged")
                self.assertIn(f"{result['lambda'][0]:.6g}",
                              self.yosida("tune", *self.files_given, "--model", name).stdout)
                self.assertNotIn("WRONG", self.yosida("check-grad", *self.files_given, "--model", name).stdout)

    def test_names_stand_in_the_help(self):
        text = self.yosida("tune", "--help").stdout
        for name in self.CASES:
            self.assertIn(name, text)

    def test_a_model_of_the_first_schema_is_read(self):
        self.write_parts(classification)
        _, model = self.result_and_model("--model", "logistic")
        now = self.predict("test.csv")
        first = {**model, "schema": 1, "labels": {"negative": model["labels"][0], "positive": model["labels"][1]}}
        self.write("model.json", json.dumps(first))
        for name, values in self.predict("test.csv").items():
            np.testing.assert_array_equal(values, now[name])

    def test_bad_models(self):
        self.write_parts(several_classes)
        _, model = self.result_and_model("--model", "softmax")
        weights = model["weights"]
        for change, names in [({"labels": [1, 3]}, ["weights", "3", "2"]), ({"intercept": [1, 2]}, ["intercept", "2", "3"]),
                              ({"weights": weights[1:]}, ["weights", "3", "4"]),
                              ({"weights": [weights[0][1:], *weights[1:]]}, ["weights", "2", "3"]),
                              ({"labels": [5, 3, 1]}, ["labels", "rising"]), ({"model": "ridge"}, ["labels", "ridge"]),
                              ({"model": "logistic"}, ["labels", "3", "2"])]:
            with self.subTest(change):
                self.write("model.json", json.dumps({**model, **change}))
                self.refused("predict", "--from", "model.json", "--data", "test.csv", names=["model.json", *names])


if __name__ == "__main__":
    unittest.main()
