"""Studies made to harm, or damaged, as every command that reads one meets them: exit code 2 and a message, at once."""
import hashlib
import os
import sqlite3
import struct
import unittest
import zlib

from study_test import Study, key, run

DEPTH = 100_000
COMPARE = ["compare", "--data", "spectra", "--methods", "sho", "--max-iterations", 2, "--seeds", 1, "--quiet", "--study"]
REPRODUCE = ["reproduce", "--problem", "spectra", "--seeds", 1, "--quiet", "--study"]


class Hostile(Study):
    def setUp(self):
        super().setUp()
        self.fill(run(seed=1), run(seed=2))

    def sql(self, script, *values):
        database = sqlite3.connect(self.folder / self.file)
        try:
            if values:
                database.execute(script, values)
                database.commit()
            else:
                database.executescript(script)
        finally:
            database.close()

    def set_outcome(self, text):
        self.sql("UPDATE run SET outcome = ? WHERE seed = 2", text)

    def readers(self, traces=True):
        """The commands that read a study, and write their results elsewhere."""
        yield from (["study", "list", self.file], ["study", "prune", self.file, "--seed", 77, "--dry-run"],
                    ["study", "export", self.file, "--out", "out"], ["study", "export", self.file, "--format", "json", "--out", "out"],
                    ["report", self.file, "--out", "out"], ["dashboard", self.file, "--port", "0"])
        if traces:
            yield from (["study", "show", self.file, key(run(seed=2))],
                        ["study", "export", self.file, "--traces", "--out", "out"])

    def all_refuse(self, *names, commands=None):
        for command in commands or self.readers():
            with self.subTest(command):
                message = self.refused(*command, names=[self.file, "damaged", *names])
                self.assertLess(len(message), 1000)


class Json(Hostile):
    def test_nested_deep(self):
        self.set_outcome('{"a":' * DEPTH + "1" + "}" * DEPTH)
        self.all_refuse(key(run(seed=2)), "outcome", "nested")
        for text in ["[" * DEPTH + "]" * DEPTH, "[" * DEPTH]:
            self.set_outcome(text)
            self.all_refuse(key(run(seed=2)), "outcome", "nested", commands=[["study", "export", self.file, "--out", "out"]])

    def test_a_spec_nested_deep(self):
        spec = "[" * DEPTH + "]" * DEPTH
        name = hashlib.sha256(spec.encode()).hexdigest()
        self.sql("UPDATE run SET spec = ?, key = ? WHERE seed = 2", spec, name)
        self.all_refuse(name, "spec", "nested", commands=self.readers(traces=False))
        self.refused("study", "show", self.file, name, names=[name, "nested"])

    def test_those_who_add_runs(self):
        self.set_outcome("[" * DEPTH + "]" * DEPTH)
        for command in [[*COMPARE, self.file], [*REPRODUCE, self.file]]:
            done = self.yosida(*command, code=2)
            for word in [self.file, "is damaged", key(run(seed=2)), "nested"]:
                self.assertIn(word, done.stderr)

    def test_what_is_no_json(self):
        for text in ["", "{", '{"a":1e999}', '{"a":NaN}', '{"a":1}x']:
            with self.subTest(text):
                self.set_outcome(text)
                self.refused("study", "list", self.file, names=[key(run(seed=2)), "is damaged", "no JSON"])
        self.sql("UPDATE run SET outcome = CAST(x'2280ff22' AS TEXT) WHERE seed = 2")
        self.refused("study", "list", self.file, names=[key(run(seed=2)), "is damaged", "UTF-8"])

    def test_more_names_than_can_be_looked_for(self):
        self.set_outcome("{" + ",".join(f'"{number}":0' for number in range(300_000)) + "}")
        self.all_refuse(key(run(seed=2)), "names")

    def test_more_values_than_a_table_has_cells(self):
        self.set_outcome("[" + "1," * 2_000_000 + "1]")
        self.all_refuse(key(run(seed=2)), "outcome", "more than 1000000 values")

    def test_known_names_that_hold_something_else(self):
        for text in ["1", '"text"', "[]", "null", '{"final":[1,2],"best":"x","work":3,"oracle":[],"certificate":7,"iterations":{}}',
                     '{"final":{"lambda":"x","loss":[1]},"best":{"lambda":{},"loss":{"validation":"x"}},"work":{"paper_count":[]}}',
                     '{"final":{"lambda":[[[1]],{"a":2}]},"certificate":{"verdict":5,"reason":[]},"error":[1],"error":{"a":2}}',
                     '{"final":{"loss":{"validation":1e308}},"work":{"paper_count":-9223372036854775808,"gradient_equivalents":18446744073709551615}}']:
            for status in ["converged", "failed"]:
                with self.subTest(text, status=status):
                    self.sql("UPDATE run SET outcome = ?, status = ? WHERE seed = 2", text, status)
                    self.yosida("study", "list", self.file)
                    self.yosida("study", "export", self.file)
                    self.yosida("report", self.file, "--out", "page.html", "--figures", "figures")


    def test_a_failure_that_is_not_told_in_words(self):
        self.yosida(*COMPARE, "own.db")
        self.file = "own.db"
        self.sql("UPDATE run SET status = 'failed', outcome = ?", '{"error":[1]}')
        done = self.yosida(*COMPARE, self.file, code=2)
        self.assertIn('1 run failed (sho seed 0): {"error":[1]}', done.stderr)


class Traces(Hostile):
    def of_trace(self, blob, *names):
        self.sql("UPDATE run SET trace = ? WHERE seed = 2", blob)
        self.study("list")
        name = key(run(seed=2))
        for command in [["study", "show", self.file, name], ["study", "export", self.file, "--traces", "--out", "out"],
                        ["report", self.file, "--out", "out"], ["dashboard", self.file, "--port", "0"]]:
            with self.subTest(command):
                self.refused(*command, names=[name, "is damaged", *names])

    def text(self):
        database = sqlite3.connect(self.folder / self.file)
        blob, = database.execute("SELECT trace FROM run WHERE seed = 2").fetchone()
        database.close()
        return zlib.decompress(blob)

    def test_unpacks_to_hundreds_of_megabytes(self):
        packer = zlib.compressobj(1)
        bomb = b"".join([packer.compress(b'{"iteration":['), *(packer.compress(b"0," * (1 << 19)) for _ in range(300)), packer.flush()])
        self.assertLess(len(bomb), 4 << 20)
        self.of_trace(bomb, "unpacks to more than")

    def test_more_points_than_memory(self):
        self.of_trace(zlib.compress(b'{"iteration":[' + b"0," * 10_000_000 + b"0]}"), "points")

    def test_a_byte_changed(self):
        whole = zlib.compress(self.text())
        changed = bytearray(whole)
        changed[len(changed) // 2] ^= 0x10
        self.of_trace(bytes(changed), "zlib")
        self.of_trace(whole + b"0", "zlib")

    def test_a_table_of_empty_fields(self):
        wide, long = run(seed=3, lambdas=[0.5] * 100_000), run(seed=4)
        long["trace"] = [{**long["trace"][0], "iteration": number} for number in range(1200)]
        self.fill(wide, long)
        self.refused("study", "export", self.file, "--traces", "--out", "out", names=["lambdas", "--format json"])
        self.yosida("study", "export", self.file, "--traces", "--format", "json", "--out", "out")

    def test_counts(self):
        text = self.text()
        for old, new, words in [(b'"iteration":[0,1,2]', b'"iteration":[0,2,1]', "order"),
                                (b'"iteration":[0,1,2]', b'"iteration":[-9223372036854775808,1,2]', "order"),
                                (b'"train_gradients":[0,', b'"train_gradients":[-1,', "evaluations"),
                                (b'"train_gradients":[0,', b'"train_gradients":[9223372036854775807,', "evaluations"),
                                (b'"train_gradients":[0,', b'"train_gradients":[9223372036854775808,', "number"),
                                (b'"seconds"', b'"' + b"s" * 100_000 + b'"', "longer than any name")]:
            with self.subTest(new[:60]):
                self.assertIn(old, text)
                self.of_trace(zlib.compress(text.replace(old, new)), words)


class Tables(Hostile):
    """Only plain tables as yosida makes them."""

    def columns(self):
        return "key, method, seed, spec, status, outcome, trace, program, data_sha256, seconds, finished"

    def view(self, rows):
        self.sql(f"ALTER TABLE run RENAME TO runs; CREATE VIEW run ({self.columns()}) AS {rows}")

    def test_a_view_without_end(self):
        self.view("WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT runs.* FROM runs, r")
        self.all_refuse("run")
        for command in [COMPARE, REPRODUCE]:
            self.assertIn("damaged", self.yosida(*command, self.file, code=2).stderr)

    def test_a_view_of_large_blobs(self):
        self.view("SELECT key, method, seed, spec, status, outcome, randomblob(1000000000), program, data_sha256, seconds, finished FROM runs")
        self.all_refuse("run")

    def test_what_else_a_schema_can_hold(self):
        scripts = ["CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
                   "CREATE INDEX i ON run (abs(seed))", "CREATE TABLE other (x)", "CREATE VIEW session AS SELECT 1",
                   "ALTER TABLE run ADD COLUMN more BLOB AS (zeroblob(1000000))", "ALTER TABLE run RENAME COLUMN program TO programme",
                   "CREATE TABLE session (started)", "CREATE VIRTUAL TABLE session USING fts5 (started, command, program, machine)"]
        (self.folder / self.file).rename(self.folder / "good.db")
        for script in scripts:
            with self.subTest(script):
                (self.folder / self.file).write_bytes((self.folder / "good.db").read_bytes())
                self.sql(script)
                self.all_refuse(commands=[["study", "list", self.file], ["report", self.file, "--out", "out"]])
                self.assertIn("damaged", self.yosida(*COMPARE, self.file, code=2).stderr)

    def test_statistics_of_sqlite_are_no_harm(self):
        self.sql("ANALYZE")
        self.study("list")

    def test_cells_of_other_types(self):
        """Where the table is not strict, as a changed schema makes it."""
        self.sql("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'run'")
        name = key(run(seed=2))
        for change in ["outcome = x'7b7d'", "method = x'00'", "seed = 'x'", "seconds = 'x'", "trace = 7", "status = x''"]:
            with self.subTest(change):
                (self.folder / "changed.db").write_bytes((self.folder / self.file).read_bytes())
                database = sqlite3.connect(self.folder / "changed.db")
                database.executescript(f"UPDATE run SET {change} WHERE key = '{name}';"
                                       "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'run'")
                database.close()
                self.refused("study", "show", "changed.db", name, names=["is damaged", name, "type"])
                self.refused("report", "changed.db", "--out", "out", names=["is damaged", name, "type"])

    def test_seconds_and_names(self):
        for change, words in [("seconds = 9e999", "seconds"), ("method = hex(zeroblob(1000000))", "method"),
                              ("status = hex(zeroblob(1000000))", "status")]:
            with self.subTest(change):
                (self.folder / self.file).unlink()
                self.fill(run(seed=1), run(seed=2))
                self.sql(f"UPDATE run SET {change} WHERE seed = 2")
                self.all_refuse(key(run(seed=2)), words)

    def test_a_run_that_the_index_does_not_know(self):
        """One digit changed in the index, where a key stands without its method."""
        whole, name = (self.folder / self.file).read_bytes(), key(run(seed=2)).encode()
        place, = [at for at in range(len(whole)) if whole.startswith(name, at) and not whole.startswith(name + b"sho", at)]
        self.write(self.file, whole[:place + 63] + (b"0" if name[-1:] != b"0" else b"1") + whole[place + 64:])
        for form in ["csv", "json"]:
            self.refused("study", "export", self.file, "--traces", "--format", form, "--out", "out", names=[self.file, name.decode(), "is damaged"])


class Beside(Hostile):
    """Files beside a study that SQLite would open."""

    def test_what_is_no_plain_file(self):
        for ending in ["-journal", "-wal", "-shm", "-claims"]:
            with self.subTest(ending):
                side = self.folder / (self.file + ending)
                os.mkfifo(side)
                self.refused("study", "list", self.file, names=[side.name, "not a plain file"])
                self.refused(*COMPARE, self.file, names=[side.name, "not a plain file"])
                side.unlink()
                self.write("mine", "a file of the user")
                side.symlink_to("mine")
                self.refused("study", "list", self.file, names=[side.name, "not a plain file"])
                self.refused(*COMPARE, self.file, names=[side.name, "not a plain file"])
                side.unlink()

    def test_a_journal_that_has_another_file_removed(self):
        self.write("mine", "a file of the user, which SQLite takes for a list of journals")
        # Back from WAL: only then is there such a journal.
        self.sql("PRAGMA journal_mode = DELETE")
        magic = bytes.fromhex("d9d505f920a163d7")
        pages = (self.folder / self.file).stat().st_size // 4096
        header = (magic + struct.pack(">IIIII", 0, 0, pages, 512, 4096)).ljust(512, b"\0")
        name = str(self.folder / "mine").encode()
        end = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
        self.write(self.file + "-journal", header + end)
        for command in [["study", "list", self.file], ["report", self.file, "--out", "out"], [*COMPARE, self.file]]:
            self.refused(*command, names=["is damaged", "-journal"])
        self.assertTrue((self.folder / "mine").exists())


class AnyByte(Hostile):
    def test_exit_codes(self):
        """A few of many: tests/report/hostile_study_test.cpp has hundreds, by the library."""
        whole = (self.folder / self.file).read_bytes()
        for trial in range(24):
            bytes_ = bytearray(whole)
            digest = hashlib.sha256(bytes([trial])).digest()
            for change in range(4):
                place = int.from_bytes(digest[8 * change:8 * change + 4], "big") % len(bytes_)
                bytes_[place] ^= digest[8 * change + 4] or 1
            self.write(self.file, bytes(bytes_))
            for command in [["study", "export", self.file, "--format", "json", "--traces", "--out", "out"], ["report", self.file, "--out", "out"]]:
                with self.subTest(command, trial=trial):
                    done = self.yosida(*command, code=[0, 2])
                    self.assertNotIn("internal", done.stderr)


if __name__ == "__main__":
    unittest.main()
