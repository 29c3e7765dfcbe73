#pragma once

#include <optional>
#include <string>

#include "yosida/data/labels.hpp"

namespace yosida {

/// TuneOptions::class_weights: "balanced" or LABEL=W,…
class ClassWeights {
 public:
  /// Throws InputError, naming value and rule, where `text` is neither, or names a label that there is not.
  ClassWeights(const std::string& text, Labels labels, ClassCode code);
  /// The weight of each class, for training rows whose labels are mapped: balanced is N / (K N_k).
  std::vector<double> of(const Dataset& train) const;
  Index class_of(double mapped) const;

 private:
  Labels labels_;
  ClassCode code_;
  std::vector<double> given_;  // empty: balanced
};

/// What the rows of a part weighed on average, before this was made 1.
struct MeanWeights {
  double train, validation;
};
/// Gives every part its row weights: its own times those of its classes (by the training rows),
/// of mean 1; none where all are the same. Throws InputError where a part's are all 0.
MeanWeights weigh_rows(Split& split, const std::optional<ClassWeights>& classes);

}  // namespace yosida
