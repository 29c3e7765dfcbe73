#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "yosida/data/labels.hpp"
#include "yosida/data/pretreatment.hpp"
#include "yosida/export.hpp"
#include "yosida/model/equivalents.hpp"
#include "yosida/model/loss.hpp"

namespace YOSIDA_EXPORT yosida {

/// What keeps the weights small: Σ e^λ w², e^λ₁ ‖w‖₁, e^λ₁ ‖w‖₁ + e^λ₂ ‖w‖², Σ_g e^λg ‖w_g‖, or the latter
/// and e^λ₁ ‖w‖₁.
enum class PenaltyForm { l2, l1, l1_l2, groups, l1_groups };
/// The name by which people ask for it: "l2", "l1", "elastic-net", "group-lasso" or "sparse-group-lasso".
std::string_view to_string(PenaltyForm form);

/// A model as people ask for it by name: its loss, its penalty, and what its target is.
struct Model {
  std::string_view name;
  std::string_view meaning;
  SharedLoss (*loss)(Index classes);
  /// λ in the terms of other programs; null where none has the same objective.
  Equivalents (*equivalents)(const TrainedPenalty&);
  /// How its classes are coded; nothing where the target is a number.
  std::optional<ClassCode> code;
  /// What is done to a target that is a number, unless the user says otherwise.
  YStep y = YStep::raw;
  /// Whether another pretreatment of the target makes sense (counts must stay counts).
  bool y_may_change = false;
  /// A penalty with an ℓ₁ part sets weights to 0, and its λ are named "l1" (and "l2").
  PenaltyForm penalty = PenaltyForm::l2;
};

/// The one table of models.
std::span<const Model> models();
/// Throws InputError with the names there are.
const Model& model(std::string_view name);
/// The penalty of a model: the one named or, where no name is given, its own. Throws InputError where there
/// is no such penalty, or where the model is the name of another one (lasso, elastic-net).
PenaltyForm penalty_of(const Model& model, std::string_view name);

}  // namespace yosida
