#include "results.hpp"
#include "yosida/study/store.hpp"

namespace yosida::python {

void add_study(py::module_& module) {
  module.def(
      "read_study",
      [](const std::string& path, bool with_traces) {
        std::vector<study::Record> records;
        {
          const py::gil_scoped_release release;
          records = study::Store(path, study::Store::Mode::read).records(with_traces);
        }
        py::list all;
        for (const study::Record& record : records) {
          py::dict one;
          one["key"] = record.spec.key();
          one["method"] = record.spec.method;
          one["seed"] = record.spec.seed;
          one["spec"] = record.spec.json;
          one["status"] = record.status;
          one["outcome"] = record.outcome;
          one["program"] = record.program;
          one["seconds"] = record.seconds;
          one["finished"] = record.finished;
          if (with_traces) one["trace"] = trace_dict(record.trace);
          all.append(one);
        }
        return all;
      },
      py::arg("path"), py::arg("with_traces") = false);
}

}  // namespace yosida::python
