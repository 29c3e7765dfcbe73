"""Lasso and elastic net: models whose penalty sets weights to 0."""
import math
import unittest

import numpy as np

from yosida_cli import Cli, predictions, strict_json

MODELS = {"lasso": ["l1"], "elastic-net": ["l1", "l2"]}
COLUMNS = 30


def few_weights(rows, seed=0):
    """x, y of which only the first five columns matter."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, COLUMNS))
    return x, x[:, :5] @ [3, -2, 1.5, 1, -1] + 1.5 * random.normal(size=rows) + 5


def pretreated(model, x):
    step, = model["pretreatment"]["x"]
    return (x - step["shift"]) / step["scale"]


class SparseModels(Cli):
    def setUp(self):
        super().setUp()
        self.parts = {"train": few_weights(80, 0), "validation": few_weights(60, 1), "test": few_weights(50, 2)}
        for part, (x, y) in self.parts.items():
            self.write_csv(f"{part}.csv", x, y)
        self.given = ["--train", "train.csv", "--valid", "validation.csv", "--test", "test.csv", "--target", "y"]

    def result_and_model(self, *options):
        return self.tune(*options, "--save", "model.json"), strict_json(self.read("model.json"))

    def assert_minimum(self, result, model, x, y, tolerance=1e-5):
        """The smallest subgradient of 1/2N |y - xw - b|^2 + l1 |w|_1 + l2 |w|^2 is 0 at the weights saved."""
        w = np.array(model["weights"])
        l1, l2 = [*map(math.exp, result["lambda"]), 0.0][:2]
        x = pretreated(model, x)
        residual = x @ w + model["intercept"] + model["pretreatment"]["y"]["shift"] - y
        slope = x.T @ residual / len(y) + 2 * l2 * w
        self.assertAlmostEqual(residual.mean(), 0, delta=1e-5)
        np.testing.assert_allclose(slope[w != 0], -l1 * np.sign(w[w != 0]), atol=tolerance)
        self.assertLessEqual(np.abs(slope[w == 0]).max(initial=0), l1 + tolerance)

    def test_few_weights_and_the_report_is_that_of_the_saved_model(self):
        for name, lambda_names in MODELS.items():
            with self.subTest(name):
                result, model = self.result_and_model(*self.given, "--model", name)
                self.assertEqual((result["model"], model["model"]), (name, name))
                self.assertEqual(result["lambda_names"], lambda_names)
                self.assertEqual(len(model["lambda"]), len(lambda_names))
                self.assertEqual(len(model["weights"]), COLUMNS)
                self.assertEqual(result["nonzero_weights"], np.count_nonzero(model["weights"]))
                self.assertIn(result["nonzero_weights"], range(5, COLUMNS))
                self.assertTrue(np.all(np.array(model["weights"])[:5] != 0))
                self.assert_minimum(result, model, *self.parts["train"], tolerance=1e-3)  # as exact as the search
                for part, (x, y) in self.parts.items():
                    self.yosida("predict", "--from", "model.json", "--data", f"{part}.csv", "--out", "out.csv")
                    given = np.array([float(row["prediction"]) for row in self.read_table("out.csv")])
                    np.testing.assert_allclose(given, predictions(model, x), rtol=1e-9)
                    self.assertAlmostEqual(result["loss"][part], np.mean((y - given) ** 2) / 2, delta=1e-9)
                    self.assertAlmostEqual(result["r_squared"][part], 1 - np.mean((y - given) ** 2) / np.var(y),
                                           delta=1e-9)
                text = self.yosida("tune", *self.given, "--model", name).stdout
                self.assertIn(f"{result['nonzero_weights']} of {COLUMNS} weights", text)

    def test_spectra(self):
        result = self.tune("--data", "spectra", "--model", "lasso", "--oracle")
        self.assertIn(result["nonzero_weights"], range(1, 35))  # as many as there are training rows, at most
        self.assertLess(result["oracle"]["gap"], 0.01)
        self.assertLess(result["oracle"]["lambda_gap"], 0.01)

    def test_the_oracle_of_the_lasso_searches_penalties_that_leave_weights(self):
        result = self.tune(*self.given, "--model", "lasso", "--oracle")
        x, y = self.parts["train"]
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        largest = math.log(np.abs(x.T @ (y - y.mean())).max() / len(y))
        low, high = result["oracle"]["bounds"]
        self.assertLess(high, largest)
        self.assertAlmostEqual(high, largest, delta=0.1)
        self.assertLess(low, largest - 10)
        self.assertAlmostEqual(result["oracle"]["gap"], 0, delta=0.01)  # there are valleys that near to the lowest

    def test_a_start_where_all_weights_are_0_is_left_or_not_certified(self):
        for lambda0 in ("2", "25"):
            found = self.tune("--data", "spectra", "--model", "lasso", "--lambda0", lambda0, "--oracle")
            self.assertLess(found["oracle"]["lambda_gap"], 1e-2)
            stuck = self.tune("--data", "spectra", "--model", "lasso", "--method", "hoag", "--max-iterations", "1",
                              "--lambda0", lambda0)
            self.assertEqual(stuck["certificate"]["verdict"], "not certified")

    def test_refit_and_folds(self):
        for name in MODELS:
            with self.subTest(name):
                result, model = self.result_and_model(*self.given, "--model", name, "--refit")
                both = [np.concatenate(pair) for pair in zip(self.parts["train"], self.parts["validation"])]
                self.assertEqual(result["refit"]["nonzero_weights"], np.count_nonzero(model["weights"]))
                step, = model["pretreatment"]["x"]  # by the training rows
                np.testing.assert_allclose(step["shift"], self.parts["train"][0].mean(axis=0), atol=1e-9)
                self.assert_minimum(result, model, *both)
                result, model = self.result_and_model("--train", "train.csv", "--target", "y", "--model", name,
                                                      "--folds", "4")
                self.assertEqual(result["refit"]["nonzero_weights"], np.count_nonzero(model["weights"]))
                self.assertLess(result["nonzero_weights"], COLUMNS)  # the mean over the folds
                self.assertIn(result["refit"]["nonzero_weights"], range(5, COLUMNS))
                self.assert_minimum(result, model, *self.parts["train"])

    def test_equivalents(self):
        result, _ = self.result_and_model(*self.given, "--model", "lasso")
        penalty = math.exp(result["lambda"][0])
        self.assertEqual(list(result["equivalents"]), ["sklearn_lasso_alpha", "glmnet_lambda"])
        for value in result["equivalents"].values():
            self.assertAlmostEqual(value / penalty, 1, delta=1e-12)
        result, _ = self.result_and_model(*self.given, "--model", "elastic-net")
        l1, l2 = map(math.exp, result["lambda"])
        same = result["equivalents"]
        self.assertEqual(list(same), ["sklearn_elastic_net_alpha", "sklearn_elastic_net_l1_ratio", "glmnet_lambda",
                                      "glmnet_alpha"])
        for alpha, ratio, scale in [(same["sklearn_elastic_net_alpha"], same["sklearn_elastic_net_l1_ratio"], 1),
                                    (same["glmnet_lambda"], same["glmnet_alpha"], self.parts["train"][1].std())]:
            self.assertAlmostEqual(alpha * ratio / l1, 1, delta=1e-9)
            self.assertAlmostEqual((alpha - alpha * ratio) / 2, l2 * scale, delta=1e-9 * alpha)

    def test_methods(self):
        best = self.tune(*self.given, "--model", "lasso", "--oracle")["oracle"]["validation"]
        for method in ["my-hpo", "my-hpo-consensus", "hoag"]:
            with self.subTest(method):
                result = self.tune(*self.given, "--model", "lasso", "--method", method)
                self.assertLess(result["loss"]["validation"], 1.02 * best)
                self.assertLess(result["nonzero_weights"], COLUMNS)
        for name in MODELS:
            for method in ["my-hpo-1", "my-hpo-bt", "my-hpo-c", "sho", "reverse", "forward", "penalty", "stn", "bome",
                           "f2sa", "soba", "saba", "bic-gaffa"]:
                with self.subTest(method=method, model=name):
                    self.tune_refused(*self.given, "--model", name, "--method", method,
                                      names=[method, name, "kinks", "my-hpo", "hoag"])
        self.tune_refused(*self.given, "--model", "elastic-net", "--method", "my-hpo-full",
                          names=["my-hpo-full", "1 hyperparameter", "2"])

    def test_what_makes_no_sense_is_refused(self):
        for name in MODELS:
            self.tune_refused(*self.given, "--model", name, "--lambda-per", "class", names=["lambda-per", "class", name])
            self.tune_refused(*self.given, "--model", name, "--penalty", "group-lasso", "--group", "a=x0",
                              names=["--penalty", "group-lasso", name, "ridge"])
            self.tune(*self.given, "--model", name, "--lambda-per", "shared", "--y", "standardize")
            self.tune_refused(*self.given, "--model", name, "--class-weights", "balanced", names=["--class-weights"])
        self.tune_refused(*self.given, "--model", "elastic-net", "--oracle", names=["--oracle", "one lambda", "2"])

    def test_penalties_with_kinks_are_for_every_loss(self):
        x, y = self.parts["train"]
        groups = ["--group", "a=x0,x1,x2,x3,x4", "--group", "b=x5,x6,x7,x8,x9"]
        logistic = []
        for part, (own, target) in self.parts.items():
            self.write_csv(f"{part}_signs.csv", own, np.where(target > 5, 1, 0))
            logistic += [{"train": "--train", "validation": "--valid", "test": "--test"}[part], f"{part}_signs.csv"]
        logistic += ["--target", "y", "--model", "logistic"]
        result, model = self.result_and_model(*logistic, "--penalty", "l1")
        self.assertEqual(result["lambda_names"], ["l1"])
        self.assertEqual(result["nonzero_weights"], np.count_nonzero(model["weights"]))
        self.assertAlmostEqual(result["equivalents"]["sklearn_logistic_C"] * len(y) * math.exp(result["lambda"][0]), 1,
                               delta=1e-9)
        for penalty, names in [("elastic-net", ["l1", "l2"]), ("group-lasso", ["a", "b", "rest"]),
                               ("sparse-group-lasso", ["l1", "a", "b", "rest"])]:
            with self.subTest(penalty):
                result, model = self.result_and_model(*logistic, "--penalty", penalty,
                                                      *([] if penalty == "elastic-net" else groups))
                self.assertEqual(result["lambda_names"], names)
                self.assertTrue(result["certificate"]["verdict"].startswith("certified"), result["certificate"])
        # Least squares, where one lambda of all groups is that of one group after another.
        result, model = self.result_and_model(*self.given, "--penalty", "group-lasso", "--lambda-per", "shared",
                                              "--group-scale", "sqrt", *groups)
        self.assertEqual(result["lambda_names"], ["groups"])
        w = np.array(model["weights"])
        rows = pretreated(model, x)
        residual = rows @ w + model["intercept"] + model["pretreatment"]["y"]["shift"] - y
        slope = rows.T @ residual / len(y)
        for members in (range(5), range(5, 10), range(10, COLUMNS)):
            own, level = w[list(members)], math.exp(result["lambda"][0]) * math.sqrt(len(members))
            if own.any():
                np.testing.assert_allclose(slope[list(members)], -level * own / np.linalg.norm(own), atol=1e-3)
            else:
                self.assertLessEqual(np.linalg.norm(slope[list(members)]), level + 1e-3)
        # An adaptive lasso: one lambda for each feature.
        result = self.tune(*self.given, "--penalty", "l1", "--lambda-per", "feature")
        self.assertEqual(len(result["lambda"]), COLUMNS)

    def test_penalties_that_make_no_sense_are_refused(self):
        for options, names in [(["--penalty", "l3"], ["penalty", "l3", "l1", "sparse-group-lasso"]),
                               (["--penalty", "group-lasso"], ["group-lasso", "--groups", "--group"]),
                               (["--penalty", "group-lasso", "--group", "a=x0", "--lambda-per", "feature"],
                                ["lambda-per", "feature", "group-lasso"]),
                               (["--penalty", "group-lasso", "--group", "a=x0,x1", "--group", "b=x1"], ["x1", "two groups"]),
                               (["--penalty", "group-lasso", "--group", "a=nobody"], ["nobody"]),
                               (["--penalty", "l1", "--group-scale", "sqrt"], ["--group-scale"]),
                               (["--penalty", "l1", "--method", "sho"], ["sho", "--penalty l1", "kinks"])]:
            with self.subTest(options=options):
                self.tune_refused(*self.given, *options, names=names)
        self.write_csv("two.csv", self.parts["train"][0], np.where(self.parts["train"][1] > 5, 1, 0))
        self.tune_refused("--train", "two.csv", "--target", "y", "--model", "softmax", "--penalty", "l1",
                          names=["softmax", "two classes", "logistic"])

    def test_other_models_count_no_weights(self):
        self.assertNotIn("nonzero_weights", self.tune(*self.given))


if __name__ == "__main__":
    unittest.main()
