"""Several hyperparameters: what shares a lambda, what is unpenalised, and how the result names them."""
import math
import unittest

import numpy as np

from yosida_cli import Cli, margins, predictions, regression, several_classes, strict_json


ROWS = ["--lambda-per", "row", "--fixed-penalty", "0.1"]


class PenaltyCase(Cli):
    def setUp(self):
        super().setUp()
        self.parts = [regression(80, seed=0), regression(60, seed=1)]
        for file, (x, y) in zip(["train.csv", "valid.csv"], self.parts):
            self.write_csv(file, x, y)
        self.files_given = ["--train", "train.csv", "--valid", "valid.csv", "--target", "y"]

    def names_of(self, *options):
        return self.tune(*self.files_given, *options)["lambda_names"]

    def assert_minimum(self, group_of_column, *options):
        """The refitted weights are the minimum of ridge under these lambdas; group -1 has none."""
        result = self.tune(*self.files_given, *options, "--refit", "--save", "model.json")
        model = strict_json(self.read("model.json"))
        self.assertEqual(model["lambda"], result["lambda"])
        step, = model["pretreatment"]["x"]
        x, y = (np.concatenate(both) for both in zip(*self.parts))
        x = (x - step["shift"]) / step["scale"]
        penalty = [math.exp(result["lambda"][group]) if group >= 0 else 0 for group in group_of_column]
        w = np.array(model["weights"])
        residual = y - y.mean() - (x - x.mean(axis=0)) @ w
        gradient = -(x - x.mean(axis=0)).T @ residual / len(y) + 2 * np.array(penalty) * w
        np.testing.assert_allclose(gradient, 0, atol=1e-7 * np.abs(y).max())
        return result


class Sharing(PenaltyCase):
    def test_shared_is_the_default(self):
        one = self.tune(*self.files_given)
        self.assertEqual(one["lambda_names"], ["shared"])
        self.assertEqual(self.tune(*self.files_given, "--lambda-per", "shared")["lambda"], one["lambda"])

    def test_per_feature(self):
        result = self.assert_minimum(range(4), "--lambda-per", "feature")
        self.assertEqual(result["lambda_names"], ["x0", "x1", "x2", "x3"])
        self.assertEqual(result["equivalents"], {})
        self.assertLessEqual(result["loss"]["validation"],
                             self.tune(*self.files_given)["loss"]["validation"] * (1 + 1e-6))

    def test_columns_without_names_are_numbered(self):
        x, y = self.parts[0]
        self.write_npy("x.npy", x)
        self.write_npy("y.npy", y)
        data = ["--train", "x.npy", "--train-target", "y.npy"]
        self.assertEqual(self.tune(*data, "--lambda-per", "feature")["lambda_names"], ["0", "1", "2", "3"])
        self.assertEqual(self.tune(*data, "--group", "odd=1,3")["lambda_names"], ["odd", "rest"])

    def test_groups_on_the_command_line(self):
        result = self.assert_minimum([1, 0, 0, 1], "--group", "mid=x1,x2")
        self.assertEqual(result["lambda_names"], ["mid", "rest"])
        self.assertEqual(self.names_of("--group", "a=x0", "--group", "b=x1,x2,x3"), ["a", "b"])
        self.assertEqual(self.names_of("--lambda-per", "group", "--group", "a=0", "--group", "rest=1"), ["a", "rest"])

    def test_groups_of_a_file(self):
        for header in ["", "feature,group\n"]:
            self.write("groups.csv", header + "x1,mid\nx2, mid\n\n3,last\n")
            result = self.assert_minimum([2, 0, 0, 1], "--groups", "groups.csv")
            self.assertEqual(result["lambda_names"], ["mid", "last", "rest"])

    def test_unpenalised_columns(self):
        result = self.assert_minimum([-1, 0, 0, -1], "--unpenalised", "x0,x3")
        self.assertEqual(result["lambda_names"], ["shared"])
        self.assertEqual(result["equivalents"], {})
        self.assertEqual(self.assert_minimum([0, -1, 1, 2], "--lambda-per", "feature", "--unpenalised", "1")[
            "lambda_names"], ["x0", "x2", "x3"])
        self.assertEqual(self.assert_minimum([-1, 0, 1, 1], "--group", "g=x1", "--unpenalised", "x0")["lambda_names"],
                         ["g", "rest"])

    def test_per_class(self):
        parts = [several_classes(150, seed=0), several_classes(80, seed=1)]
        for file, (x, y) in zip(["train.csv", "valid.csv"], parts):
            self.write_csv(file, x, y)
        result = self.tune(*self.files_given, "--model", "softmax", "--lambda-per", "class", "--refit", "--save",
                           "model.json")
        self.assertEqual(result["lambda_names"], ["1", "3", "5"])
        model = strict_json(self.read("model.json"))
        step, = model["pretreatment"]["x"]
        x, y = (np.concatenate(both) for both in zip(*parts))
        e = np.exp(margins(model, x))
        wrong = e / e.sum(axis=1, keepdims=True) - (y[:, None] == np.array([1, 3, 5]))
        gradient = ((x - step["shift"]) / step["scale"]).T @ wrong / len(y) \
            + 2 * np.exp(result["lambda"]) * np.array(model["weights"])
        np.testing.assert_allclose(gradient, 0, atol=1e-6)

    def test_differences_have_lambdas_of_their_own(self):
        self.assertEqual(self.names_of("--lambda-per", "feature", "--x", "difference"), ["x1 - x0", "x2 - x1", "x3 - x2"])

    def test_lambda0_and_bounds_hold_for_all(self):
        result = self.tune(*self.files_given, "--lambda-per", "feature", "--bounds=-3,-1", "--lambda0", -2,
                           "--trace", "trace.csv")
        first = self.read_table("trace.csv")[0]
        self.assertEqual([float(first[f"lambda_x{j}"]) for j in range(4)], [-2] * 4)
        self.assertTrue(all(-3 <= value <= -1 for value in result["lambda"]))

    def test_predictions_are_those_of_the_saved_weights(self):
        model = self.model(*self.files_given, "--lambda-per", "feature")
        self.yosida("predict", "--from", "model.json", "--data", "valid.csv", "--out", "out.csv")
        np.testing.assert_allclose([float(row["prediction"]) for row in self.read_table("out.csv")],
                                   predictions(model, self.parts[1][0]), rtol=1e-10)

    def test_derivatives(self):
        for options in [["--lambda-per", "feature"], ["--group", "g=x0,x2"], ["--unpenalised", "x1"]]:
            with self.subTest(options):
                self.assertNotIn("WRONG", self.yosida("check-grad", *self.files_given, *options).stdout)


class Output(PenaltyCase):
    def test_trace_has_a_column_for_each(self):
        result = self.tune(*self.files_given, "--group", "a, b=x0,x1", "--trace", "trace.csv")
        last = self.read_table("trace.csv")[-1]
        self.assertEqual(list(last)[:4], ["iteration", "lambda_a, b", "lambda_rest", "train"])
        self.assertEqual([float(last["lambda_a, b"]), float(last["lambda_rest"])], result["final"]["lambda"])

    def test_many_are_told_by_the_smallest_and_the_largest(self):
        x, y = regression(120, columns=40)
        self.write_csv("wide.csv", x, y)
        options = ["--train", "wide.csv", "--target", "y", "--lambda-per", "feature", "--max-iterations", 5]
        text = self.yosida("tune", *options, "--trace", "trace.csv").stdout
        self.assertIn("40 of them", text)
        self.assertIn("32 more", text)
        result = self.tune(*options)
        self.assertEqual((len(result["lambda"]), len(result["lambda_names"])), (40, 40))
        for value in [min(result["lambda"]), max(result["lambda"])]:
            self.assertIn(f"{value:.6g}", text)
        self.assertEqual(list(self.read_table("trace.csv")[0])[:2], ["iteration", "train"])  # more than 32: none

    def test_few_are_all_told(self):
        text = self.yosida("tune", *self.files_given, "--lambda-per", "feature").stdout
        for name in ["x0", "x1", "x2", "x3"]:
            self.assertRegex(text, rf"(?m)^ +{name} +\S+  \(penalty ")
        self.assertNotIn("the same as", text)


class TrustInRows(PenaltyCase):
    """One lambda for each training row: how far it is trusted."""

    def setUp(self):
        super().setUp()
        x, y = self.parts[0]
        self.wrong = np.arange(len(y)) % 4 == 0
        y = np.where(self.wrong, -y, y)
        self.write_csv("train.csv", x, y)
        self.rows = (x, y)

    def test_wrong_rows_lose_their_weight(self):
        result = self.tune(*self.files_given, *ROWS, "--save", "model.json")
        self.assertEqual(result["lambda_names"], [str(i + 1) for i in range(80)])
        self.assertEqual(result["equivalents"], {})
        trust = 1 / (1 + np.exp(-np.array(result["lambda"])))
        self.assertLess(trust[self.wrong].mean(), 0.6 * trust[~self.wrong].mean())
        # The weights are the minimum of the weighted loss, the intercept penalised as they are.
        model = strict_json(self.read("model.json"))
        x, y = self.rows
        step, = model["pretreatment"]["x"]
        x = np.column_stack([(x - step["shift"]) / step["scale"], np.ones(len(y))])
        hessian = x.T @ (trust[:, None] * x) / len(y) + 2 * 0.1 * np.eye(5)
        w = np.linalg.solve(hessian, x.T @ (trust * (y - y.mean())) / len(y))
        np.testing.assert_allclose(model["weights"], w[:4], rtol=1e-6)

    def test_text_says_the_weights_of_the_least_and_the_most_trusted(self):
        text = self.yosida("tune", *self.files_given, *ROWS).stdout
        self.assertRegex(text, r"(?m)^ +row \d+ +\S+  \(weight 0\.\d+\)")
        self.assertIn("72 more", text)

    def test_classes_by_batches_and_in_a_study(self):
        x, y = self.rows
        self.write_csv("classes.csv", x, np.where(y > 0, 1.0, 0.0))
        result = self.tune("--train", "classes.csv", "--target", "y", "--model", "logistic", *ROWS, "--method", "soba",
                           "--batch", "16", "--max-iterations", "20")
        self.assertEqual(len(result["lambda"]), 60)
        self.yosida("compare", "--train", "classes.csv", "--target", "y", "--model", "logistic", *ROWS, "--methods",
                    "my-hpo,hoag", "--seeds", "1", "--study", "rows.study")
        run = strict_json(self.yosida("study", "export", "rows.study", "--format", "json").stdout)[0]
        self.assertEqual(run["spec"]["model"]["fixed_penalty"], 0.1)

    def test_folds_are_refused(self):
        for options in (["--folds", "3"], ["--criterion", "loo"], ["--criterion", "folds"]):
            with self.subTest(options):
                self.tune_refused("--train", "train.csv", "--target", "y", *ROWS, *options,
                                  names=["lambda-per = row", options[0]])


class Refusals(PenaltyCase):
    def test_flags(self):
        for options, names in [
                (["--lambda-per", "weight"], ["lambda-per = weight", "shared, feature, class, group or row"]),
                (["--lambda-per", "row"], ["lambda-per = row", "--fixed-penalty"]),
                (["--fixed-penalty", "1"], ["--fixed-penalty", "--lambda-per row"]),
                ([*ROWS[:-1], "0"], ["fixed-penalty = 0", "> 0"]),
                ([*ROWS, "--penalty", "l1"], ["lambda-per = row", "--penalty l1"]),
                ([*ROWS, "--model", "lasso"], ["lambda-per = row", "--model lasso"]),
                ([*ROWS, "--group", "a=x0"], ["lambda-per = row", "groups"]),
                ([*ROWS, "--unpenalised", "x0"], ["lambda-per = row", "--unpenalised"]),
                ([*ROWS, "--refit"], ["lambda-per = row", "--refit"]),
                ([*ROWS, "--trust"], ["lambda-per = row", "--trust"]),
                ([*ROWS, "--rule", "1se"], ["lambda-per = row", "1se"]),
                ([*ROWS, "--shrinkage", "0.1"], ["lambda-per = row", "--shrinkage"]),
                ([*ROWS, "--oracle"], ["--oracle", "one lambda"]),
                ([*ROWS, "--method", "bic-gaffa"], ["bic-gaffa", "penalties"]),
                (["--lambda-per", "group"], ["lambda-per = group", "--groups", "--group"]),
                (["--lambda-per", "feature", "--group", "a=x0"], ["--group", "feature"]),
                (["--lambda-per", "class"], ["class", "softmax", "ridge"]),
                (["--group", "a="], ["a=", "empty"]),
                (["--group", "x0,x1"], ["x0,x1", "NAME=col"]),
                (["--group", "=x0"], ["=x0", "NAME=col"]),
                (["--group", "a=x0,y"], ["a=x0,y", '"y"', "0 to 3"]),
                (["--group", "a=x0,4"], ["a=x0,4", '"4"', "0 to 3"]),
                (["--group", "a=x0", "--group", "a=x1"], ['"a"', "twice"]),
                (["--group", "a=x0,x1", "--group", "b=x1"], ['"x1"', '"a"', '"b"', "two groups"]),
                (["--group", "a=x0", "--unpenalised", "x0"], ['"x0"', '"a"', "unpenalised"]),
                (["--unpenalised", "x7"], ["--unpenalised", '"x7"']),
                (["--unpenalised", "x0,x1,x2,x3"], ["--unpenalised", "every column"]),
                (["--group", "a=x0", "--x", "difference"], ["--group", "difference"]),
                (["--unpenalised", "x0", "--x", "difference,minmax"], ["--unpenalised", "difference,minmax"]),
                (["--lambda-per", "feature", "--oracle"], ["--oracle", "one lambda", "4"]),
                (["--lambda-per", "feature", "--method", "my-hpo-bt"], ["my-hpo-bt", "1 hyperparameter", "4"])]:
            with self.subTest(options):
                self.tune_refused(*self.files_given, *options, names=names)

    def test_files(self):
        for content, names in [("x0,a\nx1\n", ["groups.csv:2", "feature,group"]), ("x0,\n", ["groups.csv:1", "empty"]),
                               (",a\n", ["groups.csv:1", "empty"]), ("", ["groups.csv", "no groups"]),
                               ("x0,a\nx0,b\n", ["groups.csv:2", '"x0"', '"a"', '"b"']),
                               ("x0,a\nz,b\n", ["groups.csv:2", '"z"'])]:
            with self.subTest(content):
                self.write("groups.csv", content)
                self.tune_refused(*self.files_given, "--groups", "groups.csv", names=names)
        self.tune_refused(*self.files_given, "--groups", "none.csv", names=["none.csv", "no such file"])
        self.write("groups.csv", "x0,a\n")
        self.tune_refused(*self.files_given, "--groups", "groups.csv", "--group", "a=x0", names=["--groups", "--group"])
        self.refused("tune", *self.files_given, "--groups", "groups.csv", "--json", "groups.csv", names=["groups.csv"])

    def test_per_class_and_unpenalised(self):
        self.write_csv("classes.csv", *several_classes(60))
        self.tune_refused("--train", "classes.csv", "--target", "y", "--model", "softmax", "--lambda-per", "class",
                          "--unpenalised", "x0", names=["--unpenalised", "class"])


if __name__ == "__main__":
    unittest.main()
