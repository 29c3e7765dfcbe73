"""coefficients: weights by name, and models as code that predicts what yosida predict does."""
import csv
import datetime
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
                    probabilities = np.column_stack([own[f"probability_{k}"] for k in (1, 3, 5)])
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
        for name in ["two words", "9lives", "main();", "", "_x", "int", "class"]:
            self.refused("coefficients", "model.json", "--export", "c", "--name", name, names=["name" if name else "empty"])
        self.refused("coefficients", "model.json", "--out", "x.py", names=["--export"])
        self.refused("coefficients", "model.json", "--export", "python", "--name", "a", names=["--name", "sql"])
        self.refused("coefficients", "model.json", "--most", 0, names=["most = 0", ">= 1"])
        self.refused("coefficients", "no-model.json", names=["no-model.json"])
        self.write_npy("x.npy", regression(40)[0])
        self.write_npy("y.npy", regression(40)[1])
        self.yosida("tune", "--quiet", "--train", "x.npy", "--train-target", "y.npy", "--save", "model.json")
        self.refused("coefficients", "model.json", "--export", "sql", names=["no names"])


def raw_table(rows=150, seed=0):
    """Columns as a table of people has them, all text: numbers, true and false, dates and times in three orders, categories with
    gaps and with names that end strings; a label of three names and a price."""
    random = np.random.default_rng(seed)
    city = random.integers(0, 4, rows)
    day = random.integers(0, 900, rows)
    dates = [np.datetime64("2021-01-01") + int(d) for d in day]
    area = random.uniform(30, 200, rows).round(2)
    garden = random.integers(0, 2, rows)
    score = area / 20 + 2 * city + 3 * garden + day / 200 + random.normal(size=rows)
    parts = [str(d).split("-") for d in dates]
    table = {
        "area": [f"{1000 * v:,.1f}" for v in area],
        "city \"name\"": [["Oslo", "it's; --", 'the "Roma"', "São Paulo"][k] for k in city],
        "kind": [["", "flat", "house"][k] for k in random.integers(0, 3, rows)],
        "zone": [["01", "1", "007"][k] for k in random.integers(0, 3, rows)],
        "garden": [["False", "true"][k] for k in garden],
        "sold": [str(d) for d in dates],
        "paid": [f"{int(d)}.{int(m)}.{y[2:]} {h}:{h + 10}:07.5" for (y, m, d), h in zip(parts, random.integers(1, 24, rows))],
        "seen": [f"{m}/{d}/{y}" for y, m, d in parts],
        "made": [[day.strftime("%d %b %Y 13:45"), day.strftime("%B %d, %Y"), day.strftime("%d-%B-%y")][k % 3]
                 for k, day in enumerate(d.item() for d in dates)],
        "fee": [f"{v:.1f} %" for v in random.uniform(0, 9, rows)],
    }
    labels = [["cheap", "dear, very", "it's \"fair\""][k] for k in np.digitize(score, np.quantile(score, [0.33, 0.66]))]
    return table, labels, [f"{v:.4f}" for v in score]


class RawTables(Cli):
    """Exports take the columns of the user's own file and give what predict gives, names of classes among them."""

    CASES = {"ridge": [], "softmax": ["--model", "softmax"], "logistic": ["--model", "logistic"], "svm": ["--model", "svm"],
             "dropped": ["--drop-first"], "gaps": ["--missing", "mean"]}

    def make(self, case):
        table, labels, price = raw_table()
        names = list(table)
        target = {"softmax": labels, "logistic": ["yes" if "ea" in v else "no" for v in labels]}
        target = target.get(case) or (target["logistic"] if case == "svm" else price)
        if case == "gaps":
            for name, mark in [("area", "n/a"), ("garden", ""), ("sold", "-"), ("fee", "?")]:
                table[name][3:140:9] = [mark] * len(table[name][3:140:9])
        self.write_rows("train.csv", {**table, "y": target})
        table["kind"][5], table["zone"][6] = "castle", "never seen"
        self.write_rows("new.csv", table)
        flags = self.CASES[case]
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "y", "--categorical", "zone", *flags, "--save", "model.json")
        self.yosida("predict", "--from", "model.json", "--data", "new.csv", "--out", "predictions.csv")
        return names, list(zip(*table.values())), self.read_table("predictions.csv")

    def write_rows(self, file, columns):
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
        self.write(file, out.getvalue())

    def export(self, language, file, *more):
        self.yosida("coefficients", "model.json", "--export", language, "--out", file, *more)

    def same(self, found, wanted, tolerance=1e-12):
        found, wanted = np.array(found, dtype=float), np.array(wanted, dtype=float)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))

    def check(self, wanted, label, shares, numbers):
        if "prediction" in wanted[0]:
            return self.same(numbers, [row["prediction"] for row in wanted])
        self.assertEqual(list(label), [row["label"] for row in wanted])
        columns = [name for name in wanted[0] if name.startswith("probability")]
        if columns:
            self.same(shares, [[row[name] for name in columns] for row in wanted])
        else:
            self.same(numbers, [row["margin"] for row in wanted])

    def test_python(self):
        for case in self.CASES:
            with self.subTest(case):
                names, rows, wanted = self.make(case)
                self.export("python", "exported.py")
                code = {}
                exec(compile(self.read("exported.py"), "exported.py", "exec"), code)
                self.assertEqual(code["COLUMNS"], names)
                said = [code["predict"](dict(zip(names, row))) for row in rows]
                shares = [code["probabilities"](row) for row in rows] if "probabilities" in code else None
                numbers = said if "prediction" in wanted[0] else [code["margins"](row)[0] for row in rows]
                self.check(wanted, said, shares, numbers)
                if case == "ridge":
                    with self.assertRaisesRegex(ValueError, "'garden' is 'maybe'"):
                        code["predict"]([*rows[0][:4], "maybe", *rows[0][5:]])
                    # Values that a program has, not a file.
                    typed = dict(zip(names, rows[0]), garden=rows[0][4].lower() == "true", area=float(rows[0][0].replace(",", "")),
                                 sold=datetime.date.fromisoformat(rows[0][5]))
                    self.assertAlmostEqual(code["predict"](typed), said[0], places=10)

    def test_c(self):
        for case in self.CASES:
            with self.subTest(case):
                names, rows, wanted = self.make(case)
                self.export("c", "exported.c", "--name", "score")
                is_number = "prediction" in wanted[0]
                classes = 3 if case == "softmax" else 2
                tell = 'printf("%.17g", score(x));' if is_number else 'printf("%s\\n%.17g", score_labels[score(x)], m[0]);'
                if case in ("softmax", "logistic"):
                    tell += f'double p[{classes}]; score_probabilities(x, p); for (int k = 0; k < {classes}; ++k) printf("\\n%.17g", p[k]);'
                texts = ",\n".join("{" + ", ".join('"' + "".join(f"\\{b:03o}" for b in v.encode()) + '"' for v in row) + "}" for row in rows)
                self.write("main.c", f"""
#include "exported.c"
int main(void) {{
  static const char *const rows[{len(rows)}][{len(names)}] = {{{texts}}};
  for (int i = 0; i < {len(rows)}; ++i) {{
    const char *const *x = rows[i];
    double m[3];
    score_margins(x, m);
    {tell}
    printf("\\n\\n");
  }}
}}
""")
                subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "-o", "score", "-lm"],
                               cwd=self.folder, check=True, timeout=60)
                done = subprocess.run([self.folder / "score"], capture_output=True, check=True, timeout=60)
                told = [block.split("\n") for block in done.stdout.decode().strip("\n").split("\n\n")]
                if is_number:
                    self.check(wanted, None, None, [t[0] for t in told])
                else:
                    self.check(wanted, [t[0] for t in told], [t[2:] for t in told], [t[1] for t in told])

    def test_notes_among_numbers_and_halves_of_the_day(self):
        """What --numeric has made missing stays missing, and 1:05 PM is a time, in predict and in the code."""
        random = np.random.default_rng(3)
        age = random.integers(18, 80, 60)
        texts = {"age": [str(a) if a % 9 else "unknown" for a in age], "seen": [f"{1 + a % 12}:{a % 60:02} {'ap'[a % 2]}m" for a in age],
                 "city": [["Oslo", "Rome"][a % 2] for a in age]}
        self.write_rows("train.csv", {**texts, "y": [f"{v:.3f}" for v in age + random.normal(size=60)]})
        self.yosida("tune", "--quiet", "--train", "train.csv", "--target", "y", "--numeric", "age", "--missing", "mean", "--save", "model.json")
        self.yosida("predict", "--from", "model.json", "--data", "train.csv", "--out", "predictions.csv")
        wanted = [row["prediction"] for row in self.read_table("predictions.csv")]
        self.export("python", "exported.py")
        code = {}
        exec(compile(self.read("exported.py"), "exported.py", "exec"), code)
        rows = list(zip(*texts.values()))
        self.same([code["predict"](row) for row in rows], wanted)
        self.export("c", "exported.c", "--name", "score")
        given = ",".join("{" + ",".join(f'"{text}"' for text in row) + "}" for row in rows)
        self.write("main.c", f"""#include "exported.c"
#include <stdio.h>
int main(void) {{
  static const char *const rows[60][3] = {{{given}}};
  for (int i = 0; i < 60; ++i) printf("%.17g\\n", score(rows[i]));
}}
""")
        subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "-o", "score", "-lm"],
                       cwd=self.folder, check=True, timeout=60)
        done = subprocess.run([self.folder / "score"], capture_output=True, check=True, timeout=60)
        self.same(done.stdout.decode().split(), wanted)

    def test_sql(self):
        for case in self.CASES:
            with self.subTest(case):
                names, rows, wanted = self.make(case)
                self.export("sql", "exported.sql", "--name", "sales")
                base = sqlite3.connect(":memory:")
                base.execute("PRAGMA hard_heap_limit = 50000000")  # bytes: a query once took gigabytes
                quote = lambda text: '"' + text.replace('"', '""') + '"'
                base.execute(f"CREATE TABLE sales ({', '.join(map(quote, names))})")
                # Numbers are numbers in a database, or NULL.
                as_number = lambda text: None if text in ("n/a", "?") else float(text.replace(",", "").rstrip(" %"))
                # Dates with names of months are text in files, and dates in a database.
                def as_date(text):
                    time = " 13:45" if text.endswith(":45") else ""
                    form = "%d %b %Y" if time else "%B %d, %Y" if "," in text else "%d-%B-%y"
                    return datetime.datetime.strptime(text.removesuffix(time), form).date().isoformat() + time
                stored_as = {"area": as_number, "fee": as_number, "made": as_date}
                stored = [[stored_as.get(name, str)(v) for name, v in zip(names, row)] for row in rows]
                base.executemany(f"INSERT INTO sales VALUES ({', '.join('?' * len(names))})", stored)
                found = base.execute(self.read("exported.sql"))
                columns = [each[0] for each in found.description]
                own = dict(zip(columns, zip(*found.fetchall())))
                shares = [own[name] for name in wanted[0] if name.startswith("probability")]
                self.check(wanted, own.get("label"), list(zip(*shares)), own.get("prediction") or own.get("margin"))

    def test_onnx(self):
        try:
            import onnx
            import onnx.checker
        except ImportError:
            self.skipTest("python3-onnx is not here")
        for case in self.CASES:
            with self.subTest(case):
                names, rows, wanted = self.make(case)
                self.export("onnx", "exported.onnx")
                model = onnx.load(str(self.folder / "exported.onnx"))
                onnx.checker.check_model(model, full_check=True)
                # Dates are numbers of days here, and true is 1: the module of Python knows how.
                self.export("python", "exported.py")
                code = {}
                exec(self.read("exported.py"), code)
                read = {name: function for name, function, *_ in code["NUMBERS"]}
                inputs = {}
                for name, column in zip(names, zip(*rows)):
                    if name in read:
                        values = [[np.nan if code["is_missing"](v) else read[name](v)] for v in column]
                        inputs[name] = np.array(values, dtype=np.float32)
                    else:
                        inputs[name] = np.array([[v] for v in column], dtype=object)
                outputs = run_onnx(model, inputs)
                if "prediction" in wanted[0]:
                    self.same(outputs["prediction"][:, 0], [row["prediction"] for row in wanted], 2e-3)
                    continue
                self.assertGreaterEqual(np.mean(outputs["label"] == [row["label"] for row in wanted]), 0.99)
                columns = [name for name in wanted[0] if name.startswith("probability")]
                if columns:
                    self.same(outputs["probabilities"], [[row[name] for name in columns] for row in wanted], 5e-3)

    def test_names_of_classes_in_coefficients_and_confusion(self):
        self.make("softmax")
        header = next(csv.reader(io.StringIO(self.yosida("coefficients", "model.json", "--csv", "-").stdout)))
        self.assertEqual(header[1:4], ["weight_cheap", "weight_dear, very", 'weight_it\'s "fair"'])
        self.assertIn("class cheap", self.yosida("coefficients", "model.json").stdout)
        text = self.yosida("tune", "--train", "train.csv", "--target", "y", "--categorical", "zone").stdout
        confusion = text[text.index("confusion"):]
        for name in ["cheap", "dear, very", 'it\'s "fair"']:
            self.assertIn(name, confusion)


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
    from onnx import helper, numpy_helper
    values = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    values = {name: np.char.decode(v.astype(bytes)) if v.dtype == object else v for name, v in values.items()}
    values |= x if isinstance(x, dict) else {"x": x.astype(np.float32)}
    for node in model.graph.node:
        given = [values[name] for name in node.input]
        attribute = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        operation = {
            "Sub": lambda a, b: a - b, "Add": lambda a, b: a + b, "MatMul": lambda a, b: a @ b, "Exp": np.exp,
            "Neg": lambda a: -a, "Sigmoid": lambda a: 1 / (1 + np.exp(-a)), "IsNaN": np.isnan, "Where": np.where,
            "Concat": lambda *parts: np.concatenate(parts, axis=attribute["axis"]),
            "Gather": lambda a, places: a[places], "Flatten": lambda a: a.reshape(len(a), -1),
            "LabelEncoder": lambda a: np.array(
                [[dict(zip([key.decode() for key in attribute["keys_strings"]], attribute["values_int64s"])).get(v, attribute["default_int64"])
                  for v in row] for row in a]),
            "Softmax": lambda a: np.exp(a - a.max(axis=1, keepdims=True)) / np.exp(a - a.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True),
            "ArgMax": lambda a: (a.shape[1] - 1 - np.argmax(a[:, ::-1], axis=1)) if attribute.get("select_last_index") else np.argmax(a, axis=1),
        }[node.op_type]
        values[node.output[0]] = operation(*given)
    return {each.name: values[each.name] for each in model.graph.output}


if __name__ == "__main__":
    unittest.main()
