#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "yosida/data/dataset.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// The rows a model is trained on, the rows its hyperparameters are judged by, and, where there
/// are some, rows kept for the end.
struct Split {
  Dataset train;
  Dataset validation;
  std::optional<Dataset> test;
};

/// How rows are dealt to the parts.
struct SplitOptions {
  double validation_fraction = 0.25;
  double test_fraction = 0.0;
  /// Keep the share of each value of y the same in every part (classification).
  bool stratified = false;
  std::uint64_t seed = 0;
};

/// Throws InputError unless the data is whole and each row has a target: for what draws rows by their
/// classes.
void require_classes_of_rows(const Dataset& data);

/// The rows named, in that order: a view of their features. Throws InputError where the data is not whole
/// (require_whole), or there is no such row.
Dataset select_rows(const Dataset& data, std::span<const Index> rows);

/// A view of the same rows in an order that their contents alone decide (target, features, weight, fold):
/// what is drawn from them, and every sum, is then the same to the last bit however the rows were arranged.
/// Where no two targets are equal, the units and the order of the features do not change it either.
/// Throws InputError where the data is not whole, or a weight or a fold is NaN.
Dataset in_order_of_contents(const Dataset& data);

/// Draws the parts at random by the seed. Their features are views of the data's. Throws InputError where a
/// part would be empty, or the data is not whole.
Split split_rows(const Dataset& data, const SplitOptions& options);

/// The rows named, in that order, as data sets: the same, for parts the caller has chosen.
/// `order` holds each row at most once: the training rows, then the validation rows, then the rest as test
/// rows. Throws InputError where it names a row twice or one that is not there, where the counts do not fit
/// it, or the data is not whole.
Split split_rows(const Dataset& data, const std::vector<Index>& order, Index train_rows,
                 Index validation_rows);

/// Training and validation rows as one data set, for the final fit. Throws InputError where they do not fit
/// together.
Dataset train_and_validation(const Split& split);

}  // namespace yosida
