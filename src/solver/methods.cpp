#include "yosida/solver/methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "yosida/error.hpp"
#include "yosida/nearest.hpp"
#include "yosida/search/samplers.hpp"
#include "yosida/setting_rules.hpp"
#include "yosida/solver/agils.hpp"
#include "yosida/solver/bic_gaffa.hpp"
#include "yosida/solver/black_box.hpp"
#include "yosida/solver/bome.hpp"
#include "yosida/solver/f2sa.hpp"
#include "yosida/solver/forward.hpp"
#include "yosida/solver/hoag.hpp"
#include "yosida/solver/meha.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/my_hpo_1.hpp"
#include "yosida/solver/my_hpo_bt.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/my_hpo_full.hpp"
#include "yosida/solver/penalty_method.hpp"
#include "yosida/solver/reverse.hpp"
#include "yosida/solver/saba.hpp"
#include "yosida/solver/sho.hpp"
#include "yosida/solver/soba.hpp"
#include "yosida/solver/stn.hpp"

namespace yosida {
namespace {

/// Completes what a person wrote of a method with what its algorithm's table says.
template <Algorithm A>
Method with_algorithm(Method method, const typename A::Settings& defaults = {}) {
  method.default_iterations = default_iterations_of<A>();
  method.settings = settings::describe(A::table(), defaults);
  method.make = [name = method.name, defaults](const SettingValues& values) -> std::unique_ptr<Solver> {
    return std::make_unique<AlgorithmSolver<A>>(A{settings::apply(name, A::table(), defaults, values)});
  };
  method.all_settings = [name = method.name, defaults](const SettingValues& values) {
    return settings::written(A::table(), settings::apply(name, A::table(), defaults, values));
  };
  return method;
}

/// A sampler's smallest share of the effort must be a step: otherwise promotions would be decided without
/// training.
void require_whole_steps(const std::string& method, const BlackBox::Settings& training,
                         const std::string& effort_setting, const SettingValues& of_sampler) {
  std::int64_t steps = 0;
  settings::parse_whole(of_sampler.at(effort_setting), 1, settings::kNoLimit, steps);
  if (training.train_steps < steps)
    throw InputError(fmt::format("{}: train_steps = {}: must be at least {} = {}", method,
                                 training.train_steps, effort_setting, steps));
}

Method black_box(const search::SamplerKind& kind) {
  const bool cuts_short = !kind.effort_setting.empty();
  BlackBox::Settings defaults{.train_steps = 0, .default_trials = kind.default_trials};
  if (cuts_short)
    settings::parse_whole(kind.all_settings({}).at(kind.effort_setting), 1, settings::kNoLimit,
                          defaults.train_steps);
  Method method{.name = kind.name,
                .summary = kind.summary,
                .family = MethodFamily::search,
                .solves_inner_problems = true,
                .takes_kinks = !cuts_short,  // exact solves cannot be cut short
                .default_iterations = defaults.default_trials,
                .counts_trials = true};
  const auto& table = BlackBox::table(/*may_solve=*/!cuts_short);
  method.settings = settings::describe(table, defaults);
  method.settings.insert(method.settings.end(), kind.settings.begin(), kind.settings.end());
  std::vector<std::string> names;
  for (const SettingInfo& setting : method.settings) names.push_back(setting.name);
  // The settings of the training, those of the sampler left in `values`.
  const auto take_training = [names, defaults, &table, &kind](SettingValues& values) {
    for (const auto& [setting, value] : values)
      if (std::find(names.begin(), names.end(), setting) == names.end())
        settings::refuse_name(kind.name, setting, names);
    SettingValues of_training;
    for (const auto& row : table)
      if (auto node = values.extract(row.name)) of_training.insert(std::move(node));
    const BlackBox::Settings training = settings::apply(kind.name, table, defaults, of_training);
    if (!kind.effort_setting.empty())
      require_whole_steps(kind.name, training, kind.effort_setting, kind.all_settings(values));
    return training;
  };
  method.make = [take_training, &kind](SettingValues values) -> std::unique_ptr<Solver> {
    const BlackBox::Settings training = take_training(values);
    return std::make_unique<BlackBox>(kind.name, kind.make(values), training);
  };
  method.all_settings = [take_training, &kind](SettingValues values) {
    SettingValues all = settings::written(BlackBox::table(), take_training(values));
    all.merge(kind.all_settings(values));
    return all;
  };
  return method;
}

std::vector<Method> successors() {
  return {
      with_algorithm<MyHpo>({.name = MyHpo::name,
                             .summary = "true hypergradients, no step size: a global search for one lambda, "
                                        "Moreau-Yosida steps for several",
                             .solves_inner_problems = true,
                             .only_solves = true,
                             .takes_kinks = true,
                             .expected_work = 250.0}),
      with_algorithm<MyHpoFull>({.name = "my-hpo-consensus",
                                 .summary = "the paper's w and u (my-hpo-full) on the tangent response",
                                 .solves_inner_problems = true,
                                 .takes_kinks = true},
                                {.rho = 1.0, .epsilon = 1e-4, .response = ResponseKind::tangent}),
      with_algorithm<MyHpo1>(
          {.name = MyHpo1::name,
           .summary = "my-hpo in a single loop: one gradient step each on v and on its slope"}),
  };
}

std::vector<Method> of_the_paper() {
  return {
      with_algorithm<MyHpoC>({.name = MyHpoC::name,
                              .summary = "simplified MY-HPO with constant steps (the paper's Algorithm 1)",
                              .family = MethodFamily::paper}),
      with_algorithm<MyHpoBt>({.name = MyHpoBt::name,
                               .summary = "simplified MY-HPO with backtracking (the paper's Algorithm 1)",
                               .family = MethodFamily::paper}),
      with_algorithm<MyHpoFull>(
          {.name = MyHpoFull::name,
           .summary = "MY-HPO with every update solved to its minimum (the paper's appendix)",
           .family = MethodFamily::paper,
           .solves_inner_problems = true,
           .takes_kinks = true}),
      with_algorithm<Sho>({.name = Sho::name,
                           .summary = "stochastic hyperparameter optimisation, the paper's baseline",
                           .family = MethodFamily::baseline}),
      with_algorithm<Sho>({.name = "sho-code",
                           .summary = "sho with the settings of its authors' published code",
                           .family = MethodFamily::baseline,
                           .lambda0 = -3.5},
                          {.alpha = 1e-4,
                           .beta = 0.01,
                           .sigma = 0.0,
                           .phi_scale = 0.01,
                           .lambda_optimizer = Sho::Optimizer::adam}),
  };
}

std::vector<Method> peers() {
  return {
      with_algorithm<Hoag>({.name = Hoag::name,
                            .summary = "hypergradients from inexact solves, adaptive step (Pedregosa 2016)",
                            .family = MethodFamily::peer,
                            .solves_inner_problems = true,
                            .takes_kinks = true}),
      with_algorithm<Reverse>(
          {.name = Reverse::name,
           .summary =
               "reverse differentiation through inner gradient steps (Maclaurin 2015, Franceschi 2017)",
           .family = MethodFamily::peer,
           .solves_inner_problems = true}),
      with_algorithm<Forward>(
          {.name = Forward::name,
           .summary = "forward differentiation through inner gradient steps (Franceschi 2017)",
           .family = MethodFamily::peer,
           .solves_inner_problems = true,
           .grows_with_lambdas = true}),
      with_algorithm<PenaltyMethod>(
          {.name = PenaltyMethod::name,
           .summary = "the inner problem as a penalised constraint (Mehra and Hamm 2019)",
           .family = MethodFamily::peer}),
      with_algorithm<Stn>({.name = Stn::name,
                           .summary = "self-tuning networks: a response learned under noise (MacKay 2019)",
                           .family = MethodFamily::peer}),
  };
}

/// Methods that move w beside λ by gradients alone.
std::vector<Method> single_loops() {
  return {
      with_algorithm<Meha>({.name = Meha::name,
                            .summary = "the inner problem's Moreau envelope as a penalised constraint, one "
                                       "gradient step each (Liu 2024)",
                            .family = MethodFamily::peer,
                            .takes_kinks = true}),
      with_algorithm<Agils>({.name = Agils::name,
                             .summary = "the same with its envelope trained to a tolerance (Bai 2026)",
                             .family = MethodFamily::peer,
                             .takes_kinks = true}),
      with_algorithm<BicGaffa>(
          {.name = BicGaffa::name,
           .summary = "penalties as constraints whose multipliers they are, gradients alone (Yao 2024)",
           .family = MethodFamily::peer}),
      with_algorithm<Bome>({.name = Bome::name,
                            .summary = "the inner gap held down by a dynamic barrier (Ye 2022)",
                            .family = MethodFamily::peer}),
      with_algorithm<F2sa>({.name = F2sa::name,
                            .summary = "penalised first-order steps, on batches of rows (Kwon 2023)",
                            .family = MethodFamily::peer}),
      with_algorithm<Soba>({.name = Soba::name,
                            .summary = "weights, adjoint and lambda side by side, on batches of rows "
                                       "(Dagreou 2022)",
                            .family = MethodFamily::peer}),
      with_algorithm<Saba>({.name = Saba::name,
                            .summary = "the same with constant steps and a memory of batches (Dagreou 2022)",
                            .family = MethodFamily::peer}),
  };
}

std::vector<Method> build() {
  std::vector<Method> all;
  for (std::vector<Method> group : {successors(), of_the_paper(), peers(), single_loops()})
    for (Method& method : group) all.push_back(std::move(method));
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
