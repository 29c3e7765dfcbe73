// What the files of the module share.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "yosida/linalg/threads.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/stop.hpp"

namespace yosida::python {

namespace py = pybind11;

// Vectors and matrices. They are numpy arrays of float64 on the other side, and copies on either.

py::array_t<double> to_numpy(const Vector& v);
py::array_t<double> to_numpy(const Matrix& m);
/// Of numbers in one dimension; throws InputError naming the argument where they are not.
Vector to_vector(const py::handle& numbers, const char* name);

/// While it lives, this thread computes without the GIL, BLAS gets its number of threads back at the end,
/// and, in the main thread, Ctrl-C asks for a stop.
class Computation {
 public:
  Computation();
  ~Computation();
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  StopToken token() const { return stop_.token(); }
  /// Takes the GIL again, and then deals with Ctrl-C: where it came and `raise`, or there is no answer,
  /// throws KeyboardInterrupt. Returns whether it came.
  bool end(bool raise);

 private:
  void restore_handler();

  StopSource stop_;
  bool handles_signals_ = false;
  HostBlasThreads blas_;
  std::optional<py::gil_scoped_release> release_;
};

/// Flags of the command line in a message become the arguments of Python that mean the same.
std::string in_words_of_python(std::string message);

// One for each file.
void add_tune(py::module_& module);
void add_problem(py::module_& module);
void add_search(py::module_& module);
void add_study(py::module_& module);
void add_mpi(py::module_& module);

}  // namespace yosida::python
