// What the library returns, as dictionaries of Python.
#pragma once

#include "module.hpp"
#include "yosida/solver/certificate.hpp"

namespace yosida::python {

py::dict work_dict(const Work& work);
py::object certificate_dict(const std::optional<Certificate>& certificate);
py::dict trace_dict(const Trace& trace);
/// What a run says of itself, of a problem of rows or of somebody's own.
py::dict outcome_dict(const Outcome& outcome);
/// Calls Python after each iteration, with (iteration, λ, L_V, gradients, seconds); True ends the run.
Observer observer_of(py::function watch);

}  // namespace yosida::python
