"""Data of the tests."""

import numpy as np
import pytest


@pytest.fixture
def table():
    """Features of different units, and a target of noise and some of them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 6)) * [1, 10, 0.1, 1, 3, 1] + [0, 50, 0, -2, 0, 0]
    y = X @ [1.0, 0.1, 5.0, 0.0, 0.0, -1.0] + 0.5 * rng.normal(size=120)
    return X, y


@pytest.fixture
def classes(table):
    """The same with a class for each row, of two and of three."""
    X, y = table
    return X, (y > np.median(y)).astype(int), np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
