"""Every command and every piece of code of README.md, CONTRIBUTING.md, ARCHITECTURE.md and docs/*.md: commands_test.py BUILD [TEST...].

The commands and Python blocks of a page run one after the other in a folder of their own, in which the files that pages speak of
lie ready (write_fixtures). Output that a page shows must be what the program prints. BY_HAND lists the commands that are not run, each
with its reason; their flags are looked up in the source of what they start. SHORTER lists what is run in a shorter form. C++ blocks are
compiled. Code in backticks that names a file of the tree or a flag of yosida is looked up.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

from pages import PAGES, ROOT, blocks, commands, commands_of, name_of

BUILD = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build" / "release"
SECONDS = 120

# What is not run: how the command begins, and why.
BY_HAND = {
    "dpkg-buildpackage ": "builds packages",
    "lintian ": "looks at packages",
    "./test": "it is what runs this test",
    "./run": "without arguments it runs the paper's experiments: minutes",
    "cmake ": "builds",
    "ninja ": "builds",
    "ctest ": "tests",
    "c++ ": "compiles against the installed library; tests/install does",
    "apt-get ": "installs packages, as root",
    "build/release/bench/": "benchmarks are built and run by hand",
    "bench/": "benchmarks are run by hand",
    "python3 bench/": "benchmarks are run by hand",
    "PYTHONPATH=build/release/python python3 bench/": "benchmarks are run by hand",
    "YOSIDA_DATA=DIR ": "wants data that cannot be given along",
    "tests/study/kill_test.py": "ctest runs it with fewer kills",
    "tests/study/many_processes_test.py": "ctest runs it with fewer kills",
    "yosida compare --train train.csv --target price --methods hoag,random --study 'postgresql": "wants a server; tests/study does",
    "yosida study copy study.db 'postgresql": "wants a server; tests/study does",
    "yosida dashboard 'postgresql": "wants a server; tests/study does",
    "build/release/tests/": "ctest runs it",
    "mpirun ": "wants large files; tests/cli/ranks_test.py runs it",
    "YOSIDA_CERTIFICATES=": "a long form of a test that ctest runs",
    "YOSIDA_KILLS=": "a long form of a test that ctest runs",
    "YOSIDA_TABLES=": "a long form of a test that ctest runs",
    "YOSIDA=build/release/yosida STUDY_TOOL=": "a long form of a test that ctest runs",
    "YOSIDA_GIGABYTES=": "a long form of a test that ctest runs",
    "sbatch ": "wants a cluster",
    "yosida tune --train x.npy --train-target y.npy --model logistic --checkpoint": "wants large files; tests/cli/ranks_test.py runs it",
    "python3 tests/": "checks that ctest runs",
    "yosida data fetch ": "downloads",
    "yosida data features ": "wants data that cannot be given along",
    "yosida reproduce --problem cookie": "wants data that cannot be given along",
    "yosida reproduce --table": "wants data that cannot be given along",
    "yosida reproduce --suite bilevel": "wants data that cannot be given along",
    "yosida reproduce --problem bilevel": "wants data that cannot be given along",
    "yosida tune --data covtype-part ": "wants data that cannot be given along",
}

# What is run in another form: what stands in the page, what is put in its place, and why.
SHORTER = [
    (r"^\./run (?=\w)", "yosida ", "the program is there already"),
    (r"^build/release/yosida ", "yosida ", "wherever the build is"),
    (r"^yosida reproduce$", "yosida reproduce --problem spectra --seeds 1", "other data is not here"),
    (r"^yosida reproduce --problem spectra --seeds \d+", "yosida reproduce --problem spectra --seeds 1", "one seed shows it"),
    (r"^(yosida|build/release/yosida) reproduce (--suite groups|--problem groups_sparse) .*", "yosida reproduce --suite groups --problem groups_sparse --seeds 1",
     "one seed shows it"),
    (r"^(yosida reproduce --problem lassobench\w+) .*", r"\1 --seed 1 --seeds 1", "one seed shows it"),
    (r"^(yosida compare .*--methods all)", r"\1 --max-iterations 3 --trials 3", "all methods take a minute"),
    (r"^(yosida dashboard .*)", r"timeout --signal INT 2 \1 || test $? = 124", "it serves until Ctrl-C"),
    (r"\b1f2e3d4c\b", "$(yosida study list study.db | grep -oE -m 1 '^[0-9a-f]{8}')", "the key of a run that is there"),
]

# What the Python and C++ blocks of pages take for given.
PYTHON_NAMES = """
import numpy
X = numpy.random.default_rng(0).normal(size=(60, 4)); y = X @ numpy.arange(4.0) + 0.1 * X[:, 0] ** 2; X_new = X[:5]
"""
CPP_INCLUDES = {"#include <cmath>", "#include <iostream>", '#include "yosida/problem/gradient_check.hpp"', '#include "yosida/solver/oracle.hpp"',
                '#include "yosida/setting_rules.hpp"', '#include "yosida/study/runner.hpp"', '#include "yosida/study/store.hpp"',
                '#include "yosida/search/minimize.hpp"'}
CPP_NAMES = {
    "docs/search.md": "const auto loss = [](const yosida::search::Proposal&) { return 0.0; };"
                      "const auto train_elsewhere = [](const yosida::Vector&) { return 0.0; };",
    "docs/studies.md": "namespace study = yosida::study; std::vector<study::SpecText> specs; study::RunFunction run;",
}

# Flags that other programs have.
FOREIGN_FLAGS = {"--cflags", "--libs", "--prefix", "--install", "--build", "--target", "--preset", "--parallel", "--no-deps",
                 "--fix", "--write", "--system-site-packages", "--strict", "--show", "--gtest_filter", "--long", "--mpi"}


def table(columns):
    """A CSV file of these columns."""
    rows = zip(*columns.values())
    return "\n".join([",".join(columns), *(",".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row)
                                           for row in rows)]) + "\n"


def people(rows, seed):
    """The columns that pages speak of, as one table."""
    random = np.random.default_rng(seed)
    names = ["hdl", "ldl", "bmi", "age", "sex", "size", "rooms"]
    x = {name: random.normal(size=rows) for name in names}
    x["sex"] = random.integers(0, 2, rows).astype(float)
    x["age"] = np.floor(50 + 10 * x["age"])
    signal = x["bmi"] + 0.5 * x["hdl"] - 0.3 * x["ldl"] + 0.02 * x["age"]
    noise = random.normal(size=(3, rows))
    targets = {"price": 3 * x["size"] + x["rooms"] + noise[0], "y": signal + noise[1],
               "visits": random.poisson(np.exp(0.3 * signal)), "sick": (signal + noise[2] > 1).astype(int),
               "kind": np.digitize(signal + noise[0], [0.5, 1.5])}
    return x, targets


def write_fixtures(folder):
    """Files that pages name without making them."""
    x, targets = people(120, 0)
    new, _ = people(30, 1)
    (folder / "train.csv").write_text(table({**x, "price": targets["price"]}))
    (folder / "t.csv").write_text(table({**x, **targets}))
    (folder / "new.csv").write_text(table(new))
    patients = {**{name: x[name] for name in ["hdl", "ldl", "bmi", "age", "sex"]}, "progress": targets["y"]}
    (folder / "patients.csv").write_text(table(patients))
    many, outcomes = people(400, 2)
    claims = {**{name: many[name] for name in ["age", "size", "bmi"]}, "fraud": (outcomes["y"] > 4.0).astype(int)}
    (folder / "claims.csv").write_text(table(claims))
    samples = {f"x{j}": many[name] for j, name in enumerate(["hdl", "ldl", "bmi", "size"])}
    samples |= {"fat": outcomes["y"], "sugar": outcomes["price"], "water": outcomes["y"] - 0.5 * outcomes["price"]}
    (folder / "many.csv").write_text(table(samples))
    yosida(folder, "tune --train train.csv --target price --save model.json --quiet")
    yosida(folder, "compare --data spectra --methods my-hpo,hoag --seeds 2 --max-iterations 20 --study study.db --quiet")
    for study in ["spectra.study", "reproduction.study"]:
        (folder / study).write_bytes((folder / "study.db").read_bytes())


def environment(folder):
    path = os.pathsep.join([str(BUILD), os.environ["PATH"]])
    return {**{name: value for name, value in os.environ.items() if name != "YOSIDA_DATA"}, "PATH": path, "COLUMNS": "100",
            "HOME": str(folder), "XDG_CACHE_HOME": str(folder / ".cache"), "PYTHONPATH": str(BUILD / "python")}


def yosida(folder, arguments):
    subprocess.run([BUILD / "yosida", *shlex.split(arguments)], cwd=folder, check=True, env=environment(folder), timeout=SECONDS,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def reason_by_hand(text):
    """Why a command is not run; nothing where it is."""
    return next((start for start in BY_HAND if text.startswith(start) and not (start == "./run" and text != "./run")), None)


def to_run(text):
    for pattern, replacement, _ in SHORTER:
        text = re.sub(pattern, replacement, text)
    return text


NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def place_of(shown, printed, start):
    """Where the words of a line stand among those printed, from `start` on: lines may be folded elsewhere. None where they do not."""
    for place in range(start, len(printed) - len(shown) + 1):
        if all(map(same_word, shown, printed[place:], [*printed[place + 1:], ""])):
            return place
    return None


def same_word(shown, real, following):
    """Equal words, and numbers within 2 %: what a run takes in seconds, and what is 0 but for rounding, may differ."""
    if shown == real or shown == "…":
        return True
    if NUMBER.sub("#", shown) != NUMBER.sub("#", real):
        return False
    if following.strip("(),.;") in ("s", "ms", "seconds"):
        return True
    pairs = zip(*([float(number.replace("−", "-")) for number in NUMBER.findall(text)] for text in (shown, real)))
    return all(abs(a - b) <= max(0.02 * abs(a), 1e-3) for a, b in pairs)


class Commands(unittest.TestCase):
    counts = {"commands run": 0, "by hand": 0, "lines of output": 0, "Python blocks": 0, "C++ blocks": 0}

    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory(prefix="yosida-docs-")
        cls.addClassCleanup(made.cleanup)
        cls.fixtures = pathlib.Path(made.name)
        write_fixtures(cls.fixtures)

    @classmethod
    def tearDownClass(cls):
        print(", ".join(f"{count} {what}" for what, count in cls.counts.items()), file=sys.stderr)

    def folder(self):
        """A folder with the fixtures and the names of the tree in it."""
        made = tempfile.TemporaryDirectory(prefix="yosida-docs-")
        self.addCleanup(made.cleanup)
        folder = pathlib.Path(made.name)
        for file in self.fixtures.iterdir():
            if file.is_file():
                (folder / file.name).write_bytes(file.read_bytes())
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(BUILD)
        for name in ["docs", "bench", "tests", "examples", "python"]:
            (folder / name).symlink_to(ROOT / name)
        return folder

    def run_page(self, page):
        folder = self.folder()
        above = PYTHON_NAMES
        for block in blocks(page):
            if block.language == "python":
                self.run_python(block, above, folder)
                above += block.text  # a block knows the names of those above it
            elif block.language in ("sh", "console"):
                self.run_commands(commands_of(block), folder)

    def run_python(self, block, above, folder):
        with self.subTest(f"{block.page}:{block.line}"):
            self.counts["Python blocks"] += 1
            done = subprocess.run([sys.executable, "-c", above + block.text], cwd=folder, env=environment(folder),
                                  capture_output=True, encoding="utf-8", timeout=SECONDS)
            self.assertEqual(done.returncode, 0, f"{block.text}\n{done.stderr}")

    def run_commands(self, listed, folder):
        for command in listed:
            with self.subTest(f"{command.page}:{command.line}: {command.text}"):
                if reason_by_hand(command.text):
                    self.counts["by hand"] += 1
                    self.check_flags_by_source(command.text)
                    continue
                self.counts["commands run"] += 1
                started = time.monotonic()
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", to_run(command.text)], cwd=folder, env=environment(folder),
                                      stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=SECONDS)
                if time.monotonic() - started > 5:
                    print(f"{command.page}:{command.line}: {time.monotonic() - started:.0f} s", file=sys.stderr)
                self.assertEqual(done.returncode, 0, f"{to_run(command.text)}\n{done.stdout}\n{done.stderr}")
                self.check_output(command.shown, done.stdout + done.stderr)

    def check_output(self, shown, printed):
        """The lines shown are among those printed, in this order."""
        words, place = printed.split(), 0
        for line in shown:
            if line.strip() in ("", "…"):
                continue
            self.counts["lines of output"] += 1
            found = place_of(line.split(), words, place)
            self.assertIsNotNone(found, f"not printed (here): {line}\n--- printed was\n{printed}")
            place = found + len(line.split())

    def check_flags_by_source(self, text):
        """A command that is not run starts something of the tree, whose source knows its flags."""
        words = shlex.split(text, comments=True)
        program = next((word for word in words if re.match(r"(build/release/bench/|bench/|docs/|tests/).", word)), None)
        if program is None or words[0] in ("ninja", "cmake", "ctest"):
            return
        bench = re.match(r"build/release/bench/bench_(\w+)", program)
        source = ROOT / (f"bench/{bench[1]}.cpp" if bench else program)
        self.assertTrue(source.exists(), f"no {source}")
        parts = source.with_suffix("")
        known = source.read_text() + "".join(part.read_text() for part in parts.glob("*.cpp") if parts.is_dir())
        for flag in [word.split("=")[0] for word in words[words.index(program):] if word.startswith("--") and word != "--"]:
            self.assertIn(flag, known, f"{source} knows no {flag}")

    def test_cpp_blocks_compile(self):
        """All of them as one file: of each page the types, then a function of the other blocks, one after the other."""
        includes, functions = set(), []
        for number, page in enumerate(PAGES):
            listed = [block.text for block in blocks(page) if block.language == "cpp"]
            if not listed:
                continue
            self.counts["C++ blocks"] += len(listed)
            types = [text for text in listed if text.startswith(("class", "struct"))]
            text = "\n".join(block for block in listed if block not in types)
            includes.update(re.findall(r"^#include .*$", text, flags=re.MULTILINE))
            text = re.sub(r"^#include .*$", "", text, flags=re.MULTILINE)
            functions.append("\n".join([f"namespace page_{number} {{  // {name_of(page)}", *types, "void blocks() {",
                                        CPP_NAMES.get(name_of(page), ""), text, "}}"]))
        folder = self.folder()
        (folder / "blocks.cpp").write_text("\n".join(['#include "yosida/yosida.hpp"', *sorted(CPP_INCLUDES | includes), *functions]) + "\n")
        flags = subprocess.run(["pkg-config", "--cflags", "eigen3"], capture_output=True, encoding="utf-8").stdout.split()
        done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wno-unused", "-DEIGEN_MAX_ALIGN_BYTES=64",
                               f"-I{ROOT}/include", *flags, "blocks.cpp"], cwd=folder, capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_command_stands_outside_a_block(self):
        """Indented lines would not be run."""
        for page in PAGES:
            text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            for line in re.findall(r"^(?: {4,}|\t)\$? *((?:\S*/)?yosida \S+.*|build/release/.*|import .*)$", text, flags=re.MULTILINE):
                self.fail(f"{name_of(page)}: put it into a ```sh block: {line}")

    def test_the_lists_hold_nothing_that_is_gone(self):
        texts = [command.text for page in PAGES for command in commands(page)]
        for start in BY_HAND:
            self.assertTrue(any(reason_by_hand(text) == start for text in texts), f"no command begins with {start!r}: remove it")
        for pattern, _, reason in SHORTER:
            self.assertTrue(any(re.search(pattern, text) or re.search(pattern, re.sub(r"^(\./run|build/release/yosida)", "yosida", text))
                                for text in texts), f"no command has {pattern!r} ({reason}): remove it")

    def test_flags_and_files_in_sentences(self):
        """Code in backticks: flags are those of some command, files are there."""
        helps = "".join(subprocess.run([BUILD / "yosida", *command, "--help"], capture_output=True, encoding="utf-8").stdout
                        for command in [["tune"], ["compare"], ["predict"], ["coefficients"], ["methods"], ["check-grad"], ["reproduce"], ["report"], ["dashboard"],
                                        *(["data", part] for part in ["list", "info", "verify", "fetch", "features", "export"]),
                                        *(["study", part] for part in ["list", "show", "export", "prune"])])
        methods = subprocess.run([BUILD / "yosida", "methods"], capture_output=True, encoding="utf-8").stdout
        helps += "".join(subprocess.run([BUILD / "yosida", "methods", name], capture_output=True, encoding="utf-8").stdout
                         for name in re.findall(r"^([a-z][\w-]+)  ", methods, flags=re.MULTILINE))
        sources = "".join(file.read_text() for folder in ["bench", "docs", "tests/checks", "tests/study", "tests/faults", "tests/realdata"]
                          for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".cpp", ".sh"))
        for page in PAGES:
            text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            for code in re.findall(r"`([^`\n]+)`", text):
                with self.subTest(f"{name_of(page)}: {code}"):
                    for flag in re.findall(r"(?<![\w-])--[a-z][\w-]*", code):
                        self.assertTrue(re.search(rf"{flag}(?![\w-])", helps + sources) or flag in FOREIGN_FLAGS, f"no command knows {flag}")
                    file = re.match(r"(?:src|include|tests|bench|docs|examples|python|cmake|tools)/[\w./-]*\w$", code)
                    if file:
                        self.assertTrue((ROOT / code).exists(), f"no such file: {code}")


for page in PAGES:
    if any(block.language in ("sh", "console", "python") for block in blocks(page)):
        setattr(Commands, "test_" + re.sub(r"\W", "_", name_of(page)), lambda self, page=page: self.run_page(page))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
