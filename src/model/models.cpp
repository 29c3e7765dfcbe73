#include "yosida/model/models.hpp"

#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida {
namespace {

constexpr Model kModels[] = {
    {.name = "ridge",
     .meaning = "a number, least squares",
     .loss = [](Index) -> SharedLoss { return least_squares(); },
     .equivalents = ridge_equivalents,
     .code = {},
     .y = YStep::center,
     .y_may_change = true},
    {.name = "lasso",
     .meaning = "a number, least squares of few weights",
     .loss = [](Index) -> SharedLoss { return least_squares(); },
     .equivalents = l1_equivalents,
     .code = {},
     .y = YStep::center,
     .y_may_change = true,
     .penalty = PenaltyForm::l1},
    {.name = "elastic-net",
     .meaning = "the same with two penalties",
     .loss = [](Index) -> SharedLoss { return least_squares(); },
     .equivalents = l1_equivalents,
     .code = {},
     .y = YStep::center,
     .y_may_change = true,
     .penalty = PenaltyForm::l1_l2},
    {.name = "logistic",
     .meaning = "two classes",
     .loss = [](Index) -> SharedLoss { return logistic(); },
     .equivalents = logistic_equivalents,
     .code = ClassCode::signs},
    {.name = "softmax",
     .meaning = "two classes or more",
     .loss = [](Index classes) -> SharedLoss { return softmax(classes); },
     .equivalents = softmax_equivalents,
     .code = ClassCode::indices},
    {.name = "svm",
     .meaning = "two classes, squared hinge",
     .loss = [](Index) -> SharedLoss { return squared_hinge(); },
     .equivalents = svm_equivalents,
     .code = ClassCode::signs},
    {.name = "huber",
     .meaning = "a number with outliers",
     .loss = [](Index) -> SharedLoss { return huber(); },
     .equivalents = nullptr,
     .code = {},
     .y = YStep::standardize,
     .y_may_change = true},
    {.name = "poisson",
     .meaning = "counts, log link",
     .loss = [](Index) -> SharedLoss { return poisson(); },
     .equivalents = poisson_equivalents,
     .code = {}},
};

}  // namespace

std::span<const Model> models() { return kModels; }

std::string_view to_string(PenaltyForm form) {
  switch (form) {
    case PenaltyForm::l2:
      return "l2";
    case PenaltyForm::l1:
      return "l1";
    case PenaltyForm::l1_l2:
      return "elastic-net";
    case PenaltyForm::groups:
      return "group-lasso";
    case PenaltyForm::l1_groups:
      return "sparse-group-lasso";
  }
  return "unknown";
}

PenaltyForm penalty_of(const Model& model, std::string_view name) {
  if (name.empty()) return model.penalty;
  std::vector<std::string> known;
  for (const PenaltyForm form :
       {PenaltyForm::l2, PenaltyForm::l1, PenaltyForm::l1_l2, PenaltyForm::groups, PenaltyForm::l1_groups}) {
    known.emplace_back(to_string(form));
    if (known.back() != name) continue;
    if (model.penalty != PenaltyForm::l2 && model.penalty != form)
      throw InputError("--penalty " + std::string(name) + ": does not go with --model " +
                       std::string(model.name) + ", which is --model ridge --penalty " +
                       std::string(to_string(model.penalty)));
    return form;
  }
  refuse_unknown("penalty", name, known, "must be l2, l1, elastic-net, group-lasso or sparse-group-lasso");
}

const Model& model(std::string_view name) {
  std::vector<std::string> known;
  for (const Model& each : kModels) {
    if (each.name == name) return each;
    known.emplace_back(each.name);
  }
  std::string all;
  for (const std::string& each : known)
    all += (all.empty() ? "" : each == known.back() ? " or " : ", ") + each;
  refuse_unknown("model", name, known, "must be " + all);
}

}  // namespace yosida
