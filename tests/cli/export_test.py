"""coefficients: weights by name, and models as code that predicts what yosida predict does."""
import csv
import io
import json
import sqlite3
import subprocess
import unittest

import numpy as np

from yosida_cli import Cli, classification, counts, regression, several_classes

# Names that would end a string, a comment or a statement of some language.
HOSTILE = ['price "net"', "it's", "a; DROP TABLE rows; --", "*/ int main(){} /*", "x\\", "??/ Größe", "margin", "{0} %s", "select"]


class Export(Cli):
    MODELS = {
        "ridge": (regression, ["--model", "ridge"]),
        "lasso": (regression, ["--model", "lasso"]),
        "huber": (regression, ["--model", "huber"]),
        "poisson": (counts, ["--model", "poisson"]),
        "logistic": (classification, ["--model", "logistic"]),
        "svm": (classification, ["--model", "svm"]),
        "softmax": (several_classes, ["--model", "softmax"]),
        "differences": (regression, ["--model", "ridge", "--x", "difference,minmax"]),
        "chain": (regression, ["--model", "ridge", "--x", "minmax,standardize"]),
    }

    def make(self, name, hostile=True, far=1e6):
        """A model of data with a column far from 0, whose rows are in new.csv: x, and yosida's own predictions."""
        data, flags = self.MODELS[name]
        x, y = data(120, columns=len(HOSTILE))
        if name not in ("poisson", "differences"):  # a difference of 1e6 and 1 has lost the digits before anything is added up
            x[:, 3] += far
        names = HOSTILE if hostile else [f"x{j}" for j in range(x.shape[1])]
        self.write_table("train.csv", x, names, y)
        self.write_table("new.csv", x, names)
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "the target", *flags, "--save", "model.json")
        self.yosida("predict", "--from", "model.json", "--data", "new.csv", "--out", "predictions.csv")
        rows = self.read_table("predictions.csv")
        return x, names, {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}

    def write_table(self, file, x, names, y=None):
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([*names, *(["the target"] if y is not None else [])])
        for i, row in enumerate(x):
            writer.writerow([*map(repr, map(float, row)), *([repr(float(y[i]))] if y is not None else [])])
        self.write(file, out.getvalue())

    def same(self, found, wanted, tolerance=1e-12):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * max(1.0, np.abs(wanted).max()))

    def export(self, language, file, *more):
        self.yosida("coefficients", "model.json", "--export", language, "--out", file, *more)

    def check(self, name, wanted, found, label, probabilities):
        """`found` numbers, labels and probabilities, where the model has them."""
        if "prediction" in wanted:
            return self.same(found, wanted["prediction"])
        np.testing.assert_array_equal(label, wanted["label"])
        if name == "logistic":
            self.same(probabilities[:, 1], wanted["probability"])
        elif name == "softmax":
            columns = [column for column in wanted if column.startswith("probability_")]
            self.same(probabilities, np.column_stack([wanted[column] for column in columns]))
        else:
            self.same(found, wanted["margin"])

    def test_python(self):
        for name in self.MODELS:
            with self.subTest(name):
                x, names, wanted = self.make(name)
                self.export("python", "exported.py")
                code = {}
                exec(compile(self.read("exported.py"), "exported.py", "exec"), code)
                self.assertEqual(code["COLUMNS"], names)
                self.assertEqual(code["TARGET"], "the target")
                by_name = [code["predict"](dict(zip(names, row))) for row in x]
                self.assertEqual(by_name, [code["predict"](list(row)) for row in x])
                probabilities = np.array([code["probabilities"](row) for row in x]) if "probabilities" in code else None
                numbers = by_name if "prediction" in wanted else [code["margins"](row)[0] for row in x]
                self.check(name, wanted, np.array(numbers), np.array(by_name), probabilities)
                if name == "ridge":
                    with self.assertRaisesRegex(ValueError, "no value"):
                        code["predict"]([None, *x[0, 1:]])

    def test_c(self):
        for name in self.MODELS:
            with self.subTest(name):
                x, names, wanted = self.make(name)
                self.export("c", "exported.c", "--name", "scorer")
                has_probabilities = name in ("logistic", "softmax")
                is_number = "prediction" in wanted
                labels = 3 if name == "softmax" else 2
                outputs = 3 if name == "softmax" else 1
                d = len(names)
                said = "scorer(x)" if is_number else "scorer_labels[scorer(x)]"
                main = f"""
#include <stdio.h>
#include "exported.c"
int main(void) {{
  for (int j = 0; j < {d}; ++j) printf("%s%c", scorer_columns[j], j + 1 < {d} ? '\\t' : '\\n');
  double x[{d}];
  for (;;) {{
    for (int j = 0; j < {d}; ++j) if (scanf("%lf", x + j) != 1) return 0;
    double margin[{outputs}];
    scorer_margins(x, margin);
    printf("%.17g %.17g", {said}, margin[0]);
    {f'double p[{labels}]; scorer_probabilities(x, p); for (int k = 0; k < {labels}; ++k) printf(" %.17g", p[k]);'
       if has_probabilities else ''}
    printf("\\n");
  }}
}}
"""
                self.write("main.c", main)
                subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "-o", "scorer", "-lm"],
                               cwd=self.folder, check=True, timeout=60)
                given = "\n".join(" ".join(repr(float(v)) for v in row) for row in x)
                done = subprocess.run([self.folder / "scorer"], input=given.encode(), capture_output=True, check=True, timeout=60)
                lines = done.stdout.decode().splitlines()
                self.assertEqual(lines[0].split("\t"), names)
                numbers = np.array([[float(v) for v in line.split()] for line in lines[1:]])
                self.check(name, wanted, numbers[:, 0] if is_number else numbers[:, 1], numbers[:, 0], numbers[:, 2:])

    def test_sql(self):
        for name in self.MODELS:
            with self.subTest(name):
                x, names, wanted = self.make(name)
                table = 'rows "of" today'
                self.export("sql", "exported.sql", "--name", table)
                base = sqlite3.connect(":memory:")
                quote = lambda text: '"' + text.replace('"', '""') + '"'
                base.execute(f"CREATE TABLE {quote(table)} ({', '.join(map(quote, names))})")
                base.executemany(f"INSERT INTO {quote(table)} VALUES ({', '.join('?' * len(names))})", x.tolist())
                found = base.execute(self.read("exported.sql"))
                columns = [each[0] for each in found.description]
                rows = np.array(found.fetchall())
                self.assertEqual(columns[:len(names)], names)
                self.assertEqual(len(set(columns)), len(columns), "two columns of one name")
                own = dict(zip(columns, rows.T))
                if "prediction" in wanted:
                    self.same(own["prediction"], wanted["prediction"])
                    continue
                probabilities = None
                if name == "logistic":
                    probabilities = np.column_stack([1 - own["probability"], own["probability"]])
                elif name == "softmax":
                    probabilities = np.column_stack([own[f"probability_{k}"] for k in range(3)])
                self.check(name, wanted, own.get("margin_"), own["label"], probabilities)

    def test_onnx(self):
        try:
            import onnx
            import onnx.checker
        except ImportError:
            self.skipTest("python3-onnx is not here")
        for name in self.MODELS:
            with self.subTest(name):
                x, names, wanted = self.make(name, far=1)  # single precision would not hold more
                self.export("onnx", "exported.onnx")
                model = onnx.load(str(self.folder / "exported.onnx"))
                onnx.checker.check_model(model, full_check=True)
                outputs = run_onnx(model, x)
                if "prediction" in wanted:
                    spread = np.ptp(wanted["prediction"])
                    np.testing.assert_allclose(outputs["prediction"][:, 0], wanted["prediction"], rtol=1e-4, atol=1e-4 * spread)
                    continue
                self.assertGreaterEqual((outputs["label"] == wanted["label"]).mean(), 0.99)
                if name == "logistic":
                    np.testing.assert_allclose(outputs["probabilities"][:, 1], wanted["probability"], atol=1e-4)
                elif name == "softmax":
                    columns = [column for column in wanted if column.startswith("probability_")]
                    np.testing.assert_allclose(outputs["probabilities"], np.column_stack([wanted[c] for c in columns]), atol=1e-4)
                else:
                    np.testing.assert_allclose(outputs["margin"][:, 0], wanted["margin"], atol=1e-3)

    def test_missing_values_are_filled_as_predict_fills_them(self):
        x, y = regression(60)
        text = "y,a,b,c,d\n" + "\n".join(
            ",".join([repr(float(t)), *("" if (i + j) % 7 == 0 else repr(float(v)) for j, v in enumerate(row))])
            for i, (t, row) in enumerate(zip(y, x))) + "\n"
        self.write("train.csv", text)
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "y", "--missing", "mean", "--save", "model.json")
        self.yosida("predict", "--from", "model.json", "--data", "train.csv", "--out", "predictions.csv")
        wanted = np.array([float(row["prediction"]) for row in self.read_table("predictions.csv")])
        rows = self.read_table("train.csv")
        self.export("python", "exported.py")
        code = {}
        exec(self.read("exported.py"), code)
        self.same(np.array([code["predict"](row) for row in rows]), wanted)
        self.export("sql", "exported.sql")
        base = sqlite3.connect(":memory:")
        base.execute("CREATE TABLE rows (a, b, c, d)")
        base.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)",
                         [[float(row[c]) if row[c] else None for c in "abcd"] for row in rows])
        self.same(np.array(base.execute(self.read("exported.sql")).fetchall())[:, -1].astype(float), wanted)

    def test_refusals(self):
        self.make("ridge", hostile=False)
        self.refused("coefficients", "model.json", "--export", "pyhton", names=["did you mean python?"])
        for name in ["two words", "9lives", "main();", "", "_x"]:
            self.refused("coefficients", "model.json", "--export", "c", "--name", name, names=["name" if name else "empty"])
        self.refused("coefficients", "model.json", "--out", "x.py", names=["--export"])
        self.refused("coefficients", "no-model.json", names=["no-model.json"])
        self.write_npy("x.npy", regression(40)[0])
        self.write_npy("y.npy", regression(40)[1])
        self.yosida("tune", "--quiet", "--train", "x.npy", "--train-target", "y.npy", "--save", "model.json")
        self.refused("coefficients", "model.json", "--export", "sql", names=["no names"])


class Coefficients(Cli):
    def table(self):
        """Columns of very different scales: b matters most, a has the largest weight in its own units."""
        random = np.random.default_rng(1)
        x = random.normal(size=(200, 4)) * [0.001, 1000.0, 1.0, 1.0]
        y = 300 * x[:, 0] + 0.005 * x[:, 1] + x[:, 2] + 0.1 * random.normal(size=200) + 7
        self.write_csv("train.csv", x, y, names=["a", "b", "c", "nothing"])
        return x, y

    def test_are_in_own_units_and_ranked_by_what_matters(self):
        x, y = self.table()
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "y", "--save", "model.json", "--refit")
        shown = self.yosida("coefficients", "model.json").stdout
        order = [line.split()[0] for line in shown.splitlines()[1:]]
        self.assertEqual(order[:4], ["column", "(intercept)", "b", "c"])
        self.yosida("coefficients", "model.json", "--csv", "weights.csv")
        rows = {row["name"]: float(row["weight"]) for row in self.read_table("weights.csv")}
        wanted = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0]
        for name, value in zip(["a", "b", "c", "nothing", "(intercept)"], wanted):
            self.assertAlmostEqual(rows[name], value, delta=0.02 * abs(value) + 0.02)
        self.assertEqual(self.yosida("coefficients", "model.json", "--csv", "-").stdout, self.read("weights.csv"))
        self.assertIn("... 2 more ...", self.yosida("coefficients", "model.json", "--most", "2").stdout)

    def test_zeros_of_a_lasso_are_named(self):
        random = np.random.default_rng(3)
        x = random.normal(size=(60, 40))
        y = 3 * x[:, 0] - 2 * x[:, 5] + random.normal(size=60)
        self.write_csv("train.csv", x, y)
        text = self.yosida("tune", "--train", "train.csv", "--target", "y", "--model", "lasso", "--save", "model.json").stdout
        model = json.loads(self.read("model.json"))
        zeros = [f"x{j}" for j, w in enumerate(model["weights"]) if w == 0]
        self.assertGreater(len(zeros), 5)
        shown = self.yosida("coefficients", "model.json").stdout
        self.assertIn(f"{len(zeros)} of 40 weights are 0: {', '.join(zeros[:20])}", shown)
        if len(zeros) > 20:
            self.assertIn(f"and {len(zeros) - 20} more", shown)
        self.assertIn("weights in the columns' own units", text)
        self.assertIn(f"{len(zeros)} of 40 weights are 0: {zeros[0]}", text)

    def test_of_several_classes(self):
        x, y = several_classes(90)
        self.write_csv("train.csv", x, y)
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "y", "--model", "softmax", "--save", "model.json")
        header = self.yosida("coefficients", "model.json", "--csv", "-").stdout.splitlines()[0]
        self.assertEqual(header, "name,weight_1,weight_3,weight_5,trained_1,trained_3,trained_5")
        self.assertIn("class 3", self.yosida("coefficients", "model.json").stdout)


def run_onnx(model, x):
    """The few operators that are used, as the ONNX specification has them, in single precision."""
    from onnx import numpy_helper
    values = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    values["x"] = x.astype(np.float32)
    for node in model.graph.node:
        given = [values[name] for name in node.input]
        attribute = {each.name: each.i for each in node.attribute}
        operation = {
            "Sub": lambda a, b: a - b, "Add": lambda a, b: a + b, "MatMul": lambda a, b: a @ b, "Exp": np.exp,
            "Neg": lambda a: -a, "Sigmoid": lambda a: 1 / (1 + np.exp(-a)), "IsNaN": np.isnan, "Where": np.where,
            "Concat": lambda *parts: np.concatenate(parts, axis=attribute["axis"]),
            "Gather": lambda a, places: a[places],
            "Softmax": lambda a: np.exp(a - a.max(axis=1, keepdims=True)) / np.exp(a - a.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True),
            "ArgMax": lambda a: (a.shape[1] - 1 - np.argmax(a[:, ::-1], axis=1)) if attribute.get("select_last_index") else np.argmax(a, axis=1),
        }[node.op_type]
        values[node.output[0]] = operation(*given)
    return {each.name: values[each.name] for each in model.graph.output}


if __name__ == "__main__":
    unittest.main()
