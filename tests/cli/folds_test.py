"""Cross-validation: tune --folds and --fold-column."""
import math
import unittest

import numpy as np

from yosida_cli import Cli, classification, predictions, regression, ridge_weights, several_classes, strict_json


class FoldCase(Cli):
    def setUp(self):
        super().setUp()
        self.x, self.y = regression(50)
        self.fold = np.repeat([2019, 2020, 2023], [10, 15, 25])[np.random.default_rng(3).permutation(50)]
        self.write_csv("data.csv", self.x, self.y)
        self.write_csv("folds.csv", np.column_stack([self.fold, self.x]), self.y, names=["year", "x0", "x1", "x2", "x3"])
        self.write_csv("test.csv", *regression(30, seed=1))
        self.data = ["--train", "data.csv", "--target", "y"]
        self.by_year = ["--train", "folds.csv", "--target", "y", "--fold-column", "year"]


class Given(FoldCase):
    def losses(self, lambda_):
        """Train loss by equal shares and validation loss by rows, each fold standardised by its training rows."""
        train, validation = [], []
        for fold in np.unique(self.fold):
            inside = self.fold != fold
            mean, deviation = self.x[inside].mean(axis=0), self.x[inside].std(axis=0)
            z = (self.x - mean) / deviation
            w, b = ridge_weights(z[inside], self.y[inside], math.exp(lambda_))
            error = (self.y - z @ w - b) ** 2 / 2
            train.append(error[inside].mean())
            validation.append(error[~inside].sum())
        return np.mean(train), sum(validation) / len(self.y)

    def test_losses_are_means_over_the_folds(self):
        result = self.tune(*self.by_year)
        train, validation = self.losses(result["lambda"][0])
        self.assertAlmostEqual(result["loss"]["train"], train, delta=1e-5 * train)
        self.assertAlmostEqual(result["loss"]["validation"], validation, delta=1e-5 * validation)
        self.assertIsNone(result["loss"]["test"])
        grid = min(self.losses(value)[1] for value in np.linspace(-12, 3, 200))
        self.assertLessEqual(result["loss"]["validation"], grid * (1 + 1e-4))
        self.assertEqual((result["data"]["folds"], result["data"]["train_rows"]), (3, 50))
        self.assertEqual(result["certificate"]["verdict"], "certified")

    def test_the_model_is_a_refit_on_all_rows_pretreated_by_all(self):
        result = self.tune(*self.by_year, "--test", "test.csv", "--save", "model.json")
        model = strict_json(self.read("model.json"))
        self.assertEqual(model["feature_names"], ["x0", "x1", "x2", "x3"])
        step, = model["pretreatment"]["x"]
        np.testing.assert_allclose(step["shift"], self.x.mean(axis=0))
        w, _ = ridge_weights((self.x - step["shift"]) / step["scale"], self.y, math.exp(result["lambda"][0]))
        np.testing.assert_allclose(model["weights"], w, rtol=1e-7, atol=1e-9)
        x_test, y_test = regression(30, seed=1)
        losses = result["refit"]["loss"]
        self.assertAlmostEqual(losses["train"], np.mean((self.y - predictions(model, self.x)) ** 2) / 2, delta=1e-9)
        self.assertAlmostEqual(losses["test"], np.mean((y_test - predictions(model, x_test)) ** 2) / 2, delta=1e-9)
        self.assertIsNone(losses["validation"])
        self.assertAlmostEqual(result["refit"]["equivalents"]["sklearn_ridge_alpha"],
                               2 * 50 * math.exp(result["lambda"][0]), delta=1e-6)

    def test_test_rows_may_hold_the_column_too(self):
        self.tune(*self.by_year, "--test", "folds.csv")

    def test_oracle(self):
        oracle = self.tune(*self.by_year, "--oracle")["oracle"]
        self.assertLess(abs(oracle["lambda_gap"]), 1e-3)
        self.assertAlmostEqual(oracle["validation"], self.losses(oracle["lambda"])[1], delta=1e-6)

    def test_one_value_is_refused(self):
        self.write_csv("one.csv", np.column_stack([0 * self.fold, self.x]), self.y,
                       names=["year", "x0", "x1", "x2", "x3"])
        self.tune_refused("--train", "one.csv", "--target", "y", "--fold-column", "year", names=["one.csv", "fold 0", "2"])
        self.tune_refused(*self.by_year[:-1], "month", names=["folds.csv", "folds", '"month"'])
        self.write_npy("x.npy", np.column_stack([self.y, self.x]))
        self.tune_refused("--train", "x.npy", "--target", 0, "--fold-column", "1", names=["x.npy", "CSV"])

    def test_a_fold_that_holds_all_of_a_class_is_refused(self):
        x, y = several_classes(60)
        self.write_csv("classes.csv", np.column_stack([y == 5, x]), y, names=["f", "x0", "x1", "x2", "x3"])
        self.tune_refused("--train", "classes.csv", "--target", "y", "--model", "softmax", "--fold-column", "f",
                          names=["classes.csv", "fold 1", "class 1"])


class Drawn(FoldCase):
    def test_repeatable_by_the_seed(self):
        first = self.tune(*self.data, "--folds", 5, "--seed", 3)
        self.assertEqual(first["loss"], self.tune(*self.data, "--folds", 5, "--seed", 3)["loss"])
        self.assertNotEqual(first["loss"], self.tune(*self.data, "--folds", 5, "--seed", 4)["loss"])

    def test_every_model_and_many_lambdas(self):
        self.write_csv("classes.csv", *several_classes(90))
        result = self.tune("--train", "classes.csv", "--target", "y", "--model", "softmax", "--lambda-per", "class",
                           "--folds", 4, "--test-fraction", 0.2)
        self.assertEqual(len(result["lambda"]), 3)
        self.assertEqual(result["data"]["train_rows"] + result["data"]["test_rows"], 90)
        self.assertIsNotNone(result["refit"]["accuracy"]["test"])
        self.assertTrue(0 < result["accuracy"]["validation"] <= 1)

    def test_a_row_each(self):
        result = self.tune(*self.data, "--folds", 50)
        self.assertEqual(result["data"]["folds"], 50)
        self.assertGreater(result["loss"]["validation"], 0)

    def test_built_in_data(self):
        result = self.tune("--data", "spectra", "--folds", 5)
        self.assertEqual((result["data"]["train_rows"], result["data"]["test_rows"]), (51, 19))
        self.assertGreater(result["refit"]["r_squared"]["test"], 0.9)

    def test_text(self):
        text = self.yosida("tune", *self.data, "--folds", 5, "--test", "test.csv").stdout
        for part in ["50 rows in 5 folds", "means over the folds", "refitted on all rows", "30 test"]:
            self.assertIn(part, text)

    def test_classes_are_stratified(self):
        x, _ = classification(60)
        self.write_csv("rare.csv", x, np.arange(60) < 5)
        for seed in range(5):
            self.tune("--train", "rare.csv", "--target", "y", "--model", "logistic", "--folds", 5, "--seed", seed,
                      "--max-iterations", 1)
        self.tune_refused("--train", "rare.csv", "--target", "y", "--model", "logistic", "--folds", 6,
                          names=["folds = 6", "class 1", "5 rows", "rare.csv"])

    def test_refused(self):
        for options, names in [(["--folds", 1], ["folds = 1", ">= 2"]), (["--folds", 0], ["folds = 0", ">= 2"]),
                               (["--folds=-3"], ["-3"]), (["--folds", "2.5"], ["2.5"]),
                               (["--folds", 51], ["folds = 51", "50 rows"]),
                               (["--folds", 5, "--repeats", 1001], ["repeats = 1001", "<= 1000"]),
                               (["--folds", 5, "--valid", "test.csv"], ["--folds", "--valid"]),
                               (["--folds", 5, "--valid-fraction", 0.5], ["--folds", "--valid-fraction"]),
                               (["--folds", 5, "--fold-column", "x0"], ["--folds", "--fold-column"]),
                               (["--fold-column", "x0", "--valid", "test.csv"], ["--fold-column", "--valid"])]:
            with self.subTest(options):
                self.tune_refused(*self.data, *options, names=names)
        self.tune_refused("--data", "spectra", "--fold-column", "x0", names=["--fold-column", "--data"])


if __name__ == "__main__":
    unittest.main()
