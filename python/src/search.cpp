#include "module.hpp"
#include "yosida/error.hpp"
#include "yosida/search/minimize.hpp"

namespace yosida::python {
namespace {

/// (low, high, "linear" or "log", name) each.
search::Space space_of(const std::vector<std::tuple<double, double, std::string, std::string>>& dimensions) {
  std::vector<search::Dimension> all;
  for (const auto& [low, high, scale, name] : dimensions) {
    if (scale != "linear" && scale != "log")
      throw InputError("scale = " + scale + " of \"" + name + "\": must be linear or log");
    all.push_back({.low = low,
                   .high = high,
                   .scale = scale == "log" ? search::Scale::logarithmic : search::Scale::linear,
                   .name = name});
  }
  return search::Space(std::move(all));
}

/// A sampler with the proposals that are open.
class AskTell {
 public:
  AskTell(const std::string& name,
          const std::vector<std::tuple<double, double, std::string, std::string>>& dimensions,
          std::uint64_t seed, std::int64_t trials, const SettingValues& settings)
      : sampler_(
            search::make_sampler(name, space_of(dimensions), {.seed = seed, .trials = trials}, settings)) {}

  py::object ask() {
    const std::optional<search::Proposal> proposal = sampler_->ask();
    if (!proposal) return py::none();
    open_.push_back(*proposal);
    return py::make_tuple(proposal->id, to_numpy(proposal->x), proposal->share);
  }
  void tell(std::int64_t id, double share, double value) {
    for (auto open = open_.begin(); open != open_.end(); ++open)
      if (open->id == id && open->share == share) {
        sampler_->tell(*open, value);
        open_.erase(open);
        return;
      }
    throw InputError("proposal " + std::to_string(id) +
                     ": is not open: each is told once, after it was asked for");
  }

 private:
  std::unique_ptr<search::Sampler> sampler_;
  std::vector<search::Proposal> open_;
};

}  // namespace

void add_search(py::module_& module) {
  py::class_<AskTell>(module, "Sampler")
      .def(py::init<const std::string&,
                    const std::vector<std::tuple<double, double, std::string, std::string>>&, std::uint64_t,
                    std::int64_t, const SettingValues&>())
      .def("ask", &AskTell::ask)
      .def("tell", &AskTell::tell);
  module.def("samplers", [] {
    py::dict all;
    for (const search::SamplerKind& kind : search::samplers()) all[py::str(kind.name)] = kind.summary;
    return all;
  });
}

}  // namespace yosida::python
