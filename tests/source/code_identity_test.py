"""The hash of the sources that decide results: of names and contents alone, and of all of them."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CodeIdentity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yosida-source-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "a copy"
        for part in ["src", "include"]:
            shutil.copytree(ROOT / part, self.root / part)

    def identity(self, root):
        header = self.root.parent / "code_identity.hpp"
        subprocess.run(["cmake", f"-DROOT={root}", f"-DOUT={header}", "-P", ROOT / "cmake/code_identity.cmake"], check=True, timeout=60)
        return re.fullmatch(r'#define YOSIDA_CODE_IDENTITY "([0-9a-f]{12})"\n', header.read_text())[1]

    def test_is_the_same_wherever_the_sources_are(self):
        self.assertEqual(self.identity(ROOT), self.identity(self.root))

    def test_changes_with_what_decides_results_and_with_nothing_else(self):
        before = self.identity(self.root)
        for name, decides in [("src/solver/solve.cpp", True), ("include/yosida/problem/work.hpp", True), ("src/tune/tune.cpp", True),
                              ("include/yosida/random.hpp", True), ("src/random.cpp", True), ("src/linalg/kernels.cpp", True),
                              ("src/report/page.cpp", False), ("src/study/store.cpp", False)]:
            with self.subTest(name):
                path = self.root / name
                text = path.read_text(encoding="utf-8")
                path.write_text(text + "\n", encoding="utf-8")
                self.assertEqual(self.identity(self.root) != before, decides)
                path.write_text(text, encoding="utf-8")
        self.assertEqual(self.identity(self.root), before)

    def test_a_new_or_renamed_file_changes_it(self):
        before = self.identity(self.root)
        new = self.root / "src/solver/new.cpp"
        new.write_text("")
        added = self.identity(self.root)
        self.assertNotEqual(added, before)
        new.rename(self.root / "src/solver/newer.cpp")
        self.assertNotIn(self.identity(self.root), [before, added])


if __name__ == "__main__":
    unittest.main()
