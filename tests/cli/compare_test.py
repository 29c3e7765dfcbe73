"""yosida compare: its table, its studies, and what it refuses."""
import fcntl
import re
import signal
import statistics
import struct
import subprocess
import termios
import unittest

from yosida_cli import BINARY, TIMEOUT_SECONDS, TerminalCli, classification, regression, strict_json, with_deviation

SPECTRA = ["compare", "--data", "spectra"]
FEW = ["--methods", "my-hpo,sho:alpha=0.0005,random", "--seeds", "3", "--max-iterations", "20"]


def rows_of(table):
    """The lines of the table by their first word."""
    return {line.split()[0]: line for line in table.splitlines() if line.startswith("  ")}


class Compare(TerminalCli):
    def export(self, study, *arguments):
        return self.yosida("study", "export", study, "--format", "json", "--without-times", *arguments).stdout

    def runs(self, study):
        return strict_json(self.export(study))

    def test_table_is_the_mean_of_what_tune_finds(self):
        text = self.yosida(*SPECTRA, *FEW, "--study", "s.study", "--oracle").stdout
        finals = {}
        for method, settings in [("my-hpo", []), ("sho", ["--alpha", "0.0005"]), ("random", [])]:
            for seed in range(3):
                result = self.tune("--data", "spectra", "--method", method, "--seed", seed, "--max-iterations", "20",
                                   "--oracle", *settings)
                finals.setdefault(method, []).append(result)
        rows = rows_of(text)
        self.assertEqual(list(rows), ["method", "my-hpo", "sho:alpha=0.0005", "random"])
        for label, method in [("my-hpo", "my-hpo"), ("sho:alpha=0.0005", "sho"), ("random", "random")]:
            for part in ["train", "validation", "test"]:
                values = [result["final"]["loss"][part] for result in finals[method]]
                self.assertIn(with_deviation(values), rows[label], part)
        stored = {(run["method"], run["seed"]): run["outcome"] for run in self.runs("s.study")}
        self.assertEqual(len(stored), 9)
        for seed in range(3):
            for label, method in [("my-hpo", "my-hpo"), ("sho:alpha=0.0005", "sho"), ("random", "random")]:
                result, outcome = finals[method][seed], stored[label, seed]
                self.assertEqual(outcome["final"]["lambda"], result["final"]["lambda"])
                self.assertEqual(outcome["final"]["loss"], result["final"]["loss"])
                self.assertEqual(outcome["best"]["lambda"], result["lambda"])
                self.assertEqual(outcome["work"], result["work"])
                self.assertEqual(outcome["certificate"], result["certificate"])
                self.assertAlmostEqual(outcome["best"]["lambda_gap"], result["oracle"]["lambda_gap"], delta=1e-9)

    def test_the_best_is_marked(self):
        rows = rows_of(self.yosida(*SPECTRA, *FEW).stdout)
        marked = [label for label, row in rows.items() if re.search(r"±\s+\S+\s*\*", row)]
        self.assertTrue(marked)
        process, master = self.start(*SPECTRA, *FEW)
        self.shown(master)
        self.assertNotIn("\x1b[1m", process.communicate(timeout=TIMEOUT_SECONDS)[0], "stdout is a pipe")

    def test_diverged_runs_are_counted_not_averaged(self):
        text = self.yosida(*SPECTRA, "--methods", "my-hpo,sho:alpha=10", "--seeds", "2", "--max-iterations", "50").stdout
        self.assertIn("2 of 2 diverged", rows_of(text)["sho:alpha=10"])
        self.assertNotRegex(text, r"\b(nan|inf)\b")

    def test_all_methods(self):
        known = [line.split()[0] for line in self.yosida("methods").stdout.splitlines()[:-2]]
        text = self.yosida(*SPECTRA, "--methods", "all", "--seeds", "1", "--budget-gradients", "300").stdout
        self.assertEqual(set(rows_of(text)) - {"method"}, set(known))

    def test_all_leaves_out_what_cannot_begin_and_says_so(self):
        self.write_csv("data.csv", *regression(60))
        done = self.yosida("compare", "--train", "data.csv", "--target", "y", "--model", "lasso", "--methods", "all",
                           "--seeds", "1", "--max-iterations", "5")
        self.assertRegex(done.stderr, r"left out: sho: .*kinks")
        self.assertRegex(done.stderr, r"left out: hyperband: .*kinks")
        self.assertIn("my-hpo", rows_of(done.stdout))
        self.assertIn("tpe", rows_of(done.stdout))
        self.refused("compare", "--train", "data.csv", "--target", "y", "--model", "lasso", "--methods", "my-hpo,sho",
                     names=["sho", "lasso", "kinks"])

    def test_the_same_whatever_the_jobs_and_the_order(self):
        arguments = ["--methods", "my-hpo,sho:alpha=0.0005,random,tpe,gp-ei", "--seeds", "3", "--budget-gradients", "200",
                     "--train-steps", "20"]
        self.yosida(*SPECTRA, *arguments, "--jobs", "1", "--study", "one.study")
        self.yosida(*SPECTRA, *arguments, "--jobs", "5", "--study", "five.study")
        arguments[1] = "gp-ei,tpe,random,sho:alpha=0.0005,my-hpo"
        self.yosida(*SPECTRA, *arguments, "--jobs", "2", "--study", "turned.study", "--threads", "2")
        one = self.export("one.study", "--traces")
        self.assertEqual(one, self.export("five.study", "--traces"))
        self.assertEqual(one, self.export("turned.study", "--traces"))

    def test_a_study_goes_on(self):
        self.yosida(*SPECTRA, *FEW, "--study", "s.study")
        first = self.runs("s.study")
        again = self.yosida(*SPECTRA, *FEW, "--study", "s.study").stdout
        self.assertIn("9 runs were there, 0 runs were done now", again)
        more = self.yosida(*SPECTRA, "--methods", "my-hpo,tpe", "--seeds", "4", "--max-iterations", "20", "--study",
                           "s.study").stdout
        self.assertIn("3 runs were there, 5 runs were done now", more)
        keys = {run["key"] for run in self.runs("s.study")}
        self.assertEqual(len(keys), 14)
        self.assertLess({run["key"] for run in first}, keys)

    def test_the_same_setting_written_otherwise_is_the_same_run(self):
        few = ["--seeds", "2", "--max-iterations", "20", "--study", "s.study"]
        self.yosida(*SPECTRA, "--methods", "sho:alpha=0.0005", *few)
        again = self.yosida(*SPECTRA, "--methods", "sho", "--alpha", "5e-4", *few).stdout
        self.assertIn("2 runs were there, 0 runs were done now", again)
        self.assertIn("sho", rows_of(again))
        self.assertEqual({run["method"] for run in self.runs("s.study")}, {"sho:alpha=0.0005"})
        self.yosida(*SPECTRA, "--methods", "random", "--train-steps", "10", *few)
        self.assertIn("random:train_steps=10", {run["method"] for run in self.runs("s.study")})

    def test_the_trace_of_a_search_holds_its_trials(self):
        self.yosida(*SPECTRA, "--methods", "grid:trials=5,my-hpo", "--seeds", "1", "--bounds=-8,8", "--study", "s.study")
        grid, other = (run["trace"] for run in strict_json(self.export("s.study", "--traces")))
        self.assertEqual(grid["tried"], [[], [-8], [-4], [0], [4], [8]])
        for k in range(1, 6):
            # Two sums of the same numbers, in another order.
            self.assertAlmostEqual(grid["validation"][k], min(grid["tried_validation"][1:k + 1]), delta=1e-13)
        self.assertNotIn("tried", other)
        self.yosida("tune", "--data", "spectra", "--method", "grid", "--trials", "5", "--bounds=-8,8", "--trace", "t.csv")
        table = self.read_table("t.csv")
        self.assertEqual([row["tried"] for row in table], ["", "-8", "-4", "0", "4", "8"])
        self.assertEqual([float(row["tried_validation"]) for row in table[1:]], grid["tried_validation"][1:])

    def test_other_data_is_another_run(self):
        self.write_csv("data.csv", *regression(60))
        mine = ["compare", "--train", "data.csv", "--target", "y", "--methods", "my-hpo", "--seeds", "2", "--study", "s.study"]
        self.yosida(*mine)
        (self.folder / "data.csv").rename(self.folder / "moved.csv")
        mine[2] = "moved.csv"
        self.assertIn("2 runs were there, 0 runs were done now", self.yosida(*mine).stdout)
        self.write_csv("moved.csv", *regression(61))
        self.assertIn("0 runs were there, 2 runs were done now", self.yosida(*mine).stdout)
        self.assertEqual(len({run["data_sha256"] for run in self.runs("s.study")}), 2)

    def test_data_that_changes_ends_the_study(self):
        """No run may be stored under the sha256 of other data, nor a file that is gone for a moment as a result."""
        self.write_csv("data.csv", *classification(1500, 20))
        arguments = ["compare", "--train", "data.csv", "--target", "y", "--model", "logistic", "--methods", "my-hpo", "--seeds",
                     "300", "--jobs", "1", "--study", "s.study"]
        for change in [lambda: self.write_csv("data.csv", *classification(1400, 20)), (self.folder / "data.csv").unlink]:
            process, master = self.start(*arguments)
            self.shown(master, until=re.compile(r"[2-9] of 300 runs"))
            change()
            text = self.shown(master)
            self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 2)
            self.assertRegex(text, r"data\.csv: (has changed|is gone) since this comparison began")
            kept = self.runs("s.study")
            self.assertLess(len(kept), 300)
            self.assertNotIn("failed", {run["status"] for run in kept})
            (self.folder / "s.study").unlink()

    def test_rows_of_one_seed_that_cannot_be_used(self):
        x, y = regression(12)
        y[:] = 0
        y[:2] = 1  # where both are validation rows, the target of the training rows does not vary
        self.write_csv("data.csv", x, y)
        data = ["--train", "data.csv", "--target", "y", "--model", "ridge", "--valid-fraction", "0.5"]
        usable = [self.yosida("tune", *data, "--seed", seed, code=[0, 2]).returncode == 0 for seed in range(20)]
        first = usable.index(True)
        bad = usable[first:].count(False)
        self.assertGreater(bad, 0)
        arguments = ["compare", *data, "--methods", "my-hpo", "--seed", first, "--seeds", 20 - first, "--study", "s.study"]
        done = self.yosida(*arguments, code=2)
        self.assertEqual([run["status"] for run in self.runs("s.study")].count("failed"), bad)
        self.assertIn(f"{bad} of {20 - first} failed", done.stdout)
        self.assertRegex(done.stderr, r"runs? failed \(my-hpo seed \d+.*\): .*data\.csv")
        self.assertIn("yosida study prune s.study --failed", done.stderr)

    def test_a_terminal_of_80_columns_is_written_over(self):
        process, master = self.start(*SPECTRA, "--methods", "gp-ei:samples=20", "--seeds", "1000", "--jobs", "2")
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        text = self.shown(master, until=re.compile(r"[3-9] of 1000 runs"))
        process.send_signal(signal.SIGINT)
        self.shown(master)
        process.communicate(timeout=TIMEOUT_SECONDS)
        for line in text.split("\r\x1b[K")[2:]:
            self.assertLess(len(line), 60, line)

    def test_a_closed_terminal_does_not_end_it(self):
        command = [BINARY, *SPECTRA, *FEW, "--study", "s.study"]
        done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *command], cwd=self.folder, stdout=subprocess.PIPE,
                              timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0)
        done = subprocess.run(["sh", "-c", '"$@" 2>/dev/full', "sh", BINARY, "compare"], cwd=self.folder, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 2)

    def test_a_study_that_is_replaced_meanwhile_harms_neither(self):
        self.yosida(*SPECTRA, *FEW, "--study", "good.study")
        before = (self.folder / "good.study").read_bytes()
        process, master = self.start(*SPECTRA, "--methods", "gp-ei:samples=20", "--seeds", "200", "--jobs", "1", "--study", "s.study")
        self.shown(master, until=re.compile(r"[2-9] of 200 runs"))
        (self.folder / "good.study").rename(self.folder / "s.study")
        self.assertIn("was removed, renamed or replaced", self.shown(master))
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 4)
        self.assertEqual(len(self.runs("s.study")), 9)
        self.assertEqual((self.folder / "s.study").read_bytes(), before)

    def test_settings_written_twice_are_one_row(self):
        few = ["--seeds", "1", "--max-iterations", "5"]
        rows = rows_of(self.yosida(*SPECTRA, "--methods", "sho:alpha=0.0005,sho:alpha=5e-4,sho:alpha=0.0001", *few).stdout)
        self.assertEqual(list(rows), ["method", "sho:alpha=0.0005", "sho:alpha=0.0001"])

    def test_two_processes_share_a_study(self):
        arguments = [*SPECTRA, "--methods", "my-hpo,random,tpe,hoag", "--seeds", "8", "--max-iterations", "60", "--study",
                     "s.study", "--jobs", "2"]
        processes = [subprocess.Popen([BINARY, *arguments], cwd=self.folder, stdout=subprocess.PIPE, encoding="utf-8")
                     for _ in range(2)]
        texts = [process.communicate(timeout=TIMEOUT_SECONDS)[0] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0])
        done = [int(re.search(r"(\d+) runs? (?:was|were) done now", text)[1]) for text in texts]
        self.assertEqual(sum(done), 32, texts)
        self.assertEqual(len(self.runs("s.study")), 32)
        self.assertEqual(rows_of(texts[0]), rows_of(texts[1]))

    def test_interruption_keeps_what_is_done(self):
        self.write_csv("data.csv", *classification(2000, 20))
        arguments = ["compare", "--train", "data.csv", "--target", "y", "--model", "logistic", "--methods",
                     "my-hpo,sho", "--seeds", "40", "--jobs", "2", "--max-iterations", "3000", "--trace-every", "100",
                     "--study", "s.study"]
        process, master = self.start(*arguments)
        self.shown(master, until=re.compile(r"compare \[#*\.*\] +\d+ %  [2-9] of 80 runs, .* left, \d under way"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 5)
        kept = self.runs("s.study")
        self.assertGreaterEqual(len(kept), 2)
        self.assertLess(len(kept), 80)
        self.assertNotIn("stopped", {run["status"] for run in kept})

    def test_folds_and_several_lambdas(self):
        self.write_csv("data.csv", *classification(80))
        text = self.yosida("compare", "--train", "data.csv", "--target", "y", "--model", "logistic", "--lambda-per", "feature",
                           "--folds", "3", "--methods", "my-hpo,hoag,tpe", "--seeds", "2", "--measure", "accuracy",
                           "--max-iterations", "15").stdout
        self.assertEqual(list(rows_of(text)), ["method", "my-hpo", "hoag", "tpe"])

    def test_bad_input(self):
        few = ["--seeds", "1"]
        for arguments, names in [
            (["--methods", "my-hop"], ["my-hop", "my-hpo"]),
            (["--methods", "sho:alpha"], ["sho:alpha", "SETTING=VALUE"]),
            (["--methods", "sho:alpha=-1"], ["alpha", "-1", "> 0"]),
            (["--methods", "sho:no=1"], ["no", "sho"]),
            (["--methods", "my-hpo", "--train-steps", "5"], ["train_steps", "none of the methods"]),
            (["--methods", "random", "--trials", "0"], ["trials", "0", ">= 1"]),
            (["--methods", "random", "--bounds", "3,3"], ["3,3", "below"]),
            (["--methods", "random", "--bounds", "5,-10"], ["5,-10", "below"]),
            (["--methods", "random", "--budget-gradients", "9", "--train-steps", "10"], ["random", "9", "21"]),
            (["--methods", "my-hpo", "--budget-gradients", "0"], ["budget-gradients", "0"]),
            (["--methods", "my-hpo", "--measure", "roc"], ["measure", "roc"]),
            (["--methods", "my-hpo", "--measure", "accuracy"], ["measure", "accuracy", "ridge"]),
            (["--methods", "my-hpo", "--show", "all"], ["show", "all"]),
            (["--methods", "my-hpo", "--jobs", "0"], ["jobs", "0"]),
            (["--methods", "my-hpo", "--seeds", "0"], ["seeds", "0"]),
            (["--methods", "my-hpo", "--seeds", "99999999999999999999"], ["seeds", "99999999999999999999"]),
            (["--methods", "my-hpo", "--budget-gradients", "99999999999999999999"], ["99999999999999999999"]),
            (["--methods", "sho:alpha=1:alpha=2"], ["alpha", "twice"]),
            (["--methods", "sho:"], ["SETTING=VALUE"]),
            (["--methods", " "], ["no such method"]),
            (["--methods", "random", "--train-step-size", "0.1"], ["train_step_size", "train_steps"]),
            (["--methods", "hyperband", "--train-steps", "10"], ["train_steps", "10", "81"]),
            (["--methods", "my-hpo", "--seeds", "9223372036854775807"], ["seeds", "1000000"]),
            (["--methods", "my-hpo", "--seed", "18446744073709551615", "--seeds", "2"], ["seed", "too large"]),
            (["--methods", "my-hpo", "--study", "nowhere/s.study"], ["nowhere"]),
            (["--methods", "my-hpo", "--study", "not.study"], ["not.study"]),
        ]:
            with self.subTest(arguments):
                self.write("not.study", "this is no study\n" * 100)
                self.refused(*SPECTRA, *arguments, *([] if "--seeds" in arguments else few), names=names)


if __name__ == "__main__":
    unittest.main()
