"""Where memory is limited a command works, or says so and ends."""
import resource
import subprocess
import unittest

from yosida_cli import BINARY, Cli, regression

ENOUGH_SECONDS = 30  # a few tenths of one on an idle machine; without an end where a limit is not seen


def loads(megabytes):
    """Whether the program can be loaded under this limit; where it cannot, it is the system that says so."""
    return run(megabytes, "--version").returncode != 127


def run(megabytes, *arguments, folder=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6,) * 2)
    return subprocess.run([BINARY, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=ENOUGH_SECONDS, encoding="utf-8", preexec_fn=limit)


@unittest.skipIf("asan" in BINARY, "the address sanitizer takes terabytes of address space")
class Limited(Cli):
    def setUp(self):
        super().setUp()
        x, y = regression(60)
        self.write_csv("train.csv", x, y)
        self.data = ["--train", "train.csv", "--target", "y"]
        self.yosida("tune", *self.data, "--save", "model.json", "--quiet")
        self.yosida("compare", *self.data, "--methods", "my-hpo,random", "--seeds", "2", "--study", "small.study",
                    "--budget-gradients", "200", "--quiet")

    def assert_works_or_says_so(self, *arguments):
        codes = set()
        for megabytes in [60, 80, 100, 120, 140, 160, 180, 200, 230, 260, 300, 350, 400, 500, 600, 700, 800]:
            if not loads(megabytes):
                continue
            with self.subTest(f"{arguments[0]} with {megabytes} MB"):
                done = run(megabytes, *arguments, folder=self.folder)
                self.assertIn(done.returncode, [0, 1], done.stderr)
                codes.add(done.returncode)
                if done.returncode == 1:
                    self.assertIn("not enough memory", done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(0, codes, "no limit was enough")
        return codes

    def test_tune(self):
        self.assertEqual(self.assert_works_or_says_so("tune", *self.data, "--quiet"), {0, 1})

    def test_compare(self):
        self.assert_works_or_says_so("compare", *self.data, "--methods", "my-hpo,hoag", "--seeds", "4", "--jobs", "4",
                                     "--budget-gradients", "200", "--quiet")

    def test_check_grad(self):
        self.assert_works_or_says_so("check-grad", *self.data)

    def test_what_needs_no_algebra(self):
        self.assert_works_or_says_so("predict", "--from", "model.json", "--data", "train.csv")
        self.assert_works_or_says_so("report", "small.study", "--out", "page.html")
        self.assert_works_or_says_so("data", "list")

    def test_one_thread_is_started_where_one_is_used(self):
        """Else OpenBLAS takes 128 MB of addresses for each core before anything is asked of it."""
        self.assertEqual(run(150, "methods").returncode, 0)


if __name__ == "__main__":
    unittest.main()
