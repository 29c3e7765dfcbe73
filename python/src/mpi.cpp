#include "yosida/linalg/mpi.hpp"

#include <optional>

#include "module.hpp"

namespace yosida::python {
namespace {

/// A session that ends where Python says so, and not where an object is collected: all processes end it
/// together.
struct Sharing {
  explicit Sharing(int communicator) : session(std::in_place, communicator) {}

  /// What all processes say of their end; empty where all is well.
  std::string end(const std::string& message) {
    const mpi::Ended all = session->end(message.empty() ? 0 : 1, message);
    session.reset();
    return all.message;
  }

  /// Where another process has said that it ends: all have met already.
  void leave() { session.reset(); }

  std::optional<mpi::Session> session;
};

}  // namespace

void add_mpi(py::module_& module) {
  py::class_<Sharing>(module, "Sharing")
      .def(py::init<int>(), py::arg("communicator"))
      .def_property_readonly("rank", [](const Sharing& self) { return self.session->rank(); })
      .def_property_readonly("size", [](const Sharing& self) { return self.session->size(); })
      .def("leave", &Sharing::leave, py::call_guard<py::gil_scoped_release>())
      .def("end", &Sharing::end, py::arg("message"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace yosida::python
