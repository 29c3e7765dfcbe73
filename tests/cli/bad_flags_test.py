"""Bad flags: exit code 2 and a message with flag, value and rule; earlier results stay as they are."""
import re
import subprocess
import unittest

from yosida_cli import BINARY, Cli, regression

SPECTRA = ["--data", "spectra"]


def given(flag, value):
    """The words of a flag: in one, as a value may start with a minus; in two where it is empty."""
    return [f"{flag}={value}"] if value else [flag, value]


class Settings(Cli):
    """Every setting of every method, as `yosida methods` tells of them."""

    def setUp(self):
        super().setUp()
        self.small = ["--train", self.write_csv("small.csv", *regression(20)), "--target", "y"]

    def methods(self):
        names = re.findall(r"^(\S+)  +\S", self.yosida("methods").stdout, re.MULTILINE)
        self.assertIn("my-hpo-bt", names)
        return names

    def settings(self, method):
        """Flag, default and rule of each."""
        text = self.yosida("methods", method).stdout
        found = re.findall(r"^  (--\S+) (\S+)\n.*\n +must be ([^;]+);", text, re.MULTILINE)
        self.assertEqual(len(found), text.count("  --"), text)
        return found

    def test_defaults_are_what_runs_without_them(self):
        for method in self.methods():
            with self.subTest(method):
                flags = [word for flag, default, _ in self.settings(method) for word in (flag, default)]
                options = [*self.small, "--method", method, "--max-iterations", 2]
                self.assertEqual(self.tune(*options, *flags)["loss"], self.tune(*options)["loss"])

    def test_values_outside_the_rule(self):
        numbers = ["nan", "inf", "-1e-300", "1,5"]
        tried = set()  # the rules: every value of one is tried once, and one value with every setting
        for method in self.methods():
            for flag, _, rule in self.settings(method):
                bad = {"a finite number > 0": [*numbers, "0"], "a finite number >= 0": numbers,
                       "a finite number >= 1": [*numbers, "0.9"], "a number > 0 and < 1": [*numbers, "0", "1"],
                       "a whole number >= 1": [*numbers, "0", "1.5"]}.get(rule, ["neither"])
                for value in bad if rule not in tried else bad[-1:]:
                    with self.subTest(f"{method} {flag}={value}"):
                        message = self.tune_refused(*self.small, "--method", method, *given(flag, value),
                                                    names=[method, value, f"must be {rule}"])
                        self.assertIn(flag[2:], message.replace("_", "-"))
                tried.add(rule)

    def test_values_on_the_bound(self):
        for method in self.methods():
            # All settings of a method at once: what is refused is named, and a run of them must end.
            at_bound = {"a finite number > 0": "1e-300", "a finite number >= 0": "0", "a finite number >= 1": "1",
                        "a number > 0 and < 1": "0.999", "a whole number >= 1": "1"}
            def value(rule):
                lowest = re.match(r"a whole number from (\d+) to", rule)
                return lowest[1] if lowest else at_bound.get(rule, rule.split(" or ")[-1])
            flags = [f"{flag}={value(rule)}" for flag, _, rule in self.settings(method)
                     if flag != "--spacing"]  # of a scan, which would hold as many points as there is memory for
            with self.subTest(f"{method} {flags}"):
                self.tune(*self.small, "--method", method, *flags, "--max-iterations", 2, "--time-limit", 5, code=[0, 3])

    def test_empty_values(self):
        for flag in ["--alpha", "--x", "--method", "--json", "--lambda0"]:
            with self.subTest(flag):
                self.tune_refused(*SPECTRA, *given(flag, ""), names=[flag, "empty"])

    def test_a_setting_of_another_method(self):
        self.tune_refused(*SPECTRA, "--sigma", 1, names=["my-hpo", "sigma", "yosida methods my-hpo"])
        self.tune_refused(*SPECTRA, "--method", "my-hpo-full", "--alpha", 1, names=["my-hpo-full", "alpha"])

    def test_unknown_method(self):
        for method, near in [("my-hpo-cc", "my-hpo-c"), ("myhpo-bt", "my-hpo-bt"), ("SHO", "sho"),
                             ("sho_code", "sho-code")]:
            with self.subTest(method):
                self.tune_refused(*SPECTRA, "--method", method, names=[method, f"did you mean {near}?"])
                self.refused("methods", method, names=[method, f"did you mean {near}?"])
        self.tune_refused(*SPECTRA, "--method", "gradient-free-optimiser", names=["gradient-free", "yosida methods"])


class Values(Cli):
    def setUp(self):
        super().setUp()
        self.write_csv("data.csv", *regression(20))

    def test_counts(self):
        for flag in ["--budget-gradients", "--max-iterations", "--threads", "--trace-every"]:
            for value in ["0", "-1", "1.5", "nan", "inf", "many", ""]:
                with self.subTest(f"{flag}={value}"):
                    self.tune_refused(*SPECTRA, *given(flag, value), names=[flag[2:], value])

    def test_most_memory_and_decimal_marks(self):
        told = self.tune_refused("--train", "data.csv", "--target", "y", "--max-memory", 0, names=["--max-memory", "at least a byte"])
        self.assertLess(len(told), 120)
        self.tune_refused("--train", "data.csv", "--target", "y", "--decimal", ";", names=["--decimal", "; must be . or ,"])

    def test_seeds(self):
        for value in ["-1", "1.5", "nan", "chance"]:
            with self.subTest(value):
                self.tune_refused(*SPECTRA, f"--seed={value}", names=["seed", value])

    def test_time_limit(self):
        for value in ["0", "-1", "nan", "inf", "-inf", "soon"]:
            with self.subTest(value):
                self.tune_refused(*SPECTRA, f"--time-limit={value}", names=["time-limit", value])

    def test_fractions(self):
        for flag, zero_is_bad in [("--valid-fraction", True), ("--test-fraction", False)]:
            for value in ["-0.1", "1", "2", "nan", "inf", "half", *(["0"] if zero_is_bad else [])]:
                with self.subTest(f"{flag}={value}"):
                    self.tune_refused("--train", "data.csv", "--target", "y", f"{flag}={value}",
                                      names=["fraction", value])

    def test_lambda0(self):
        for value in ["nan", "inf", "-inf", "low"]:
            with self.subTest(value):
                self.tune_refused(*SPECTRA, f"--lambda0={value}", names=["lambda0", value])
        for method in ["my-hpo-bt", "my-hpo-c", "my-hpo-full"]:
            with self.subTest(method):
                self.tune_refused(*SPECTRA, "--method", method, "--lambda0", 0, names=["lambda0 = 0", method])
        self.tune(*SPECTRA, "--method", "sho", "--lambda0", 0)

    def test_bounds(self):
        for value in ["1", "1,", ",1", "2,1", "1,1", "nan,1", "0,inf", "-inf,0", "1,2,3", "low,high", "1;2"]:
            with self.subTest(value):
                self.tune_refused(*SPECTRA, f"--bounds={value}", names=["bounds", value])
        self.tune_refused(*SPECTRA, "--bounds=-3,-2", "--lambda0=-1", names=["lambda0 = -1", "-3,-2"])
        result = self.tune(*SPECTRA, "--bounds=-3,-2", "--max-iterations", 5)  # the method's own start moves inside
        self.assertTrue(-3 <= result["lambda"][0] <= -2)

    def test_choices(self):
        for flag, value, names in [("--x", "whiten", ["raw, center, standardize, minmax, difference"]),
                                   ("--x", "center,", ["raw, center"]),
                                   ("--y", "minmax", ["raw, center, standardize"]),
                                   ("--model", "forest", ["ridge, lasso, elastic-net, logistic, softmax, svm, huber or poisson"]), ("--data", "spectre", ["spectra"]),
                                   ("--missing", "guess", ["refuse, mean or drop"])]:
            with self.subTest(f"{flag}={value}"):
                data = SPECTRA if flag != "--data" else []
                self.tune_refused(*data, *given(flag, value), names=[flag[2:], value, *names])

    def test_differences_of_one_column(self):
        self.write_csv("thin.csv", *regression(20, columns=1))
        self.tune_refused("--train", "thin.csv", "--target", "y", "--x", "difference",
                          names=["thin.csv", "difference", "2"])

    def test_check_grad_lambda(self):
        for value in ["nan", "inf", "low"]:
            with self.subTest(value):
                self.refused("check-grad", *SPECTRA, f"--lambda={value}", names=["lambda", value])


class Nonsense(Cli):
    def test_unknown_flags(self):
        self.tune_refused(*SPECTRA, "--frobnicate", names=["--frobnicate"])
        self.tune_refused(*SPECTRA, "--max-iteration", 5, names=["--max-iteration"])
        self.refused("predict", "--from", "m.json", "--data", "d.csv", "--frobnicate", names=["--frobnicate"])

    def test_unknown_words(self):
        self.tune_refused(*SPECTRA, "word", names=["word"])
        self.refused("tnue", names=["tnue"])
        self.refused("data", "exprot", names=["exprot"])

    def test_nothing(self):
        self.refused(names=["--help"])
        self.refused("tune", names=["--train", "--data"])
        self.refused("predict", names=["--from"])
        self.refused("predict", "--from", "model.json", names=["--data"])
        self.refused("check-grad", names=["--train", "--data"])
        self.refused("data", names=["subcommand"])
        self.refused("data", "export", "spectra", names=["--out"])

    def test_a_flag_without_its_value(self):
        self.refused("tune", *SPECTRA, "--alpha", names=["--alpha: needs a value"])

    def test_a_flag_twice(self):
        self.tune_refused(*SPECTRA, "--alpha", 0.1, "--alpha", 0.2, names=["--alpha: may be given once"])
        self.tune_refused(*SPECTRA, "--seed", 1, "--seed", 2, names=["--seed"])

    def test_unknown_built_in_data(self):
        self.refused("data", "export", "spectre", "--out", "out", names=["spectre", "spectra"])


class Conflicts(Cli):
    def setUp(self):
        super().setUp()
        x, y = regression(20)
        self.write_csv("a.csv", x, y)
        self.write_npy("x.npy", x)
        self.write_npy("y.npy", y)

    def test_flags_that_do_not_go_together(self):
        a = ["--train", "a.csv", "--target", "y"]
        apart = ["--train", "x.npy", "--train-target", "y.npy"]
        for flags, names in [
                ([*a, *SPECTRA], ["--train", "--data"]),
                ([*SPECTRA, "--valid", "a.csv"], ["--valid", "--data"]),
                ([*SPECTRA, "--test", "a.csv"], ["--test", "--data"]),
                ([*SPECTRA, "--target", "y"], ["--target", "--data"]),
                ([*SPECTRA, "--train-target", "y.npy"], ["--train-target", "--data"]),
                ([*SPECTRA, "--valid-fraction", 0.5], ["--valid-fraction", "--data"]),
                ([*SPECTRA, "--test-fraction", 0.5], ["--test-fraction", "--data"]),
                ([*a, "--valid", "a.csv", "--valid-fraction", 0.5], ["--valid-fraction", "--valid"]),
                ([*a, "--test", "a.csv", "--test-fraction", 0.5], ["--test-fraction", "--test"]),
                ([*a, "--valid", "a.csv", "--test-fraction", 0.5], ["--test-fraction"]),
                ([*a, "--train-target", "y.npy"], ["--train-target", "--target"]),
                ([*a, "--valid-target", "y.npy"], ["--valid-target", "--valid"]),
                ([*a, "--test-target", "y.npy"], ["--test-target", "--test"]),
                ([*apart, "--valid", "x.npy"], ["--valid-target", "--train-target"]),
                ([*apart, "--test", "x.npy"], ["--test-target", "--train-target"]),
                ([*a, "--intercept", "--no-intercept"], ["--intercept", "--no-intercept"]),
                ([*a, "--model", "logistic", "--y", "raw"], ["--y", "ridge"])]:
            with self.subTest(flags):
                self.tune_refused(*flags, names=names)

    def test_outputs_that_would_overwrite_each_other(self):
        for flags in [["--json", "out", "--trace", "out"], ["--json", "out", "--save", "./out"],
                      ["--json", "-", "--save", "-"]]:
            with self.subTest(flags):
                self.refused("tune", *SPECTRA, *flags, names=flags[::2])

    def test_outputs_over_the_data(self):
        self.refused("tune", "--train", "a.csv", "--target", "y", "--trace", "a.csv", names=["--trace", "a.csv"])

    def test_outputs_on_stdout_stand_alone(self):
        for flag in ["--trace", "--save"]:
            with self.subTest(flag):
                quiet = self.yosida("tune", *SPECTRA, "--quiet", "--max-iterations", 3, flag, "out").stdout
                self.assertEqual(quiet, "")
                lines = self.yosida("tune", *SPECTRA, "--max-iterations", 3, flag, "-").stdout.splitlines()
                self.assertEqual(len(lines), len(self.read("out").splitlines()))


class Outputs(Cli):
    def test_paths_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        self.write("file", "")
        for flag in ["--json", "--trace", "--save"]:
            for path, rule in [("none/out", "does not exist"), ("folder", "directory"), ("file/out", "")]:
                with self.subTest(f"{flag} {path}"):
                    self.refused("tune", *SPECTRA, flag, path, names=[flag, path, rule])

    def test_a_working_folder_that_is_gone(self):
        train = self.folder / "train.csv"
        self.write_csv("train.csv", *regression(20))
        gone = self.folder / "gone"
        script = f"cd {gone} && rmdir {gone} && exec {BINARY} tune --train {train} --target y --save"
        for path, code in [("m.json", 2), (str(self.folder / "m.json"), 0)]:
            with self.subTest(path):
                gone.mkdir()
                done = subprocess.run(["sh", "-c", f"{script} {path}"], capture_output=True, encoding="utf-8", timeout=60)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual("working folder" in done.stderr, code == 2, done.stderr)

    def test_they_are_checked_before_the_data_is_read(self):
        self.refused("tune", "--train", "none.csv", "--target", "y", "--json", "none/out", names=["none/out"])


if __name__ == "__main__":
    unittest.main()
