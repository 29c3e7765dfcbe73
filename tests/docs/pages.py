"""What the tests of the documents share: the pages, and the commands that stand in them."""
import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]] + sorted((ROOT / "docs").glob("*.md"))

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEREDOC = re.compile(r"<<-?\s*'?(\w+)'?")


class Command(NamedTuple):
    page: str
    line: int
    text: str
    shown: list[str]  # lines of output that stand below it


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block(name_of(page), text.count("\n", 0, found.start()) + 2, found[1], found[2]) for found in FENCE.finditer(text)]


def commands(page):
    """The commands of a page: every line of its ```sh blocks, and the lines of its ```console blocks that begin with `$ `."""
    return [command for block in blocks(page) if block.language in ("sh", "console") for command in commands_of(block)]


def commands_of(block):
    found = []
    lines = iter(enumerate(block.text.splitlines(), block.line))
    for number, line in lines:
        if block.language == "console":
            if not line.startswith("$ "):
                found[-1].shown.append(line)
                continue
            line = line[2:]
        elif not line.strip() or line.startswith("#"):
            continue
        text = line
        while text.endswith("\\"):
            text = text[:-1].rstrip() + " " + next(lines)[1].removeprefix("> ").strip()
        heredoc = HEREDOC.search(text)
        while heredoc and text.splitlines()[-1] != heredoc[1]:
            text += "\n" + next(lines)[1]
        found.append(Command(block.page, number, text if heredoc else without_comment(text), []))
    return found


def without_comment(text):
    """A line of shell without the remark at its end."""
    return re.sub(r"\s+#\s.*$", "", text).strip()
