"""Tables that do not mean what they seem to: each is read as it is meant, or refused, or a note tells what it may be."""
import unittest

import numpy as np

import tables_test
from tables_test import text_of


class Strange(tables_test.Tables):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.area = random.uniform(30, 200, 120).round(1)
        town = random.integers(0, 4, 120)
        self.town = [["Köln", "Berlin", "Hamburg", "München"][k] for k in town]
        self.price = (3000 * self.area + 20000 * town + 5000 * random.normal(size=120)).round(2)
        self.days = [np.datetime64("2021-01-01") + int(d) for d in random.integers(0, 1300, 120)]

    def columns(self, **more):
        return {"area": [f"{v:.1f}" for v in self.area], "town": self.town, **more, "price": [f"{v:.2f}" for v in self.price]}

    def rows(self):
        return text_of(self.columns()).decode().splitlines()

    def plain_model(self, target="price"):
        self.tune_table(text_of(self.columns()), target)
        return self.saved()

    def assert_read_as_plain(self, text, *notes, close=1e-9):
        """The model is that of the plain file."""
        wanted = self.plain_model()
        shown = self.tune_table(text, "price")
        self.assertFalse(self.corrected)
        for note in notes:
            self.assertIn(note, shown)
        self.assertEqual(self.saved()["feature_names"], wanted["feature_names"])
        np.testing.assert_allclose(self.saved()["weights"], wanted["weights"], rtol=close)
        self.assertEqual(len(self.predict()), 120)

    def assert_told(self, text, target, *words):
        """It is read, and a note tells what it may be."""
        shown = " ".join(self.tune_table(text, target).split())
        self.assertFalse(self.corrected)
        for word in words:
            self.assertIn(word, shown)
        return shown


class Numbers(Strange):
    def test_exponents_of_fortran(self):
        self.area = np.array([float(f"{v:.3e}") for v in self.area])
        self.price = np.array([float(f"{v:.8e}") for v in self.price])
        self.assert_read_as_plain(text_of({**self.columns(), "area": [f"{v:.3E}".replace("E", "D") for v in self.area],
                                           "price": [f"{v:.8E}".replace("E", "D") for v in self.price]}))
        # A code has no point, or no sign.
        self.tune_table(text_of(self.columns(code=[f"1D0{i % 3}" for i in range(120)])), "price")
        self.assertIn("code=1D02", self.saved()["feature_names"])

    def test_apostrophes(self):
        swiss = [f"{v:,.2f}".replace(",", "’") for v in self.price]
        self.assert_read_as_plain(text_of({**self.columns(), "price": swiss}))
        self.assert_read_as_plain(text_of({**self.columns(), "area": [f"'{v:.1f}" for v in self.area]}))

    def test_blanks_that_do_not_break_and_two_marks_of_byte_order(self):
        columns = {f"\u00a0{name} ": [f"\u00a0{v}\u00a0" for v in values] for name, values in self.columns().items()}
        self.assert_read_as_plain(b"\xef\xbb\xbf\xef\xbb\xbf" + text_of(columns))

    def test_marks_of_missing_values_that_are_numbers(self):
        columns = self.columns()
        columns["area"][::10] = ["-999"] * 12
        self.assert_told(text_of(columns), "price", 'column "area" has -999 in 12 rows', "leave the field empty")
        columns["area"][::10] = ["9999"] * 12
        self.assert_told(text_of(columns), "price", 'column "area" has 9999 in 12 rows')
        columns = self.columns()
        columns["price"][::10] = ["-999"] * 12
        self.assert_told(text_of(columns), "price", 'the target "price" has -999 in 12 rows')
        # Among such numbers it is one of them.
        near = self.columns(near=[str(i % 100) for i in range(120)], cold=[str(i % 30 - 20) for i in range(120)])
        near["near"][7] = near["near"][8] = "99"
        near["cold"][7] = near["cold"][8] = "-9"
        self.assertNotIn("far from", self.assert_told(text_of(near), "price"))

    def test_codes_and_a_column_that_counts_rows(self):
        code = {"Köln": "02139", "Berlin": "10115", "Hamburg": "00501", "München": "94103"}
        self.assert_told(text_of(self.columns(zip=[code[v] for v in self.town])), "price", 'column "zip" is taken for numbers',
                         "--categorical zip")
        self.assert_told(text_of(self.columns(row=[f"{1000 + i}.0" for i in range(120)])), "price", 'column "row" only counts the rows',
                         "--ignore row")
        shown = self.tune_table(text_of(self.columns(row=[str(i) for i in range(120)])), "price", "--numeric", "row")
        self.assertNotIn("counts", shown)

    def test_two_decimal_marks(self):
        columns = {**self.columns(), "price": [tables_test.german(v) for v in self.price]}
        self.write("table.csv", text_of(columns, ";"))
        told = self.tune_refused("--train", "table.csv", "--target", "price", names=["decimal mark", "no flag reads such a target"])
        self.assertNotIn("--ignore", told)
        columns = self.columns(fee=[tables_test.german(1000.5 + i) for i in range(120)])
        self.tune_table(text_of(columns, ";"), "price")
        self.assertTrue(self.corrected)
        self.assertIn("--ignore fee", self.message)

    def test_a_target_in_two_currencies(self):
        self.write("table.csv", text_of({**self.columns(), "price": [f"{'$€'[i % 2]}{v}" for i, v in enumerate(self.price)]}))
        told = self.tune_refused("--train", "table.csv", "--target", "price", names=["must be a number in $", "change it in the file"])
        self.assertNotIn("--ignore price", told)


class Words(Strange):
    def test_dates_in_several_orders(self):
        for name, write in {"as in Germany": lambda day: f"{day:%d.%m.%Y}", "as in America": lambda day: f"{day:%m/%d/%Y}"}.items():
            with self.subTest(name):
                days = [write(day.item()) if i % 2 else str(day) for i, day in enumerate(self.days)]
                self.tune_table(text_of(self.columns(sold=days)), "price")
                self.assertTrue(self.corrected)
                self.assertIn("several orders", self.message)
                self.assertIn("--ignore sold", self.message)

    def test_levels_that_differ_in_how_they_are_written(self):
        self.assert_told(text_of(self.columns(garden=[["Yes", "no", "yes"][i % 3] for i in range(120)])), "price",
                         'column "garden" has "Yes" and "yes", which are taken for two levels')
        kinds = ["Dear" if v > 350000 else "cheap" for v in self.price]
        kinds[5] = kinds[9] = "CHEAP"
        self.assert_told(text_of({**self.columns(), "price": kinds}), "price", 'the target "price" has "CHEAP" and "cheap"')


class Lines(Strange):
    def test_comments_and_words_below_the_table(self):
        rows = self.rows()
        self.assert_read_as_plain("\n".join([*rows[:40], "# second batch", *rows[40:], "# end"]) + "\n", "passed over: 2 lines with #")
        self.assert_read_as_plain("\n".join([*rows, "", "Source: Land registry", "checked by hand"]) + "\n",
                                  'line 123 is passed over: "Source: Land registry"', "checked by hand")
        self.write("table.csv", "\n".join([*rows[:40], "a remark", *rows[40:]]) + "\n")
        self.tune_refused("--train", "table.csv", "--target", "price", names=["table.csv:41", "expected 3 fields but found 1"])

    def test_files_that_were_joined_with_their_headers(self):
        rows = self.rows()
        self.assert_read_as_plain("\n".join([*rows[:40], rows[0], *rows[40:]]) + "\n", "passed over: 1 line")

    def test_ends_of_several_kinds(self):
        rows = self.rows()
        self.write("table.csv", ("\r\n".join(rows[:40]) + "\n" + "\r".join(rows[40:]) + "\n").encode())
        self.tune_refused("--train", "table.csv", "--target", "price", names=["table.csv:41", "different ends", "sed 's/\\r$//' FILE"])

    def test_rows_that_are_too_short_are_told_at_once(self):
        rows = self.rows()
        self.write("table.csv", "\n".join([*rows[:40], "12.5,Köln", *rows[40:]]) + "\n")
        self.tune_refused("--train", "table.csv", "--target", "price", names=["table.csv:41", "expected 3 fields but found 2"])
        self.write("table.csv", "area,screen,price\n" + "".join(f'{v},{10 + i % 5}",{p}\n' for i, (v, p) in enumerate(zip(self.area, self.price))))
        self.tune_refused("--train", "table.csv", "--target", "price", names=["a quotation mark stands inside of a field"])
        self.write("table.csv", text_of(self.columns()).replace(b"Berlin", b"Ber\0lin"))
        self.tune_refused("--train", "table.csv", "--target", "price", names=["zero byte", "tr -d '\\0'"])


if __name__ == "__main__":
    unittest.main()
