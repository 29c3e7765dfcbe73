"""examples/search.cpp: what it prints is the function it minimises, near its minimum 0 at lambda = -3, width = 1."""
import math
import re
import subprocess
import sys
import unittest

EXAMPLE = sys.argv[1]


class Search(unittest.TestCase):
    def test_finds_the_minimum(self):
        done = subprocess.run([EXAMPLE], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = re.fullmatch(r"best (\S+) at lambda (\S+), width (\S+)\ntpe by ask and tell: (\S+)\n", done.stdout)
        self.assertTrue(found, done.stdout)
        best, lambda_, width, by_hand = map(float, found.groups())
        # The numbers have six digits: λ + 3 is off by up to 5e-6, and so is log10(width).
        exact = (lambda_ + 3) ** 2 + math.log10(width) ** 2
        self.assertLess(abs(best - exact), 1e-5 * (1 + best) + 2e-5 * math.sqrt(best))
        # Of forty draws from the box of area 15 × 6 the best is 90 / (40 π) = 0.72 in the mean: a search must do better.
        self.assertLess(best, 0.1)
        self.assertTrue(0 <= by_hand < 0.72, by_hand)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
