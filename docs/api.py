"""The API reference by Doxygen: api.py DOXYFILE, which names what is read and where the pages go.

Prints what a public header leaves without a comment, and ends with 1 where there is such a thing. Need none: a member
variable and a function without arguments, whose names say what they are, in a type that has a comment; to_string; and
the parts that every algorithm has, which stand once at the concept Algorithm.
"""
import re
import subprocess
import sys

NEED_NONE = re.compile(r"""Member\ .*\ \(variable\)\ of
    | Member\ \S+\(\)(\ const)?(\ noexcept)?(\ override|\ =\ ?0)?\ \(function\)\ of\ (class|struct)
    | Member\ (init|step|table|start)\(.*\)(\ const)?.*\ \(function\)\ of\ (class|struct)
    | Member\ to_string\(
    | Member\ (Settings|State)\ \(typedef\)\ of\ struct
    | Compound\ \S+::(Settings|State)\ is\ not\ documented""", re.VERBOSE)

doxygen = subprocess.run(["doxygen", sys.argv[1]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
lines = doxygen.stderr.splitlines()
faults = [line for line in lines if line.strip() and not NEED_NONE.search(line)]
print(*faults, sep="\n")
if not lines and doxygen.returncode != 0:
    print(f"doxygen ended with {doxygen.returncode}")
sys.exit(1 if faults or (doxygen.returncode != 0 and not lines) else 0)
