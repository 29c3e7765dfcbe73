"""Several targets of one table: tune, predict, coefficients, and what is refused."""
import unittest

import numpy as np

from yosida_cli import Cli, strict_json


def table(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4))
    y = x @ rng.normal(size=(4, 3)) + rng.normal(size=(rows, 3)) * [0.3, 1, 3]
    return x, y


class Targets(Cli):
    def setUp(self):
        super().setUp()
        self.x, self.y = table()
        self.write_table("train.csv", self.x, self.y)

    def write_table(self, file, x, y):
        self.write_csv(file, np.column_stack([x[:, :2], y[:, :2], x[:, 2:], y[:, 2:]]),
                       names=["p", "q", "a", "b", "r", "s", "c"])

    def test_each_target_is_as_alone(self):
        for how in [[], ["--folds", "5"], ["--criterion", "loo"]]:
            with self.subTest(how):
                all_of_it = self.tune("--train", "train.csv", "--target", "b,a,c", *how)
                self.assertEqual([each["name"] for each in all_of_it["targets"]], ["b", "a", "c"])
                for each in all_of_it["targets"]:
                    others = ",".join({"a", "b", "c"} - {each["name"]})
                    alone = self.tune("--train", "train.csv", "--target", each["name"], "--ignore", others, *how)
                    self.assertAlmostEqual(each["lambda"][0], alone["lambda"][0], delta=1e-8)
                    self.assertAlmostEqual(each["rmse"]["validation"], alone["rmse"]["validation"], delta=1e-9)
                    self.assertEqual(each["certificate"]["verdict"], alone["certificate"]["verdict"])
                mean = np.mean([each["r_squared"]["validation"] for each in all_of_it["targets"]])
                self.assertAlmostEqual(all_of_it["mean"]["r_squared"]["validation"], mean, delta=1e-12)

    def test_a_file_of_targets_is_the_same_as_columns(self):
        self.write_csv("x.csv", self.x, names=["p", "q", "r", "s"])
        np.save(self.folder / "y.npy", self.y)
        columns = self.tune("--train", "train.csv", "--target", "a,b,c")
        file = self.tune("--train", "x.csv", "--targets", "y.npy")
        self.assertEqual([each["name"] for each in file["targets"]], ["0", "1", "2"])
        for one, other in zip(columns["targets"], file["targets"]):
            self.assertEqual(one["lambda"], other["lambda"])

    def test_one_lambda_for_all_and_bands(self):
        shared = self.tune("--train", "train.csv", "--target", "a,b,c", "--lambda-per", "shared")
        self.assertTrue(shared["lambda_shared"])
        self.assertEqual(len({each["lambda"][0] for each in shared["targets"]}), 1)
        bands = self.tune("--train", "train.csv", "--target", "a,b,c", "--group", "one=p,q", "--group", "two=r,s")
        self.assertEqual(bands["lambda_names"], ["one", "two"])
        self.assertEqual({len(each["lambda"]) for each in bands["targets"]}, {2})

    def test_a_saved_model_predicts_every_target(self):
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "a,b,c", "--save", "model.json")
        model = strict_json(self.read("model.json"))
        self.assertEqual(model["target_names"], ["a", "b", "c"])
        x, y = table(9, seed=1)
        self.write_table("new.csv", x, y)
        self.yosida("predict", "--from", "model.json", "--data", "new.csv", "--out", "out.csv")
        rows = self.read_table("out.csv")
        step, = model["pretreatment"]["x"]
        expected = (x - step["shift"]) / step["scale"] @ np.array(model["weights"]) + model["intercept"]
        found = np.array([[float(row[name]) for name in "abc"] for row in rows])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        text = self.yosida("coefficients", "model.json").stdout
        for name in ["a", "b", "c", "(intercept)", "p", "s"]:
            self.assertIn(name, text)
        self.refused("coefficients", "model.json", "--export", "c", names=["3 targets"])

    def test_text_for_people_names_every_target(self):
        self.write_table("test.csv", *table(30, seed=2))
        text = self.yosida("tune", "--train", "train.csv", "--target", "a,b,c", "--test", "test.csv").stdout
        for word in ["3 targets", "RMSE", "means over the targets", "3 of 3 targets"]:
            self.assertIn(word, text)

    def test_bad_input(self):
        given = ["--train", "train.csv"]
        self.refused("tune", *given, "--target", "a,a", names=["\"a\"", "twice"])
        self.refused("tune", *given, "--target", "a,nothing", names=["nothing", "train.csv"])
        self.refused("tune", *given, "--target", "a,b", "--model", "huber", names=["huber", "ridge"])
        self.refused("tune", *given, "--target", "a,b", "--method", "hoag", names=["hoag", "my-hpo"])
        self.refused("tune", *given, "--target", "a,b", "--oracle", names=["--oracle"])
        self.refused("tune", *given, "--target", "a,b", "--trace", "t.csv", names=["--trace"])
        self.refused("compare", *given, "--target", "a,b", "--methods", "my-hpo", names=["--target"])
        np.save(self.folder / "short.npy", self.y[:50])
        self.refused("tune", *given, "--targets", "short.npy", names=["short.npy", "50", "60"])
        y = self.y.copy()
        y[7, 1] = np.nan
        np.save(self.folder / "gap.npy", y)
        self.refused("tune", *given, "--targets", "gap.npy", names=["row 8", "\"1\""])
        self.refused("tune", *given, "--target", "a", "--targets", "gap.npy", names=["--targets"])
        lines = self.read("train.csv").splitlines()
        self.write("text.csv", "\n".join([lines[0] + ",kind", *(line + (",x" if i % 2 else ",y")
                                                               for i, line in enumerate(lines[1:]))]) + "\n")
        self.refused("tune", "--train", "text.csv", "--target", "a,kind", names=["kind", "text"])
        self.refused("tune", "--train", "text.csv", "--target", "kind,a", names=["kind", "text"])


if __name__ == "__main__":
    unittest.main()
