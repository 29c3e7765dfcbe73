"""A run on a terminal: its progress line, and Ctrl-C."""
import re
import signal
import time
import unittest

import numpy as np

from yosida_cli import TIMEOUT_SECONDS, TerminalCli, classification, strict_json

PROGRESS = re.compile(r"my-hpo-bt \[.*\] +\d+ %  validation \S+  lambda \S+")
# Generous: what a step does is dropped at the next pass over the data, but the machine may be busy.
SOON = 2
UNDER_WAY = re.compile(r"lambda -(?:[2-9]|\d\d)")  # it starts at -1


class OnATerminal(TerminalCli):
    def setUp(self):
        super().setUp()
        self.write_csv("data.csv", *classification(2000, 20))
        self.endless = ["tune", "--train", "data.csv", "--target", "y", "--model", "logistic",
                        "--method", "my-hpo-bt", "--epsilon", "0", "--max-iterations", "1000000000", "--trace-every", "100"]

    def test_progress_line(self):
        process, master = self.start(*self.endless, "--time-limit", "0.5")
        text = self.shown(master)
        stdout, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(text, PROGRESS)
        self.assertNotIn("\n", text)  # one line, written over
        self.assertTrue(text.endswith("\r\x1b[K"), text[-80:])  # and gone at the end
        self.assertNotIn("\x1b", stdout)
        self.assertIn("time_limit", stdout)

    def test_progress_line_of_several_lambdas(self):
        process, master = self.start("tune", "--train", "data.csv", "--target", "y", "--method", "hoag", "--lambda-per",
                                     "feature", "--time-limit", "0.5", "--max-iterations", "1000000000")
        self.assertRegex(self.shown(master), r"hoag \[.*\] .*20 lambdas")
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 0)

    def test_quiet_shows_none(self):
        process, master = self.start(*self.endless, "--time-limit", "0.3", "--quiet")
        self.assertEqual(self.shown(master), "")
        self.assertEqual(process.communicate(timeout=TIMEOUT_SECONDS)[0], "")

    def test_a_pipe_gets_none(self):
        done = self.yosida(*self.endless, "--time-limit", "0.3")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("\r", done.stdout)

    def test_interruption_ends_with_the_best_iterate(self):
        for sent in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(sent.name):
                process, master = self.start(*self.endless, "--json", "out.json", "--trace", "trace.csv", "--save",
                                             "model.json")
                self.shown(master, until=UNDER_WAY)
                begin = time.monotonic()
                process.send_signal(sent)
                stdout, _ = process.communicate(timeout=TIMEOUT_SECONDS)
                self.assertLess(time.monotonic() - begin, SOON)
                self.assertEqual(process.returncode, 0)
                result = strict_json(self.read("out.json"))
                self.assertEqual(result["status"], "stopped")
                word = "Ctrl-C" if sent == signal.SIGINT else "a termination signal"
                self.assertIn(f"stopped by {word}; the best so far is shown", stdout)
                self.assertIn(f"{result['loss']['validation']:.6g}", stdout)
                self.assertLessEqual(result["loss"]["validation"], result["final"]["loss"]["validation"])
                self.assertLessEqual(result["best_iteration"], result["iterations"])
                self.assertEqual(int(self.read_table("trace.csv")[-1]["iteration"]), result["iterations"])
                self.assertEqual(strict_json(self.read("model.json"))["lambda"], result["lambda"])
                for file in ["out.json", "trace.csv", "model.json"]:
                    (self.folder / file).unlink()

    def test_folds_that_are_stopped_train_a_model_only_where_it_is_saved(self):
        for saves in [[], ["--save", "model.json"]]:
            with self.subTest(saves):
                process, master = self.start(*self.endless, "--folds", "3", "--json", "out.json", *saves)
                self.shown(master, until=UNDER_WAY)
                process.send_signal(signal.SIGINT)
                stdout, _ = process.communicate(timeout=TIMEOUT_SECONDS)
                self.assertEqual(process.returncode, 0)
                result = strict_json(self.read("out.json"))
                self.assertEqual(result["status"], "stopped")
                self.assertEqual("refit" in result, bool(saves))
                self.assertIsNone(result["loss"]["train"])  # of K folds they would take K times as long as the others
                self.assertGreater(result["loss"]["validation"], 0.0)
                self.assertEqual("no model was trained on all rows, which --save asks for" in stdout, not saves)
                self.assertEqual((self.folder / "model.json").exists(), bool(saves))

    def test_interruption_with_json_on_stdout(self):
        process, master = self.start(*self.endless, "--json", "-")
        self.shown(master, until=UNDER_WAY)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(strict_json(stdout)["status"], "stopped")

    def test_a_long_step_is_dropped(self):
        """One inner solve of this problem takes longer than the test allows for the end of the program."""
        draw = np.random.default_rng(0)
        x = draw.normal(size=(60000, 300)) * np.logspace(0, -2, 300)
        self.write_npy("x.npy", x)
        self.write_npy("y.npy", np.argmax(x @ draw.normal(size=(300, 10)) + draw.gumbel(size=(60000, 10)), axis=1))
        long_steps = ["tune", "--train", "x.npy", "--train-target", "y.npy", "--model", "softmax", "--x", "raw"]
        for after in [0.2, 0.9, 1.7]:
            with self.subTest(f"Ctrl-C {after} s after the start of the run"):
                process, master = self.start(*long_steps, "--json", "out.json")
                self.shown(master, until=re.compile("iteration 0"))
                time.sleep(after)
                begin = time.monotonic()
                process.send_signal(signal.SIGINT)
                stdout, _ = process.communicate(timeout=TIMEOUT_SECONDS)
                self.assertLess(time.monotonic() - begin, SOON)
                self.assertEqual(process.returncode, 0)
                self.assertEqual(strict_json(self.read("out.json"))["status"], "stopped")
                self.assertIn("stopped by Ctrl-C; the best so far is shown", stdout)
        with self.subTest("a time limit"):
            begin = time.monotonic()
            result = self.tune(*long_steps[1:], "--time-limit", "0.3")
            self.assertEqual(result["status"], "time_limit")
            self.assertLess(result["seconds"], 0.3 + SOON)

    def test_before_there_is_an_answer_a_signal_ends_the_program(self):
        """While the file is read, the default action is right."""
        (self.folder / "slow.csv").write_text("y,a\n" + "1,2\n3,4\n" * 2000000)
        process, _ = self.start("tune", "--train", "slow.csv", "--target", "y")
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(stdout, "")


if __name__ == "__main__":
    unittest.main()
