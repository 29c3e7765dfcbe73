#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/solve.hpp"

namespace YOSIDA_EXPORT yosida {

/// Where a method comes from. Reports show rows in this order.
enum class MethodFamily {
  baseline,  // of the paper
  paper,     // its own
  search,    // black-box searches
  peer,      // of other papers
  own        // of this project
};

/// A solver by name, for the command line and anything else that chooses at run time. Its functions may be
/// called from several threads.
struct Method {
  std::string name = {};
  std::string summary = {};
  MethodFamily family = MethodFamily::own;
  double lambda0 = -1.0;
  /// Steps solve inner problems, so collapsing pays at once.
  bool solves_inner_problems = false;
  /// Asks a problem for nothing but solves and what follows from them: any coordinates serve.
  bool only_solves = false;
  /// Leaves inner problems to the problem, or takes proximal steps, so that these may have kinks (an ℓ₁
  /// penalty). Plain steps on L_T itself would never set a weight to 0.
  bool takes_kinks = false;
  /// About how many gradient equivalents a run costs; collapsing must cost less. 0: by its iterations.
  double expected_work = 0.0;
  std::int64_t default_iterations = Solver::kDefaultIterations;
  /// Ends by itself after so many iterations, which are trials: a limit of iterations need not be set.
  bool counts_trials = false;
  /// Work grows with the number of λ.
  bool grows_with_lambdas = false;
  /// The same, or as many trials as the settings ask for.
  std::int64_t default_iterations_of(const SettingValues& settings) const;
  std::vector<SettingInfo> settings = {};
  /// Throws InputError for an unknown setting or a value outside its bounds.
  std::function<std::unique_ptr<Solver>(const SettingValues&)> make = {};
  /// All settings, those given and the defaults of the others, written in one way; throws as make does.
  std::function<SettingValues(const SettingValues&)> all_settings = {};
};

/// All methods, in the order in which they are shown.
const std::vector<Method>& methods();
/// Throws InputError with the nearest name where there is no such method.
const Method& method(const std::string& name);
/// The method used where none is named.
inline constexpr const char* kDefaultMethod = "my-hpo";

}  // namespace yosida
