#include "yosida/solver/methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "setting_rules.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"
#include "yosida/search/samplers.hpp"
#include "yosida/solver/black_box.hpp"
#include "yosida/solver/forward.hpp"
#include "yosida/solver/hoag.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/my_hpo_1.hpp"
#include "yosida/solver/my_hpo_bt.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/my_hpo_full.hpp"
#include "yosida/solver/penalty_method.hpp"
#include "yosida/solver/reverse.hpp"
#include "yosida/solver/sho.hpp"
#include "yosida/solver/stn.hpp"

namespace yosida {
namespace {

/// Completes what a person wrote of a method with what its algorithm's table says.
template <Algorithm A>
Method with_algorithm(Method method, const typename A::Settings& defaults = {}) {
  method.settings = settings::describe(A::table(), defaults);
  method.make = [name = method.name, defaults](const SettingValues& values) -> std::unique_ptr<Solver> {
    return std::make_unique<AlgorithmSolver<A>>(A{settings::apply(name, A::table(), defaults, values)});
  };
  method.all_settings = [name = method.name, defaults](const SettingValues& values) {
    return settings::written(A::table(), settings::apply(name, A::table(), defaults, values));
  };
  return method;
}

Method described(std::string name, std::string summary) {
  Method method;
  method.name = std::move(name);
  method.summary = std::move(summary);
  return method;
}

/// Trials of one pass of Hyperband through its brackets at R = 81, η = 3.
constexpr std::int64_t kHyperbandTrials = 206;
constexpr std::int64_t kHyperbandSteps = 81;

/// Hyperband's smallest effort must be a step: otherwise promotions would be decided without training.
void require_whole_steps(const BlackBox::Settings& training, const SettingValues& of_sampler) {
  std::int64_t resource = 0;
  settings::parse_whole(of_sampler.at("resource"), 1, settings::kNoLimit, resource);
  if (training.train_steps < resource)
    throw InputError(fmt::format("hyperband: train_steps = {}: must be at least resource = {}",
                                 training.train_steps, resource));
}

Method black_box(const search::SamplerKind& kind) {
  Method method = described(kind.name, kind.summary);
  const bool is_hyperband = kind.name == "hyperband";
  const BlackBox::Settings defaults{.train_steps = is_hyperband ? kHyperbandSteps : 0,
                                    .default_trials = is_hyperband ? kHyperbandTrials : 25};
  method.default_iterations = defaults.default_trials;
  method.counts_trials = true;
  method.solves_inner_problems = true;
  method.takes_kinks = !is_hyperband;  // its trials are cut short, which exact solves cannot be
  const auto& table = BlackBox::table(/*may_solve=*/!is_hyperband);
  method.settings = settings::describe(table, defaults);
  method.settings.insert(method.settings.end(), kind.settings.begin(), kind.settings.end());
  std::vector<std::string> names;
  for (const SettingInfo& setting : method.settings) names.push_back(setting.name);
  // The settings of the training, those of the sampler left in `values`.
  const auto take_training = [name = kind.name, names, defaults, &table, is_hyperband,
                              of_sampler = kind.all_settings](SettingValues& values) {
    for (const auto& [setting, value] : values)
      if (std::find(names.begin(), names.end(), setting) == names.end())
        settings::refuse_name(name, setting, names);
    SettingValues of_training;
    for (const auto& row : table)
      if (auto node = values.extract(row.name)) of_training.insert(std::move(node));
    const BlackBox::Settings training = settings::apply(name, table, defaults, of_training);
    if (is_hyperband) require_whole_steps(training, of_sampler(values));
    return training;
  };
  method.make = [name = kind.name, take_training,
                 make_sampler = kind.make](SettingValues values) -> std::unique_ptr<Solver> {
    const BlackBox::Settings training = take_training(values);
    return std::make_unique<BlackBox>(name, make_sampler(values), training);
  };
  method.all_settings = [take_training, of_sampler = kind.all_settings](SettingValues values) {
    SettingValues all = settings::written(BlackBox::table(), take_training(values));
    all.merge(of_sampler(values));
    return all;
  };
  return method;
}

std::vector<Method> build() {
  Method full =
      described(MyHpoFull::name, "MY-HPO with every update solved to its minimum (the paper's appendix)");
  full.solves_inner_problems = true;
  full.takes_kinks = true;
  full.default_iterations = 500;
  Method sho_code = described("sho-code", "sho with the settings of its authors' published code");
  sho_code.lambda0 = -3.5;
  Method successor = described(
      MyHpo::name,
      "true hypergradients, no step size: a global search for one lambda, Moreau-Yosida steps for several");
  successor.solves_inner_problems = true;
  successor.only_solves = true;
  successor.takes_kinks = true;
  successor.expected_work = 250.0;
  successor.default_iterations = 500;
  Method hoag = described(Hoag::name, "hypergradients from inexact solves, adaptive step (Pedregosa 2016)");
  hoag.solves_inner_problems = true;
  hoag.takes_kinks = true;
  hoag.default_iterations = 100;
  Method reverse =
      described(Reverse::name,
                "reverse differentiation through inner gradient steps (Maclaurin 2015, Franceschi 2017)");
  reverse.solves_inner_problems = true;
  reverse.default_iterations = 100;
  Method forward =
      described(Forward::name, "forward differentiation through inner gradient steps (Franceschi 2017)");
  forward.solves_inner_problems = true;
  forward.default_iterations = 100;
  forward.grows_with_lambdas = true;
  Method penalty =
      described(PenaltyMethod::name, "the inner problem as a penalised constraint (Mehra and Hamm 2019)");
  penalty.default_iterations = 500;
  Method consensus =
      described("my-hpo-consensus", "the paper's w and u (my-hpo-full) on the tangent response");
  consensus.solves_inner_problems = true;
  consensus.takes_kinks = true;
  consensus.default_iterations = 500;
  std::vector<Method> all = {
      with_algorithm<MyHpo>(std::move(successor)),
      with_algorithm<MyHpoFull>(std::move(consensus),
                                {.rho = 1.0, .epsilon = 1e-4, .response = ResponseKind::tangent}),
      with_algorithm<MyHpo1>(
          described(MyHpo1::name, "my-hpo in a single loop: one gradient step each on v and on its slope")),
      with_algorithm<MyHpoBt>(
          described(MyHpoBt::name, "simplified MY-HPO with backtracking (the paper's Algorithm 1)")),
      with_algorithm<MyHpoC>(
          described(MyHpoC::name, "simplified MY-HPO with constant steps (the paper's Algorithm 1)")),
      with_algorithm<MyHpoFull>(std::move(full)),
      with_algorithm<Sho>(
          described(Sho::name, "stochastic hyperparameter optimisation, the paper's baseline")),
      with_algorithm<Sho>(std::move(sho_code), {.alpha = 1e-4,
                                                .beta = 0.01,
                                                .sigma = 0.0,
                                                .phi_scale = 0.01,
                                                .lambda_optimizer = Sho::Optimizer::adam}),
      with_algorithm<Hoag>(std::move(hoag)),
      with_algorithm<Reverse>(std::move(reverse)),
      with_algorithm<Forward>(std::move(forward)),
      with_algorithm<PenaltyMethod>(std::move(penalty)),
      with_algorithm<Stn>(
          described(Stn::name, "self-tuning networks: a response learned under noise (MacKay 2019)")),
  };
  for (const search::SamplerKind& kind : search::samplers()) all.push_back(black_box(kind));
  return all;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = build();
  return all;
}

std::int64_t Method::default_iterations_of(const SettingValues& values) const {
  const auto trials = values.find("trials");
  std::int64_t count = default_iterations;
  if (trials != values.end()) settings::parse_whole(trials->second, 1, settings::kNoLimit, count);
  return count;
}

const Method& method(const std::string& name) {
  return entry_by_name(methods(), name, "method", "see: yosida methods");
}

}  // namespace yosida
