"""clang-format has nothing to change: format_test.py [--fix]"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["include", "src", "tools", "tests", "examples", "bench"]
files = [str(path) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.?pp")) if path.suffix in (".cpp", ".hpp")]
assert len(files) > 300, len(files)
how = ["-i"] if "--fix" in sys.argv else ["--dry-run", "-Werror"]
sys.exit(subprocess.run(["clang-format", *how, *files]).returncode)
