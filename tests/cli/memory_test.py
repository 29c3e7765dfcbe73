"""Where memory is limited a command works, or says so and ends; data that comes by a pipe or a device."""
import gzip
import os
import resource
import subprocess
import threading
import unittest

import numpy as np

from yosida_cli import BINARY, TIMEOUT_SECONDS, Cli, regression, several_classes, strict_json, without_seconds

ENOUGH_SECONDS = 30  # a few tenths of one on an idle machine; without an end where a limit is not seen


def loads(megabytes):
    """Whether the program can be loaded under this limit; where it cannot, it is the system that says so."""
    return run(megabytes, "--version").returncode != 127


def run(megabytes, *arguments, folder=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6,) * 2)
    return subprocess.run([BINARY, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=ENOUGH_SECONDS, encoding="utf-8", preexec_fn=limit)


@unittest.skipIf("asan" in BINARY, "the address sanitizer has memory of its own")
class Folds(Cli):
    def peak(self, *arguments):
        """The peak memory in bytes. Only this child is asked, since that of all children is the largest so far."""
        with subprocess.Popen([BINARY, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024

    def test_ten_folds_share_one_hessian(self):
        generator = np.random.default_rng(1)
        x = generator.standard_normal((4000, 784))
        y = np.where(x @ generator.standard_normal(784) / 28 + 0.5 * generator.standard_normal(4000) > 0, 1.0, -1.0)
        np.save(os.path.join(self.folder, "x.npy"), x)
        np.save(os.path.join(self.folder, "y.npy"), y)
        run_of = ["tune", "--train", "x.npy", "--train-target", "y.npy", "--model", "logistic", "--quiet"]
        self.assertLess(self.peak(*run_of, "--folds", "10"), 1.3 * self.peak(*run_of))


    def test_singles_are_never_in_memory_beside_the_file(self):
        generator = np.random.default_rng(2)
        x = generator.standard_normal((100000, 160))  # 128 MB: eight pieces
        np.save(os.path.join(self.folder, "x.npy"), x)
        np.save(os.path.join(self.folder, "y.npy"), x[:, 0] + generator.standard_normal(len(x)))
        run_of = ["tune", "--train", "x.npy", "--train-target", "y.npy", "--valid", "x.npy", "--valid-target", "y.npy", "--quiet"]
        doubles = self.peak(*run_of, "--json", "doubles.json")
        self.assertLess(self.peak(*run_of, "--float", "--json", "singles.json"), 0.8 * doubles)
        losses = [strict_json(self.read(name))["loss"]["validation"] for name in ("doubles.json", "singles.json")]
        self.assertAlmostEqual(losses[0] / losses[1], 1.0, delta=1e-5)


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

    def test_threads_that_call_blas_at_the_same_time(self):
        x, y = several_classes(6000, columns=40)
        self.write_npz("many.npz", x=x.astype("f4"), y=y)
        self.assert_works_or_says_so("tune", "--train", "many.npz", "--model", "softmax", "--threads", "4",
                                     "--max-iterations", "2", "--quiet")

    def test_check_grad(self):
        self.assert_works_or_says_so("check-grad", *self.data)

    def test_what_needs_no_algebra(self):
        self.assert_works_or_says_so("predict", "--from", "model.json", "--data", "train.csv")
        self.assert_works_or_says_so("report", "small.study", "--out", "page.html")
        self.assert_works_or_says_so("data", "list")

    def test_one_thread_is_started_where_one_is_used(self):
        """Else OpenBLAS takes 128 MB of addresses for each core before anything is asked of it."""
        self.assertEqual(run(150, "methods").returncode, 0)


class Hostile(Cli):
    def test_a_small_file_that_asks_for_much(self):
        self.write("hostile.svm", "1 1:1\n-1 2:1\n1 300000000:1\n-1 3:1\n")
        self.refused("tune", "--train", "hostile.svm", "--model", "logistic",
                     names=["hostile.svm:3", "300000000 columns", "--max-memory"])

    def test_the_limit_is_a_flag(self):
        x, y = regression(2000)
        self.write_csv("train.csv", x, y)
        self.write_libsvm("train.svm", x, y)
        for command in [["tune"], ["compare", "--methods", "my-hpo"], ["check-grad"]]:
            self.refused(*command, "--train", "train.csv", "--target", "y", "--max-memory", "50k",
                         names=["train.csv:", "--max-memory allows 50 kB"])
        self.refused("tune", "--train", "train.svm", "--max-memory", "50k", names=["train.svm:", "50 kB"])
        self.tune("--train", "train.csv", "--target", "y", "--max-memory", "1G")
        self.yosida("tune", "--train", "train.csv", "--target", "y", "--save", "model.json", "--quiet")
        self.refused("predict", "--from", "model.json", "--data", "train.csv", "--max-memory", "50k", names=["50 kB"])
        for size in ["much", "-5", "0", "1.5"]:
            self.refused("tune", "--train", "train.csv", "--max-memory", size, names=["--max-memory"])

    def test_devices(self):
        for device in ["/dev/zero", "/dev/urandom"]:
            self.refused("tune", "--train", device, names=[device])
            self.refused("compare", "--train", device, "--methods", "my-hpo", names=[device, "only once"])
        self.write_csv("train.csv", *regression(20))
        for groups in ["/dev/zero", "/dev/urandom"]:
            self.refused("tune", "--train", "train.csv", "--target", "y", "--groups", groups, names=[groups])


class Pipes(Cli):
    def setUp(self):
        super().setUp()
        self.x, self.y = regression(60)
        self.write_csv("train.csv", self.x, self.y)
        self.expected = without_seconds(self.tune("--train", "train.csv", "--target", "y"))

    def bytes_of(self, file):
        return (self.folder / file).read_bytes()

    def tune_pipe(self, content, *options, name="pipe"):
        """The result of tune with the content coming by a named pipe."""
        path = self.folder / name
        os.mkfifo(path)

        def write():
            with open(path, "wb") as pipe:
                try:
                    pipe.write(content)
                except BrokenPipeError:
                    pass
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            return without_seconds(self.tune("--train", name, *options))
        finally:
            writer.join(timeout=5)
            path.unlink()

    def test_every_format(self):
        target = ["--target", "y"]
        self.write_csv("semicolon.csv", self.x, self.y, delimiter=";")
        self.write_csv("table.tsv", self.x, self.y, delimiter="\t")
        self.write_csv("table.txt", self.x, self.y, delimiter=" ")
        self.write_csv("bare.csv", self.x, self.y, header=False)
        self.write_libsvm("train.svm", self.x, self.y)
        self.write_npy("train.npy", np.column_stack([self.y, self.x]))
        self.write_npz("train.npz", x=self.x, y=self.y)
        of_file = {file: without_seconds(self.tune("--train", file, *options)) for file, options in
                   [("train.svm", []), ("train.npy", ["--target", "0"])]}
        for file, options, expected in [
                ("train.csv", target, self.expected), ("semicolon.csv", target, self.expected),
                ("table.tsv", target, self.expected), ("table.txt", target, self.expected),
                ("bare.csv", ["--target", "0"], self.expected), ("train.npy", ["--target", "0"], of_file["train.npy"]),
                ("train.npz", [], of_file["train.npy"]), ("train.svm", [], of_file["train.svm"])]:
            with self.subTest(file):
                self.assertEqual(self.tune_pipe(self.bytes_of(file), *options), expected)
            with self.subTest(f"{file}, packed"):
                self.assertEqual(self.tune_pipe(gzip.compress(self.bytes_of(file)), *options), expected)
        self.assertEqual(self.tune_pipe(self.bytes_of("train.csv"), *target, name="pipe.csv"), self.expected)

    def test_process_substitution_and_standard_input(self):
        for train in ["--train <(cat train.csv)", "--train <(gzip < train.csv)", "--train /dev/stdin < train.csv",
                      "--train - < train.csv", "--train - < <(cat train.csv)"]:
            with self.subTest(train):
                done = subprocess.run(["bash", "-c", f'"$0" tune --quiet --json - --target y {train}', BINARY],
                                      cwd=self.folder, timeout=TIMEOUT_SECONDS, stdout=subprocess.PIPE,
                                      encoding="utf-8")
                self.assertEqual(done.returncode, 0)
                self.assertEqual(without_seconds(strict_json(done.stdout)), self.expected)

    def test_a_comparison_reads_its_data_more_than_once(self):
        os.mkfifo(self.folder / "pipe.csv")
        done = self.yosida("compare", "--train", "pipe.csv", "--target", "y", "--methods", "my-hpo", code=2)
        self.assertIn("--train pipe.csv", done.stderr)
        self.assertIn("only once", done.stderr)
        self.refused("compare", "--train", "-", "--target", "y", "--methods", "my-hpo", names=["--train -", "only once"])


if __name__ == "__main__":
    unittest.main()
