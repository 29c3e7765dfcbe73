"""Features, targets and weights of any magnitude: the model of rescaled data, or a refusal that names the column."""
import math
import unittest

import numpy as np

from yosida_cli import Cli, classification, counts, regression, several_classes, strict_json

# Near 1e-300, 1e-200, 1e-155, 1e-100, 1e100, 1e154, 1e200 and 1e300. By powers of 2 nothing is rounded: what is
# rescaled by pretreatment is the same to the last bit, and so is the model.
EXPONENTS = [-996, -664, -515, -332, 332, 512, 664, 996]
LEAST, LARGEST = 2.0 ** -996, 2.0 ** 996
MIXTURE = np.array([LARGEST, 1.0, LEAST, 2.0 ** 512])
MODELS = {"ridge": regression, "lasso": regression, "elastic-net": regression, "huber": regression,
          "logistic": classification, "svm": classification, "softmax": several_classes, "poisson": counts}


class Scales(Cli):
    def fit(self, x, y, *options):
        """λ, weights and the predictions of the rows themselves, as the user gets them."""
        self.write_csv("data.csv", x, y)
        self.yosida("tune", "--quiet", "--train", "data.csv", "--target", "y", "--save", "model.json", "--json",
                    "result.json", *options)
        text = self.read("model.json")
        self.assertNotIn("null", text)
        self.yosida("predict", "--from", "model.json", "--data", "data.csv", "--out", "out.csv")
        model, result = strict_json(text), strict_json(self.read("result.json"))
        for part in ["train", "validation"]:
            self.assertTrue(math.isfinite(result["loss"][part]))
        table = self.read_table("out.csv")
        predicted = np.array([[float(value) for value in row.values()] for row in table])
        return np.array(result["lambda"]), np.array(model["weights"]), predicted

    def refused_by_name(self, x, y, *options, names):
        self.write_csv("data.csv", x, y)
        self.tune_refused("--train", "data.csv", "--target", "y", *options, names=["data.csv", *names])


class Features(Scales):
    def test_rescaled_by_pretreatment_they_may_have_any_magnitude(self):
        for model, data in MODELS.items():
            x, y = data(30)
            expected = self.fit(x, y, "--model", model)
            for factor in [LEAST, 2.0 ** -515, 2.0 ** 512, LARGEST, MIXTURE]:
                with self.subTest(f"{model}, {factor}"):
                    for one, other in zip(self.fit(x * factor, y, "--model", model), expected):
                        np.testing.assert_array_equal(one, other)

    def test_by_every_step_that_rescales(self):
        x, y = regression(30)
        for steps in ["standardize", "minmax", "difference,minmax", "difference,standardize", "center,standardize"]:
            expected = self.fit(x, y, "--x", steps)
            for exponent in EXPONENTS:
                with self.subTest(f"{steps}, 2^{exponent}"):
                    for one, other in zip(self.fit(x * 2.0 ** exponent, y, "--x", steps), expected):
                        np.testing.assert_array_equal(one, other)

    def test_decimal_scales_give_the_same_model_but_for_rounding(self):
        x, y = regression(30)
        lambda_, weights, predicted = self.fit(x, y)
        for factor in [1e-300, 1e154, 1e300, np.array([1e300, 1e-300, 1.0, 1e-155])]:
            with self.subTest(f"{factor}"):
                found = self.fit(x * factor, y)
                np.testing.assert_allclose(found[0], lambda_, rtol=1e-8)
                np.testing.assert_allclose(found[1], weights, rtol=1e-8)
                np.testing.assert_allclose(found[2], predicted, rtol=1e-8)

    def test_of_a_sparse_file(self):
        x, y = regression(30)
        x = np.where(np.abs(x) > 0.5, x, 0)

        def weights(factor):
            self.write_libsvm("data.libsvm", x * factor, y)
            return self.model("--train", "data.libsvm")["weights"]

        expected = weights(1.0)
        for factor in [LEAST, LARGEST, MIXTURE]:
            self.assertEqual(weights(factor), expected)
        self.write_libsvm("data.libsvm", x * np.array([1, 1, 1e200, 1]), y)
        self.tune_refused("--train", "data.libsvm", "--x", "raw", names=["feature 3 (counted from 1)", "1e+75"])

    def test_as_they_are_they_work_or_are_refused_by_name(self):
        # λ is found to some 1e-6 from another start, so at the minimum the loss agrees to the square of that.
        x, y = regression(30)
        for steps, name in {"raw": '"x', "center": '"x', "difference": " - x"}.items():
            lambda_, _, predicted = self.fit(x, y, "--x", steps)
            loss = strict_json(self.read("result.json"))["loss"]["validation"]
            for exponent in [*EXPONENTS, -240, 240]:
                with self.subTest(f"{steps}, 2^{exponent}"):
                    factor = 2.0 ** exponent
                    if abs(exponent) > 240:
                        rule = "below 1e+75" if exponent > 0 else "at least 1e-75"
                        self.refused_by_name(x * factor, y, "--x", steps, names=["column", name, "magnitude", rule])
                        continue
                    found = self.fit(x * factor, y, "--x", steps)
                    np.testing.assert_allclose(found[0], lambda_ + 2 * math.log(factor), atol=1e-4)
                    np.testing.assert_allclose(found[2], predicted, rtol=1e-5)
                    again = strict_json(self.read("result.json"))["loss"]["validation"]
                    self.assertAlmostEqual(again / loss, 1, delta=1e-8)

    def test_one_of_many_is_named(self):
        x, y = regression(30)
        self.refused_by_name(x * np.array([1, 1, 1e200, 1]), y, "--x", "raw", names=['column "x2"', "below 1e+75"])
        self.refused_by_name(x * np.array([1, 1e-300, 1, 1]), y, "--x", "raw", names=['column "x1"', "at least 1e-75"])

    def test_other_rows_beyond_the_training_scale(self):
        x, y = regression(30)
        self.write_csv("train.csv", x * 1e-200, y)
        self.write_csv("other.csv", x, y)
        for part in ["--valid", "--test"]:
            self.tune_refused("--train", "train.csv", part, "other.csv", "--target", "y",
                              names=["other.csv", 'column "x0"', "below 1e+75"])
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "y", "--save", "model.json")
        x[4, 2] = 1e200
        self.write_csv("other.csv", x)
        self.refused("predict", "--from", "model.json", "--data", "other.csv",
                     names=["other.csv", "row 5", "not finite", 'column "x2"'])


class Targets(Scales):
    def test_standardised_they_may_have_any_magnitude(self):
        x, y = regression(30)
        for model in ["ridge", "lasso", "elastic-net", "huber"]:
            options = ["--model", model, "--y", "standardize"]
            lambda_, weights, predicted = self.fit(x, y, *options)
            for exponent in [-996, -515, 512, 996]:
                with self.subTest(f"{model}, 2^{exponent}"):
                    found = self.fit(x, y * 2.0 ** exponent, *options)
                    np.testing.assert_array_equal(found[0], lambda_)
                    np.testing.assert_array_equal(found[1], weights)
                    np.testing.assert_array_equal(found[2] / 2.0 ** exponent, predicted)

    def test_as_they_are_they_work_or_are_refused_by_name(self):
        x, y = regression(30)
        predicted = self.fit(x, y)[2]
        for exponent in [-240, 240]:  # beyond, up to 1e150, the wrong minimum was found
            np.testing.assert_array_equal(self.fit(x, y * 2.0 ** exponent)[2] / 2.0 ** exponent, predicted)
        for model in ["ridge", "lasso", "elastic-net", "huber"]:
            for step in ["center", "raw"]:
                for factor, rule in {1e-300: "at least 1e-75", 1e-100: "at least 1e-75", 1e100: "below 1e+75",
                                     1e300: "below 1e+75"}.items():
                    self.refused_by_name(x, y * factor, "--model", model, "--y", step,
                                         names=['target "y"', rule, "--y standardize"])
        x, y = counts(30)
        for factor in [1e-200, 1e200]:
            self.refused_by_name(x, y * factor, "--model", "poisson", names=['target "y"', "magnitude", "1e"])

    def test_labels_may_be_any_numbers(self):
        x, y = classification(30)
        expected = self.fit(x, y, "--model", "logistic")
        for labels in [(1e-300, 1e300), (-1e300, -1e-300)]:
            found = self.fit(x, np.where(y > 0, labels[1], labels[0]), "--model", "logistic")
            np.testing.assert_array_equal(found[1], expected[1])


class Weights(Scales):
    def test_only_their_ratio_matters(self):
        x, y = regression(30)
        weight = 1.0 + np.arange(30) % 3

        def weights(factor):
            self.write_csv("data.csv", np.column_stack([x, weight * factor]), y, names=["a", "b", "c", "d", "w"])
            return self.model("--train", "data.csv", "--target", "y", "--weights", "w")["weights"]

        expected = weights(1.0)
        for exponent in [-1020, -996, 996, 1020]:
            self.assertEqual(weights(2.0 ** exponent), expected)

    def test_so_it_is_with_those_of_classes(self):
        x, y = classification(30)
        self.write_csv("data.csv", x, y)

        def weights(text):
            return self.model("--train", "data.csv", "--target", "y", "--model", "logistic", "--class-weights", text)["weights"]

        np.testing.assert_allclose(weights("0=1e300,1=3e300"), weights("0=1,1=3"), rtol=1e-8)
        np.testing.assert_allclose(weights("0=1e-300,1=3e-300"), weights("0=1,1=3"), rtol=1e-8)


if __name__ == "__main__":
    unittest.main()
