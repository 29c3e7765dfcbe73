"""clang-tidy has nothing to say: tidy.py BUILD [--all | FILE...]

All of the tree takes half an hour, so that by itself this looks at the files that differ from the main branch and at a few
of the others, which are others for every commit.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_CHANGED, MOST_OTHERS = 12, 4  # a file takes ten seconds


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
    return done.stdout.split() if done.returncode == 0 else []


def known_files(build):
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {os.path.relpath(command["file"], ROOT) for command in commands}
    return sorted(file for file in files if file.startswith(("src/", "tools/", "examples/")))


def chosen(files):
    base = next((found for name in ("origin/main", "main") if (found := git("merge-base", "HEAD", name))), [])
    changed = set(git("diff", "--name-only", *base) + git("ls-files", "--others", "--exclude-standard"))
    by_name = {pathlib.Path(name).stem for name in changed if name.startswith(("include/", "src/", "tools/", "examples/"))}
    # A header is looked at through the file of its name.
    first = [file for file in files if file in changed or pathlib.Path(file).stem in by_name]
    seed = zlib.crc32("".join(git("rev-parse", "HEAD")).encode())

    def some(names, count):
        if len(names) <= count:
            return names
        start = seed % len(names)
        return (names + names)[start:start + count]
    return some(first, MOST_CHANGED) + some([file for file in files if file not in first], MOST_OTHERS)


def tidy(build, file):
    done = subprocess.run(["clang-tidy", "-p", str(build), "--quiet", file], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8")
    return file, done.returncode, done.stdout if done.stdout.strip() else done.stderr


build, rest = pathlib.Path(sys.argv[1]), sys.argv[2:]
files = known_files(build)
assert len(files) > 100, files
files = files if rest == ["--all"] else rest or chosen(files)
failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for file, code, said in pool.map(lambda file: tidy(build, file), files):
        print(file, "" if code == 0 else f"\n{said}", flush=True)
        failed += code != 0
sys.exit(1 if failed else 0)
