// Arrays of Python as rows of the library.
#pragma once

#include "module.hpp"
#include "yosida/data/dataset.hpp"

namespace yosida::python {

/// A design that reads the numbers of `x` where they lie, and keeps them alive: a float64 array of two
/// dimensions whose rows are contiguous, or (indptr, indices, data, columns) of int64, int32 and float64.
/// What else there is becomes one of these in Python.
Design design_of(const py::object& x);
/// (X, y, weight, fold, names) with None for what there is not; no names are an empty list.
Dataset dataset_of(const py::tuple& rows, const char* source);

}  // namespace yosida::python
