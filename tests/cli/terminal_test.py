"""What a person sees on terminals of 80 × 24 and 60 × 20: nothing is cut, and nothing wraps inside a word."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from yosida_cli import BINARY, TIMEOUT_SECONDS, Cli, classification, regression

SIZES = [(80, 24), (60, 20)]


class Terminal(Cli):
    def on_terminal(self, columns, rows, *arguments, interrupt_at=None, code=0):
        """Everything that yosida writes to a terminal of this size, standard output and standard error."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen([BINARY, *map(str, arguments)], cwd=self.folder, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        text, deadline = b"", time.monotonic() + TIMEOUT_SECONDS
        try:
            while select.select([master], [], [], max(0, deadline - time.monotonic()))[0]:
                try:
                    piece = os.read(master, 65536)
                except OSError:
                    break
                if not piece:
                    break
                text += piece
                if interrupt_at and interrupt_at in text:
                    process.send_signal(signal.SIGINT)
                    interrupt_at = None
            self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), code, text.decode())
        finally:
            os.close(master)
            if process.poll() is None:
                process.kill()
                process.wait()
        return text.decode()

    @staticmethod
    def lines_of(text):
        """What stands on lines, without colours; of a line that was written over, each state of it."""
        text = re.sub(r"\x1b\[[0-9;]*[mK]", "", text.replace("\r\n", "\n"))
        return [state for line in text.split("\n") for state in line.split("\r")]

    def fits(self, text, columns):
        lines = self.lines_of(text)
        for line in lines:
            if len(line) > columns:  # one word that is wider than the terminal has no place to break
                self.assertNotIn(" ", line.strip(), line)
        return lines

    def write_data(self):
        x, y = regression(60, columns=6)
        self.write_csv("a file of rows with a long name.csv", x * 1e4, y * 1e4)
        return ["--train", "a file of rows with a long name.csv", "--target", "y"]

    def words(self, text):
        return re.sub(r"[\s\\]+", " ", " ".join(self.lines_of(text)))

    def test_every_help(self):
        names = re.findall(r"^  ([a-z-]+)  ", self.yosida("--help").stdout.split("Commands:")[1].split("\n\n")[0], re.MULTILINE)
        self.assertIn("tune", names)
        commands = [[], *([name] for name in names), ["study", "list"], ["study", "prune"], ["data", "export"]]
        for columns, rows in SIZES:
            for command in commands:
                with self.subTest(command, columns=columns):
                    shown = self.on_terminal(columns, rows, *command, "--help")
                    self.fits(shown, columns)
                    self.assertEqual(self.words(shown), self.words(self.yosida(*command, "--help").stdout))

    def test_other_commands(self):
        data = self.write_data()
        self.yosida("tune", "--quiet", *data, "--model", "lasso", "--save", "model.json")
        compare = ["compare", *data, "--methods", "my-hpo,grid,sho:alpha=0.05,random", "--seeds", 2, "--oracle"]
        self.yosida(*compare, "--study", "s.study", "--quiet")
        for columns, rows in SIZES:
            for command in [["tune", *data, "--oracle"], ["tune", *data, "--folds", 3, "--lambda-per", "feature"],
                            ["tune", *data, "--model", "lasso", "--refit"], compare, ["coefficients", "model.json"],
                            ["methods"], ["methods", "my-hpo"], ["data", "list"], ["data", "info", "mnist"],
                            ["study", "list", "s.study"], ["version"], ["check-grad", *data]]:
                with self.subTest(command, columns=columns):
                    shown = self.on_terminal(columns, rows, *command)
                    self.fits(shown, columns)
                    self.assertNotRegex(shown, r"[0-9]e[+-][0-9]+ ±|± [0-9.]+e|[0-9]e\+[0-9]")

    def test_what_programs_read_is_not_broken(self):
        data = self.write_data()
        self.yosida("tune", "--quiet", *data, "--model", "lasso", "--save", "model.json")
        for command in [["coefficients", "model.json", "--export", "sql"], ["coefficients", "model.json", "--export", "python"],
                        ["completion", "bash"], ["predict", "--from", "model.json", "--data", data[1], "--out", "-"]]:
            with self.subTest(command):
                shown = self.on_terminal(60, 20, *command).replace("\r\n", "\n")
                self.assertEqual(shown, self.yosida(*command).stdout)

    def test_messages_of_refusals(self):
        for columns, rows in SIZES:
            for command in [["tune", "--train", "there is no such file of this name anywhere in this folder.csv"],
                            ["tune", "--data", "spectra", "--model", "rigde"], ["tune", "--data", "spectra", "--max-iterations", "x"],
                            ["tunne"], ["tune", "--trian", "x"]]:
                with self.subTest(command, columns=columns):
                    self.fits(self.on_terminal(columns, rows, *command, code=2), columns)

    def test_several_classes_with_their_confusion(self):
        x, y = classification(80)
        self.write_csv("train.csv", x, y)
        shown = self.on_terminal(60, 20, "tune", "--train", "train.csv", "--target", "y", "--model", "logistic", "--measure", "all")
        self.fits(shown, 60)
        self.assertIn("confusion", shown)

    def test_tables_leave_out_what_does_not_fit_and_say_so(self):
        data = self.write_data()
        compare = ["compare", *data, "--methods", "my-hpo,grid", "--seeds", 2, "--oracle"]
        wide = self.on_terminal(200, 50, *compare)
        self.assertNotIn("too narrow", wide)
        self.assertIn("equivalents", wide)
        narrow = self.on_terminal(60, 20, *compare)
        self.assertIn("too narrow here for:", narrow)
        self.assertIn("validation", narrow)

    def test_progress_is_never_cut_inside_a_number(self):
        data = self.write_data()
        slow = ["tune", *data, "--method", "random", "--trials", 100000000, "--time-limit", 1.5]
        for columns, rows in [*SIZES, (40, 20)]:
            shown = self.on_terminal(columns, rows, *slow, code=0)
            states = [line for line in self.fits(shown, columns) if line.startswith("random [")]
            self.assertGreater(len(states), 2)
            for state in states:
                self.assertRegex(state, r"^random \[#*\.*\] +\d+ %(  validation \S+)?(  lambda -?[\d.]+)?(  iteration \d+)?$")

    def test_ctrl_c_says_so(self):
        data = self.write_data()
        shown = self.on_terminal(80, 24, "tune", *data, "--method", "random", "--trials", 1000000000, interrupt_at=b"iteration")
        self.assertIn("stopped by Ctrl-C; the best so far is shown", self.words(shown))
        self.assertNotIn("stopped: stopped", shown)


class WithoutTerminal(Cli):
    def test_studies_write_a_line_now_and_then(self):
        x, y = regression(60)
        self.write_csv("train.csv", x, y)
        slow = ["compare", "--train", "train.csv", "--target", "y", "--methods", "random", "--seeds", 1, "--trials", 1000000000,
                "--time-limit", 7, "--trace-every", 1000]
        self.assertRegex(self.yosida(*slow).stderr, r"(?m)^yosida: compare: 0 of 1 runs done")


if __name__ == "__main__":
    unittest.main()
