#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "data_flags.hpp"
#include "penalty_flags.hpp"
#include "run_flags.hpp"
#include "yosida/model/equivalents.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida::cli {

/// What the user asked of `yosida tune`.
struct TuneFlags {
  DataFlags data;
  PenaltyFlags penalty;
  std::string method = kDefaultMethod;
  SettingValues settings;
  RunFlags run;
  bool oracle = false, refit = false, quiet = false;
  std::string json_file, trace_file, save_file;
  std::int64_t trace_every = 1;
};

struct OracleGap {
  Oracle oracle;
  double gap;
  double lambda_gap;
};

/// What one set of weights does on one part of the data. A measure that the model has not is not there.
struct PartReport {
  double loss;
  std::optional<double> scaled_loss, r_squared, accuracy, area_under_roc;
};

/// With folds, the means over them; a refit on all rows has no validation rows.
struct Report {
  PartReport train;
  std::optional<PartReport> validation, test;
  /// Of a model whose penalty sets weights to 0, how many are not, intercepts not counted.
  std::optional<double> nonzero_weights = {};
};
Report report_all(const Split& split, const Prepared& data, bool intercept, const Vector& w);
/// Over folds: train losses by equal shares, validation losses by those given.
Report mean_report(const std::vector<Report>& folds, const std::vector<double>& validation_share);

/// Everything there is to say of a finished run.
struct Tuned {
  Outcome outcome;
  Start start;  // as the run began
  std::vector<std::string> lambda_names;
  Report best, final;
  std::optional<Report> refit;
  std::optional<OracleGap> oracle;
  std::optional<Certificate> certificate;
  Equivalents equivalents, refit_equivalents;

  void add_oracle(const OracleGap& gap) {
    oracle = gap;
    if (!certificate) return;
    certificate->gap = gap.gap;
    certificate->lambda_gap = gap.lambda_gap;
  }
};

std::string result_json(const TuneFlags& flags, const Prepared& data, const Split& split, const Tuned& tuned);
/// What a study keeps of a run; it holds no times. The oracle of `tuned` is judged by its best weights,
/// `final` by the last.
std::string outcome_json(const Tuned& tuned, const std::optional<OracleGap>& final);
/// "34 training, 17 validation, 19 test rows"
std::string rows_in_words(const Prepared& data, const Split& split);
void print_result(std::FILE* out, const TuneFlags& flags, const Prepared& data, const Split& split,
                  const Tuned& tuned);
/// One column for each λ, none where there are more than 32.
std::string trace_csv(const Trace& trace, const std::vector<std::string>& lambda_names);

}  // namespace yosida::cli
