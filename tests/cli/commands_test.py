"""The other commands: help, version, methods, check-grad, data export."""
import re
import unittest

import numpy as np

from yosida_cli import Cli, classification, regression, without_seconds


class Help(Cli):
    def test_version(self):
        self.assertRegex(self.yosida("--version").stdout, r"^\d+\.\d+\.\d+\n$")

    def test_every_command_has_an_example_of_its_own(self):
        commands = [["tune"], ["predict"], ["methods"], ["check-grad"], ["data"], ["data", "export"],
                    ["study"], ["study", "list"], ["study", "show"], ["study", "export"], ["study", "prune"]]
        overview = self.yosida("--help").stdout
        for command in commands:
            with self.subTest(command):
                self.assertIn(command[0], overview)
                text = self.yosida(*command, "--help").stdout
                self.assertIn("Usage:", text)
                self.assertRegex(text, r"Examples?:\n(.*\n)*  yosida " + " ".join(command))

    def test_no_command(self):
        self.assertIn("Example", self.yosida("--help").stdout)

    def test_tune_help_has_every_flag_and_exit_code(self):
        text = " ".join(self.yosida("tune", "--help").stdout.split())
        for flag in ["train", "valid", "test", "target", "train-target", "valid-target", "test-target", "data",
                     "valid-fraction", "test-fraction", "missing", "dense", "float", "seed", "model", "x", "y", "intercept",
                     "no-intercept", "method", "budget-gradients", "max-iterations", "time-limit", "lambda0", "bounds",
                     "oracle", "refit", "threads", "quiet", "json", "trace", "save"]:
            self.assertRegex(text, rf"--{flag}\b")
        for code in ["0 a result", "2 bad input", "3 diverged", "4 "]:
            self.assertIn(code, text)


class Methods(Cli):
    settings = {
        "my-hpo-bt": ["alpha", "beta", "delta", "rho", "epsilon", "w-gradient"],
        "my-hpo-c": ["alpha", "beta", "delta", "rho", "epsilon", "w-gradient"],
        "my-hpo": ["tolerance", "scan-tolerance", "spacing", "epsilon"],
        "my-hpo-full": ["rho", "epsilon", "response"],
        "my-hpo-1": ["rho", "epsilon", "tolerance", "reach"],
        "sho": ["alpha", "beta", "sigma", "phi-scale", "lambda-optimizer"],
        "sho-code": ["alpha", "beta", "sigma", "phi-scale", "lambda-optimizer"],
    }

    def test_list(self):
        text = self.yosida("methods").stdout
        for method in self.settings:
            self.assertRegex(text, rf"(?m)^{method} +\S")
        self.assertRegex(text, r"(?m)^my-hpo .*\(the default\)$")

    def test_every_setting_has_a_default_a_meaning_a_rule_and_an_origin(self):
        for method, names in self.settings.items():
            with self.subTest(method):
                text = self.yosida("methods", method).stdout
                self.assertIn("lambda", text)
                self.assertIn("iterations", text)
                found = re.findall(r"(?m)^  --(\S+) \S+\n +\S.*\n +must be \S.*; default from: \S", text)
                self.assertEqual(found, names)

    def test_every_setting_is_a_flag_of_tune_shown_with_its_method(self):
        for method, names in self.settings.items():
            text = self.yosida("tune", "--help-method", method).stdout
            for name in names:
                with self.subTest(method=method, setting=name):
                    self.assertIn(f"--{name} ", text)
                    self.assertNotIn("not expected", self.yosida("tune", f"--{name}", code=2).stderr)


class CheckGrad(Cli):
    def test_every_kind_of_problem(self):
        for model, make in [("ridge", regression), ("logistic", classification)]:
            x, y = make(40)
            x[np.abs(x) < 0.5] = 0
            self.write_csv("dense.csv", x, y)
            self.write_libsvm("sparse.libsvm", x, y)
            for data in [["dense.csv", "--target", "y"], ["sparse.libsvm"]]:
                for intercept in ["--intercept", "--no-intercept"]:
                    with self.subTest(f"{model} {data} {intercept}"):
                        text = self.yosida("check-grad", "--train", *data, "--model", model, intercept).stdout
                        for name in ["train_gradient", "hessian_product", "cross_product", "validation_gradient"]:
                            self.assertRegex(text, rf"{name} .* ok")
                        self.assertNotIn("WRONG", text)
                        errors = [float(error) for error in re.findall(r"(\d\.\d+e-\d+)  ok", text)]
                        self.assertGreater(len(errors), 5)
                        self.assertTrue(all(0 < error <= 1e-6 for error in errors), errors)

    def test_built_in_data_and_other_places(self):
        for lambda_ in [-8, 0, 3]:
            self.yosida("check-grad", "--data", "spectra", f"--lambda={lambda_}")

    def test_says_that_sparse_features_are_not_centred(self):
        self.write_libsvm("sparse.libsvm", *regression(40))
        self.assertIn("without centring", self.yosida("check-grad", "--train", "sparse.libsvm").stdout)


class Data(Cli):
    def test_export_is_what_tune_uses(self):
        self.yosida("data", "export", "spectra", "--seed", 3, "--out", "made/spectra")
        files = [f"made/spectra/{part}.csv" for part in ["train", "valid", "test"]]
        for file, rows in zip(files, [34, 17, 19]):
            self.assertEqual(len(self.read_table(file)), rows)
        given = [word for flag, file in zip(["--train", "--valid", "--test"], files) for word in (flag, file)]
        self.assertEqual(without_seconds(self.tune(*given, "--target", "fat")),
                         without_seconds(self.tune("--data", "spectra", "--seed", 3)))

    def test_export_to_nowhere(self):
        self.write("file", "")
        self.refused("data", "export", "spectra", "--out", "file/folder", names=["--out", "file/folder"])


if __name__ == "__main__":
    unittest.main()
