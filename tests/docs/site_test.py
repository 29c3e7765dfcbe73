"""Links.

In the files as GitHub shows them every relative link and picture leads to a file of the tree, every anchor to a heading. mkdocs makes a site of them without
a warning, and the same holds for the links of its pages, which ask for nothing from the network.
"""
import html.parser
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from pages import PAGES, ROOT, name_of

sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True
from site_pages import in_tree, is_elsewhere, links, slug  # noqa: E402


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them: a second equal one gets -1."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = []
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        plain = slug(re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading))
        found.append(plain + (f"-{found.count(plain)}" if plain in found else ""))
    return found


class Tree(unittest.TestCase):
    def test_links(self):
        count = 0
        for page in [*PAGES, ROOT / "CHANGELOG.md"]:
            for target in links(page.read_text(encoding="utf-8")):
                with self.subTest(f"{name_of(page)}: {target}"):
                    if is_elsewhere(target):
                        self.assertRegex(target, r"^https://")
                        continue
                    count += 1
                    path, anchor = in_tree(name_of(page), target)
                    self.assertTrue((ROOT / path).is_file(), f"no file {path}")
                    if anchor:
                        self.assertIn(anchor, anchors(ROOT / path))
        self.assertGreater(count, 60)

    def test_every_picture_of_docs_is_shown(self):
        shown = {in_tree(name_of(page), target)[0] for page in PAGES for target in links(page.read_text(encoding="utf-8"))}
        for file in (ROOT / "docs").iterdir():
            if file.suffix in (".svg", ".png", ".csv"):
                self.assertIn(name_of(file), shown)


class HtmlPage(html.parser.HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(values[name] for name in ("id", "name") if name in values)
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


class Site(unittest.TestCase):
    def test_builds_without_a_warning_and_its_links_lead_somewhere(self):
        with tempfile.TemporaryDirectory(prefix="yosida-site-") as name:
            folder = pathlib.Path(name)
            done = subprocess.run(["mkdocs", "build", "--strict", "--site-dir", name, "--config-file", ROOT / "mkdocs.yml"],
                                  capture_output=True, encoding="utf-8", cwd=ROOT)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("not included in the \"nav\"", done.stderr)
            pages = {file: HtmlPage(file) for file in folder.rglob("*.html") if file.name != "404.html"}
            self.assertGreater(len(pages), len(PAGES))
            for file, page in pages.items():
                for link in page.links:
                    with self.subTest(f"{file.relative_to(folder)}: {link}"):
                        parts = urllib.parse.urlsplit(link)
                        if parts.scheme == "data":
                            continue
                        if parts.scheme:
                            self.assertEqual(parts.scheme, "https")
                            continue
                        target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
                        target = target / "index.html" if target.is_dir() else target
                        self.assertTrue(target.is_file(), f"no {target}")
                        if parts.fragment and target in pages:
                            self.assertIn(urllib.parse.unquote(parts.fragment), pages[target].ids)


if __name__ == "__main__":
    unittest.main()
