"""What judges a lambda: tune --criterion, --repeats, --group-rows, --trust, --rule, --nested and --shrinkage."""
import math
import unittest

import numpy as np

from yosida_cli import Cli, classification, regression, ridge_weights


class Criteria(Cli):
    def setUp(self):
        super().setUp()
        self.x, self.y = regression(50)
        self.write_csv("data.csv", self.x, self.y)
        self.data = ["--train", "data.csv", "--target", "y"]
        group = np.repeat(np.arange(10), 5)
        self.write_csv("groups.csv", np.column_stack([group, self.x]), self.y, names=["who", "x0", "x1", "x2", "x3"])
        self.grouped = ["--train", "groups.csv", "--target", "y", "--group-rows", "who"]

    def left_out(self, lambda_):
        """Each row by the weights of all others; features are standardised by all rows."""
        z = (self.x - self.x.mean(axis=0)) / self.x.std(axis=0)
        y = self.y - self.y.mean()
        total = 0.0
        for i in range(len(y)):
            others = np.arange(len(y)) != i
            w, b = ridge_weights(z[others], y[others], math.exp(lambda_))
            total += (y[i] - z[i] @ w - b) ** 2 / 2
        return total / len(y)

    def test_leave_one_out_is_that_of_refits(self):
        result = self.tune(*self.data, "--criterion", "loo")
        self.assertEqual(result["criterion"], "loo")
        self.assertEqual(result["certificate"]["verdict"], "certified")
        truth = self.left_out(result["lambda"][0])
        self.assertAlmostEqual(result["loss"]["validation"], truth, delta=1e-9 * truth)
        grid = min(self.left_out(value) for value in np.linspace(-8, 2, 60))
        self.assertLessEqual(result["loss"]["validation"], grid * (1 + 1e-6))

    def test_the_result_names_its_criterion(self):
        shown = self.yosida("tune", *self.data, "--criterion", "loo").stdout
        self.assertIn("50 rows by leave-one-out", shown)
        self.assertIn("lambda was chosen by the leave-one-out loss", shown)
        shown = self.yosida("tune", *self.data, "--criterion", "gcv").stdout
        self.assertIn("generalised cross-validation", shown)

    def test_classes_are_left_out_too(self):
        x, y = classification(60)
        self.write_csv("classes.csv", x, y)
        result = self.tune("--train", "classes.csv", "--target", "y", "--model", "logistic", "--criterion", "loo")
        self.assertIn("certified", result["certificate"]["verdict"])
        self.assertIn("left out", self.yosida("tune", "--train", "classes.csv", "--target", "y", "--model", "logistic",
                                              "--criterion", "loo").stdout)

    def test_what_does_not_go_together_is_refused(self):
        for arguments, words in (
            ([*self.data, "--criterion", "loo", "--folds", "5"], "does not go with --folds"),
            ([*self.data, "--criterion", "loo", "--valid-fraction", "0.3"], "does not go with --valid-fraction"),
            ([*self.data, "--criterion", "loo", "--valid", "data.csv"], "does not go with"),
            ([*self.data, "--criterion", "gcv", "--model", "huber"], "least squares"),
            ([*self.data, "--criterion", "loo", "--model", "lasso"], "jumps where a weight becomes 0"),
            ([*self.data, "--criterion", "loo", "--method", "my-hpo-c"], "w*(lambda) alone"),
            ([*self.data, "--criterion", "cv"], "must be holdout, folds, loo or gcv"),
            ([*self.data, "--repeats", "3"], "goes with --folds"),
            ([*self.data, "--folds", "5", "--repeats", "0"], "repeats = 0: must be >= 1"),
            ([*self.grouped, "--criterion", "loo"], "does not go with --group-rows"),
            (["--train", "groups.csv", "--target", "y", "--group-rows", "y"], "names the target"),
            ([*self.grouped, "--penalty", "group-lasso", "--group", "g=x0,who"], "holds rows together"),
            ([*self.grouped, "--folds", "11"], "there are 10 groups of rows"),
            ([*self.data, "--rule", "2se"], "must be min or 1se"),
            ([*self.data, "--nested", "1"], "nested = 1: must be >= 2"),
            ([*self.data, "--nested", "3", "--valid", "data.csv"], "--nested"),
            ([*self.data, "--shrinkage", "much"], "must be a number >= 0 or nested"),
        ):
            with self.subTest(arguments):
                self.assertIn(words, " ".join(self.tune_refused(*arguments).split()))

    def test_repeated_and_grouped_folds(self):
        result = self.tune(*self.data, "--folds", "5", "--repeats", "3")
        self.assertEqual(result["data"]["folds"], 15)
        self.assertIn("5-fold, 3 times", self.yosida("tune", *self.data, "--folds", "5", "--repeats", "3").stdout)
        self.tune(*self.grouped, "--folds", "5", "--save-split", "split.csv")
        parts = {}
        for line in self.read("split.csv").splitlines()[1:]:
            _, row, part = line.split(",")
            parts.setdefault((int(row) - 1) // 5, set()).add(part)
        self.assertEqual({len(each) for each in parts.values()}, {1})
        self.assertEqual(self.tune(*self.grouped)["data"]["features"], 4)

    def test_trust_is_printed_in_three_lines_and_in_json(self):
        command = [*self.data, "--criterion", "loo", "--trust", "--nested", "5"]
        shown = self.yosida("tune", *command).stdout
        self.assertRegex(shown, r"criterion +\S+ ± \S+ \(s\.e\. over 50 rows, leave-one-out\)")
        self.assertRegex(" ".join(shown.split()), r"within one s\.e\. \[.*\], paired \[.*\]; one-s\.e\. rule")
        self.assertRegex(" ".join(shown.split()), r"honest score \S+ ± \S+ \(nested, 5 outer folds; lambda there from")
        result = self.tune(*command)
        self.assertGreater(result["trust"]["standard_error"], 0)
        self.assertEqual(result["nested"]["rows"], 50)

    def test_the_rule_takes_the_larger_penalty(self):
        least = self.tune(*self.data, "--folds", "5", "--trust")
        taken = self.tune(*self.data, "--folds", "5", "--rule", "1se")
        self.assertGreater(taken["lambda"][0], least["lambda"][0])
        self.assertAlmostEqual(taken["lambda"][0], least["lambda"][0] + least["trust"]["shift_one_se_rule"], delta=1e-6)

    def test_many_lambda_on_few_rows_are_drawn_together(self):
        command = [*self.data, "--lambda-per", "feature", "--criterion", "loo"]
        loose = self.tune(*command, "--shrinkage", "0")
        self.assertNotIn("shrinkage", loose)
        drawn = self.tune(*command, "--shrinkage", "0.1")
        self.assertEqual(drawn["shrinkage"], 0.1)
        self.assertLess(np.ptp(drawn["lambda"]), np.ptp(loose["lambda"]))
        self.assertIn("sum of the loss", drawn["certificate"]["reason"])

    def test_a_criterion_that_jumps_says_so_where_it_is_not_certified(self):
        reasons = []
        for seed in range(10):
            random = np.random.default_rng(seed)
            x = random.standard_normal((40, 6))
            y = x @ random.standard_normal(6) / 2 + random.standard_t(2, size=40)
            self.write_csv("far.csv", x, y)
            for criterion in ["loo", "folds"]:
                certificate = self.tune("--train", "far.csv", "--target", "y", "--model", "huber", "--criterion",
                                        criterion)["certificate"]
                if certificate["verdict"] == "not certified":
                    reasons.append((criterion, certificate["reason"]))
        self.assertIn("loo", [criterion for criterion, _ in reasons])
        for criterion, reason in reasons:
            self.assertEqual("jumps a little" in reason, criterion == "loo", reason)


if __name__ == "__main__":
    unittest.main()
