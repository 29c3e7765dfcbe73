"""The certificate of a result: there for every run, earned only by a lambda that cannot be bettered nearby."""
import unittest

from yosida_cli import Cli, classification, regression


class Certificates(Cli):
    def setUp(self):
        super().setUp()
        self.files_given = self.write_parts(1.0)

    def write_parts(self, scale):
        for file, seed in [("train.csv", 0), ("valid.csv", 1)]:
            x, y = regression(40, columns=30, seed=seed)
            self.write_csv(file, x, scale * y)
        return ["--train", "train.csv", "--valid", "valid.csv", "--target", "y"]

    def certificate(self, *options):
        return self.tune(*self.files_given, *options, code=[0, 3])["certificate"]

    def test_the_default_method_earns_it(self):
        certificate = self.certificate()
        self.assertEqual(certificate["verdict"], "certified")
        self.assertLessEqual(certificate["hypergradient"] + certificate["hypergradient_error"], 5e-3)
        self.assertLessEqual(certificate["inner_gradient"], 5e-3)
        self.assertIn("certified", self.yosida("tune", *self.files_given).stdout)

    def test_a_lambda_thrown_far_does_not(self):
        for lambda0 in [-25, 25]:
            with self.subTest(lambda0):
                certificate = self.certificate("--method", "my-hpo-full", "--max-iterations", 1, "--lambda0", lambda0)
                self.assertEqual(certificate["verdict"], "not certified")
                self.assertNotEqual(certificate["reason"], "")

    def test_the_scale_of_the_target_does_not_matter(self):
        runs = [[], ["--method", "hoag"], ["--method", "my-hpo-full", "--max-iterations", 1, "--lambda0", -25],
                ["--method", "my-hpo-full", "--max-iterations", 1, "--lambda0", 25]]
        first = [self.certificate(*run)["verdict"] for run in runs]
        self.write_parts(1e-6)
        self.assertEqual([self.certificate(*run)["verdict"] for run in runs], first)

    def test_bounds_that_hold_lambda_are_named(self):
        self.assertEqual(self.certificate("--bounds=2,4")["verdict"], "certified at a bound")

    def test_the_data_s_own_bounds_hold_lambda_where_no_penalty_is_needed(self):
        for file, seed in [("train.csv", 0), ("valid.csv", 1)]:
            self.write_csv(file, *regression(60, seed=seed))
        self.assertEqual(self.certificate()["verdict"], "certified at a bound")
        far = ["--method", "my-hpo-full", "--max-iterations", 1, "--lambda0", -40]  # beyond them nothing holds it
        self.assertEqual(self.certificate(*far)["verdict"], "not certified")

    def test_of_a_classification_and_of_several_lambdas(self):
        for file, seed in [("train.csv", 0), ("valid.csv", 1)]:
            self.write_csv(file, *classification(120, seed=seed))
        self.assertEqual(self.certificate("--model", "logistic")["verdict"], "certified")
        self.assertIn(self.certificate("--model", "logistic", "--lambda-per", "feature")["verdict"],
                      ["certified", "certified at a bound"])

    def test_gaps_stand_there_with_the_oracle(self):
        result = self.tune(*self.files_given, "--oracle")
        for name in ["gap", "lambda_gap"]:
            self.assertEqual(result["certificate"][name], result["oracle"][name])


if __name__ == "__main__":
    unittest.main()
