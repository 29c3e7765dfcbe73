"""Nobody but linalg/ knows how rows are stored: what the rest of the code asks of a design is a function of its
public headers. Nobody else sums over rows either: targets, weights and margins go through linalg/row_numbers.hpp.
Usage: seam_test.py ROOT"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
# What tells, and who may ask: the reader that builds them, and the pretreatment that leaves zeros zeros.
private = {
    r'"linalg/(rows|over_rows|kernels|blas)\.hpp"': set(),
    r"\bomits_zeros\b": {"src/data/pretreatment.cpp", "src/tune/prepare.cpp"},
    r"\bSparseRows\b": {"src/data/levels.cpp", "src/data/libsvm.cpp"},
    r"\b(y|y_|weight|weight_|margins)\.(\w+\(\)\.)*(sum|mean|dot|norm|squaredNorm|maxCoeff|minCoeff)\(": {
        "src/model/fitted_model.cpp",  # margins of one row
        "src/problem/gram_least_squares.cpp",  # in the space of rows, which holds all of them
        "src/problem/quasi_newton.cpp",  # y is a change of gradients here and in the next
        "src/solver/my_hpo_many.cpp",
        "src/study/suite_rows.cpp",  # rows that are being made
    },
}
failures = []
for folder in ("include", "src", "tools"):
    for path in sorted((root / folder).rglob("*.?pp")):
        name = path.relative_to(root).as_posix()
        if "/linalg/" in name:
            continue
        text = path.read_text(encoding="utf-8")
        for pattern, allowed in private.items():
            if name not in allowed and re.search(pattern, text):
                failures.append(f"{name}: {re.search(pattern, text).group(0)}")
print("\n".join(failures) or "only linalg/ knows how rows are stored, and sums over them")
sys.exit(bool(failures))
