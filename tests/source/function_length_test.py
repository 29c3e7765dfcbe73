"""No function of the library or its programs is longer than a screen: 60 lines from its name to its last brace.

Blank lines and comments count as well: a reader scrolls past them, too. What clang-format has laid out needs no parser: a
function ends at the first line that is a brace as deep as the line on which its name stands."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 60
FOLDERS = ("include", "src", "tools", "python/src", "examples")
# Tables: data in the form of a function, one entry after another.
TABLES = {
    ("src/data/catalog.cpp", "build"): "data sets by name",
    ("src/report/paper.cpp", "paper_results"): "the paper's own figures",
    ("python/src/tune.cpp", "readers"): "keywords of Python",
}
# A line that begins with one of these opens no function.
OTHER = re.compile(r"^\s*(?:(?:inline )?namespace|class|struct|union|enum|extern|template <[^()]*> (?:class|struct)|"
                   r"if|else|for|while|switch|do|try|case|default|return)\b")


def functions(text):
    """First line, last line (from 1) and the words of the first for each function that has more than a line."""
    lines = text.split("\n")
    last = 0
    for number, line in enumerate(lines, 1):
        if number <= last or not line.endswith("{") or line.strip() == "{" or "R\"" in line:
            continue
        first = number  # the signature may be broken over lines, each indented further than its first
        while first > 1 and re.match(r"^\s*[:)]|^ {4,}\S", lines[first - 1]) and lines[first - 2].strip() \
                and not re.search(r"[;{}]$", lines[first - 2]) and not lines[first - 2].lstrip().startswith("//"):
            first -= 1
        head = " ".join(lines[first - 1:number])
        if "(" not in head or head.lstrip().startswith("{") or OTHER.match(head) or re.search(r"= \{$", line):
            continue
        indent = re.match(r"^\s*", lines[first - 1]).group()
        end = next((n for n in range(number + 1, len(lines) + 1) if re.match(rf"^{indent}\}}", lines[n - 1])), None)
        if end:
            last = end
            yield first, end, lines[first - 1].strip()


def too_long(text, most=MOST):
    return [(first, last - first + 1, words) for first, last, words in functions(text) if last - first + 1 > most]


class FunctionLength(unittest.TestCase):
    def test_a_long_function_is_found(self):
        body = "  a();\n" * MOST
        self.assertEqual([(3, MOST + 3, "int f(int a,")], too_long("namespace x {\n\nint f(int a,\n      int b) {\n" + body + "}\n}\n"))
        self.assertEqual([], too_long("int f() {\n" + "  a();\n" * (MOST - 2) + "}\n"))
        self.assertEqual(1, len(too_long("struct S {\n  int f() {\n" + "    if (a) {\n    }\n" * MOST + "  }\n};\n")))

    def test_no_function_is_longer_than_a_screen(self):
        seen = 0
        tables = dict(TABLES)
        found = []
        for folder in FOLDERS:
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix not in (".cpp", ".hpp"):
                    continue
                text = path.read_text(encoding="utf-8")
                seen += sum(1 for _ in functions(text))
                name = path.relative_to(ROOT).as_posix()
                for first, length, words in too_long(text):
                    if not tables.pop((name, re.search(r"(\w+)\(", words).group(1)), None):
                        found.append(f"{name}:{first}: {length} lines: {words}")
        self.assertGreater(seen, 2000)
        self.assertEqual([], found, "\n" + "\n".join(found))
        self.assertEqual({}, tables, "tables that are no longer long")


if __name__ == "__main__":
    unittest.main()
