#include "results.hpp"

#include <limits>

namespace yosida::python {

py::dict work_dict(const Work& work) {
  py::dict all;
  all["train_gradients"] = work.train_gradients;
  all["validation_gradients"] = work.validation_gradients;
  all["hessian_products"] = work.hessian_products;
  all["loss_evaluations"] = work.loss_evaluations;
  all["inner_solves"] = work.inner_solves;
  all["factorisations"] = work.factorisations;
  all["gradients"] = work.paper_count();
  all["gradient_equivalents"] = work.gradient_equivalents();
  return all;
}

py::object certificate_dict(const std::optional<Certificate>& certificate) {
  if (!certificate) return py::none();
  py::dict all;
  all["verdict"] = std::string(to_string(certificate->verdict));
  all["reason"] = certificate->reason;
  all["inner_gradient"] = certificate->inner_gradient;
  all["hypergradient"] = certificate->hypergradient;
  all["hypergradient_error"] = certificate->hypergradient_error;
  all["gap"] = certificate->gap;
  all["lambda_gap"] = certificate->lambda_gap;
  return all;
}

py::dict trace_dict(const Trace& trace) {
  const auto n = static_cast<py::ssize_t>(trace.size());
  const py::ssize_t lambdas = trace.empty() ? 0 : trace[0].lambda.size();
  py::array_t<double> lambda({n, lambdas}), train(n), validation(n), test(n), equivalents(n), seconds(n);
  py::array_t<std::int64_t> iteration(n), gradients(n);
  for (py::ssize_t i = 0; i < n; ++i) {
    const TracePoint& point = trace[static_cast<std::size_t>(i)];
    iteration.mutable_at(i) = point.iteration;
    for (py::ssize_t j = 0; j < lambdas; ++j) lambda.mutable_at(i, j) = point.lambda[j];
    train.mutable_at(i) = point.loss.train;
    validation.mutable_at(i) = point.loss.validation;
    test.mutable_at(i) = point.loss.test.value_or(std::numeric_limits<double>::quiet_NaN());
    gradients.mutable_at(i) = point.work.paper_count();
    equivalents.mutable_at(i) = point.work.gradient_equivalents();
    seconds.mutable_at(i) = point.seconds;
  }
  py::dict all;
  all["iteration"] = iteration;
  all["lambda"] = lambda;
  all["train"] = train;
  all["validation"] = validation;
  all["test"] = test;
  all["gradients"] = gradients;
  all["gradient_equivalents"] = equivalents;
  all["seconds"] = seconds;
  return all;
}

py::dict outcome_dict(const Outcome& outcome) {
  py::dict all;
  all["status"] = std::string(to_string(outcome.status));
  all["message"] = outcome.message;
  all["lambda"] = to_numpy(outcome.best.lambda);
  all["final_lambda"] = to_numpy(outcome.final.lambda);
  all["weights"] = to_numpy(outcome.best.w);
  all["train_loss"] = outcome.best.loss.train;
  all["validation_loss"] = outcome.best.loss.validation;
  all["test_loss"] = outcome.best.loss.test;
  all["best_iteration"] = outcome.best.iteration;
  all["iterations"] = outcome.iterations;
  all["inexact_solves"] = outcome.inexact_solves;
  all["low"] = to_numpy(outcome.low);
  all["high"] = to_numpy(outcome.high);
  all["work"] = work_dict(outcome.work);
  all["seconds"] = outcome.seconds;
  all["trace"] = trace_dict(outcome.trace);
  return all;
}

Observer observer_of(py::function watch) {
  // The GIL is held again where a run's options are dropped, or taken here.
  const std::shared_ptr<const py::function> shared(new py::function(std::move(watch)),
                                                   [](const py::function* held) {
                                                     const py::gil_scoped_acquire gil;
                                                     delete held;
                                                   });
  return [shared](const TracePoint& point) {
    const py::gil_scoped_acquire gil;
    try {
      const py::object answer = (*shared)(point.iteration, to_numpy(point.lambda), point.loss.validation,
                                          point.work.paper_count(), point.seconds);
      return py::bool_(answer) ? Watch::stop : Watch::go_on;
    } catch (const py::error_already_set& error) {
      // Ctrl-C that comes while Python runs shows here: it ends the run as one that comes while we do.
      if (error.matches(PyExc_KeyboardInterrupt)) return Watch::stop;
      throw;
    }
  };
}

}  // namespace yosida::python
