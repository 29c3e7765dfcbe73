#include "judged.hpp"

#include <fmt/format.h>
#include <fmt/os.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "statistics.hpp"

namespace yosida::bench {
namespace {

using Group = std::vector<const Judged*>;

template <typename Holds>
std::size_t count(const Group& group, Holds&& holds) {
  return static_cast<std::size_t>(
      std::count_if(group.begin(), group.end(), [&](const Judged* run) { return holds(*run); }));
}

void print_row(const std::string& kind, const std::string& model, const std::string& splits,
               const std::string& lambdas, const Group& group) {
  const auto share = [&](double limit) {
    const auto within = count(group, [&](const Judged& r) { return r.gap <= limit || r.is_undetermined; });
    return 100.0 * static_cast<double>(within) / static_cast<double>(group.size());
  };
  std::vector<double> work;
  double seconds = 0.0;
  for (const Judged* run : group) {
    seconds += run->answer.seconds;
    if (!run->answer.is_error) work.push_back(run->answer.work);
  }
  fmt::print(
      "{:<12} {:<12} {:<8} {:<8} {:>6} | {:>4} {:>6} {:>6} | {:>7.2f} {:>7.2f} {:>6} | {:>6} {:>6} {:>6} "
      "{:>6} "
      "{:>6} | {:>7} {:>8.1f}| {:>5} {:>6}\n",
      kind, model, splits, lambdas, group.size(),
      count(group, [](const Judged& r) { return r.is_not_finite; }),
      count(group, [](const Judged& r) { return r.is_worse_than_start; }),
      count(group, [](const Judged& r) { return r.is_worse_than_shared; }), share(1e-2), share(1e-3),
      count(group, [](const Judged& r) { return r.is_above(); }),
      count(group, [](const Judged& r) { return r.answer.is_certified(); }),
      count(group, [](const Judged& r) { return r.answer.is_at_bound(); }),
      count(group, [](const Judged& r) { return !r.answer.is_certified() && !r.answer.is_at_bound(); }),
      count(group, [](const Judged& r) { return r.is_false_certificate; }),
      count(group, [](const Judged& r) { return r.is_contradiction(); }),
      fmt::format("{:.0f}", quantile(work, 0.5)), 1e3 * seconds / static_cast<double>(group.size()),
      count(group, [](const Judged& r) { return r.is_truth_incomplete; }),
      count(group, [](const Judged& r) { return r.is_undetermined; }));
}

std::string splits_of(const Judged& run) { return run.folds > 0 ? "K folds" : "hold-out"; }

std::string reproduce(const Judged& run) {
  return fmt::format("--kinds {} --seed {} --models {} --lambdas {} --splits {} --verbose", run.kind,
                     run.seed, run.model, kSharingNames[static_cast<int>(run.sharing)],
                     run.folds > 0 ? "folds" : "hold-out");
}

std::string list(const Vector& values) {
  std::string text;
  for (Index j = 0; j < std::min<Index>(values.size(), 6); ++j)
    text += fmt::format("{}{:.5g}", j > 0 ? " " : "", values[j]);
  return text + (values.size() > 6 ? " ..." : "");
}

}  // namespace

void print_table(const std::vector<Judged>& runs) {
  fmt::print(
      "{:<12} {:<12} {:<8} {:<8} {:>6} | {:>4} {:>6} {:>6} | {:>7} {:>7} {:>6} | {:>6} {:>6} {:>6} {:>6} "
      "{:>6} "
      "| {:>7} {:>8}| {:>5} {:>6}\n",
      "", "", "", "", "", "not", "worse", "than", "gap %", "gap %", "above", "certi-", "at", "not", "false",
      "contra", "median", "ms", "truth", "h not");
  fmt::print(
      "{:<12} {:<12} {:<8} {:<8} {:>6} | {:>4} {:>6} {:>6} | {:>7} {:>7} {:>6} | {:>6} {:>6} {:>6} {:>6} "
      "{:>6} "
      "| {:>7} {:>8}| {:>5} {:>6}\n",
      "kind", "model", "splits", "lambdas", "runs", "fin.", "start", "shared", "<= 1 %", "<= 0.1%", "0.1 %",
      "fied", "bound", "certi.", "certi.", "diction", "work", "a run", "open", "known");
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Group> groups;
  std::map<std::string, Group> kinds;
  Group all;
  for (const Judged& run : runs) {
    groups[{run.kind, run.model, splits_of(run), kSharingNames[static_cast<int>(run.sharing)]}].push_back(
        &run);
    kinds[run.kind].push_back(&run);
    all.push_back(&run);
  }
  for (const auto& [key, group] : groups)
    print_row(std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), group);
  for (const auto& [kind, group] : kinds) print_row(kind, "all", "", "", group);
  print_row("all", "", "", "", all);
}

void print_worst(const std::vector<Judged>& runs, std::size_t most) {
  Group order;
  for (const Judged& run : runs)
    if (!std::isnan(run.gap) && !run.is_undetermined) order.push_back(&run);
  std::stable_sort(order.begin(), order.end(),
                   [](const Judged* a, const Judged* b) { return a->gap > b->gap; });
  order.resize(std::min(most, order.size()));
  fmt::print("\nthe worst gaps\n");
  for (const Judged* run : order)
    fmt::print("  {:<10.3g} lambda {} (best shared {:.5g}) {}, {}{}; {}\n      {}\n", run->gap,
               list(run->answer.lambda), run->best_lambda, run->answer.status, run->answer.verdict,
               run->is_worse_than_start ? ", worse than start" : "", run->problem, reproduce(*run));
  fmt::print("\nfalse certificates and failures\n");
  std::size_t printed = 0;
  for (const Judged& run : runs)
    if ((run.is_false_certificate || run.is_not_finite) && printed++ < most)
      fmt::print("  {} {}; {}\n      {}\n", run.answer.status, run.answer.message, run.problem,
                 reproduce(run));
}

void print_words(const Judged& run) {
  const Answer& answer = run.answer;
  fmt::print(
      "{}\n  truth: best shared lambda {:.6f}, L_V {:.9g}{}, {:.3f} s\n  start lambda {}, h {:.9g}, first "
      "L_V "
      "{:.9g}\n  answer: lambda {}, h {:.9g}, L_V of its weights {:.9g}, gap {:.4g}\n  {} ({})\n  {}: {}{}\n "
      " "
      "{:.1f} gradient equivalents, {:.3f} s\n",
      run.problem, run.best_lambda, run.best, run.is_truth_incomplete ? " (incomplete)" : "",
      run.truth_seconds, list(answer.lambda0), run.start_value, answer.start_loss, list(answer.lambda),
      run.value, answer.validation, run.gap, answer.status, answer.message, answer.verdict, answer.reason,
      run.is_undetermined        ? " (h is not determined by the data)"
      : run.is_false_certificate ? " FALSE"
                                 : "",
      answer.work, answer.seconds);
}

void write_csv(const std::string& file, const std::vector<Judged>& runs) {
  auto out = fmt::output_file(file);
  out.print(
      "kind,seed,model,lambdas,folds,status,message,verdict,lambda,best_lambda,value,validation,best,null_"
      "loss,start_value,start_"
      "loss,"
      "gap,not_finite,worse_than_start,worse_than_shared,false_certificate,truth_incomplete,gradient_"
      "equivalents,"
      "seconds,truth_seconds,problem\n");
  for (const Judged& r : runs)
    out.print(
        "{},{},{},{},{},{},\"{}\",{},{},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},{:.6g},{:d},{"
        ":d},{:d},{:d},"
        "{:d},{:.6g},{:.4g},{:.4g},\"{}\"\n",
        r.kind, r.seed, r.model, kSharingNames[static_cast<int>(r.sharing)], r.folds, r.answer.status,
        r.answer.message, r.answer.verdict, list(r.answer.lambda), r.best_lambda, r.value,
        r.answer.validation, r.best, r.null_loss, r.start_value, r.answer.start_loss, r.gap, r.is_not_finite,
        r.is_worse_than_start, r.is_worse_than_shared, r.is_false_certificate, r.is_truth_incomplete,
        r.answer.work, r.answer.seconds, r.truth_seconds, r.problem);
}

}  // namespace yosida::bench
