"""Tables as people have them: text, dates, decimal commas, ids. From the file to predictions in one command, or in the one that
the message itself spells out; predictions as scikit-learn's pipeline makes them."""
import csv
import io
import json
import shlex
import subprocess
import unittest

import numpy as np

from yosida_cli import BINARY, Cli, TIMEOUT_SECONDS

try:
    import pandas
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
except ImportError:
    pandas = None

CITIES = ["Paris", "Roma", "São Paulo", "Oslo"]
KINDS = ["flat", "house"]


def houses(rows=120, seed=0):
    """Columns of a table of sales, all as text; the price depends on each of them."""
    random = np.random.default_rng(seed)
    area = random.uniform(30, 200, rows).round(1)
    city = random.integers(0, len(CITIES), rows)
    kind = random.integers(0, 2, rows)
    garden = random.integers(0, 2, rows)
    day = random.integers(0, 1000, rows)
    price = 3 * area + 40 * city - 25 * kind + 30 * garden + 0.05 * day + random.normal(size=rows) * 5 + 100
    return {"id": [f"A{i:04d}" for i in range(rows)], "area": [f"{v:.1f}" for v in area],
            "city": [CITIES[k] for k in city], "kind": [KINDS[k] for k in kind],
            "garden": [["false", "true"][k] for k in garden],
            "sold": [str(np.datetime64("2021-01-01") + int(d)) for d in day],
            "price": [f"{v:.2f}" for v in price]}


def text_of(columns, delimiter=",", end="\n", bom=False):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values()))
    return (b"\xef\xbb\xbf" if bom else b"") + out.getvalue().encode()


def comma(values):
    return [v.replace(".", ",") for v in values]


def thousands(values, separator=","):
    return [f"{1000 * float(v):,.2f}".replace(",", separator) for v in values]


class Tables(Cli):
    def tune_table(self, text, target, *options, file="table.csv"):
        """Tunes on a file, after one correction at most: the command that the message spells out."""
        self.write(file, text)
        command = [BINARY, "tune", "--train", file, "--target", target, "--save", "model.json", *options]
        done = self.run_command(command)
        self.corrected = done.returncode == 2
        if self.corrected:
            self.message = done.stderr
            self.assertEqual(done.stdout, "")
            line = shlex.split(done.stderr.rstrip("\n").split("\n")[-1])
            self.assertEqual(line[:2], ["yosida", "tune"], done.stderr)
            done = self.run_command([BINARY, *line[1:]])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def run_command(self, command):
        return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_SECONDS, encoding="utf-8", check=False)

    def predict(self, file="table.csv", *options):
        done = self.yosida("predict", "--from", "model.json", "--data", file, "--out", "out.csv", *options)
        self.stderr = done.stderr
        return self.read_table("out.csv")

    def saved(self):
        return json.loads(self.read("model.json"))

    def assert_predicts(self, columns, target, file="table.csv", error=12):
        """The predictions come close to the target, whose noise is 5."""
        given = np.array([float(row["prediction"]) for row in self.predict(file)])
        wanted = np.array([float(v) for v in columns[target]])
        self.assertLess(np.sqrt(np.mean((given - wanted) ** 2)), error)


class Raw(Tables):
    def test_ids_dates_booleans_and_text(self):
        columns = houses()
        shown = self.tune_table(text_of(columns), "price")
        self.assertFalse(self.corrected)
        for words in ['"id" is passed over', "--categorical id", "city (4)", "days since 1970-01-01", "sold"]:
            self.assertIn(words, shown)
        self.assert_predicts(columns, "price")

    def test_text_classes(self):
        columns = houses()
        price = np.array([float(v) for v in columns["price"]])
        columns["price"] = [["cheap", "fair", "dear"][k] for k in np.digitize(price, np.quantile(price, [1 / 3, 2 / 3]))]
        shown = self.tune_table(text_of(columns), "price")
        self.assertFalse(self.corrected)
        self.assertIn("--model softmax is taken", shown)
        rows = self.predict()
        self.assertEqual(list(rows[0]), ["label", "probability_cheap", "probability_dear", "probability_fair"])
        self.assertGreater(np.mean([row["label"] == wanted for row, wanted in zip(rows, columns["price"])]), 0.8)
        for row in rows:
            shares = {name: float(row[f"probability_{name}"]) for name in ["cheap", "dear", "fair"]}
            self.assertEqual(max(shares, key=shares.get), row["label"])
            self.assertAlmostEqual(sum(shares.values()), 1)

    def test_missing_fields(self):
        columns = houses()
        columns["area"][5] = ""
        columns["area"][9] = "n/a"
        columns["city"][7] = ""
        self.tune_table(text_of(columns), "price")
        self.assertTrue(self.corrected)
        self.assertIn("--missing mean", self.message)
        self.assert_predicts(columns, "price", error=40)

    def test_semicolons_and_decimal_commas(self):
        columns = houses()
        shown = self.tune_table(text_of({**columns, "area": comma(columns["area"]), "price": comma(columns["price"])}, ";"),
                                "price")
        self.assertFalse(self.corrected)
        self.assertIn("--decimal ,", shown)
        self.assert_predicts(columns, "price")

    def test_byte_order_mark_and_crlf(self):
        columns = houses()
        self.tune_table(text_of(columns, end="\r\n", bom=True), "price")
        self.assertFalse(self.corrected)
        self.assert_predicts(columns, "price")

    def test_quotes(self):
        columns = houses()
        names = {"Paris": "Paris, 1er", "Roma": 'the "eternal"', "Oslo": "two\nlines", "São Paulo": "São Paulo"}
        columns["city"] = [names[v] for v in columns["city"]]
        self.tune_table(text_of(columns), "price")
        self.assertFalse(self.corrected)
        self.assert_predicts(columns, "price")
        levels, = [c["levels"] for c in self.saved()["table"]["columns"] if c["name"] == "city"]
        self.assertEqual(levels, sorted(names.values(), key=str.encode))

    def test_thousands(self):
        columns = houses()
        self.tune_table(text_of({**columns, "price": thousands(columns["price"])}), "price")
        self.assertFalse(self.corrected)
        self.assert_predicts({"price": [1000 * float(v) for v in columns["price"]]}, "price", error=12000)

    def test_thousands_that_could_be_decimals(self):
        columns = houses()
        whole = [f"{int(1000 * float(v)):,}" for v in columns["price"]]
        self.tune_table(text_of({"rooms": [str(i % 7) for i in range(120)], "city": columns["city"], "price": whole}),
                        "price")
        self.assertTrue(self.corrected)
        self.assertIn("--decimal ,", self.message)
        self.assertIn("--decimal .", self.message)
        self.assertAlmostEqual(np.mean([float(row["prediction"]) for row in self.predict()]),
                               np.mean([float(v.replace(",", "")) for v in whole]), delta=20000)

    def test_booleans_as_target(self):
        columns = houses()
        shown = self.tune_table(text_of(columns), "garden")
        self.assertFalse(self.corrected)
        self.assertIn("--model logistic is taken", shown)
        rows = self.predict()
        self.assertEqual(list(rows[0]), ["label", "probability_false", "probability_true"])
        self.assertEqual({row["label"] for row in rows}, {"false", "true"})

    def test_constant_columns(self):
        columns = {"always": ["same"] * 120, "one": ["1"] * 120, **houses()}
        self.tune_table(text_of(columns), "price")
        self.assertFalse(self.corrected)
        self.assert_predicts(columns, "price")

    def test_a_number_that_is_text_sometimes_and_a_date_that_is_none(self):
        columns = houses()
        columns["area"][3] = "12 m2"
        columns["sold"] = ["03/04/2021"] * 120
        columns["price"][8] = "sold?"
        self.tune_table(text_of(columns), "price")
        self.assertTrue(self.corrected)
        for words in ["table.csv:2", '"sold"', "03/04/2021", '"area" (line 5', "12 m2", '"price" (line 10', "sold?",
                      "--ignore sold --numeric area,price --missing drop"]:
            self.assertIn(words, self.message)
        self.write("new.csv", text_of({**columns, "area": houses()["area"]}))
        self.assertEqual(len(self.predict("new.csv")), 120)

    def test_numbers_with_a_few_notes(self):
        columns = houses()
        columns["living area"] = columns.pop("area")
        columns["living area"][3] = columns["living area"][70] = "ask the owner"
        self.tune_table(text_of(columns), "price")
        self.assertTrue(self.corrected)
        self.assertIn("--numeric 'living area' --missing mean", self.message)
        # The model knows that such text is a missing value.
        given = [float(row["prediction"]) for row in self.predict()]
        self.assertLess(np.sqrt(np.mean((np.array(given) - [float(v) for v in columns["price"]]) ** 2)), 40)
        self.assertEqual(self.saved()["feature_names"][-1], "living area")
        # One that was trained on other gaps does not.
        columns["living area"][3] = columns["living area"][70] = ""
        self.write("gaps.csv", text_of(columns))
        self.yosida("tune", "--quiet", "--train", "gaps.csv", "--target", "price", "--missing", "mean", "--save", "model.json")
        told = self.refused("predict", "--from", "model.json", "--data", "table.csv", names=["table.csv:5", "ask the owner"])
        self.assertIn("--numeric 'living area' reads such text as a missing value", told)
        again = [float(row["prediction"]) for row in self.predict("table.csv", "--numeric", "living area")]
        np.testing.assert_allclose(again, given, rtol=1e-9)

    def test_codes_of_which_most_are_numbers(self):
        columns = houses()
        columns["house"] = [f"{i % 7}" if i % 3 else f"{i % 7}b" for i in range(120)]
        self.tune_table(text_of(columns), "price")
        self.assertTrue(self.corrected)
        self.assertIn("--categorical house", self.message)
        self.assert_predicts(columns, "price")

    def test_lines_of_old_macs(self):
        columns = houses()
        self.tune_table(text_of(columns, end="\r"), "price")
        self.assertFalse(self.corrected)
        self.assert_predicts(columns, "price")
        given = self.read("out.csv")
        self.write("unix.csv", text_of(columns))
        self.predict("unix.csv")
        self.assertEqual(self.read("out.csv"), given)

    def test_dates_with_names_of_months(self):
        columns = houses()
        self.write("by_number.csv", text_of(columns))
        self.tune_table(text_of(columns), "price")
        by_number = self.read("model.json")
        days = [np.datetime64(day).item() for day in columns["sold"]]
        german = ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"]
        for write in (lambda day: day.strftime("%d %b %Y"), lambda day: day.strftime("%B %d, %Y"),
                      lambda day: day.strftime("%d-%b-%y").upper(), lambda day: f"{day.day}. {german[day.month - 1]} {day.year}"):
            with self.subTest(write(days[0])):
                self.tune_table(text_of({**columns, "sold": list(map(write, days))}), "price")
                self.assertFalse(self.corrected)
                self.assertEqual(self.read("model.json"), by_number)

    def test_no_column_is_left_and_why(self):
        columns = houses()
        self.write("ids.csv", text_of({"id": columns["id"], "price": columns["price"]}))
        self.refused("tune", "--train", "ids.csv", "--target", "price", names=["no column beside the target", '"id" is passed over',
                                                                              "--categorical id"])

    def test_without_a_header(self):
        columns = houses()
        text = text_of({k: v for k, v in columns.items() if k != "id"}).split(b"\n", 1)[1]
        self.tune_table(text, "5")
        self.assertFalse(self.corrected)
        self.write("new.csv", b"\n".join(line.rsplit(b",", 1)[0] for line in text.split(b"\n") if line) + b"\n")
        self.assert_predicts(columns, "price", file="new.csv")


class Columns(Tables):
    """What predict makes of columns that are not those of the training file."""

    def setUp(self):
        super().setUp()
        self.columns = houses()
        self.tune_table(text_of(self.columns), "price")
        self.given = self.predict()

    def test_another_order_and_more_of_them(self):
        order = ["price", "sold", "city", "area", "id", "kind", "garden"]
        self.write("new.csv", text_of({"extra": ["?"] * 120, **{name: self.columns[name] for name in order}}))
        self.assertEqual(self.predict("new.csv"), self.given)

    def test_missing_ones_are_named_all_at_once(self):
        self.write("new.csv", text_of({name: self.columns[name] for name in ["area", "garden", "sold"]}))
        self.refused("predict", "--from", "model.json", "--data", "new.csv", names=["new.csv", '"city"', '"kind"'])

    def test_unseen_levels(self):
        new = {name: values[:6] for name, values in self.columns.items()}
        new["city"] = [*new["city"][:3], "Atlantis", "", "Atlantis"]
        self.write("new.csv", text_of(new))
        rows = self.predict("new.csv")
        self.assertIn("3 of 6 fields", self.stderr)
        self.assertIn("Atlantis", self.stderr)
        self.assertEqual(rows[:3], self.given[:3])
        self.refused("predict", "--from", "model.json", "--data", "new.csv", "--unseen", "refuse",
                     names=["new.csv:5", "Atlantis", "Oslo, Paris"])

    def test_rows_and_ids(self):
        rows = self.predict("table.csv", "--id", "id")
        self.assertEqual(list(rows[0]), ["row", "id", "prediction"])
        self.assertEqual([row["id"] for row in rows], self.columns["id"])
        self.assertEqual([row["row"] for row in rows], [str(i + 1) for i in range(120)])
        self.assertEqual([row["prediction"] for row in rows], [row["prediction"] for row in self.given])
        self.assertEqual(list(self.predict("table.csv", "--rows")[0]), ["row", "prediction"])
        self.refused("predict", "--from", "model.json", "--data", "table.csv", "--id", "city", names=["city", "feature"])

    def test_the_column_of_the_target_without_names(self):
        lines = text_of({"a": ["1", "2", "4", "8"] * 10, "b": ["3", "1", "7"] * 13 + ["2"], "y": ["1", "5", "2", "8"] * 10})
        self.write("plain.csv", b"".join(lines.splitlines(keepends=True)[1:]))
        self.yosida("tune", "--quiet", "--train", "plain.csv", "--target", "2", "--save", "plain.json")
        self.refused("predict", "--from", "plain.json", "--data", "plain.csv", names=["3 columns", "the model has 2", "--target"])
        self.yosida("predict", "--from", "plain.json", "--data", "plain.csv", "--target", "2", "--out", "out.csv")

    def test_text_where_numbers_were(self):
        self.write("new.csv", text_of({**self.columns, "area": ["wide"] * 120}))
        self.refused("predict", "--from", "model.json", "--data", "new.csv", names=["new.csv:2", '"area"', "wide", "number"])


class Flags(Tables):
    def test_categorical_numeric_and_drop_first(self):
        columns = houses()
        columns["zone"] = [str(1 + i % 3) for i in range(120)]
        columns["area"][3] = "large"
        self.tune_table(text_of(columns), "price", "--categorical", "zone", "--numeric", "area", "--missing", "mean",
                        "--drop-first", "--ignore", "id")
        self.assertFalse(self.corrected)
        names = self.model("--train", "table.csv", "--target", "price", "--categorical", "zone", "--ignore", "id,area",
                           "--drop-first")["feature_names"]
        self.assertEqual(names, ["city=Paris", "city=Roma", "city=São Paulo", "kind=house", "garden", "sold", "zone=2",
                                 "zone=3"])

    def test_valid_and_test_files_have_the_levels_of_the_training_file(self):
        columns = houses()
        self.write("train.csv", text_of({k: v[:80] for k, v in columns.items()}))
        rest = {k: v[80:] for k, v in columns.items()}
        rest["city"][0] = "Atlantis"
        del rest["id"]
        self.write("valid.csv", text_of(dict(reversed(rest.items()))))
        result = self.tune("--train", "train.csv", "--valid", "valid.csv", "--test", "valid.csv", "--target", "price")
        self.assertEqual(result["loss"]["validation"], result["loss"]["test"])
        self.assertEqual(result["data"]["features"], 9)
        self.tune_refused("--train", "train.csv", "--valid", "valid.csv", "--target", "price", "--unseen", "refuse",
                          names=["valid.csv:2", "Atlantis"])

    def test_the_cache_keeps_levels_and_notes(self):
        self.write("table.csv", text_of(houses()))
        command = ["env", f"XDG_CACHE_HOME={self.folder}", BINARY, "tune", "--train", "table.csv", "--target", "kind",
                   "--cache", "--save", "model.json"]
        first, saved = self.run_command(command).stdout, self.read("model.json")
        second = self.run_command(command).stdout
        self.assertIn("id", first)
        self.assertEqual([line for line in first.split("\n") if line.startswith("note")],
                         [line for line in second.split("\n") if line.startswith("note")])
        self.assertEqual(self.read("model.json"), saved)

    def test_threads_change_nothing(self):
        columns = houses(6000)
        self.write("table.csv", text_of(columns))
        models = [self.model("--train", "table.csv", "--target", "price", "--threads", count) for count in ["1", "2"]]
        self.assertEqual(*models)

    def test_many_levels_stay_sparse(self):
        random = np.random.default_rng(0)
        place = random.integers(0, 1500, 4000)
        effect = random.normal(size=1500)
        self.write("table.csv", "place,size,y\n" + "".join(
            f"p{k},{s:.3f},{effect[k] + s:.4f}\n" for k, s in zip(place, random.normal(size=4000))))
        result = self.tune("--train", "table.csv", "--target", "y", "--max-memory", "20M")
        self.assertGreater(result["data"]["features"], 1300)
        self.tune_refused("--train", "table.csv", "--target", "y", "--max-memory", "20M", "--dense", names=["20 MB"])

    def test_models_of_targets(self):
        x = np.random.default_rng(0).normal(size=120)
        cases = {"0/1": (x > 0, "logistic"), "two whole numbers": (np.where(x > 0, 3, 7), "logistic"),
                 "three": (np.digitize(x, [-0.5, 0.5]), "softmax"), "from 1": (1 + np.digitize(x, [-0.5, 0.5]), "softmax"),
                 "from 3": (3 + np.digitize(x, [-0.5, 0.5]), "ridge"), "a gap": (2 * np.digitize(x, [-0.5, 0.5]), "ridge"),
                 "counts": (np.round(np.exp(x)), "ridge"), "numbers": (x, "ridge"), "fractions": (np.where(x > 0, .5, 1), "ridge")}
        for case, (y, model) in cases.items():
            with self.subTest(case):
                self.write_csv("table.csv", x[:, None], y)
                self.assertEqual(self.tune("--train", "table.csv", "--target", "y")["model"], model)
                self.assertEqual(self.tune("--train", "table.csv", "--target", "y", "--model", "ridge")["model"], "ridge")
        self.write("table.csv", text_of(houses()))
        self.tune_refused("--train", "table.csv", "--target", "kind", "--model", "ridge", names=["kind", "text", "logistic"])
        weighed = self.tune("--train", "table.csv", "--target", "kind", "--class-weights", "flat=2,house=1")
        self.assertEqual(weighed["model"], "logistic")
        named = self.tune("--train", "table.csv", "--target", "city", "--lambda-per", "class")
        self.assertEqual(named["lambda_names"], sorted(CITIES))

    def test_libsvm_from_zero(self):
        random = np.random.default_rng(0)
        x, y = random.normal(size=(60, 4)), random.normal(size=60)
        lines = [" ".join([repr(t), *(f"{j}:{v!r}" for j, v in enumerate(row))]) for row, t in zip(x.tolist(), y.tolist())]
        self.write("zero.svm", "\n".join(lines) + "\n")
        self.write_libsvm("one.svm", x, y)
        zero = self.model("--train", "zero.svm")
        one = self.model("--train", "one.svm")
        self.assertEqual(zero["weights"], one["weights"])
        self.assertIn("count from 0", self.yosida("tune", "--train", "zero.svm").stdout)
        # A file without its first column is still counted from 0 by a model that was trained so.
        self.yosida("tune", "--quiet", "--train", "zero.svm", "--save", "model.json")
        self.write("new.svm", "".join(f"0 {' '.join(line.split()[2:])}\n" for line in lines))
        given = np.array([float(row["prediction"]) for row in self.predict("new.svm")])
        x[:, 0] = 0
        step, = zero["pretreatment"]["x"]
        wanted = (x / step["scale"]) @ zero["weights"] + zero["intercept"] + zero["pretreatment"]["y"]["shift"]
        np.testing.assert_allclose(given, wanted, rtol=1e-10)
        self.tune_refused("--train", "one.svm", "--valid", "zero.svm", names=["zero.svm", "count from 0"])

    def test_save_split(self):
        columns = houses()
        columns["area"][3] = ""
        self.write("table.csv", text_of(columns))
        self.yosida("tune", "--quiet", "--train", "table.csv", "--target", "price", "--missing", "drop", "--test-fraction",
                    "0.2", "--save-split", "split.csv")
        rows = self.read_table("split.csv")
        self.assertEqual([int(row["row"]) for row in rows], [i + 1 for i in range(120) if i != 3])
        self.assertEqual({row["file"] for row in rows}, {"table.csv"})
        counts = {part: sum(row["part"] == part for row in rows) for part in ["train", "validation", "test"]}
        self.assertEqual(sum(counts.values()), 119)
        self.assertEqual(counts["test"], 24)
        # Parts that are given by the split give the same answer.
        part_of = {int(row["row"]) - 1: row["part"] for row in rows}
        for part in counts:
            self.write(f"{part}.csv", text_of({k: [v[i] for i in part_of if part_of[i] == part] for k, v in columns.items()}))
        whole = self.tune("--train", "table.csv", "--target", "price", "--missing", "drop", "--test-fraction", "0.2")
        apart = self.tune("--train", "train.csv", "--valid", "validation.csv", "--test", "test.csv", "--target", "price")
        self.assertAlmostEqual(whole["lambda"][0], apart["lambda"][0], delta=1e-6)
        self.yosida("tune", "--quiet", "--train", "table.csv", "--target", "price", "--missing", "drop", "--folds", "3",
                    "--save-split", "split.csv")
        self.assertEqual({row["part"] for row in self.read_table("split.csv")}, {"fold_1", "fold_2", "fold_3"})


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


class FromOffices(Tables):
    """Files as office programs, databases and people leave them: each is read in one command or in the one that the message has."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.area = random.uniform(30, 200, 120).round(1)
        town = random.integers(0, 4, 120)
        self.price = (3000 * self.area + 20000 * town + 5000 * random.normal(size=120)).round(2)
        self.town = [["Köln", "Berlin", "Hamburg", "München"][k] for k in town]
        self.days = [str(np.datetime64("2021-01-01") + int(d)).split("-") for d in random.integers(0, 1300, 120)]

    def assert_read(self, text, *notes, price="price", corrected=False, rows=None, features=None):
        """The model explains the price as it does that of a plain file."""
        shown = self.tune_table(text, price)
        self.assertEqual(self.corrected, corrected, getattr(self, "message", ""))
        for note in notes:
            self.assertIn(note, shown)
        given = np.array([float(row["prediction"]) for row in self.predict()])
        wanted = self.price if rows is None else self.price[rows]
        self.assertEqual(len(given), len(wanted))
        self.assertGreater(np.corrcoef(given, wanted)[0, 1], 0.99)
        self.assertLess(abs(given.mean() / wanted.mean() - 1), 0.05, "a number of another size was read")
        if features is not None:
            self.assertEqual(self.saved()["feature_names"], features)

    def columns(self, **more):
        return {"area": [f"{v:.1f}" for v in self.area], "town": self.town, **more, "price": [f"{v:.2f}" for v in self.price]}

    def test_euros_and_german_dates(self):
        columns = self.columns(sold=[f"{d}.{m}.{y}" for y, m, d in self.days])
        columns["area"] = [v.replace(".", ",") for v in columns["area"]]
        columns["price"] = [f"{german(v)} €" for v in self.price]
        self.assert_read(text_of(columns, ";", "\r\n", True), "sold", "--decimal ,")

    def test_dollars_percent_and_american_dates(self):
        columns = self.columns(sold=[f"{int(m)}/{int(d)}/{y[2:]}" for y, m, d in self.days])
        columns["area"] = [f"{v}%" for v in columns["area"]]
        columns["price"] = [f"${v:,.2f}" for v in self.price]
        self.assert_read(text_of(columns), "sold")
        area, = [each for each in self.saved()["table"]["columns"] if each["name"] == "area"]
        self.assertEqual(area["unit"], "%")
        self.write("new.csv", text_of({**columns, "area": ["$ 7"] * 120}))
        self.refused("predict", "--from", "model.json", "--data", "new.csv", names=["new.csv:2", "$ 7", "a number in %"])

    def test_two_units_are_not_added_up(self):
        columns = self.columns(fee=[f"{i % 9}.5 {'€' if i % 50 else '$'}" for i in range(120)])
        self.assert_read(text_of(columns), corrected=True)
        self.assertIn("in $", self.message)
        self.assertIn("--ignore fee", self.message)

    def test_marks_of_missing_values(self):
        marks = ["NA", "N.A.", "-", "?", "", "n/a", "#DIV/0!", "--", ".", "NULL"]
        columns = self.columns()
        for name, every in [("area", 17), ("town", 11)]:
            for i, row in enumerate(range(0, 120, every)):
                columns[name][row] = marks[i % len(marks)]
        self.tune_table(text_of(columns), "price")
        self.assertTrue(self.corrected)
        self.assertIn("--missing mean", self.message)
        levels, = [each["levels"] for each in self.saved()["table"]["columns"] if each["name"] == "town"]
        self.assertEqual(levels, ["", "Berlin", "Hamburg", "Köln", "München"])

    def test_separators_behind_the_last_column(self):
        lines = text_of(self.columns()).decode().splitlines()
        self.assert_read("".join(f"{line},,\n" for line in lines), "no row has a value there")

    def test_two_columns_of_one_name(self):
        text = text_of(self.columns(other=[str(i % 7) for i in range(120)])).decode().replace("other", "area", 1)
        self.assert_read(text, 'both named "area"', '"area.2"')
        self.write("table.csv", text.replace("price", "area"))
        self.tune_refused("--train", "table.csv", "--target", "area", names=["both named"])

    def test_a_column_without_values(self):
        for missing in [[], ["--missing", "mean"], ["--missing", "drop"]]:
            with self.subTest(missing):
                shown = self.tune_table(text_of(self.columns(note=[""] * 120)), "price", *missing)
                self.assertFalse(self.corrected)
                self.assertIn('"note" is passed over', shown)
                self.assertEqual(len(self.predict()), 120)

    def test_encodings(self):
        text = text_of(self.columns(), "\t").decode()
        names = ["area", "town=Berlin", "town=Hamburg", "town=Köln", "town=München"]
        for encoding in ["utf-16", "utf-16-be", "latin-1", "cp1252"]:
            with self.subTest(encoding):
                mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
                notes = ["Windows-1252"] if encoding in ("latin-1", "cp1252") else []
                self.assert_read(mark + text.encode(encoding), *notes, features=names)
        self.assert_read(text_of({**self.columns(), "price": [f"{german(v)} €" for v in self.price],
                                  "area": [german(v) for v in self.area]}, ";").decode().encode("cp1252"), features=names)
        self.write("table.csv", text.encode("utf-16")[:-1])
        self.tune_refused("--train", "table.csv", "--target", "price", names=["table.csv", "UTF-16", "cut off"])

    def test_blank_lines_are_no_rows_to_predict(self):
        lines = text_of(self.columns()).decode().splitlines()
        self.tune_table("\n".join(lines) + "\n", "price")
        whole = self.predict()
        self.write("gaps.csv", "\n".join([*lines[:9], "", *lines[9:30], "", "", *lines[30:]]) + "\n")
        self.assertEqual(self.predict("gaps.csv"), whole)
        self.assertIn("3 blank lines are passed over", self.stderr)

    def test_blanks_around_everything(self):
        columns = {f" {name} ": [f"  {v} " for v in values] for name, values in self.columns().items()}
        self.assert_read("\n".join([",".join(columns)] + [",".join(row) for row in zip(*columns.values())]) + "\n")

    def test_lines_above_the_table(self):
        text = text_of(self.columns()).decode()
        self.assert_read("Sales of 2024\n\n" + text, "line 1 is passed over")
        self.assert_read("Sales of 2024,,\n,,\n" + text, "line 1 is passed over")
        comma_text = text_of({**self.columns(), "area": comma(self.columns()["area"]), "price": [german(v) for v in self.price]}, ";")
        self.assert_read(b"sep=;\r\n" + comma_text)

    def test_comments_and_a_header_of_two_lines(self):
        text = text_of(self.columns()).decode()
        self.assert_read("# made by a program, 2024\n# of, its, own\n" + text, "line 1 is passed over", "line 2 is passed over")
        self.assert_read("House,,Sale\n" + text, "line 1 is passed over")

    def test_negative_numbers_as_people_write_them(self):
        balance = np.linspace(-300, 300, 120)
        price = self.price
        ways = {"accountants": lambda v: f"({-v:.1f})" if v < 0 else f"{v:.1f}", "whole": lambda v: f"({-v:.0f})" if v < 0 else f"{v:.0f}",
                "behind": lambda v: f"{-v:.1f}-" if v < 0 else f"{v:.1f}", "mathematics": lambda v: f"{v:.1f}".replace("-", "\u2212"),
                "dollars": lambda v: f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}", "sign first": lambda v: f"-${-v:,.2f}" if v < 0 else f"${v:,.2f}"}
        for name, written in ways.items():
            with self.subTest(name):
                self.price = price + 2 * balance
                self.assert_read(text_of(self.columns(balance=[written(v) for v in balance])),
                                 features=["area", "town=Berlin", "town=Hamburg", "town=Köln", "town=München", "balance"])
                self.price = price - 300_000
                columns = self.columns()
                columns["price"] = [written(v) for v in self.price]
                self.tune_table(text_of(columns), "price")
                self.assertFalse(self.corrected)
        self.price = price

    def test_units_of_any_name(self):
        columns = self.columns(weight=[f"{i % 7} kg" for i in range(120)], lot=[f"{i % 5}{'ab'[i % 2]}" for i in range(120)])
        columns["area"] = [f"{v} m²" for v in columns["area"]]
        self.assert_read(text_of(columns))
        units = {each["name"]: each.get("unit", each["kind"]) for each in self.saved()["table"]["columns"]}
        self.assertEqual(units, {"area": "m²", "town": "category", "weight": "kg", "lot": "category"})
        self.write("new.csv", text_of({**columns, "weight": ["7 lb"] * 120}))
        self.refused("predict", "--from", "model.json", "--data", "new.csv", names=["new.csv:2", "7 lb", "a number in kg"])

    def test_groups_of_digits_in_india(self):
        def indian(v):
            whole, cents = f"{v * 1000:.2f}".split(".")
            return f"{whole[:-5]},{whole[-5:-3]},{whole[-3:]}.{cents}" if len(whole) > 5 else f"{whole[:-3]},{whole[-3:]}.{cents}"
        self.assert_read(text_of(self.columns(worth=[indian(v) for v in np.linspace(40, 400, 120)])),
                         features=["area", "town=Berlin", "town=Hamburg", "town=Köln", "town=München", "worth"])

    def test_pipes_spaces_and_text_of_a_spreadsheet(self):
        text = text_of(self.columns(), "|").decode()
        self.assert_read(text)
        self.assert_read("\n".join("   ".join(line.split("|")) for line in text.splitlines()) + "\n")
        columns = self.columns()
        columns["area"] = [f'="{v}"' for v in columns["area"]]
        self.assert_read(text_of(columns), features=["area", "town=Berlin", "town=Hamburg", "town=Köln", "town=München"])

    def test_sums_below_the_table(self):
        columns = self.columns(rooms=[str(i % 7) for i in range(120)])
        text = text_of(columns) + f",Total,,{self.price.sum():.2f}\n".encode()
        shown = self.tune_table(text, "price")
        self.assertTrue(self.corrected)
        self.assertIn("--missing drop", self.message)
        self.assertIn("90 training, 30 validation", shown)

    def test_the_index_of_pandas_and_times_by_am_and_pm(self):
        columns = self.columns(seen=[f"{1 + i % 12}:{i % 60:02} {'AP'[i % 2]}M" for i in range(120)])
        text = text_of({"": [str(i) for i in range(120)], **columns})
        self.assert_read(text, "the first column has no name", "times parts of a day: seen",
                         features=["area", "town=Berlin", "town=Hamburg", "town=Köln", "town=München", "seen"])

    def test_rows_of_separators_alone(self):
        text = text_of(self.columns())
        self.assert_read(text + b",,\n" * 4)
        lines = text.split(b"\n")
        # Rows follow: it is a row without values, and the message says what can be done with one.
        self.write("table.csv", b"\n".join([*lines[:20], b",,", *lines[20:]]))
        command = [BINARY, "tune", "--train", "table.csv", "--target", "price"]
        refused = self.run_command(command)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("table.csv:21", refused.stderr)
        self.assertIn("--missing drop", refused.stderr)
        self.assertEqual(self.run_command([*command, "--missing", "drop"]).returncode, 0)

    def test_utf16_without_a_mark(self):
        for encoding in ["utf-16-le", "utf-16-be"]:
            with self.subTest(encoding):
                self.assert_read(text_of(self.columns(), "\t").decode().encode(encoding))

    def test_a_target_with_gaps(self):
        columns = self.columns()
        kept = [i for i in range(120) if i % 11]
        for i in range(0, 120, 11):
            columns["price"][i] = ""
        self.tune_table(text_of(columns), "price")
        self.assertTrue(self.corrected)
        self.assertIn("--missing drop", self.message)
        given = np.array([float(row["prediction"]) for row in self.predict()])
        self.assertGreater(np.corrcoef(given[kept], self.price[kept])[0, 1], 0.99)

    def test_codes_with_zeros_in_front(self):
        code = {"Köln": "02139", "Berlin": "10115", "Hamburg": "00501", "München": "94103"}
        columns = {**self.columns(), "town": [code[v] for v in self.town]}
        self.tune_table(text_of(columns), "price", "--categorical", "town")
        self.assertEqual(self.saved()["feature_names"][1:], ["town=00501", "town=02139", "town=10115", "town=94103"])

    def test_no_header_and_nothing_but_text(self):
        rows = [["red", "big", "yes"], ["green", "small", "no"], ["blue", "big", "yes"], ["red", "small", "no"]] * 20
        self.write("table.csv", "".join(",".join(row) + "\n" for row in rows))
        result = self.tune("--train", "table.csv", "--target", "2")
        self.assertEqual(result["data"]["train_rows"] + result["data"]["validation_rows"], 80)
        self.write_csv("x.csv", self.area[:, None], None)
        self.write("labels.csv", "".join(f"{v}\n" for v in self.town))
        result = self.tune("--train", "x.csv", "--train-target", "labels.csv")
        self.assertEqual(result["model"], "softmax")
        self.assertEqual(result["data"]["train_rows"] + result["data"]["validation_rows"], 120)

    def test_folds_by_name(self):
        columns = self.columns(shop=[["north", "south", "west"][i % 3] for i in range(120)])
        self.write("table.csv", text_of(columns))
        named = self.tune("--train", "table.csv", "--target", "price", "--fold-column", "shop")
        columns["shop"] = [str(i % 3) for i in range(120)]
        self.write("table.csv", text_of(columns))
        numbered = self.tune("--train", "table.csv", "--target", "price", "--fold-column", "shop")
        self.assertEqual(named["lambda"], numbered["lambda"])
        self.assertEqual(named["loss"], numbered["loss"])


class Hostile(Tables):
    def test_a_column_of_100000_levels(self):
        text = "name,x,y\n" + "".join(f"n{i % 100000},{i % 7},{(i * 37) % 101 / 3}\n" for i in range(250000))
        self.write("table.csv", text)
        result = self.tune("--train", "table.csv", "--target", "y", "--max-iterations", "1", "--time-limit", "20")
        self.assertEqual(result["data"]["features"], 100001)

    def test_levels_that_look_like_numbers(self):
        rows = ["7", "a", "b", "a", "7.0", "b", "a", "b"] * 10
        self.write("table.csv", "level,y\n" + "".join(f"{v},{i % 5}.5\n" for i, v in enumerate(rows)))
        names = self.model("--train", "table.csv", "--target", "y")["feature_names"]
        self.assertEqual(names, ["level=7", "level=7.0", "level=a", "level=b"])

    def test_dates_with_zones_and_times(self):
        texts = ["2024-03-01T00:00:00Z", "2024-03-01T02:00:00+02:00", "2024-02-29 19:00:00-05:00", "2024-03-02 12:00:00Z"]
        self.write("table.csv", "when,y\n" + "".join(f"{texts[i % 4]},{i % 4 // 3}.{i % 5}\n" for i in range(40)))
        model = self.model("--train", "table.csv", "--target", "y", "--x", "raw", "--valid", "table.csv")
        self.assertEqual(model["table"]["columns"], [{"kind": "date", "name": "when", "order": "year-month-day"}])
        given = [float(row["prediction"]) for row in self.predict()]
        np.testing.assert_allclose(given[:3], given[0], rtol=1e-12)
        self.assertNotEqual(given[3], given[0])

    def test_empty_header_only_and_one_row(self):
        for text, names in [("", ["empty"]), ("a,b,y\n", ["header"]), ("a,b,y\nred,1,2\n", ["table.csv"])]:
            with self.subTest(text):
                self.write("table.csv", text)
                self.tune_refused("--train", "table.csv", "--target", "y", names=names)

    def test_text_that_is_no_utf8_comes_through_a_pipe(self):
        text = b"a,y\n" + b"".join(b"%s,%d\n" % (v, i) for i, v in enumerate([b"red", b"bl\xe9"] * 6))
        piped = subprocess.run([BINARY, "tune", "--train", "-", "--target", "y"], input=text, cwd=self.folder, capture_output=True,
                               timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(piped.returncode, 2)
        for word in [b'"a"', b"UTF-8", b"iconv"]:
            self.assertIn(word, piped.stderr)

    def test_a_pipe(self):
        self.write("table.csv", text_of(houses()))
        piped = subprocess.run(f"cat table.csv | {shlex.quote(BINARY)} tune --quiet --train - --target price --save piped.json",
                               shell=True, cwd=self.folder, timeout=TIMEOUT_SECONDS, capture_output=True, check=False)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.model("--train", "table.csv", "--target", "price")
        self.assertEqual(self.read("piped.json"), self.read("model.json"))


@unittest.skipUnless(pandas, "needs scikit-learn and pandas")
class Pipelines(Tables):
    """One-hot, scaling and the printed equivalent of λ in scikit-learn give the same predictions."""

    def assert_same(self, columns, target, text, estimator, option, *options):
        self.write("table.csv", text)
        done = self.yosida("tune", "--quiet", "--json", "result.json", "--save", "model.json", "--save-split", "split.csv",
                           "--train", "table.csv", "--target", target, *options)
        self.assertEqual(done.stderr, "")
        result = json.loads(self.read("result.json"))
        frame = pandas.DataFrame({k: v for k, v in columns.items() if k not in (target, "id")})
        train = [int(row["row"]) - 1 for row in self.read_table("split.csv") if row["part"] == "train"]
        text_columns = ["city", "kind"]
        numbers = [name for name in frame.columns if name not in text_columns]
        for name in numbers:
            frame[name] = [float(np.datetime64(v).astype(int)) if "-" in v else {"true": 1.0, "false": 0.0}.get(v) if v.isalpha()
                           else float(v) for v in frame[name]]
        pipeline = make_pipeline(
            ColumnTransformer([("text", OneHotEncoder(handle_unknown="ignore"), text_columns)], remainder="passthrough",
                              sparse_threshold=0), StandardScaler(), estimator(result["equivalents"][option]))
        wanted = np.array(columns[target])
        is_number = "ridge" in option
        pipeline.fit(frame.iloc[train], wanted[train].astype(float) if is_number else wanted[train])
        rows = self.predict()
        if is_number:
            given = np.array([float(row["prediction"]) for row in rows])
            np.testing.assert_allclose(given, pipeline.predict(frame), rtol=1e-6)
        else:
            given = np.array([[float(row[f"probability_{name}"]) for name in pipeline.classes_] for row in rows])
            np.testing.assert_allclose(given, pipeline.predict_proba(frame), atol=1e-6)
            self.assertEqual([row["label"] for row in rows], list(pipeline.predict(frame)))

    def test_ridge(self):
        columns = houses()
        self.assert_same(columns, "price", text_of(columns), lambda alpha: Ridge(alpha=alpha), "sklearn_ridge_alpha")

    def test_ridge_with_decimal_commas(self):
        columns = houses(seed=3)
        german = {**columns, "area": comma(columns["area"]), "price": comma(columns["price"])}
        self.assert_same(columns, "price", text_of(german, ";", "\r\n", True), lambda alpha: Ridge(alpha=alpha),
                         "sklearn_ridge_alpha")

    def test_logistic(self):
        columns = houses(seed=5)
        price = np.array([float(v) for v in columns["price"]])
        noise = 60 * np.random.default_rng(0).normal(size=120)
        columns["price"] = list(np.where(price + noise > np.median(price), "dear", "cheap"))
        self.assert_same(columns, "price", text_of(columns),
                         lambda c: LogisticRegression(C=c, tol=1e-12, max_iter=1000, solver="newton-cholesky"),
                         "sklearn_logistic_C")


if __name__ == "__main__":
    unittest.main()
