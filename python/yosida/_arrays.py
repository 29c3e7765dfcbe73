"""Arrays of Python as the rows that the library reads: where they lie if they can be, else converted once."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, Optional

import numpy as np

_local = threading.local()


class Copy(NamedTuple):
    """A conversion of an argument: which one, how many bytes it took, and why."""

    argument: str
    bytes: int
    why: str


def last_copies() -> list[Copy]:
    """What the last call of this thread had to convert.

    Features are read where they lie if they are float64 or float32 in an array whose rows are contiguous (C-contiguous
    arrays and slices of their rows or columns), or float64 in a canonical CSR matrix with 32-bit column indices. Everything else is
    converted once, and listed here. Targets and weights, a number a row, are always copied and never listed.

    Returns
    -------
    list of Copy
        Empty where the features were used in place.

    Examples
    --------
    >>> import numpy as np, yosida
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> _ = yosida.tune(X, X[:, 0])
    >>> yosida.last_copies()
    []
    >>> _ = yosida.tune(X.astype("float16"), X[:, 0])
    >>> yosida.last_copies()
    [Copy(argument='X', bytes=960, why='float16 to float64')]
    """
    return list(getattr(_local, "copies", []))


def forget_copies() -> None:
    """Begins the list anew, for a call."""
    _local.copies = []


def _note(argument: str, size: int, why: str) -> None:
    if not hasattr(_local, "copies"):
        _local.copies = []
    _local.copies.append(Copy(argument, int(size), why))


def is_sparse(X: Any) -> bool:
    """Whether X is a matrix of scipy.sparse; that package is not imported for the question."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def names_of(X: Any) -> list[str]:
    """The names of the columns of a DataFrame where all are strings; else none."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return []
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else []


def _require_whole(matrix: Any, name: str) -> None:
    """Refuses a CSR or CSC matrix whose arrays do not belong together: scipy and others read outside of them."""
    lines, width = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    starts, entries = matrix.indptr, min(len(matrix.indices), len(matrix.data))
    if len(starts) != lines + 1 or starts[0] != 0 or starts[-1] > entries or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"{name}: is no {matrix.format} matrix: indptr must rise from 0 to at most {entries} in {lines + 1} steps")
    used = matrix.indices[: starts[-1]]
    if used.size and (used.min() < 0 or used.max() >= width):
        raise ValueError(f"{name}: is no {matrix.format} matrix: indices must be from 0 to {width - 1}")


def _kinds(values: Any) -> list[Any]:
    """The dtypes of an array, or of the columns of a DataFrame."""
    kinds: Any = getattr(values, "dtypes", None)
    return list(kinds) if hasattr(kinds, "__iter__") else [getattr(values, "dtype", None)]


def as_doubles(values: Any, name: str, advice: str = "") -> Any:
    """Rows of float64. Missing values of pandas, which are no numbers, become NaN. `advice` where there are others."""
    try:
        if any(hasattr(kind, "na_value") for kind in _kinds(values)) and hasattr(values, "to_numpy"):
            values = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: has entries that are no numbers: {error}{advice}") from None


def require_real(values: Any, name: str) -> None:
    """Refuses what numpy would turn into numbers without a word: dates, spans of time, complex numbers, records and
    entries that are masked. And sparse matrices that are none."""
    for kind in _kinds(values):
        if getattr(kind, "kind", "") == "c":
            raise ValueError(f"{name}: has dtype {kind}. Complex data not supported: must be real numbers")
        if getattr(kind, "kind", "") in ("m", "M", "V"):
            raise ValueError(f"{name}: has dtype {kind}: must be real numbers")
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ValueError(f"{name}: has masked entries: fill them, or leave their rows out")
    if is_sparse(values) and values.format in ("csr", "csc"):
        _require_whole(values, name)


def _sparse(X: Any, name: str) -> tuple[Any, ...]:
    matrix = X
    if X.format != "csr":
        matrix = X.tocsr()
        _note(name, matrix.data.nbytes + matrix.indices.nbytes, f"{X.format} to csr")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        _note(name, matrix.data.nbytes + matrix.indices.nbytes, "entries put in order, and those given twice added up")
    parts = []
    for part, dtype in ((matrix.indptr, np.int64), (matrix.indices, np.int32), (matrix.data, np.float64)):
        if dtype == np.float64 and part.dtype.kind not in "biuf":
            raise ValueError(f"{name}: has entries of {part.dtype}: must be real numbers")
        if dtype == np.int32 and matrix.shape[1] > np.iinfo(np.int32).max:
            raise ValueError(f"{name}: has {matrix.shape[1]} columns: must be at most {np.iinfo(np.int32).max}")
        converted = np.ascontiguousarray(part, dtype=dtype)
        if converted is not part and not np.shares_memory(converted, part):
            _note(name, converted.nbytes, f"{part.dtype} to {converted.dtype}")
        parts.append(converted)
    return (*parts, int(matrix.shape[1]))


def design(X: Any, name: str = "X") -> tuple[Any, int, int]:
    """X for the module, its rows and its columns."""
    require_real(X, name)
    if is_sparse(X):
        return _sparse(X, name), int(X.shape[0]), int(X.shape[1])
    try:
        array = np.asarray(X)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: is no table of numbers: {error}") from None
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name}: has dtype {array.dtype}: must be real numbers")
    if array.ndim != 2:
        raise ValueError(f"{name}: has {array.ndim} dimensions: must be a table of two, a row for each observation")
    if array.size == 0:
        raise ValueError(f"{name}: has {array.shape[0]} rows and {array.shape[1]} columns: must have one of each at least")
    if array is not X and not (isinstance(X, np.ndarray) or np.shares_memory(array, _values(X))):
        _note(name, array.nbytes, f"{type(X).__name__} to an array")
    if array.dtype not in (np.float64, np.float32) or not array.dtype.isnative:
        converted = as_doubles(X if array.dtype == object else array, name)
        _note(name, converted.nbytes, f"{array.dtype} to float64")
        array = converted
    rows, columns = array.shape
    in_place = (
        (columns <= 1 or array.strides[1] == array.itemsize)
        and (rows <= 1 or (array.strides[0] % array.itemsize == 0 and array.strides[0] >= array.itemsize * columns))
        and array.flags.aligned
    )
    if not in_place:
        array = np.array(array, order="C")
        _note(name, array.nbytes, "rows that are not contiguous")
    return array, rows, columns


def _values(X: Any) -> Any:
    """The array inside of a DataFrame, where it is one; nothing that shares memory elsewhere."""
    values = getattr(X, "values", None)
    return values if isinstance(values, np.ndarray) else np.empty(0)


def numbers(values: Any, name: str, rows: int, advice: str = "") -> Any:
    """One float64 for each row."""
    require_real(values, name)
    array = as_doubles(values, name, advice)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name}: has {array.ndim} dimensions: must have one, a number for each row")
    if len(array) != rows:
        raise ValueError(f"{name}: has {len(array)} numbers: must have one for each of the {rows} rows")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: has an entry that is missing, NaN or infinite: must be finite numbers")
    return np.ascontiguousarray(array)


def weights(values: Any, name: str, rows: int) -> Optional[Any]:
    """Weights ≥ 0 of the rows; a single number is that of each."""
    if values is None:
        return None
    array = np.asarray(values)
    array = numbers(np.full(rows, array) if array.ndim == 0 else array, name, rows)
    if (array < 0).any():
        raise ValueError(f"{name}: has a weight that is negative: must be >= 0")
    if rows and not (array > 0).any():
        raise ValueError(f"{name}: all weights are 0: one must be > 0")
    return array
