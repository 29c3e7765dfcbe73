"""TypeScript's checks of the report's page: page_types.py D3 SCRIPT...

D3 is the d3.min.js that the page is built with; the scripts share one scope, as they do in the page. What d3 has is read
from itself: a function that this version lacks would otherwise show in the browser alone.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

d3, *scripts = sys.argv[1:]
names = json.loads(subprocess.run(["node", "-p", "JSON.stringify(Object.keys(require(process.argv[1])))", d3],
                                  check=True, stdout=subprocess.PIPE).stdout)
assert "select" in names and len(names) > 400, names
with tempfile.TemporaryDirectory() as folder:
    declaration = pathlib.Path(folder, "d3.d.ts")
    declaration.write_text(f"declare const d3: {{{', '.join(f'{name}: any' for name in names)}}};\n", encoding="utf-8")
    options = ["--checkJs", "--allowJs", "--noEmit", "--target", "es2022", "--lib", "es2022,dom,dom.iterable",
               "--alwaysStrict", "--noImplicitReturns", "--noFallthroughCasesInSwitch",
               "--allowUnreachableCode", "false", "--strictBindCallApply"]
    sys.exit(subprocess.run(["tsc", *options, str(declaration), *scripts]).returncode)
