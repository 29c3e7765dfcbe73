"""examples/tune_csv.cpp against the command line: the same lambda, weights and predictions."""
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

EXAMPLE, YOSIDA = sys.argv[1:3]


def table(path, rows=120):
    """Columns of different units, and a target that depends on them."""
    draw = random.Random(7)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["area", "rooms", "price", "age"])
        for _ in range(rows):
            area, rooms, age = draw.gauss(90, 30), draw.randint(1, 6), draw.uniform(0, 100)
            price = 1000 * (3 * area + 12 * rooms - 0.5 * age + draw.gauss(0, 20))
            out.writerow([repr(area), rooms, repr(price), repr(age)])


class TuneCsv(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.data = str(pathlib.Path(self.folder.name) / "homes.csv")
        table(self.data)

    def run_example(self, *arguments):
        return subprocess.run([EXAMPLE, *arguments], capture_output=True, text=True, timeout=120)

    def yosida(self, *arguments):
        return subprocess.run([YOSIDA, *arguments], capture_output=True, text=True, timeout=120, check=True).stdout

    def test_says_what_the_command_line_says(self):
        done = self.run_example(self.data, "price")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        model = str(pathlib.Path(self.folder.name) / "model.json")
        result = json.loads(self.yosida("tune", "--train", self.data, "--target", "price", "--quiet", "--json", "-",
                                        "--save", model))
        self.assertEqual(float(lines[0].removeprefix("lambda = ")), result["lambda"][0])  # to the last bit
        predictions = [float(line.removeprefix("prediction: ")) for line in lines if line.startswith("prediction: ")]
        printed = self.yosida("predict", "--from", model, "--data", self.data).splitlines()[1:]
        self.assertEqual(predictions, [float(value) for value in printed])

        weight = {name: float(value) for name, value in (line.split(": ") for line in lines[1:5])}
        self.assertEqual(list(weight), ["area", "rooms", "age", "intercept"])
        with open(self.data) as file:
            for row, prediction in zip(csv.DictReader(file), predictions):
                by_hand = weight["intercept"] + sum(weight[name] * float(row[name]) for name in ["area", "rooms", "age"])
                self.assertAlmostEqual(by_hand / prediction, 1.0, delta=1e-12)

    def test_bad_input_is_told(self):
        done = self.run_example(self.data, "cost")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cost", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
