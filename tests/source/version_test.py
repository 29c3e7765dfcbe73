"""One version: that of version.hpp, the newest of CHANGELOG.md, that of CITATION.cff, and the tag of a commit that has one."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def first(pattern, file):
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return found and found[1]


class Version(unittest.TestCase):
    def setUp(self):
        self.version = first(r'^#define YOSIDA_VERSION "(.*)"$', "include/yosida/version.hpp")

    def test_header_agrees_with_itself(self):
        numbers = [first(rf"^#define YOSIDA_VERSION_{part} (\d+)$", "include/yosida/version.hpp") for part in ["MAJOR", "MINOR", "PATCH"]]
        self.assertEqual(".".join(numbers), self.version)

    def test_changelog_and_citation(self):
        # "## [Unreleased] 0.2.0" until it is released, then "## [0.2.0] 2026-01-31".
        self.assertEqual(first(r"^## (?:\[Unreleased\] |\[)([\d.]+)", "CHANGELOG.md"), self.version)
        self.assertEqual(first(r"^version: (.*)$", "CITATION.cff"), self.version)

    def test_a_tag_of_this_commit(self):
        tags = subprocess.run(["git", "tag", "--points-at", "HEAD", "--list", "v*"], cwd=ROOT, capture_output=True, encoding="utf-8").stdout
        for tag in tags.split():
            self.assertEqual(tag, f"v{self.version}")
            self.assertNotIn("Unreleased", first(r"^(## .*)$", "CHANGELOG.md"))


if __name__ == "__main__":
    unittest.main()
