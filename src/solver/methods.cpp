#include "yosida/solver/methods.hpp"

#include <fmt/format.h>

#include "yosida/error.hpp"
#include "yosida/nearest.hpp"
#include "yosida/solver/my_hpo_bt.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/my_hpo_full.hpp"
#include "yosida/solver/sho.hpp"

namespace yosida {
namespace {

template <Algorithm A>
void fill(Method& method, const typename A::Settings& defaults) {
  method.settings = settings::describe(A::table(), defaults);
  method.make = [name = method.name, defaults](const SettingValues& values) -> std::unique_ptr<Solver> {
    return std::make_unique<AlgorithmSolver<A>>(A{settings::apply(name, A::table(), defaults, values)});
  };
}

std::vector<Method> build() {
  std::vector<Method> all;
  const auto add = [&](std::string name, std::string summary, double lambda0, bool row_space, bool inner,
                       std::int64_t iterations) -> Method& {
    return all.emplace_back(
        Method{std::move(name), std::move(summary), lambda0, row_space, inner, iterations, {}, {}});
  };
  fill<MyHpoBt>(add("my-hpo-bt", "simplified MY-HPO with backtracking (the paper's Algorithm 1)", -1.0, true,
                    false, 2500),
                {});
  fill<MyHpoC>(add("my-hpo-c", "simplified MY-HPO with constant steps (the paper's Algorithm 1)", -1.0, true,
                   false, 2500),
               {});
  fill<MyHpoFull>(add("my-hpo-full", "MY-HPO with every update solved to its minimum (the paper's appendix)",
                      -1.0, true, true, 500),
                  {});
  fill<Sho>(
      add("sho", "stochastic hyperparameter optimisation, the paper's baseline", -1.0, true, false, 2500),
      {});
  fill<Sho>(add("sho-code", "sho with the settings of its authors' published code", -3.5, false, false, 2500),
            {.alpha = 1e-4,
             .beta = 0.01,
             .sigma = 0.0,
             .phi_scale = 0.01,
             .lambda_optimizer = Sho::Optimizer::adam});
  return all;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = build();
  return all;
}

const Method& method(const std::string& name) {
  std::vector<std::string> names;
  for (const Method& each : methods()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  const std::string near = nearest(name, names);
  throw InputError(fmt::format("method = {}: no such method{}; see: yosida methods", name,
                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
}

}  // namespace yosida
