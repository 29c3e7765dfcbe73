"""Hooks of mkdocs (mkdocs.yml): the pages of the tree's root join those of docs/, and links lead where they lead on GitHub.

README.md and its neighbours stand in the root, where people look for them, and pages link to sources. mkdocs knows docs/ alone. So the root's pages
and every file that a page links to are added to the site, and links are written anew from the place where a page stands there.
"""
import os
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROOT_PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def slug(heading, _separator="-"):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(text):
    """The targets of links and pictures in a page, code aside."""
    return [found[2] for found in LINK.finditer(CODE.sub("", text))]


def is_elsewhere(target):
    return re.match(r"[a-z]+:", target) is not None


def in_tree(source, target):
    """What a link of the file `source` leads to: a path from the root of the tree, and the anchor."""
    path, _, anchor = target.partition("#")
    return (os.path.normpath(os.path.join(os.path.dirname(source), path)) if path else source), anchor


def source_of(uri):
    """The file of the tree that is the site's page `uri`."""
    return uri if uri in ROOT_PAGES else f"docs/{uri}"


def uri_of(source):
    """Where a file of the tree stands in the site."""
    return source.removeprefix("docs/")


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files, config):
    def add(uri):
        if files.get_file_from_path(uri) is None:
            files.append(File(uri, str(ROOT), config["site_dir"], config["use_directory_urls"]))

    for file in [file for file in files if file.src_uri.endswith((".py", ".in")) or file.src_uri.startswith("theme/")]:
        files.remove(file)
    for page in ROOT_PAGES:
        add(page)
    for file in [file for file in files if file.src_uri.endswith(".md")]:
        source = source_of(file.src_uri)
        for target in links((ROOT / source).read_text(encoding="utf-8")):
            path, _ = in_tree(source, target)
            if is_elsewhere(target) or path.endswith(".md") or not (ROOT / path).is_file():
                continue
            if path.startswith("docs/") and files.get_file_from_path(uri_of(path)) is None:
                files.append(File(uri_of(path), str(ROOT / "docs"), config["site_dir"], config["use_directory_urls"]))
            elif not path.startswith("docs/"):
                add(path)
    return files


def on_page_markdown(markdown, page, config, files):
    source = source_of(page.file.src_uri)

    def moved(found):
        if is_elsewhere(found[2]) or found[2].startswith("#"):
            return found[0]
        path, anchor = in_tree(source, found[2])
        place = os.path.relpath(uri_of(path), os.path.dirname(page.file.src_uri) or ".")
        return found[1] + place + ("#" + anchor if anchor else "") + found[3]

    parts = re.split(f"({CODE.pattern})", markdown, flags=CODE.flags)
    return "".join(part if index % 2 else LINK.sub(moved, part) for index, part in enumerate(parts))
