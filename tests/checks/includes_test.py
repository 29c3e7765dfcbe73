"""Which file includes which: includes_test.py [unittest arguments]

Folders depend on those before them, and some on fewer; the command line sees the road and not what it is made of.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What the files of a folder may include besides their own folder and the files that lie in no folder.
BEFORE_SOLVERS = ["linalg", "data", "model", "problem", "response", "search"]
MAY_USE = {
    "linalg": [],
    "data": ["linalg"],
    "model": ["linalg", "data"],
    "problem": ["linalg", "data", "model"],
    "response": ["linalg", "data", "model", "problem"],
    "search": ["linalg"],  # a box and a number, nothing of bi-level problems
    "solver": BEFORE_SOLVERS,
    "tune": [*BEFORE_SOLVERS, "solver"],
    "study": [*BEFORE_SOLVERS, "solver", "tune"],
    "report": ["linalg", "data", "model", "study"],  # reads records, runs no solver
}
# Reports order their rows as the table of methods does.
ALSO_ALLOWED = {"report": ["solver/methods.hpp"]}
# What lies in no folder serves all of them. The umbrella includes what it likes.
COMMON_MAY_USE = ["linalg/types.hpp"]
# The table of methods and what an observer is shown; no solver, no problem, no factorisation.
TOOLS_MAY_NOT_USE = ["problem/", "response/", "solver/", "linalg/factor.hpp"]
TOOLS_MAY_USE = ["solver/methods.hpp", "solver/solve.hpp"]
TOOLS_LINES = 4142


def files_below(*folders):
    for folder in folders:
        yield from sorted(path for path in (ROOT / folder).rglob("*.?pp") if path.suffix in (".cpp", ".hpp"))


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)


def folder_of(include):
    return include.split("/")[0] if "/" in include else ""


class Includes(unittest.TestCase):
    def faults(self, path, root):
        """The includes of a file of the library that its folder does not allow."""
        folder = folder_of(path.relative_to(root).as_posix())
        for include in (name.removeprefix("yosida/") for name in includes(path)):
            to = folder_of(include)
            if to in ("", folder):
                continue
            if include in ALSO_ALLOWED.get(folder, []):
                continue
            if include not in COMMON_MAY_USE if not folder else to not in MAY_USE[folder]:
                yield f"{path.relative_to(ROOT)} includes {include}"

    def test_folders_depend_on_those_before_them(self):
        faults = []
        for root in (ROOT / "include/yosida", ROOT / "src"):
            for path in files_below(root):
                if path.name != "yosida.hpp":
                    faults += self.faults(path, root)
        self.assertEqual(faults, [])

    def test_a_step_back_is_seen(self):
        class Backwards(type(ROOT)):
            def read_text(self, encoding):
                return '#include "yosida/solver/solve.hpp"\n#include "linalg/factor.hpp"\n'
        path = Backwards(ROOT / "src/problem/newton.cpp")
        self.assertEqual(list(self.faults(path, ROOT / "src")), ["src/problem/newton.cpp includes solver/solve.hpp"])

    def test_public_headers_include_public_ones_and_export_what_they_declare(self):
        public = list(files_below("include"))
        self.assertGreater(len(public), 50)
        for path in public:
            text = path.read_text(encoding="utf-8")
            with self.subTest(path.relative_to(ROOT)):
                self.assertTrue(text.startswith("#pragma once\n"))
                self.assertEqual([name for name in includes(path) if not name.startswith("yosida/")], [])
                if re.search(r"^namespace ", text, re.MULTILINE):
                    self.assertIn("\nnamespace YOSIDA_EXPORT yosida {\n", text)
                    self.assertNotRegex(text, r"(?m)^namespace yosida")

    def test_the_umbrella_has_every_solver_and_problem(self):
        umbrella = includes(ROOT / "include/yosida/yosida.hpp")
        for path in files_below("include/yosida/solver", "include/yosida/problem"):
            if re.search(r"constexpr const char\* name|: public \w+Problem ", path.read_text(encoding="utf-8")):
                self.assertIn(path.relative_to(ROOT / "include").as_posix(), umbrella)

    def test_the_command_line_sees_no_solver_and_no_problem(self):
        for path in files_below("tools"):
            for name in includes(path):
                inner = name.removeprefix("yosida/")
                with self.subTest(path.relative_to(ROOT), include=name):
                    self.assertTrue(inner in TOOLS_MAY_USE or not inner.startswith(tuple(TOOLS_MAY_NOT_USE)))
                    if "/" in name:
                        self.assertTrue(name.startswith("yosida/"), "a private header")

    def test_the_command_line_stays_small(self):
        """Parse, call, print: what grows beyond that belongs to the library."""
        lines = sum(path.read_text(encoding="utf-8").count("\n") for path in files_below("tools/yosida"))
        self.assertLess(lines, TOOLS_LINES)

    def test_a_public_header_is_one_that_somebody_outside_needs(self):
        """The command line, Python, the examples and the umbrella, or a header that these need."""
        needed, to_read = set(), list(files_below("tools", "python", "examples")) + [ROOT / "include/yosida/yosida.hpp"]
        while to_read:
            for name in includes(to_read.pop()):
                if name.startswith("yosida/") and name not in needed:
                    needed.add(name)
                    to_read.append(ROOT / "include" / name)
        public = {path.relative_to(ROOT / "include").as_posix() for path in files_below("include")}
        self.assertEqual(public - needed - {"yosida/yosida.hpp"}, set())

    def test_examples_see_public_headers_only(self):
        for path in files_below("examples"):
            self.assertEqual([name for name in includes(path) if not name.startswith("yosida/")], [], path.name)


if __name__ == "__main__":
    unittest.main()
