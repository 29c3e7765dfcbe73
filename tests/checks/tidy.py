"""clang-tidy has nothing to say: tidy.py BUILD [FILE...], or tidy.py BUILD --changed

Of all of src, tools and examples, of these files, or of what has changed: since this branch left the one that it is to be merged
into, or in the last commit where it has not left it; and what is not committed. Of a header that has changed, a file that includes
it is looked at. Where there is no history to tell by, all files are.

Nearly all of its time goes into the headers of others, which every file includes again. So files of one target are put one
after the other into one text, whose headers are read once: all of the tree takes as long as twenty files by themselves. Files
that use a name for different things go into different texts, and one with a finding is looked at alone: that counts.
"""
import bisect
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 24  # files in a text: enough to save, and more texts than cores


def flags_for_clang(words):
    """Without the compiler and what calls it, GCC's precompiled header, and warnings, which GCC itself gives."""
    for place, word in enumerate(words):
        if word.startswith(("-D", "-U", "-I", "-f", "-std")) and word != "-fpch-preprocess":
            yield word
        elif word == "-isystem":
            yield f"-isystem{words[place + 1]}"


def changed_files():
    """Of the tree, since when the text at the head says; None where there is no history to tell by."""
    def git(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        return done.stdout.split() if done.returncode == 0 else None
    if shutil.which("git") is None:
        return None
    head = git("rev-parse", "HEAD")
    bases = [base for branch in ("origin/HEAD", "origin/main", "main") for base in git("merge-base", "HEAD", branch) or []]
    base = next((base for base in bases if [base] != head), "HEAD^")
    changed = git("diff", "--name-only", base)
    if changed is None:
        return None
    changed += git("ls-files", "--others", "--exclude-standard")
    sources = [str(path.relative_to(ROOT)) for folder in ("src", "tools", "examples") for path in sorted((ROOT / folder).rglob("*.cpp"))]
    texts = {source: (ROOT / source).read_text(encoding="utf-8") for source in sources}
    files = {file for file in changed if file in texts}
    for header in (file for file in changed if file.endswith(".hpp") and (ROOT / file).exists()):
        line = f'#include "{re.sub("^(include|src|tools/[a-z]+)/", "", header)}"'
        including = [source for source in sources if line in texts[source]]
        if including and not files.intersection(including):
            files.add(including[0])
    return sorted(files)


def commands_by_target(build, wanted):
    """[(flags, [sources])], one for each target"""
    targets = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = os.path.relpath(entry["file"], ROOT)
        if "yosida_sanitized" in entry["command"]:  # the same files once more, with a header that GCC alone reads
            continue
        if not (source in wanted if wanted else source.startswith(("src/", "tools/", "examples/"))):
            continue
        words = shlex.split(entry["command"])
        output = words.index("-o")
        flags, sources = targets.setdefault(pathlib.PurePath(words[output + 1]).parts[:2], ([], []))
        flags += [word for word in flags_for_clang(words[:output]) if word not in flags]  # some are of single files
        sources.append(source)
    return targets.values()


def names_of_file(text):
    """What a formatted file keeps to itself: names in the first column of its namespaces without a name, and aliases."""
    yield from re.findall(r"^(?:using (?=\w+ =)|int (?=main\())(\w+)", text, re.MULTILINE)
    for inside in re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL):
        for line in inside.splitlines():
            if found := re.match(r"(?:struct|class|enum class|enum) (\w+)|(?!template)[A-Za-z][^(={;/]*?(\w+) *(?:[\[(={;]|$)", line):
                yield found[1] or found[2]


def texts_of(sources):
    """[[source]]: no two of a list share a name."""
    texts = []  # [sources, names]
    for source in sources:
        names = set(names_of_file((ROOT / source).read_text(encoding="utf-8")))
        for members, taken in texts:
            if len(members) < LARGEST and not names & taken:
                members.append(source)
                taken |= names
                break
        else:
            texts.append(([source], names))
    return [members for members, _ in texts]


def tidy(flags, file, *more):
    done = subprocess.run(["clang-tidy", "--quiet", f"--config-file={ROOT}/.clang-tidy", str(file), "--", *flags, *more],
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    return done.stdout or (done.stderr if done.returncode != 0 else "")


def check(flags, sources):
    """What clang-tidy says, and the files that it had to look at alone."""
    if len(sources) == 1:
        return tidy(flags, sources[0]), []
    text, ends = "", []
    for source in sources:
        text += (ROOT / source).read_text(encoding="utf-8") + "\n"
        ends.append(text.count("\n"))
    file = WORK / sources[0].replace("/", "-")
    file.write_text(text, encoding="utf-8")
    folders = sorted({f"-iquote{(ROOT / source).parent}" for source in sources})
    said, alone = "", set()
    for finding in re.split(r"^(?=\S+:\d+:\d+: (?:error|warning): )", tidy(flags, file, *folders, "-ferror-limit=0"), flags=re.MULTILINE):
        places = {sources[bisect.bisect_left(ends, int(line))] for line in re.findall(rf"{re.escape(str(file))}:(\d+):", finding)}
        alone |= places
        said += finding if not places else ""  # in a header
    return said + "".join(tidy(flags, source) for source in sorted(alone)), sorted(alone)


build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
if wanted == ["--changed"]:
    wanted = changed_files()
    if wanted == []:
        print("no file has changed")
        sys.exit(0)
    wanted = wanted or []
WORK = build / "tidy"
WORK.mkdir(exist_ok=True)
jobs = [(flags, sources) for flags, all_sources in commands_by_target(build, wanted) for sources in texts_of(sorted(all_sources))]
files = sum(len(sources) for _, sources in jobs)
assert files > 150 or wanted, files
failed, all_alone = False, []
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for said, alone in pool.map(lambda job: check(*job), sorted(jobs, key=lambda job: -len(job[1]))):
        print(said, end="", flush=True)
        failed |= bool(said.strip())
        all_alone += alone
print(f"{files} files in {len(jobs)} texts; alone: {', '.join(all_alone) or 'none'}")
sys.exit(1 if failed else 0)
