#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinds.hpp"
#include "yosida/data/split.hpp"
#include "yosida/model/models.hpp"
#include "yosida/model/penalty.hpp"

namespace yosida::bench {

/// How many λ a case has: one for all weights, one per group of features (softmax: per class), one per
/// feature. The elastic net has its two whatever is asked for.
enum class Sharing { one, groups, feature };
constexpr const char* kSharingNames[] = {"one", "groups", "feature"};

enum class Folds { any, hold_out, k_fold };

/// A problem of the sweep. The seed decides all of it within what is asked for: naming the model that the
/// seed would have drawn anyway gives the same case.
struct Case {
  std::string kind;
  std::uint64_t seed = 0;
  const Model* model = nullptr;
  SharedLoss loss = least_squares();
  Sharing sharing = Sharing::one;
  Index folds = 0;            ///< 0: hold-out
  std::vector<Split> splits;  ///< pretreated; one, or one per fold
  std::vector<double> share;  ///< of each split in L_V
  bool intercept = true;
  std::optional<Penalty> penalty;  ///< none for lasso and elastic net
  std::optional<double> lambda0;   ///< none: where the method starts by itself
  std::string text;                ///< the problem in words
};

struct CaseOptions {
  std::vector<std::string> models;  ///< empty: those of the kind
  Sharing sharing = Sharing::one;
  Folds folds = Folds::any;
};

/// Throws InputError where the kind has none of the models asked for.
Case draw_case(const std::string& kind, std::uint64_t seed, const CaseOptions& options);

}  // namespace yosida::bench
