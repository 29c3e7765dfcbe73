"""examples/tune_ridge.cpp against the command line on the same rows: the same lambda and validation loss."""
import json
import re
import subprocess
import sys
import unittest

EXAMPLE, YOSIDA = sys.argv[1:3]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class TuneRidge(unittest.TestCase):
    def test_says_what_the_command_line_says(self):
        done = run(EXAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = re.fullmatch(r"converged: lambda (\S+), validation loss (\S+) after (\d+) gradients\n"
                             r"first validation row: predicted (\S+), measured (\S+)\n", done.stdout)
        self.assertTrue(found, done.stdout)
        lambda_, validation, _, predicted, measured = map(float, found.groups())
        result = json.loads(run(YOSIDA, "tune", "--data", "spectra", "--x", "standardize", "--y", "center", "--quiet",
                                "--json", "-").stdout)
        # Printed with six digits.
        self.assertLess(abs(lambda_ - result["lambda"][0]), 1e-5 * abs(lambda_))
        self.assertLess(abs(validation - result["loss"]["validation"]), 1e-5 * validation)
        # A residual is some standard deviations of the validation rows at most.
        self.assertLess((predicted - measured) ** 2, 25 * validation)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
