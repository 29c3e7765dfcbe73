"""yosida tune: the result, its numbers, the limits, the files it writes, its exit codes."""
import math
import time
import unittest

import numpy as np

from yosida_cli import (Cli, classification, margins, predictions, regression, ridge_weights, strict_json,
                        without_seconds)

METHODS = ["my-hpo", "my-hpo-bt", "my-hpo-c", "my-hpo-full", "sho", "sho-code"]
PARTS = ["train", "validation", "test"]
RESIDUALS = ["my-hpo-bt", "my-hpo-c", "my-hpo-full"]  # the methods that have them


class TuneCase(Cli):
    def setUp(self):
        super().setUp()
        self.parts = {part: regression(rows, seed=seed) for seed, (part, rows) in
                      enumerate({"train": 60, "validation": 30, "test": 40}.items())}
        for part, (x, y) in self.parts.items():
            self.write_csv(f"{part}.csv", x, y)
        self.files_given = ["--train", "train.csv", "--valid", "validation.csv", "--target", "y"]
        self.with_test = [*self.files_given, "--test", "test.csv"]

    def write_classes(self, **options):
        """The same three files for a classification; gives their x and y by part."""
        parts = {part: classification(rows, seed=seed, **options) for seed, (part, rows) in
                 enumerate({"train": 60, "validation": 30, "test": 40}.items())}
        for part, (x, y) in parts.items():
            self.write_csv(f"{part}.csv", x, y)
        return parts


class Schema(TuneCase):
    def assert_numbers(self, values, names, null=()):
        self.assertEqual(list(values), names)
        for name, value in values.items():
            if name in null:
                self.assertIsNone(value, name)
            else:
                self.assertIsInstance(value, (int, float), name)
                self.assertTrue(math.isfinite(value), name)

    def assert_result(self, result, model="ridge", test=True, oracle=False, refit=False, residuals=False):
        metrics = {"ridge": ["scaled_loss", "r_squared", "rmse", "mae", "deviance_explained"],
                   "logistic": ["accuracy", "balanced_accuracy", "f1", "precision", "recall", "area_under_roc", "log_loss",
                                "deviance_explained"]}[model]
        equivalents = {"ridge": ["sklearn_ridge_alpha", "glmnet_lambda"],
                       "logistic": ["sklearn_logistic_C", "glmnet_lambda"]}[model]
        self.assertEqual(set(result), {
            "schema", "yosida", "method", "model", "status", "message", "lambda", "lambda_names", "equivalents", "loss", *metrics,
            "work", "residuals", "iterations", "best_iteration", "skipped_steps", "inexact_solves", "failed_trials", "seconds",
            "wall_seconds", "final", "certificate", "data",
            *(["oracle"] if oracle else []), *(["refit"] if refit else [])})
        self.assertEqual(result["schema"], 1)
        self.assertEqual(result["model"], model)
        for name in ["method", "model", "status", "message"]:
            self.assertIsInstance(result[name], str)
            self.assertNotEqual(result[name], "")
        for name in ["iterations", "best_iteration", "skipped_steps", "failed_trials"]:
            self.assertIsInstance(result[name], int)
        self.assert_numbers(result["equivalents"], equivalents)
        null = () if test else ("test",)
        for report in [result, result["final"], *([result["refit"]] if refit else [])]:
            for name in ["loss", *metrics]:
                self.assert_numbers(report[name], PARTS, null)
        for solution in [result, result["final"]]:
            self.assertEqual(len(solution["lambda"]), 1)
            self.assertTrue(math.isfinite(solution["lambda"][0]))
        work = ["train_gradients", "validation_gradients", "hessian_products", "loss_evaluations", "inner_solves",
                "paper_count", "gradient_equivalents"]
        self.assert_numbers(result["work"], work)
        for name in work[:-1]:
            self.assertIsInstance(result["work"][name], int)
        self.assert_numbers(result["residuals"], ["primal", "dual"], () if residuals else ("primal", "dual"))
        self.assertGreaterEqual(result["seconds"], 0)
        self.assertGreaterEqual(result["wall_seconds"], result["seconds"])
        self.assertEqual(result["lambda_names"], ["shared"])
        self.assert_certificate(result["certificate"], oracle)
        if oracle:
            gaps = {name: result["oracle"][name] for name in ["lambda", "validation", "gap", "lambda_gap"]}
            self.assert_numbers(gaps, list(gaps))
            self.assertEqual(set(result["oracle"]), {*gaps, "bounds"})

    def assert_certificate(self, certificate, oracle):
        numbers = ["inner_gradient", "hypergradient", "hypergradient_error", "gap", "lambda_gap"]
        self.assert_numbers({name: certificate[name] for name in numbers}, numbers,
                            () if oracle else ("gap", "lambda_gap"))
        self.assertEqual(set(certificate), {*numbers, "verdict", "reason"})
        self.assertIn(certificate["verdict"], ["certified", "certified at a bound", "not certified"])
        self.assertNotEqual(certificate["reason"], "")

    def test_ridge(self):
        for method in METHODS:
            with self.subTest(method):
                result = self.tune(*self.with_test, "--method", method)
                self.assert_result(result, residuals=method in RESIDUALS)
                self.assertEqual(result["method"], method)

    def test_logistic(self):
        self.write_classes()
        for method in METHODS:
            with self.subTest(method):
                result = self.tune(*self.with_test, "--model", "logistic", "--method", method, "--max-iterations", 50)
                self.assert_result(result, "logistic", residuals=method in RESIDUALS)

    def test_without_test_rows(self):
        self.assert_result(self.tune(*self.files_given), test=False)

    def test_oracle_and_refit(self):
        result = self.tune(*self.with_test, "--oracle", "--refit")
        self.assert_result(result, oracle=True, refit=True)
        self.write_classes()
        result = self.tune(*self.with_test, "--oracle", "--refit", "--model", "logistic")
        self.assert_result(result, "logistic", oracle=True, refit=True)

    def test_built_in_data(self):
        result = self.tune("--data", "spectra")
        self.assert_result(result)
        data = result["data"]
        self.assertEqual([data[f"{part}_rows"] for part in PARTS], [34, 17, 19])
        self.assertEqual(data["features"], 699)
        self.assertGreater(result["r_squared"]["test"], 0.9)

    def test_liblinear_equivalent_stands_where_there_is_no_intercept(self):
        self.write_classes()
        result = self.tune(*self.files_given, "--model", "logistic", "--no-intercept")
        self.assertEqual(result["equivalents"]["liblinear_c"], result["equivalents"]["sklearn_logistic_C"])


class Numbers(TuneCase):
    def test_the_result_is_the_best_iterate_and_final_the_last(self):
        for method in METHODS:
            with self.subTest(method):
                result = self.tune(*self.with_test, "--method", method, "--trace", "trace.csv")
                trace = self.read_table("trace.csv")
                best = min(trace, key=lambda point: float(point["validation"]))
                self.assertEqual(int(best["iteration"]), result["best_iteration"])
                for point, solution in [(best, result), (trace[-1], result["final"])]:
                    self.assertEqual(float(point["lambda"]), solution["lambda"][0])
                    for part in PARTS:
                        self.assertAlmostEqual(float(point[part]), solution["loss"][part], delta=1e-9)
                self.assertEqual(result["final"]["iteration"], result["iterations"])

    def test_losses_are_those_of_the_saved_model(self):
        for y_mode in ["raw", "center", "standardize"]:
            with self.subTest(y_mode):
                result = self.tune(*self.with_test, "--y", y_mode, "--save", "model.json")
                model = strict_json(self.read("model.json"))
                for part, (x, y) in self.parts.items():
                    half_square = np.mean((y - predictions(model, x)) ** 2) / 2
                    treated = half_square / model["pretreatment"]["y"]["scale"] ** 2
                    self.assertAlmostEqual(result["loss"][part], treated, delta=1e-9 * treated)
                    self.assertAlmostEqual(result["scaled_loss"][part], half_square / np.var(y), delta=1e-9)
                    self.assertAlmostEqual(result["r_squared"][part], 1 - 2 * half_square / np.var(y), delta=1e-9)

    def test_logistic_loss_accuracy_and_roc_area(self):
        parts = self.write_classes(labels=(3, 7))
        result = self.tune(*self.with_test, "--model", "logistic", "--save", "model.json")
        model = strict_json(self.read("model.json"))
        for part, (x, y) in parts.items():
            m = margins(model, x)
            self.assertAlmostEqual(result["loss"][part], np.mean(np.log1p(np.exp(np.where(y == 7, -m, m)))), delta=1e-9)
            self.assertAlmostEqual(result["accuracy"][part], np.mean((m >= 0) == (y == 7)), delta=1e-12)
            pairs = m[y == 7][:, None] - m[y == 3][None, :]
            self.assertAlmostEqual(result["area_under_roc"][part], np.mean(pairs > 0), delta=1e-12)

    def test_equivalents(self):
        y = self.parts["train"][1]
        result = self.tune(*self.files_given)
        penalty = 2 * math.exp(result["lambda"][0])
        self.assertAlmostEqual(result["equivalents"]["sklearn_ridge_alpha"], len(y) * penalty, delta=1e-9 * penalty)
        self.assertAlmostEqual(result["equivalents"]["glmnet_lambda"], penalty * np.std(y), delta=1e-9 * penalty)

    def test_work_adds_up(self):
        for method in METHODS:
            with self.subTest(method):
                work = self.tune(*self.files_given, "--method", method, "--max-iterations", 20)["work"]
                gradients = work["train_gradients"] + work["validation_gradients"] + work["hessian_products"]
                self.assertEqual(work["paper_count"], gradients)
                self.assertGreaterEqual(work["gradient_equivalents"], gradients + work["loss_evaluations"] / 2)

    def test_explain_prints_expected_and_real_seconds_of_each_form(self):
        printed = self.yosida("tune", *self.files_given, "--explain").stdout
        lines = printed[printed.index("form "):].splitlines()
        self.assertEqual(lines[0].split(), ["form", "expected", "s", "real", "s"])
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["factors", "direct"])
        for line in lines[1:3]:
            self.assertTrue(all(float(number) > 0 for number in line.split()[1:3]), line)

    def test_oracle_is_the_best_of_a_grid(self):
        low, high = -12, 4
        result = self.tune(*self.files_given, "--x", "center", "--oracle", "--bounds", f"{low},{high}")
        (x, y), (x_valid, y_valid) = self.parts["train"], self.parts["validation"]

        def validation(lambda_):
            w, b = ridge_weights(x, y, math.exp(lambda_))
            return np.mean((y_valid - x_valid @ w - b) ** 2) / 2

        oracle = result["oracle"]
        self.assertEqual(oracle["bounds"], [low, high])
        self.assertTrue(low <= oracle["lambda"] <= high)
        self.assertAlmostEqual(oracle["validation"], validation(oracle["lambda"]), delta=1e-9)
        self.assertLessEqual(oracle["validation"], min(map(validation, np.linspace(low, high, 500))) + 1e-12)
        self.assertAlmostEqual(oracle["gap"], result["loss"]["validation"] / oracle["validation"] - 1, delta=1e-9)
        self.assertAlmostEqual(oracle["lambda_gap"], validation(result["lambda"][0]) / oracle["validation"] - 1,
                               delta=1e-9)

    def test_refit_trains_lambda_on_training_and_validation_rows(self):
        result = self.tune(*self.with_test, "--refit", "--save", "model.json")
        model = strict_json(self.read("model.json"))
        self.assertEqual(model["lambda"], result["lambda"])
        x, y = (np.concatenate(both) for both in zip(self.parts["train"], self.parts["validation"]))
        step, = model["pretreatment"]["x"]
        np.testing.assert_allclose(step["shift"], self.parts["train"][0].mean(axis=0))  # of the training rows still
        w, _ = ridge_weights((x - step["shift"]) / step["scale"], y, math.exp(result["lambda"][0]))
        np.testing.assert_allclose(model["weights"], w, rtol=1e-7, atol=1e-9)
        x_test, y_test = self.parts["test"]
        self.assertAlmostEqual(result["refit"]["loss"]["test"], np.mean((y_test - predictions(model, x_test)) ** 2) / 2,
                               delta=1e-9)

    def test_lambda_stays_inside_bounds(self):
        for method in METHODS:
            with self.subTest(method):
                self.yosida("tune", *self.files_given, "--method", method, "--bounds=-1.2,-0.8", "--lambda0", -1,
                            "--trace", "trace.csv")
                for point in self.read_table("trace.csv"):
                    self.assertTrue(-1.2 <= float(point["lambda"]) <= -0.8, point["lambda"])

    def test_lambda0_is_the_start(self):
        self.yosida("tune", *self.files_given, "--lambda0", -2.5, "--trace", "trace.csv")
        self.assertEqual(float(self.read_table("trace.csv")[0]["lambda"]), -2.5)

    def test_no_intercept(self):
        model = self.model(*self.files_given, "--no-intercept", "--y", "raw", "--x", "raw")
        self.assertEqual(model["intercept"], 0)
        self.assertNotEqual(self.model(*self.files_given, "--intercept")["intercept"], None)

    def test_a_constant_column_is_divided_by_1(self):
        x, y = self.parts["train"]
        x = np.column_stack([x, np.full(len(y), 0.1)])
        self.write_csv("constant.csv", x, y)
        for mode in ["standardize", "minmax", "difference,minmax"]:
            with self.subTest(mode):
                model = self.model("--train", "constant.csv", "--target", "y", "--x", mode)
                if mode != "difference,minmax":
                    self.assertEqual(model["pretreatment"]["x"][-1]["scale"][-1], 1)
                self.assertTrue(np.all(np.isfinite(predictions(model, x))))


class Limits(TuneCase):
    def test_budget_of_gradients_is_held(self):
        self.write_classes()
        for model in ["logistic", "ridge"]:
            for method in METHODS:
                for budget in [1, 7, 100]:
                    with self.subTest(f"{model} {method} {budget}"):
                        endless = [] if method.startswith("sho") else ["--epsilon", 0]
                        result = self.tune(*self.files_given, "--model", model, "--method", method, *endless,
                                           "--budget-gradients", budget)
                        # A closed form needs no gradient but those of the first and of the last weights.
                        enough = method == "my-hpo" and (budget == 100 or model == "ridge")
                        self.assertIn(result["status"], ["work_limit", "converged"] if enough else ["work_limit"])
                        self.assertLessEqual(result["work"]["paper_count"], budget)
                        if not enough:
                            self.assertIn(str(budget), result["message"])

    def test_iterations(self):
        for method in METHODS:
            with self.subTest(method):
                most = 1 if method == "my-hpo" else 3  # the scan of a closed form is one
                result = self.tune(*self.files_given, "--method", method, "--max-iterations", most)
                self.assertEqual((result["status"], result["iterations"]), ("iteration_limit", most))

    def test_time(self):
        begin = time.monotonic()
        result = self.tune(*self.files_given, "--method", "sho", "--time-limit", 0.2)
        self.assertEqual(result["status"], "time_limit")
        # Of the method itself: the limit is on the clock, which watching keeps running.
        self.assertTrue(0.1 <= result["seconds"] < 5, result["seconds"])
        self.assertLess(time.monotonic() - begin, 10)

    def test_convergence(self):
        result = self.tune(*self.files_given, "--method", "my-hpo-full", "--epsilon", 1e-2, "--max-iterations", 10000)
        self.assertEqual(result["status"], "converged")
        self.assertLess(result["iterations"], 10000)

    def test_epsilon_0_never_converges(self):
        for method in ["my-hpo-bt", "my-hpo-full"]:
            with self.subTest(method):
                result = self.tune(*self.files_given, "--method", method, "--epsilon", 0, "--max-iterations", 20000)
                self.assertEqual(result["status"], "iteration_limit")

    def test_one_column_is_said_to_leave_lambda_where_it_was(self):
        self.write_csv("thin.csv", *regression(40, columns=1))
        for method in ["my-hpo-bt", "my-hpo-c", "my-hpo-full"]:
            with self.subTest(method):
                result = self.tune("--train", "thin.csv", "--target", "y", "--method", method)
                self.assertEqual(result["lambda"], [-1])
                self.assertIn("lambda could not move", result["message"])

    def test_the_first_limit_met_ends_the_run(self):
        result = self.tune(*self.files_given, "--method", "my-hpo-bt", "--epsilon", 0, "--max-iterations", 5,
                           "--budget-gradients", 1000, "--time-limit", 60)
        self.assertEqual((result["status"], result["iterations"]), ("iteration_limit", 5))


class Output(TuneCase):
    def test_text_says_what_was_found(self):
        text = self.yosida("tune", *self.with_test, "--oracle").stdout
        result = self.tune(*self.with_test, "--oracle")
        for part in ["lambda", "sklearn_ridge_alpha", "glmnet_lambda", "validation", "R²", "gradient comp",
                     "oracle", result["status"], result["message"], f"{result['lambda'][0]:.6g}",
                     f"{result['loss']['test']:.6g}", "60 training", "30 validation", "40 test"]:
            self.assertIn(part, text)

    def test_text_of_a_classification(self):
        self.write_classes()
        text = self.yosida("tune", *self.with_test, "--model", "logistic").stdout
        for part in ["accuracy", "ROC", "sklearn_logistic_C"]:
            self.assertIn(part, text)

    def test_json_on_stdout_stands_alone(self):
        done = self.yosida("tune", *self.files_given, "--json", "-")
        self.assertEqual(strict_json(done.stdout)["method"], "my-hpo")
        self.assertIn("lambda", done.stderr)  # what a person reads goes there instead

    def test_json_file_is_what_stdout_would_have_got(self):
        self.yosida("tune", *self.files_given, "--json", "out.json")
        self.assertEqual(without_seconds(strict_json(self.read("out.json"))),
                         without_seconds(self.tune(*self.files_given)))

    def test_quiet_prints_nothing(self):
        done = self.yosida("tune", *self.files_given, "--quiet", "--json", "out.json", "--save", "model.json")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_no_progress_line_in_a_pipe(self):
        self.assertEqual(self.yosida("tune", *self.files_given).stderr, "")

    def test_trace(self):
        for options in [["--method", "my-hpo-bt"], ["--method", "my-hpo-bt", "--trace-every", 7], ["--method", "sho"],
                        ["--method", "my-hpo-full"]]:
            with self.subTest(options):
                result = self.tune(*self.with_test, "--max-iterations", 25, "--trace", "trace.csv", *options)
                trace = self.read_table("trace.csv")
                self.assertEqual(list(trace[0]), [
                    "iteration", "lambda", "train", "validation", "test", "primal", "dual", "train_gradients",
                    "validation_gradients", "hessian_products", "loss_evaluations", "inner_solves", "paper_count",
                    "gradient_equivalents", "seconds"])
                step = 7 if "--trace-every" in options else 1
                expected = sorted({*range(step), *range(0, 26, step), 25})
                self.assertEqual([int(point["iteration"]) for point in trace], expected)
                last = trace[-1]
                self.assertEqual(float(last["lambda"]), result["final"]["lambda"][0])
                for part in PARTS:
                    self.assertAlmostEqual(float(last[part]), result["final"]["loss"][part], delta=1e-9)
                for name, count in result["work"].items():
                    self.assertEqual(float(last[name]), count, name)
                for name, residual in result["residuals"].items():
                    self.assertEqual(float(last[name]) if last[name] else None, residual, name)
                self.assertAlmostEqual(float(last["seconds"]), result["seconds"], delta=0.01)

    def test_trace_changes_nothing(self):
        self.assertEqual(without_seconds(self.tune(*self.with_test)),
                         without_seconds(self.tune(*self.with_test, "--trace", "trace.csv")))

    def test_outputs_of_an_earlier_run_are_replaced_whole(self):
        self.write("out.json", "x" * 100000)
        self.yosida("tune", *self.files_given, "--json", "out.json")
        strict_json(self.read("out.json"))
        self.assertNotIn("out.json.part", self.files())


class Repeatable(TuneCase):
    def test_a_seed_gives_the_same_and_another_seed_another(self):
        one_file = ["--train", "train.csv", "--target", "y"]
        for data in [["--data", "spectra"], one_file, [*self.files_given, "--method", "sho"]]:
            with self.subTest(data):
                first = without_seconds(self.tune(*data, "--seed", 5))
                self.assertEqual(first, without_seconds(self.tune(*data, "--seed", 5)))
                self.assertNotEqual(first["loss"], self.tune(*data, "--seed", 6)["loss"])

    def test_threads_change_nothing(self):
        x, y = classification(20000, 30)
        self.write_npy("x.npy", x)
        self.write_npy("y.npy", y)
        data = ["--train", "x.npy", "--train-target", "y.npy", "--max-iterations", 5]
        for model in ["ridge", "logistic"]:
            with self.subTest(model):
                one, two = (self.tune(*data, "--model", model, "--threads", threads) for threads in [1, 2])
                self.assertEqual(without_seconds(one), without_seconds(two))

    def test_fractions(self):
        for options, rows in [([], (45, 15, 0)), (["--valid-fraction", 0.5], (30, 30, 0)),
                              (["--valid-fraction", 0.2, "--test-fraction", 0.3], (30, 12, 18)),
                              (["--test-fraction", 0.1], (39, 15, 6))]:
            with self.subTest(options):
                result = self.tune("--train", "train.csv", "--target", "y", *options)
                self.assertEqual(tuple(result["data"][f"{part}_rows"] for part in PARTS), rows)
                self.assertEqual(result["loss"]["test"] is None, rows[2] == 0)

    def test_a_split_of_classes_is_stratified(self):
        x, _ = classification(80)
        y = np.arange(80) < 4
        self.write_csv("rare.csv", x, y)
        for seed in range(20):  # without strata some of these would leave the validation rows one class
            self.tune("--train", "rare.csv", "--target", "y", "--model", "logistic", "--seed", seed,
                      "--max-iterations", 1)


class ExitCodes(TuneCase):
    diverging = ["--data", "spectra", "--method", "sho", "--alpha", 1e6]

    def test_diverged(self):
        done = self.yosida("tune", *self.diverging, "--json", "out.json", "--trace", "trace.csv",
                           "--save", "model.json", code=3)
        result = strict_json(self.read("out.json"))
        self.assertEqual(result["status"], "diverged")
        self.assertIn("diverged", done.stdout)
        self.assertIn(f"{result['loss']['validation']:.6g}", done.stdout)
        self.assertTrue(all(math.isfinite(loss) for loss in result["loss"].values()))
        self.assertLessEqual(result["loss"]["validation"], result["final"]["loss"]["validation"])
        strict_json(self.read("model.json"))
        self.assertNotIn("nan", self.read("trace.csv"))

    def test_result_that_cannot_be_written(self):
        for flag in ["--json", "--trace", "--save"]:
            with self.subTest(flag):
                done = self.yosida("tune", *self.files_given, flag, "/dev/full", code=4)
                self.assertIn("/dev/full", done.stderr)
                self.assertIn("lambda", done.stdout)  # the result stands on the terminal

    def test_what_can_be_written_is_written(self):
        self.yosida("tune", *self.files_given, "--json", "/dev/full", "--save", "model.json", "--trace", "trace.csv",
                    code=4)
        self.assertLessEqual({"model.json", "trace.csv"}, set(self.files()))

    def test_full_stdout(self):
        for options in [[], ["--json", "-"]]:
            with self.subTest(options), open("/dev/full", "w") as full:
                self.yosida("tune", *self.files_given, *options, code=4, stdout=full)


if __name__ == "__main__":
    unittest.main()
