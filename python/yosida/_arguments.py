"""Arguments as people give them, in the words of the library. Whatever is wrong with one is said by its name."""

from __future__ import annotations

import warnings
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from . import _arrays
from ._targets import table


def budget_options(budget: Any) -> dict[str, Any]:
    """A number of gradients, or a dict of gradients, iterations and seconds."""
    if budget is None:
        return {}
    if isinstance(budget, Mapping):
        unknown = set(budget) - {"gradients", "iterations", "seconds"}
        if unknown:
            raise ValueError(f"budget: {sorted(unknown)[0]!r} is no limit: must be gradients, iterations or seconds")
        return {name: limit for name, limit in budget.items() if limit is not None}
    if isinstance(budget, (int, np.integer)) and not isinstance(budget, bool):
        return {"gradients": int(budget)}
    raise ValueError(f"budget = {budget!r}: must be a number of gradients or a dict of limits")


def class_weight_text(given: Any) -> str:
    """"balanced", or a dict from labels to weights, as the library reads it."""
    if given is None:
        return ""
    if isinstance(given, str):
        return given
    if not hasattr(given, "items"):
        raise ValueError(f"class_weight = {given!r}: must be 'balanced' or a dict of classes and weights")

    def number(value: Any) -> str:
        try:
            return repr(float(value))
        except (TypeError, ValueError):
            raise ValueError(f"class_weight: {value!r} is no number") from None

    return ",".join(f"{number(label)}={number(weight)}" for label, weight in given.items())


def group_texts(groups: Any, columns: int, names: Sequence[str]) -> list[str]:
    """Groups of columns as the library reads them, from a dict of names to columns or from a label for each column."""
    if groups is None:
        return []
    places = {name: j for j, name in enumerate(names)}
    listed_alone = list(groups.values()) if isinstance(groups, Mapping) else [groups]
    if any(isinstance(each, str) or not np.iterable(each) for each in listed_alone):
        raise ValueError(f"groups = {groups!r}: must be a dict of names and lists of columns, or a label for each column")

    def place(column: Any) -> int:
        if isinstance(column, str) and column in places:
            return places[column]
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < columns:
            return int(column)
        raise ValueError(f"groups: there is no column {column!r}: must be a name or an index from 0 to {columns - 1}")

    if isinstance(groups, Mapping):
        members = {str(name): [place(column) for column in listed] for name, listed in groups.items()}
    else:
        labels = list(groups)
        if len(labels) != columns:
            raise ValueError(f"groups: has {len(labels)} labels: must have one for each of the {columns} columns")
        members = {}
        for j, label in enumerate(labels):
            members.setdefault(str(label), []).append(j)
    for name in members:
        if "=" in name or name != name.strip(' \t\r"') or not name:
            raise ValueError(f"groups: {name!r} is no name: it must not be empty, hold '=', nor begin or end with blanks")
    return [f"{name}={','.join(map(str, listed))}" for name, listed in members.items()]


def column_texts(columns: Any, names: Sequence[str]) -> list[str]:
    """Columns by their index, as the library reads them."""
    if columns is None:
        return []
    if isinstance(columns, str) or not np.iterable(columns):
        raise ValueError(f"unpenalised = {columns!r}: must be a list of columns, by name or index")
    places = {name: j for j, name in enumerate(names)}

    def text(column: Any) -> str:
        if isinstance(column, str):
            return str(places.get(column, column))
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            return str(int(column))
        raise ValueError(f"unpenalised: {column!r} is no column: must be a name or an index")

    return [text(column) for column in columns]


def pairs_of(folds: Iterable[Any], rows: int, name: str = "folds") -> list[tuple[Any, Any]]:
    """Pairs of training and validation rows, by index or as masks."""

    def places(part: Any) -> Any:
        array = np.asarray(part)
        if array.dtype == bool:
            if array.shape != (rows,):
                raise ValueError(f"{name}: a mask of shape {array.shape}: must have one value for each of {rows} rows")
            array = np.flatnonzero(array)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ValueError(f"{name}: parts must be arrays of row numbers, or masks")
        array = array.astype(np.int64)
        outside = array[(array < -rows) | (array >= rows)]
        if len(outside):
            raise ValueError(f"{name}: there is no row {outside[0]}: must be from 0 to {rows - 1}")
        return np.where(array < 0, array + rows, array)

    pairs = []
    for pair in folds:
        try:
            train, validation = pair
        except (TypeError, ValueError):
            raise ValueError(f"{name}: each must be a pair of training and validation rows") from None
        train, validation = places(train), places(validation)
        if not len(train) or not len(validation):
            raise ValueError(f"{name}: {len(train)} training and {len(validation)} validation rows: each part needs one or more")
        trains = np.zeros(rows, dtype=bool)
        trains[train] = True
        if shared := int(trains[validation].sum()):
            warnings.warn(f"{name}: {shared} rows are in both parts of a pair, so they judge what they have trained", stacklevel=4)
        pairs.append((train, validation))
    if not pairs:
        raise ValueError(f"{name}: is empty: at least one pair is needed")
    return pairs


def _no_folds(name: str, folds: Any) -> ValueError:
    return ValueError(f"{name} = {folds!r}: must be a number, the fold of each row, pairs of rows or a splitter")


def split_folds(folds: Any, X: Any, y: Any, rows: int, name: str = "folds") -> tuple[dict[str, Any], Any, Any]:
    """Options, the fold of each row, and pairs of parts: one of the three says what `folds` does. `name`: of the argument."""
    if folds is None:
        return {}, None, None
    if isinstance(folds, (bool, np.bool_)):
        raise _no_folds(name, folds)
    if isinstance(folds, (int, np.integer)):
        return {"folds": int(folds)}, None, None
    if hasattr(folds, "split") and not isinstance(folds, str):
        try:
            return {}, None, pairs_of(folds.split(X, y), rows, name)
        except ValueError as error:
            if "'groups'" not in str(error):
                raise
            raise ValueError(
                f"{name}: {type(folds).__name__} must know the group of each row: "
                f"give {name}=list(splitter.split(X, y, groups))"
            ) from None
    if isinstance(folds, np.ndarray) and folds.ndim == 1 and folds.dtype != object:
        return {}, _arrays.numbers(folds, name, rows), None
    if isinstance(folds, str):
        raise _no_folds(name, folds)
    try:
        listed = list(folds)
    except TypeError:
        raise _no_folds(name, folds) from None
    if listed and all(isinstance(each, (int, float, np.number)) for each in listed):
        return {}, _arrays.numbers(listed, name, rows), None
    return {}, None, pairs_of(listed, rows, name)


def part(given: Any, name: str, renamed: Mapping[str, str], several: bool = False) -> Any:
    """(X, y) or (X, y, weights) that is given apart. `renamed`: what columns of tables are called otherwise."""
    if given is None:
        return None
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise ValueError(f"{name}: must be (X, y) or (X, y, sample_weight)")
    x, rows, _ = _arrays.design(given[0], f"{name}[0]")
    weight = _arrays.weights(given[2], f"{name}[2]", rows) if len(given) == 3 else None
    target = table(given[1], f"{name}[1]", rows) if several else _arrays.numbers(given[1], f"{name}[1]", rows)
    return (x, target, weight, None, [renamed.get(column, column) for column in _arrays.names_of(given[0])])


def row_groups(group_rows: Any, rows: int) -> list[str]:
    """The group of each row as a text."""
    groups = [str(each) for each in np.asarray(group_rows).tolist()]
    if len(groups) != rows:
        raise ValueError(f"group_rows: has {len(groups)} values: must have one for each of the {rows} rows")
    return groups


def seed_of(seed: Any, name: str = "seed") -> int:
    """A seed as the library takes it. `name`: of the argument."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"{name} = {seed!r}: must be a whole number from 0 to 2**64 - 1")
    return int(seed)


def raises_interrupt(interrupt: Any) -> bool:
    """Whether Ctrl-C is to raise KeyboardInterrupt."""
    if interrupt not in ("return", "raise"):
        raise ValueError(f"interrupt = {interrupt!r}: must be 'return' or 'raise'")
    return bool(interrupt == "raise")


def setting_texts(settings: Any) -> dict[str, str]:
    """Settings of a method as the command line writes them."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise ValueError(f"settings = {settings!r}: must be a dict of names and values")
    return {str(name): setting_text(value) for name, value in settings.items()}


def setting_text(value: Any) -> str:
    """One of them."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
