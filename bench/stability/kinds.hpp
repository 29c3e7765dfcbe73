#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "yosida/random.hpp"

namespace yosida::bench {

double uniform(Random& random, double low, double high);
double log_uniform(Random& random, double low, double high);
/// A whole number, log-uniform: small sizes are as frequent as large ones on that scale.
Index log_uniform_size(Random& random, Index smallest, Index largest);

/// A count of the mean given, which must be small.
double poisson_count(Random& random, double mean);

/// Rows as a kind of data has them, before a target is made of them.
struct DrawnRows {
  Matrix x;
  /// Three signals per row, each of mean 0 and variance 1, from which targets are made.
  Matrix signals;
  /// The classes, 0 to K − 1, of kinds that are made of classes; empty elsewhere.
  std::vector<Index> label = {};
  Index classes = 0;
  std::string shape;  ///< what was drawn, in a few words
};

/// How large the problems of a model may be: the exact scan of a ridge is a factorisation, that of a softmax
/// thousands of them.
enum class Size { large, medium, small };

/// A kind of data that people bring as it is.
struct Kind {
  std::string name;
  /// Models drawn with it; a name that stands twice is drawn twice as often.
  std::vector<std::string> models;
  /// What is done to the features, likewise.
  std::vector<std::string> x_steps;
  DrawnRows (*draw)(Random& random, Size size);
};

const std::vector<Kind>& kinds();
/// Throws InputError with the names there are.
const Kind& kind(const std::string& name);

}  // namespace yosida::bench
