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

/// What keeps the weights small: Σ e^λ w², e^λ₁ ‖w‖₁ or e^λ₁ ‖w‖₁ + e^λ₂ ‖w‖².
enum class PenaltyForm { l2, l1, l1_l2 };

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
  /// With an ℓ₁ part, weights become 0, and its λ are named "l1" (and "l2").
  PenaltyForm penalty = PenaltyForm::l2;
};

/// The one table of models.
std::span<const Model> models();
/// Throws InputError with the names there are.
const Model& model(std::string_view name);

}  // namespace yosida
