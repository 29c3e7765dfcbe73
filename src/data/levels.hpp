#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/byte_stream.hpp"
#include "linalg/archive.hpp"
#include "yosida/data/dataset.hpp"

namespace yosida {

/// The texts of a column by the numbers that stand for them while a table is read.
class Levels {
 public:
  /// Stands for a text that is not one of the levels given.
  static constexpr double kUnseen = -1.0;

  Levels() = default;
  /// Takes these levels and no others.
  explicit Levels(const std::vector<std::string>& given);

  /// The number of a text: a new one unless it is known, or only given ones are.
  double code_of(std::string_view text);
  bool is_given() const { return is_given_; }
  const std::vector<std::string>& texts() const { return texts_; }
  /// Rough, of all texts.
  std::uint64_t bytes() const { return bytes_; }
  /// How many fields had a text that is none of those given, and the first of these.
  std::int64_t unseen() const { return unseen_; }
  const std::string& first_unseen() const { return first_unseen_; }
  /// How many fields had a text that is not empty, and is a level.
  std::int64_t present() const { return present_; }
  void forget_counts() { unseen_ = present_ = 0; }

  /// Takes over what others have read; gives the number here of each of their texts.
  const std::vector<double>& take_over(Levels& others);
  /// The levels that another process has read, to be taken over here.
  void exchange(Archive& archive);
  /// Puts texts in rising order; gives the new number of each.
  std::vector<double> sort();

 private:
  double add(std::string_view text);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, double, Hash, std::equal_to<>> code_;
  std::vector<std::string> texts_;
  std::vector<double> number_elsewhere_;  // of each text, in the levels that took these over
  bool is_given_ = false;
  std::uint64_t bytes_ = 0;
  std::int64_t unseen_ = 0, present_ = 0;
  std::string first_unseen_;
};

/// A column of rows as they were read, and the features it becomes.
struct ColumnToEncode {
  Index place;     // in a row as it was read
  Index features;  // 1 of a number
  bool is_category;
  bool drops_first;  // level 0 has no feature
};

/// The features of rows that lie one behind the other, `width` numbers each: numbers as they are, of a
/// category a 1 for its level. Where that leaves at most a quarter of the numbers to be stored, the design is
/// sparse, unless `dense` says otherwise. A category that is NaN (its row will be left out) makes one of its
/// features NaN. Throws InputError where the limit does not allow it.
Design encoded(const double* values, Index rows, Index width, std::span<const ColumnToEncode> columns,
               bool dense, const MemoryLimit& limit, const std::string& source);

}  // namespace yosida
