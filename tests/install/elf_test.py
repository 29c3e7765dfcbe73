"""What was built and installed: elf_test.py BUILD [--fortified] [--control-flow] [unittest arguments]

Reads every program, library and module of the build tree, and what tests/install/client_test.cmake has installed and
built there. --fortified: checks of the C library's functions were asked for; --control-flow: marks of branch targets were.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv[1])
FORTIFIED = "--fortified" in sys.argv
CONTROL_FLOW = "--control-flow" in sys.argv


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(in_cmake_files):
    """Objects lie below folders named CMakeFiles, beside files of CMake's own that were made to know the compiler."""
    for folder, _, names in os.walk(BUILD):
        parts = pathlib.Path(folder).relative_to(BUILD).parts
        if ("CMakeFiles" in parts) == in_cmake_files and not any(re.match(r"\d+\.|CMakeScratch|CMakeTmp", part) for part in parts):
            yield from (path for path in (pathlib.Path(folder) / name for name in names)
                        if path.is_file() and not path.is_symlink() and is_elf(path))


def is_ours(path):
    """What a client was built to has its own options."""
    return "client" not in path.relative_to(BUILD).parts


class Linked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = {path: readelf("-h", "-d", "-l", "--dyn-syms", path) for path in elf_files(False)}
        cls.ours = {path: text for path, text in cls.files.items() if is_ours(path)}

    def test_all_kinds_are_looked_at(self):
        names = {path.name for path in self.files}
        self.assertLessEqual({"yosida", "client", "test_linalg", "example_search", "study_tool"}, names)
        self.assertEqual(len([path for path in self.files if path.name == "yosida"]), 2, "built and installed")

    def test_run_paths_are_absolute_or_from_the_file_itself(self):
        for path, text in self.files.items():
            for run_path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text):
                for part in run_path.split(":"):
                    with self.subTest(path, run_path=run_path):
                        self.assertTrue(part.startswith("/") or part == "$ORIGIN" or part.startswith("$ORIGIN/"), repr(part))

    def test_installed_files_do_not_look_in_the_build_tree(self):
        for path, text in self.ours.items():
            with self.subTest(path):
                if "moved" in path.relative_to(BUILD).parts:
                    self.assertNotIn(f"[{BUILD}", text)

    def test_loaded_anywhere(self):
        for path, text in self.ours.items():
            with self.subTest(path):
                self.assertRegex(text, r"Type:\s+DYN ")
                if path.name == "yosida":
                    self.assertRegex(text, r"\(FLAGS_1\).* PIE")

    def test_tables_are_read_only_and_the_stack_holds_no_code(self):
        for path, text in self.ours.items():
            with self.subTest(path):
                self.assertIn(" GNU_RELRO ", text)
                self.assertRegex(text, r"\(FLAGS_1\).*\bNOW\b")
                self.assertRegex(text, r" GNU_STACK .* RW ")
                self.assertNotIn("RWE", text)
                self.assertNotIn("(TEXTREL)", text)

    def test_stack_and_buffers_are_guarded(self):
        for path, text in self.ours.items():
            with self.subTest(path):
                if path.name.startswith(("yosida", "libyosida.", "test_")):
                    self.assertIn(" __stack_chk_fail@", text)
                if path.name == "yosida" and FORTIFIED:
                    self.assertRegex(text, r" __\w+_chk@")


if CONTROL_FLOW:
    class Objects(unittest.TestCase):
        def test_branch_targets_are_marked(self):
            """Objects and not what is linked of them: Debian 12's start files have no such mark, so that no program has."""
            objects = [path for path in elf_files(True) if path.suffix == ".o" and is_ours(path)]
            self.assertGreater(len(objects), 100)
            notes = readelf("-n", *objects).split("\nFile: ")[1:]
            self.assertEqual(len(notes), len(objects))
            self.assertEqual([note.partition("\n")[0] for note in notes if "x86 feature: IBT, SHSTK" not in note], [])


class Installed(unittest.TestCase):
    def test_clients_have_their_own_options(self):
        targets = list(BUILD.glob("tests/install/*/moved/**/yosidaTargets*.cmake"))
        self.assertTrue(targets)
        for path in targets:
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"-fstack|-fcf|FORTIFY|-z,|interposition")

    def test_the_notice_names_what_is_compiled_in(self):
        [notice] = BUILD.glob("tests/install/static/moved/**/NOTICE")
        for name in ["Eigen", "Mozilla Public License", "CLI11", "University of Cincinnati", "nlohmann-json", "Niels Lohmann", "fmt", "d3",
                     "pybind11", "Wenzel Jakob"]:
            self.assertIn(name, notice.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[2:] if word not in ("--fortified", "--control-flow"))])
