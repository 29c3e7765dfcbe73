// Bi-level problems whose functions are written in Python.
#include <cmath>
#include <tuple>

#include "results.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/gradient_check.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida::python {
namespace {

/// Calls the methods of an object of Python. Those that it does not have are the library's own: differences
/// and Newton's method. Solvers call it without the GIL.
class PythonProblem final : public BilevelProblem {
 public:
  PythonProblem(py::object problem, const py::dict& info)
      : problem_(std::move(problem)),
        weights_(info["weights"].cast<Index>()),
        hyperparameters_(info["hyperparameters"].cast<Index>()) {
    if (weights_ < 1) throw InputError("weights = " + std::to_string(weights_) + ": must be >= 1");
    if (hyperparameters_ < 1)
      throw InputError("hyperparameters = " + std::to_string(hyperparameters_) + ": must be >= 1");
    traits_.has_penalties = info["has_penalties"].cast<bool>();
    traits_.validation_depends_on_lambda = info["validation_depends_on_lambda"].cast<bool>();
    traits_.has_train_gradient_lambda = has("train_gradient_lambda");
    if (!info["start"].is_none()) {
      traits_.start = to_vector(info["start"], "start");
      require_weights(*this, traits_.start);
    }
    if (!info["bounds"].is_none()) {
      const auto [low, high] = info["bounds"].cast<std::pair<py::object, py::object>>();
      traits_.bounds = Bounds{to_vector(low, "bounds"), to_vector(high, "bounds")};
      require_lambda(*this, traits_.bounds->low);
      require_lambda(*this, traits_.bounds->high);
    }
    has_.train_gradient_lambda = traits_.has_train_gradient_lambda;
    has_.validation_gradient_lambda = has("validation_gradient_lambda");
    has_.hessian_product = has("hessian_product");
    has_.cross_product = has("cross_product");
    has_.cross_product_transposed = has("cross_product_transposed");
    has_.validation_hessian_product = has("validation_hessian_product");
    has_.inner_solve = has("inner_solve");
  }
  ~PythonProblem() override {
    const py::gil_scoped_acquire gil;
    problem_.release().dec_ref();
  }
  PythonProblem(const PythonProblem&) = delete;
  PythonProblem& operator=(const PythonProblem&) = delete;

  /// Where the run is, for what is told of an error.
  Observer observer() {
    return [this](const TracePoint& point) {
      iteration_ = point.iteration + 1;
      return Watch::go_on;
    };
  }
  /// "train_gradient in iteration 3, at lambda = [0.5]": the first result that was not finite; empty if none
  /// was.
  const std::string& not_finite() const { return not_finite_; }

  Index weights() const override { return weights_; }
  Index hyperparameters() const override { return hyperparameters_; }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return number("train_loss", w, lambda);
  }
  double validation_loss(const Vector& w, const Vector& lambda) const override {
    return number("validation_loss", w, lambda);
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    vector("train_gradient", lambda, g, w, lambda);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    vector("validation_gradient", lambda, g, w, lambda);
    return validation_loss(w, lambda);
  }
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    if (!has_.train_gradient_lambda) return BilevelProblem::train_gradient_lambda(w, lambda, out);
    vector("train_gradient_lambda", lambda, out, w, lambda);
  }
  void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    if (!has_.validation_gradient_lambda) return BilevelProblem::validation_gradient_lambda(w, lambda, out);
    vector("validation_gradient_lambda", lambda, out, w, lambda);
  }
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override {
    if (!has_.hessian_product) return BilevelProblem::hessian_product(w, lambda, p, out);
    vector("hessian_product", lambda, out, w, lambda, p);
  }
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override {
    if (!has_.cross_product) return BilevelProblem::cross_product(w, lambda, q, out);
    vector("cross_product", lambda, out, w, lambda, q);
  }
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override {
    if (!has_.cross_product_transposed) return BilevelProblem::cross_product_transposed(w, lambda, p, out);
    vector("cross_product_transposed", lambda, out, w, lambda, p);
  }
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override {
    if (!has_.validation_hessian_product)
      return BilevelProblem::validation_hessian_product(w, lambda, p, out);
    vector("validation_hessian_product", lambda, out, w, lambda, p);
  }
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override {
    // A proximal term is unknown to the caller's solver, and a limit of counts too.
    if (!has_.inner_solve || options.proximal) return BilevelProblem::inner_solve(lambda, options, w);
    InnerReport report;
    report.work.train_gradients = 2 + solved(lambda, w);
    // That it is solved is not taken on trust.
    Vector g(weights_), at_zero(weights_);
    train_gradient(w, lambda, g);
    train_gradient(Vector::Zero(weights_), without_penalties(*this, lambda), at_zero);
    report.gradient_norm = g.norm();
    report.converged = report.gradient_norm <= std::max(options.tolerance, 1e-8) * at_zero.norm();
    return report;
  }

 private:
  bool has(const char* name) const { return py::hasattr(problem_, name); }

  /// What the method gives. What it throws is thrown on, with a note that says where the run was.
  template <typename... Vectors>
  py::object called(const char* name, const Vectors&... arguments) const {
    try {
      return problem_.attr(name)(to_numpy(arguments)...);
    } catch (py::error_already_set& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) throw RunEnded(RunEnded::Reason::stopped);
      if (py::hasattr(error.value(), "add_note"))
        error.value().attr("add_note")(std::string("yosida: raised by ") + name + " in iteration " +
                                       std::to_string(iteration_));
      throw;
    }
  }

  void note_not_finite(const char* name, const Vector& lambda) const {
    if (!not_finite_.empty() || !lambda.allFinite()) return;
    not_finite_ = std::string(name) + " in iteration " + std::to_string(iteration_) +
                  ", at lambda = " + std::string(py::str(to_numpy(lambda)));
  }

  double number(const char* name, const Vector& w, const Vector& lambda) const {
    const py::gil_scoped_acquire gil;
    const py::object given = called(name, w, lambda);
    const double value = PyFloat_AsDouble(given.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw InputError(std::string(name) + ": returned " + std::string(py::repr(given)) +
                       ": must be a number");
    }
    if (!std::isfinite(value) && w.allFinite()) note_not_finite(name, lambda);
    return value;
  }

  template <typename... Vectors>
  void vector(const char* name, const Vector& lambda, Vector& out, const Vectors&... arguments) const {
    const py::gil_scoped_acquire gil;
    take(name, lambda, called(name, arguments...), (arguments.allFinite() && ...), out);
  }

  /// Keeps what a method has given. Numbers that are not finite are its own fault where it was asked for
  /// finite ones.
  void take(const char* name, const Vector& lambda, const py::object& given, bool asked_finite,
            Vector& out) const {
    const Vector value = to_vector(given, name);
    if (value.size() != out.size())
      throw InputError(std::string(name) + ": returned " + std::to_string(value.size()) +
                       " numbers: must be " + std::to_string(out.size()));
    if (!value.allFinite() && asked_finite) note_not_finite(name, lambda);
    out = value;
  }

  /// The caller's own training; returns the gradients it took, where it says so.
  std::int64_t solved(const Vector& lambda, Vector& w) const {
    const py::gil_scoped_acquire gil;
    py::object given = called("inner_solve", lambda, Vector(w));
    std::int64_t gradients = 0;
    if (py::isinstance<py::tuple>(given)) {
      try {
        std::tie(given, gradients) = given.cast<std::pair<py::object, std::int64_t>>();
      } catch (const py::cast_error&) {
        throw InputError("inner_solve: returned " + std::string(py::repr(given)) +
                         ": must be the weights, or the weights and the number of gradients that they took");
      }
    }
    take("inner_solve", lambda, given, lambda.allFinite() && w.allFinite(), w);
    return gradients;
  }

  struct Has {
    bool train_gradient_lambda = false, validation_gradient_lambda = false, hessian_product = false,
         cross_product = false, cross_product_transposed = false, validation_hessian_product = false,
         inner_solve = false;
  };

  py::object problem_;
  Index weights_, hyperparameters_;
  Has has_;
  std::int64_t iteration_ = 1;
  mutable std::string not_finite_;
};

/// One number for all λ, or one for each.
Vector spread(const py::handle& given, Index count, const char* name) {
  if (py::isinstance<py::float_>(given) || py::isinstance<py::int_>(given))
    return Vector::Constant(count, given.cast<double>());
  Vector each = to_vector(given, name);
  if (each.size() != count)
    throw InputError(std::string(name) + ": " + std::to_string(each.size()) + " numbers: must be " +
                     std::to_string(count));
  return each;
}

void set_bounds(Start& start, const py::handle& bounds, Index count) {
  if (bounds.is_none()) return;
  const auto [low, high] = bounds.cast<std::pair<py::object, py::object>>();
  start.low = spread(low, count, "bounds");
  start.high = spread(high, count, "bounds");
  if (!(start.low.array() < start.high.array()).all() || !start.low.allFinite() || !start.high.allFinite())
    throw InputError("bounds: must be finite, and the lower below the upper");
}

py::dict solve_problem(const py::object& given, const py::dict& info, const std::string& method_name,
                       const SettingValues& settings, const py::dict& run, const py::object& watch,
                       bool raise) {
  PythonProblem problem(given, info);
  const Method& chosen = method(method_name);
  const std::unique_ptr<Solver> solver = chosen.make(settings);
  const Index count = problem.hyperparameters();
  SolveOptions options;
  set_bounds(options.start, run["bounds"], count);
  options.start.lambda = run["lambda0"].is_none() ? default_start(problem, chosen.lambda0)
                                                  : spread(run["lambda0"], count, "lambda0");
  if (run["lambda0"].is_none()) options.start.clamp(options.start.lambda);
  options.start.seed = run["seed"].cast<std::uint64_t>();
  if (!run["gradients"].is_none()) options.budget.gradients = run["gradients"].cast<std::int64_t>();
  if (!run["iterations"].is_none()) options.budget.iterations = run["iterations"].cast<std::int64_t>();
  if (!run["seconds"].is_none()) options.budget.seconds = run["seconds"].cast<double>();
  options.trace_every = run["trace_every"].cast<std::int64_t>();
  options.observers.push_back(problem.observer());
  if (!watch.is_none()) options.observers.push_back(observer_of(py::reinterpret_borrow<py::function>(watch)));

  const bool wants_certificate = run["certificate"].cast<bool>();
  Computation computation;
  options.stop = computation.token();
  Outcome outcome = solve(*solver, problem, options);
  std::optional<Certificate> certificate;
  const bool is_finite = outcome.status != StopReason::diverged && outcome.status != StopReason::stopped;
  if (wants_certificate && is_finite) {
    Start start = options.start;
    if (!start.is_bounded()) {
      start.low = outcome.low;
      start.high = outcome.high;
    }
    certificate = certify(problem, outcome.best, start);
  }
  computation.end(raise);
  py::dict all = outcome_dict(outcome);
  all["certificate"] = certificate_dict(certificate);
  all["not_finite"] = problem.not_finite();
  return all;
}

py::object certify_point(const py::object& given, const py::dict& info, const py::object& w,
                         const py::object& lambda, const py::object& bounds, double tolerance) {
  const PythonProblem problem(given, info);
  Solution solution;
  solution.w = solution.point = to_vector(w, "w");
  solution.lambda = spread(lambda, problem.hyperparameters(), "lambda");
  require_sizes(problem, solution.w, solution.lambda);
  Start start;
  start.lambda = solution.lambda;
  set_bounds(start, bounds, problem.hyperparameters());
  Computation computation;
  solution.loss = problem.losses(solution.w, solution.lambda);
  const Certificate found = certify(problem, solution, start, tolerance);
  computation.end(true);
  return certificate_dict(found);
}

py::dict check_gradients_at(const py::object& given, const py::dict& info, const py::object& w,
                            const py::object& lambda, std::uint64_t seed) {
  const PythonProblem problem(given, info);
  const Vector at = to_vector(w, "w");
  const Vector lambdas = spread(lambda, problem.hyperparameters(), "lambda");
  require_sizes(problem, at, lambdas);
  Computation computation;
  const std::vector<GradientCheck> checks = check_gradients(problem, at, lambdas, seed);
  computation.end(true);
  py::dict all;
  for (const GradientCheck& check : checks) all[py::str(check.name)] = check.error;
  return all;
}

}  // namespace

void add_problem(py::module_& module) {
  module.def("solve", &solve_problem);
  module.def("certify", &certify_point);
  module.def("check_gradients", &check_gradients_at);
}

}  // namespace yosida::python
