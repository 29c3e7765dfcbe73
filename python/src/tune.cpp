#include "yosida/tune/tune.hpp"

#include <functional>
#include <map>
#include <sstream>

#include "results.hpp"
#include "rows.hpp"
#include "yosida/error.hpp"
#include "yosida/model/measures.hpp"
#include "yosida/tune/targets.hpp"

namespace yosida::python {
namespace {

template <typename T>
std::function<void(TuneOptions&, const py::object&)> into(T TuneOptions::*member) {
  return [member](TuneOptions& options, const py::object& value) { options.*member = value.cast<T>(); };
}

using Reader = std::function<void(TuneOptions&, const py::object&)>;

/// What Python calls each option.
const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> all = {
      {"model", into(&TuneOptions::model)},
      {"x", into(&TuneOptions::x)},
      {"target", into(&TuneOptions::y)},
      {"intercept", into(&TuneOptions::intercept)},
      {"fill_missing", into(&TuneOptions::fill_missing)},
      {"class_weight", into(&TuneOptions::class_weights)},
      {"seed", into(&TuneOptions::seed)},
      {"copy_bytes", into(&TuneOptions::copy_bytes)},
      {"method", into(&TuneOptions::method)},
      {"settings", into(&TuneOptions::settings)},
      {"lambda0", into(&TuneOptions::lambda0)},
      {"trace",
       [](TuneOptions& o, const py::object& v) {
         const auto kept = v.cast<std::string>();
         if (kept != "none" && kept != "validation" && kept != "full")
           throw InputError("trace = " + kept + ": must be True, False or full");
         o.trace_every = kept == "full" ? 1 : 0;
       }},
      {"refit", into(&TuneOptions::refit)},
      {"oracle", into(&TuneOptions::oracle)},
      {"validation_fraction",
       [](TuneOptions& o, const py::object& v) { o.validation.fraction = v.cast<double>(); }},
      {"test_fraction",
       [](TuneOptions& o, const py::object& v) { o.validation.test_fraction = v.cast<double>(); }},
      {"folds", [](TuneOptions& o, const py::object& v) { o.validation.folds = v.cast<Index>(); }},
      {"criterion",
       [](TuneOptions& o, const py::object& v) { o.validation.criterion = v.cast<std::string>(); }},
      {"repeats", [](TuneOptions& o, const py::object& v) { o.validation.repeats = v.cast<Index>(); }},
      {"grouped", [](TuneOptions& o, const py::object&) { o.validation.grouped = true; }},
      {"trust", [](TuneOptions& o, const py::object& v) { o.trust.report = v.cast<bool>(); }},
      {"rule", [](TuneOptions& o, const py::object& v) { o.trust.rule = parse_rule(v.cast<std::string>()); }},
      {"nested", [](TuneOptions& o, const py::object& v) { o.trust.nested = v.cast<Index>(); }},
      {"shrink",
       [](TuneOptions& o, const py::object& v) {
         o.trust.chooses_shrinkage = py::isinstance<py::str>(v) && v.cast<std::string>() == "nested";
         if (!o.trust.chooses_shrinkage) o.trust.shrinkage = v.cast<double>();
       }},
      {"penalty_per",
       [](TuneOptions& o, const py::object& v) { o.penalty.lambda_per = v.cast<std::string>(); }},
      {"fixed_penalty", [](TuneOptions& o, const py::object& v) { o.penalty.fixed = v.cast<double>(); }},
      {"penalty", [](TuneOptions& o, const py::object& v) { o.penalty.kind = v.cast<std::string>(); }},
      {"group_scale",
       [](TuneOptions& o, const py::object& v) { o.penalty.group_scale = v.cast<std::string>(); }},
      {"groups",
       [](TuneOptions& o, const py::object& v) { o.penalty.groups = v.cast<std::vector<std::string>>(); }},
      {"unpenalised",
       [](TuneOptions& o, const py::object& v) {
         o.penalty.unpenalised = v.cast<std::vector<std::string>>();
       }},
      {"bounds",
       [](TuneOptions& o, const py::object& v) {
         const auto [low, high] = v.cast<std::pair<double, double>>();
         o.bounds = Interval{low, high};
       }},
      {"gradients", [](TuneOptions& o, const py::object& v) { o.limits.gradients = v.cast<std::int64_t>(); }},
      {"iterations",
       [](TuneOptions& o, const py::object& v) { o.limits.iterations = v.cast<std::int64_t>(); }},
      {"seconds", [](TuneOptions& o, const py::object& v) { o.limits.seconds = v.cast<double>(); }},
  };
  return all;
}

TuneOptions options_of(const py::dict& given) {
  TuneOptions options;
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    const auto found = readers().find(name);
    if (found == readers().end()) throw InputError(name + ": is no option");
    try {
      found->second(options, py::reinterpret_borrow<py::object>(value));
    } catch (const py::cast_error&) {
      throw InputError(name + " = " + std::string(py::repr(value)) +
                       ": is of another type than this option has");
    }
  }
  return options;
}

py::object part_dict(const std::optional<PartReport>& part) {
  if (!part) return py::none();
  py::dict values;
  for (std::size_t i = 0; i < measures().size(); ++i)
    if (part->values[i]) values[py::str(std::string(measures()[i].name))] = *part->values[i];
  return values;
}

py::object report_dict(const std::optional<Report>& report) {
  if (!report) return py::none();
  py::dict parts;
  parts["train"] = part_dict(report->train);
  if (report->validation) parts["validation"] = part_dict(report->validation);
  if (report->test) parts["test"] = part_dict(report->test);
  if (report->nonzero_weights) parts["nonzero_weights"] = *report->nonzero_weights;
  return parts;
}

py::dict named(const Equivalents& equivalents) {
  py::dict all;
  for (const auto& [name, value] : equivalents) all[py::str(name)] = value;
  return all;
}

py::object oracle_dict(const Tuned& tuned) {
  if (!tuned.oracle) return py::none();
  py::dict oracle;
  oracle["lambda"] = tuned.oracle->oracle.lambda;
  oracle["validation"] = tuned.oracle->oracle.validation;
  oracle["gap"] = tuned.oracle->gap;
  oracle["lambda_gap"] = tuned.oracle->lambda_gap;
  oracle["at_bound"] = tuned.oracle->oracle.at_bound();
  return oracle;
}

py::object trust_dict(const Tuned& tuned) {
  if (!tuned.trust) return py::none();
  const Trust& found = *tuned.trust;
  py::dict trust;
  trust["value"] = found.value;
  trust["standard_error"] = found.standard_error;
  trust["rows"] = found.rows;
  trust["criterion"] = found.criterion;
  trust["minimum"] = to_numpy(found.minimum);
  trust["interval"] = py::make_tuple(found.interval.low, found.interval.high);
  trust["paired"] = py::make_tuple(found.paired.low, found.paired.high);
  trust["one_standard_error"] = found.one_standard_error;
  trust["optimism"] = found.optimism;
  return trust;
}

py::object nested_dict(const Tuned& tuned) {
  if (!tuned.nested) return py::none();
  py::dict nested;
  nested["loss"] = tuned.nested->loss;
  nested["standard_error"] = tuned.nested->standard_error;
  nested["folds"] = tuned.nested->folds;
  nested["rows"] = tuned.nested->rows;
  nested["lambda_low"] = to_numpy(tuned.nested->lambda_low);
  nested["lambda_high"] = to_numpy(tuned.nested->lambda_high);
  return nested;
}

/// Warnings name flags, too.
std::vector<std::string> warnings_of(std::vector<std::string> warnings) {
  for (std::string& warning : warnings) warning = in_words_of_python(std::move(warning));
  return warnings;
}

py::dict tuned_dict(const TuneProblem& problem, const Tuned& tuned) {
  py::dict all = outcome_dict(tuned.outcome);
  all["solver_seconds"] = tuned.outcome.seconds;
  all["seconds"] = tuned.seconds;
  all["lambda_names"] = tuned.lambda_names;
  all["certificate"] = certificate_dict(tuned.certificate);
  all["equivalents"] = named(tuned.equivalents);
  all["refit_equivalents"] = named(tuned.refit_equivalents);
  all["best"] = report_dict(tuned.best);
  all["final"] = report_dict(tuned.final);
  all["refit"] = report_dict(tuned.refit);
  all["warnings"] = warnings_of(tuned.warnings);
  std::string notes;
  for (const std::string& note : problem.data().notes) notes += (notes.empty() ? "" : "; ") + note;
  all["note"] = in_words_of_python(std::move(notes));
  all["model_name"] = std::string(problem.data().model->name);
  all["folds"] = problem.data().fold_count;
  all["rows"] = py::make_tuple(problem.split().train.rows(), problem.split().validation.rows(),
                               problem.split().test ? problem.split().test->rows() : 0);
  py::list losses;
  for (const Report& fold : problem.reports_of_folds(tuned.outcome.best, TuneProblem::Reported::judging_parts))
    losses.append(*(*fold.validation)[kLoss]);
  all["fold_losses"] = losses;
  all["oracle"] = oracle_dict(tuned);
  all["criterion"] = problem.data().criterion;
  all["shrinkage"] = tuned.shrinkage;
  all["trust"] = trust_dict(tuned);
  all["nested"] = nested_dict(tuned);
  all["model"] = tuned.model ? py::cast(*tuned.model) : py::none();
  return all;
}

std::vector<RowParts> parts_of(const py::handle& given) {
  std::vector<RowParts> all;
  if (given.is_none()) return all;
  using Places = py::array_t<std::int64_t, py::array::c_style>;
  const auto listed = [](const Places& places) {
    return std::vector<Index>(places.data(), places.data() + places.size());
  };
  for (const py::handle each : given) {
    const auto [train, validation] = each.cast<std::pair<Places, Places>>();
    all.push_back({.train = listed(train), .validation = listed(validation)});
  }
  return all;
}

Rows rows_of(const py::tuple& train, const py::object& validation, const py::object& test,
             const py::object& parts) {
  Rows rows{.train = dataset_of(train, "X")};
  if (!validation.is_none()) rows.validation = dataset_of(validation, "validation");
  if (!test.is_none()) rows.test = dataset_of(test, "test");
  rows.parts = parts_of(parts);
  return rows;
}

py::dict tune_rows(const py::tuple& train, const py::object& validation, const py::object& test,
                   const py::object& parts, const py::dict& given, const py::object& watch, bool any_order,
                   bool raise) {
  TuneOptions options = options_of(given);
  verify_run(options);
  Rows rows = rows_of(train, validation, test, parts);
  if (options.validation.grouped) rows.train.id = given["grouped"].cast<std::vector<std::string>>();
  if (!watch.is_none()) options.observers.push_back(observer_of(py::reinterpret_borrow<py::function>(watch)));

  // The validation loss of each iteration is known in any case, and costs nothing to keep.
  Trace trace;
  if (given["trace"].cast<std::string>() == "validation")
    options.observers.push_back([&trace](const TracePoint& point) {
      trace.push_back(point);
      return Watch::go_on;
    });

  Computation computation;
  try {
    if (any_order && rows.parts.empty()) rows.train = in_order_of_contents(rows.train);
    const TuneOptions asked = options;
    const bool needs_again = options.trust.nested || options.trust.chooses_shrinkage;
    const std::optional<Rows> again = needs_again ? std::optional(rows) : std::nullopt;
    if (again) options = with_chosen_shrinkage(*again, options);
    TuneProblem problem(std::move(rows), options);
    options.stop = computation.token();
    Tuned tuned = run_method(problem, options);
    if (!options.oracle) problem.forget_forms();
    complete(tuned, problem, options);
    if (options.trust.nested && tuned.outcome.status != StopReason::stopped)
      tuned.nested = nested_score(*again, asked);
    const bool was_asked = computation.end(raise);
    if (was_asked && tuned.outcome.status == StopReason::stopped)
      tuned.outcome.message = "stopped by Ctrl-C; this is the best so far";
    if (!trace.empty()) tuned.outcome.trace = std::move(trace);
    py::dict found = tuned_dict(problem, tuned);
    found["interrupted"] = was_asked;
    return found;
  } catch (const RunEnded&) {
    computation.end(true);
    throw;
  }
}

/// Of an array of two dimensions; None has none.
Matrix matrix_of(const py::handle& numbers) {
  if (numbers.is_none()) return {};
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(
      py::reinterpret_borrow<py::object>(numbers));
  if (!array || array.ndim() != 2) throw InputError("y: must be an array of two dimensions");
  return Eigen::Map<const Matrix>(array.data(), array.shape(0), array.shape(1));
}

py::dict targets_dict(const TunedTargets& tuned) {
  py::dict all;
  Matrix lambda(std::ssize(tuned.targets), std::ssize(tuned.lambda_names));
  py::list names, certificates, best, refit;
  for (Index t = 0; t < lambda.rows(); ++t) {
    const TunedTarget& target = tuned.targets[static_cast<std::size_t>(t)];
    lambda.row(t) = target.lambda.transpose();
    names.append(target.name);
    certificates.append(certificate_dict(target.certificate));
    best.append(report_dict(target.report));
    if (target.refit) refit.append(report_dict(target.refit));
  }
  all["lambda"] = to_numpy(lambda);
  all["target_names"] = names;
  all["lambda_names"] = tuned.lambda_names;
  all["certificates"] = certificates;
  all["best"] = best;
  all["refit"] = refit;
  all["mean"] = report_dict(tuned.mean);
  all["mean_refit"] = report_dict(tuned.mean_refit);
  all["criterion"] = tuned.criterion;
  all["folds"] = tuned.folds;
  all["rows"] = py::make_tuple(tuned.rows, tuned.validation_rows, tuned.test_rows);
  all["is_shared"] = tuned.is_shared;
  all["warnings"] = tuned.warnings;
  all["seconds"] = tuned.seconds;
  all["model"] = py::cast(tuned.model);
  return all;
}

/// Each of the parts is (X, None, weight, fold, names), and its targets stand in `y`.
py::dict tune_many(const py::tuple& train, const py::object& validation, const py::object& test,
                   const py::tuple& y, const py::object& parts, const std::vector<std::string>& target_names,
                   const py::dict& given, bool any_order) {
  TuneOptions options = options_of(given);
  verify_run(options);
  Rows rows = rows_of(train, validation, test, parts);
  if (options.validation.grouped) rows.train.id = given["grouped"].cast<std::vector<std::string>>();
  Targets targets{.names = target_names,
                  .train = matrix_of(y[0]),
                  .validation = matrix_of(y[1]),
                  .test = matrix_of(y[2])};
  Computation computation;
  try {
    if (any_order && rows.parts.empty() && targets.train.rows() == rows.train.rows()) {
      rows.train.y = targets.train.col(0);
      rows.train.row_number.clear();
      for (Index i = 0; i < rows.train.rows(); ++i) rows.train.row_number.push_back(i);
      rows.train = in_order_of_contents(rows.train);
      const Matrix before = targets.train;
      for (Index i = 0; i < before.rows(); ++i)
        targets.train.row(i) = before.row(rows.train.row_number[static_cast<std::size_t>(i)]);
    }
    options.stop = computation.token();
    const TunedTargets tuned = tune_targets(std::move(rows), std::move(targets), options);
    computation.end(true);  // of several targets there is no best so far, so Ctrl-C always ends in an exception
    return targets_dict(tuned);
  } catch (const RunEnded&) {
    computation.end(true);
    throw;
  }
}

py::dict coefficients_of(const FittedModel& model) {
  const Coefficients found = model.coefficients();
  py::dict all;
  all["names"] = found.names;
  all["weights"] = to_numpy(found.weights);
  all["intercept"] = to_numpy(found.intercept);
  return all;
}

/// Rows of any kind that tune() takes, and the names of their columns where they have some.
Dataset rows_to_predict(const py::object& x) {
  const py::module_ arrays = py::module_::import("yosida._arrays");
  Dataset data;
  data.x = design_of(arrays.attr("design")(x)[py::int_(0)]);
  data.feature_names = arrays.attr("names_of")(x).cast<std::vector<std::string>>();
  data.source = "X";
  return data;
}

py::list settings_of(const std::vector<SettingInfo>& settings) {
  py::list all;
  for (const SettingInfo& each : settings) {
    py::dict setting;
    setting["name"] = each.name;
    setting["meaning"] = each.meaning;
    setting["default"] = each.default_value;
    all.append(setting);
  }
  return all;
}

}  // namespace

void add_tune(py::module_& module) {
  py::class_<FittedModel>(module, "Model", "A fitted model, with its pretreatment.")
      .def_readonly("name", &FittedModel::model)
      .def_readonly("features", &FittedModel::features)
      .def_readonly("feature_names", &FittedModel::feature_names)
      .def_property_readonly(
          "labels", [](const FittedModel& m) { return m.labels ? m.labels->values : std::vector<double>(); })
      .def("coefficients", &coefficients_of)
      .def("predict",
           [](const FittedModel& m, const py::object& x) {
             Dataset data = rows_to_predict(x);
             std::optional<Matrix> found;
             {
               const py::gil_scoped_release release;
               found = m.predict(std::move(data));
             }
             return to_numpy(*found);
           })
      .def("predict_proba",
           [](const FittedModel& m, const py::object& x) {
             return to_numpy(m.predict_proba(rows_to_predict(x)));
           })
      .def("to_json", [](const FittedModel& m) { return to_json(m); })
      .def("save", [](const FittedModel& m, const std::string& file) { save_model(m, file); })
      .def_static("load", [](const std::string& file) { return load_model(file); })
      .def(py::pickle([](const FittedModel& m) { return to_json(m); },
                      [](const std::string& text) {
                        std::istringstream in(text);
                        return read_model(in, "pickle");
                      }));
  module.def("tune", &tune_rows);
  module.def("tune_targets", &tune_many);
  module.def("models", [] {
    py::dict all;
    for (const Model& model : models()) all[py::str(std::string(model.name))] = std::string(model.meaning);
    return all;
  });
  module.def("methods", [] {
    py::dict all;
    for (const Method& method : methods()) {
      py::dict one;
      one["summary"] = method.summary;
      one["settings"] = settings_of(method.settings);
      all[py::str(method.name)] = one;
    }
    return all;
  });
}

}  // namespace yosida::python
