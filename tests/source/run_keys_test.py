"""What the sources must keep to: one file knows the JSON of runs, one table the measures, tools call no solver."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = "src/study/run_json.cpp"
# Who may use the JSON library, and for which format of its own. A name of JSON can stand nowhere else.
JSON_FILES = {
    RUNS: "specs and outcomes of runs, results of tune",
    "src/study/export.cpp": "whatever JSON a run has, without knowing a name of it; columns of traces",
    "src/study/trace_codec.cpp": "traces",
    "src/study/limits.cpp": "counts values, knows no name",
    "src/report/contents_json.cpp": "the page's data",
    "src/model/fitted_model.cpp": "saved models",
    "src/data/feature_cache.cpp": "features kept in a cache",
    "src/tune/seed_problems.cpp": "the text that data_sha256 is of",
}
# Names that mean the same in a trace and in an outcome, and a flag.
SHARED = {"lambda", "train", "validation", "test", "primal", "dual", "iteration", "seconds", "method", "seed", "status",
          "groups"}


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def names_of_runs():
    """The literals of RUNS that stand where a name of JSON does."""
    text = without_comments((ROOT / RUNS).read_text(encoding="utf-8"))
    found = set(re.findall(r'\{"([a-z_0-9]+)",', text))
    found |= set(re.findall(r'\["([a-z_0-9]+)"\]', text))
    found |= set(re.findall(r'(?:_at|at|value)\((?:[^()"]|\([^()]*\))*"([a-z_0-9]+)"\)', text))
    found |= set(re.findall(r'constexpr const char\* k\w+ = "([a-z_]+)"', text))
    return found


class RunKeys(unittest.TestCase):
    def test_the_names_are_found(self):
        names = names_of_runs()
        for name in ["final", "best", "work", "certificate", "hypergradient", "budget_gradients", "settings", "build",
                     "file_names", "error", "valid_fraction", "oracle"]:
            self.assertIn(name, names)

    def test_only_these_files_use_json(self):
        using = {name for name, text in sources("src", "include", "tools") if "nlohmann" in without_comments(text)}
        self.assertEqual(using, set(JSON_FILES))

    def test_no_name_of_a_run_stands_in_two_files(self):
        names = names_of_runs() - SHARED
        # These write other formats, which have names of their own; some are the same words.
        others = {"src/report/contents_json.cpp", "src/model/fitted_model.cpp", "src/data/feature_cache.cpp"}
        for file, text in sources("src", "tools", "include"):
            if file == RUNS or file in others:
                continue
            literals = set(re.findall(r'"([a-z_0-9]+)"', without_comments(text)))
            in_pointers = {part for pointer in re.findall(r'"(/[a-z_/]+)"', text) for part in pointer.split("/")}
            self.assertFalse(in_pointers & names, f"{file} reads JSON by a pointer")
            if file in JSON_FILES:
                self.assertFalse(literals & names, f"{file} has names of a run's JSON")
            # What can only be a name of JSON may not stand anywhere that runs are handled.
            if not file.startswith(("src/tune", "src/study", "src/report", "tools", "include/yosida/study", "include/yosida/report")):
                continue
            distinct = {name for name in names if "_" in name and name not in CPP_WORDS}
            self.assertFalse(literals & distinct, f"{file} has names of a run's JSON")

    def test_only_one_file_parses_runs(self):
        for file, text in sources("src", "tools"):
            if file not in (RUNS, "src/study/export.cpp"):
                self.assertNotRegex(text, r"parse\([^)]*(spec\.json|outcome)\b", file)


# Names of settings and flags that are the same word.
CPP_WORDS = {"trace_every", "class_weights", "lambda_per", "fold_column", "test_fraction", "valid_fraction", "feature_names"}


class Measures(unittest.TestCase):
    def test_only_the_table_names_them(self):
        table = without_comments((ROOT / "src/model/measures.cpp").read_text(encoding="utf-8"))
        names = set(re.findall(r'\.name = "([a-z_]+)"', table))
        self.assertLessEqual({"r_squared", "accuracy", "area_under_roc"}, names)
        for file, text in sources("src", "tools", "include"):
            if file != "src/model/measures.cpp":
                self.assertFalse(set(re.findall(r'"([a-z_]+)"', without_comments(text))) & names, file)
        for path in (ROOT / "src/report/page").glob("*.js"):
            self.assertFalse(set(re.findall(r"\b([a-z_]+)\b", path.read_text(encoding="utf-8"))) & (names - {"accuracy"}), path)


class Tools(unittest.TestCase):
    def test_no_solver_problem_or_factorisation_is_included(self):
        for file, text in sources("tools/yosida"):
            for header in re.findall(r'#include "(yosida/[^"]+)"', text):
                self.assertNotRegex(header, r"^yosida/(solver|problem|response|search)/", file)
                self.assertNotRegex(header, r"^yosida/linalg/(?!threads|function_ref)", file)


if __name__ == "__main__":
    unittest.main()
