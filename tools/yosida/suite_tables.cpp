#include "suite_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "output.hpp"
#include "table.hpp"
#include "yosida/model/models.hpp"
#include "yosida/number_text.hpp"
#include "yosida/report/palette.hpp"
#include "yosida/study/run_outcome.hpp"
#include "yosida/tune/method_text.hpp"

namespace yosida::cli {
namespace {

using study::Contestant;
using study::Experiment;

/// A mean with its standard deviation, of numbers that come one by one.
class Numbers {
 public:
  void add(double value) { all_.push_back(value); }
  std::string text(int digits) const {
    if (all_.empty()) return "-";
    const auto count = static_cast<double>(all_.size());
    double mean = 0.0, square = 0.0;
    for (const double each : all_) mean += each / count;
    for (const double each : all_) square += (each - mean) * (each - mean);
    if (all_.size() < 2) return number_text(mean, digits);
    return with_error(mean, std::sqrt(square / (count - 1.0)));
  }
  std::string mean_text(int digits) const {
    double mean = 0.0;
    for (const double each : all_) mean += each / static_cast<double>(all_.size());
    return all_.empty() ? "-" : number_text(mean, digits);
  }
  const std::vector<double>& all() const { return all_; }

 private:
  std::vector<double> all_;
};

/// What the runs of a contestant have come to.
struct Row {
  Numbers objective, test, evaluations, work, seconds;
  int certified = 0, failed = 0;
};

bool is_of(const study::RunSpec& spec, const Experiment& experiment, const Contestant& contestant) {
  const std::string& lambda_per =
      contestant.lambda_per.empty() ? experiment.penalty.lambda_per : contestant.lambda_per;
  return spec.experiment == experiment.name && spec.options.method == contestant.method &&
         spec.options.penalty.lambda_per == lambda_per &&
         spec.options.limits.iterations == contestant.iterations &&
         spec.options.settings == method(contestant.method).all_settings(contestant.settings);
}

/// The place of the measure that test rows are shown by: of numbers their loss, of classes what is shown
/// unasked beside it, which counts rows.
std::size_t test_measure_of(const Experiment& experiment) {
  const std::size_t loss = find_measure(kLoss).value();
  const Model& known = model(experiment.model);
  if (!known.code) return loss;
  const auto all = measures();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != loss && all[i].is_usual && all[i].exists(*known.loss(2))) return i;
  return loss;
}

void add(Row& row, const study::Record& record, const study::RunSpec& spec, double factor,
         std::size_t test_measure, const TestLoss& test_loss) {
  const study::RunOutcome outcome = study::outcome_from_json(record.outcome);
  const Report& report = outcome.best.report;
  if (!report.validation || !(*report.validation)[kLoss]) {
    ++row.failed;
    return;
  }
  row.objective.add(factor * *(*report.validation)[kLoss]);
  const auto refitted = test_loss(spec, outcome.best.lambda);
  if (const auto of_test = refitted || !report.test ? refitted : report.test->values[test_measure])
    row.test.add(*of_test);
  row.evaluations.add(static_cast<double>(outcome.work.inner_solves));
  if (outcome.gradient_equivalents) row.work.add(*outcome.gradient_equivalents);
  row.seconds.add(record.seconds);
  if (outcome.certificate && outcome.certificate->verdict.starts_with("certified")) ++row.certified;
}

std::string label(const Contestant& contestant) {
  std::string text = contestant.method;
  for (const auto& [name, value] : contestant.settings) text += fmt::format(" {}={}", name, value);
  if (contestant.iterations) text += fmt::format(", {} iterations", *contestant.iterations);
  if (!contestant.lambda_per.empty()) text += fmt::format(", lambda {}", contestant.lambda_per);
  return text;
}

/// In how many seeds the first contestant with all λ is lower than this one.
std::string lower_in(const Numbers& ours, const Numbers& theirs) {
  if (ours.all().size() != theirs.all().size() || &ours == &theirs) return "";
  int lower = 0;
  for (std::size_t i = 0; i < ours.all().size(); ++i) lower += ours.all()[i] < theirs.all()[i];
  return fmt::format("{} of {}", lower, ours.all().size());
}

void print_suite(const std::vector<study::Record>& records, const Experiment& experiment,
                 const std::map<std::uint64_t, double>& factors, const TestLoss& test_loss) {
  const std::size_t test_measure = test_measure_of(experiment);
  std::vector<Row> rows(experiment.contestants.size());
  for (const study::Record& record : records) {
    const study::RunSpec spec = spec_of(record.spec);
    const auto factor = factors.find(record.spec.seed);
    for (std::size_t i = 0; i < rows.size() && factor != factors.end(); ++i)
      if (is_of(spec, experiment, experiment.contestants[i]))
        add(rows[i], record, spec, factor->second, test_measure, test_loss);
  }
  const auto own = std::find_if(experiment.contestants.begin(), experiment.contestants.end(),
                                [](const Contestant& each) { return each.lambda_per.empty(); });
  const Row& ours = rows[static_cast<std::size_t>(own - experiment.contestants.begin())];
  Table table({{"method", kLeft},
               {"objective", kRight},
               {"above ours", kRight, 3},
               {fmt::format("test {}", measures()[test_measure].title), kRight, 1},
               {"evaluations", kRight, 4},
               {"work", kRight, 5},
               {"seconds", kRight, 6},
               {"certified", kRight, 2}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    table.add(
        {label(experiment.contestants[i]) + (row.failed > 0 ? fmt::format(", {} failed", row.failed) : ""),
         row.objective.text(5), lower_in(ours.objective, row.objective), row.test.text(4),
         row.evaluations.mean_text(4), row.work.mean_text(4), row.seconds.mean_text(2),
         fmt::format("{} of {}", row.certified, row.objective.all().size())});
    table.mark(i, report::hues()[report::colour_of(experiment.contestants[i].method).place].light);
  }
  for (const study::Published& each : experiment.published)
    table.add({fmt::format("  published: {}", each.method), number_text(each.objective, 4), "", "", "", "",
               "", ""});
  fmt::print("\n{}\nobjective: {}\n\n", printable(experiment.title), experiment.objective);
  table.print("  ");
}

}  // namespace

void print_suites(const std::vector<study::Record>& records, const std::vector<Experiment>& experiments,
                  const SuiteFactors& factors, const TestLoss& test_loss) {
  for (const Experiment& experiment : experiments)
    if (const auto known = factors.find(experiment.name); known != factors.end())
      print_suite(records, experiment, known->second, test_loss);
}

}  // namespace yosida::cli
