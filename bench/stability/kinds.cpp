#include "kinds.hpp"

#include <fmt/format.h>

#include <cmath>

#include "support/random_split.hpp"
#include "yosida/error.hpp"

namespace yosida::bench {
namespace {

using test::random_matrix;
using test::random_vector;

/// Of mean 0 and variance 1, column by column.
void standardise(Matrix& m) {
  for (Index j = 0; j < m.cols(); ++j) {
    m.col(j).array() -= m.col(j).mean();
    const double deviation = std::sqrt(m.col(j).squaredNorm() / static_cast<double>(m.rows()));
    if (deviation > 0.0) m.col(j) /= deviation;
  }
}

/// Three signals linear in the columns given, some of them in few columns only.
Matrix linear_signals(const Matrix& columns, Random& random) {
  const Index d = columns.cols();
  Matrix w = random_matrix(d, 3, random);
  const double kept = random.below(2) == 0 ? 1.0 : uniform(random, 0.1, 0.6);
  for (Index j = 0; j < d; ++j)
    for (Index k = 0; k < 3; ++k)
      if (random.uniform() > kept && j != k % d) w(j, k) = 0.0;
  Matrix signals = columns * w;
  standardise(signals);
  return signals;
}

/// Normal columns of variance 1 that share up to four factors.
Matrix correlated_normals(Index n, Index d, Random& random) {
  const auto factors = 1 + static_cast<Index>(random.below(4));
  const double shared = uniform(random, 0.0, 0.95);
  const Matrix common = random_matrix(n, factors, random);
  Matrix loadings = random_matrix(factors, d, random);
  for (Index j = 0; j < d; ++j) loadings.col(j).normalize();
  return std::sqrt(shared) * common * loadings + std::sqrt(1.0 - shared) * random_matrix(n, d, random);
}

/// Ordinary data, each column times 10^U(−3, 6).
DrawnRows draw_scaled(Random& random, Size size) {
  const Index most_rows = size == Size::large ? 600 : size == Size::medium ? 300 : 150;
  const Index most_columns = size == Size::large ? 60 : size == Size::medium ? 30 : 12;
  DrawnRows rows;
  const double shape = random.uniform();
  Index n = log_uniform_size(random, 40, most_rows);
  Index d = log_uniform_size(random, 3, most_columns);
  if (shape < 0.15 && size != Size::small) {
    n = log_uniform_size(random, 20, 50);
    d = n + log_uniform_size(random, 1, n);
  }
  const bool has_products = shape > 0.8;
  if (has_products) d = std::min<Index>(10, d);
  Matrix x = correlated_normals(n, d, random);
  if (has_products) {  // as those of a first column with the others
    Matrix wide(n, 2 * d - 1);
    wide.leftCols(d) = x;
    for (Index j = 1; j < d; ++j) wide.col(d + j - 1) = x.col(0).cwiseProduct(x.col(j));
    x = wide;
  }
  rows.signals = linear_signals(x, random);
  const bool has_means = random.uniform() < 0.4;
  for (Index j = 0; j < x.cols(); ++j) {
    const double mean = has_means ? random.normal() * std::pow(10.0, uniform(random, 0.0, 2.0)) : 0.0;
    const double scale = std::pow(10.0, uniform(random, -3.0, 6.0));
    x.col(j) = scale * (x.col(j).array() + mean);
  }
  rows.x = std::move(x);
  rows.shape = fmt::format("{}{}", has_products ? "with products" : "normal", has_means ? ", means" : "");
  return rows;
}

/// Molecular descriptors: log-normal sizes, counts, 0/1 and columns that nearly repeat others.
DrawnRows draw_descriptors(Random& random, Size size) {
  const Index n = size == Size::large    ? log_uniform_size(random, 60, 250)
                  : size == Size::medium ? log_uniform_size(random, 60, 110)
                                         : log_uniform_size(random, 40, 80);
  const Index d = size == Size::large    ? log_uniform_size(random, 80, 200)
                  : size == Size::medium ? log_uniform_size(random, 60, 134)
                                         : log_uniform_size(random, 20, 40);
  const Matrix factors = random_matrix(n, 4, random);  // the size of a molecule and a few groups in it
  Matrix x(n, d);
  for (Index j = 0; j < d; ++j) {
    const Vector loading = random_vector(4, random) * 0.4;
    const Vector latent = factors * loading + uniform(random, 0.05, 0.6) * random_vector(n, random);
    const double type = random.uniform();
    if (type < 0.2 && j > 3) {
      const auto of = static_cast<Index>(random.below(static_cast<std::uint64_t>(j)));
      const double factor = std::pow(10.0, uniform(random, -1.0, 1.0));
      const double noise = std::pow(10.0, uniform(random, -4.0, -1.0));
      const double spread = std::sqrt((x.col(of).array() - x.col(of).mean()).square().mean());
      x.col(j) = factor * (x.col(of) + noise * spread * random_vector(n, random));
    } else if (type < 0.6) {
      x.col(j) = std::pow(10.0, uniform(random, -2.0, 3.0)) * latent.array().exp();
    } else if (type < 0.85) {
      for (Index i = 0; i < n; ++i)
        x(i, j) = poisson_count(random, std::min(30.0, 3.0 * std::exp(latent[i])));
    } else {
      const double threshold = uniform(random, -0.5, 1.0);
      for (Index i = 0; i < n; ++i) x(i, j) = latent[i] > threshold ? 1.0 : 0.0;
    }
  }
  DrawnRows rows;
  Matrix standard = x;
  standardise(standard);
  rows.signals = linear_signals(standard, random);
  rows.x = std::move(x);
  rows.shape = "descriptors";
  return rows;
}

/// Few rows and columns of any shape: problems that take a moment, for sweeps of very many.
DrawnRows draw_tiny(Random& random, Size) {
  const Index n = log_uniform_size(random, 12, 48);
  const Index d = log_uniform_size(random, 1, random.below(5) == 0 ? 24 : 6);
  Matrix x = correlated_normals(n, d, random);
  DrawnRows rows;
  rows.signals = linear_signals(x, random);
  const double spread = random.below(3) == 0 ? 2.0 : 0.0;  // decades between the scales of columns
  for (Index j = 0; j < d; ++j) {
    const double mean = random.below(3) == 0 ? 3.0 * random.normal() : 0.0;
    x.col(j) = std::pow(10.0, uniform(random, -spread, spread)) * (x.col(j).array() + mean);
  }
  rows.x = std::move(x);
  rows.shape = "tiny";
  return rows;
}

/// Near-infrared spectra: a few broad bands, a baseline, scatter and little noise.
DrawnRows draw_spectra(Random& random, Size size) {
  const Index n = log_uniform_size(random, 30, size == Size::small ? 50 : 100);
  const Index channels = log_uniform_size(random, 100,
                                          size == Size::large    ? 700
                                          : size == Size::medium ? 300
                                                                 : 150);
  const auto bands = 3 + static_cast<Index>(random.below(6));
  Matrix shapes(bands, channels);
  for (Index k = 0; k < bands; ++k) {
    const double centre = random.uniform();
    const double width = log_uniform(random, 0.02, 0.3);
    for (Index j = 0; j < channels; ++j) {
      const double distance = (static_cast<double>(j) / static_cast<double>(channels) - centre) / width;
      shapes(k, j) = std::exp(-0.5 * distance * distance);
    }
  }
  Matrix concentrations(n, bands);
  const double spread = log_uniform(random, 0.03, 0.5);  // of the concentrations
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < bands; ++k)
      concentrations(i, k) = std::exp(spread * random.normal()) * (k < 2 ? 1.0 : 0.4);
  Matrix x = concentrations * shapes;
  const double scatter = log_uniform(random, 1e-3, 0.1);
  const double baseline = log_uniform(random, 1e-3, 0.3);
  const double noise = log_uniform(random, 1e-5, 3e-3);
  for (Index i = 0; i < n; ++i) {
    const double gain = 1.0 + scatter * random.normal();
    const double offset = baseline * random.normal();
    const double slope = baseline * random.normal();
    for (Index j = 0; j < channels; ++j)
      x(i, j) = gain * x(i, j) + offset + slope * static_cast<double>(j) / static_cast<double>(channels) +
                noise * random.normal();
  }
  DrawnRows rows;
  rows.signals = linear_signals(concentrations, random);
  rows.x = std::move(x);
  rows.shape = fmt::format("{} bands, noise {:.0e}", bands, noise);
  return rows;
}

/// Two classes that hardly overlap, in skewed positive features of very different scales.
DrawnRows draw_classes(Random& random, Size size) {
  const Index n = log_uniform_size(random, size == Size::small ? 100 : 200, size == Size::small ? 200 : 600);
  const Index d = log_uniform_size(random, size == Size::small ? 5 : 10, size == Size::small ? 12 : 30);
  const double share = uniform(random, 0.3, 0.7);
  const double separation = log_uniform(random, 1.0, 6.0);
  DrawnRows rows;
  rows.classes = 2;
  Matrix latent = correlated_normals(n, d, random);
  Vector shift = random_vector(d, random);
  shift *= separation / shift.norm();
  for (Index i = 0; i < n; ++i) {
    rows.label.push_back(random.uniform() < share ? 1 : 0);
    if (rows.label.back() == 1) latent.row(i) += shift.transpose();
  }
  for (Index j = 0; j < d; ++j) {
    const double skew = uniform(random, 0.1, 0.8);
    latent.col(j) = std::pow(10.0, uniform(random, -3.0, 3.0)) * (skew * latent.col(j).array()).exp();
  }
  rows.x = std::move(latent);
  rows.shape = fmt::format("separation {:.1f}", separation);
  return rows;
}

/// A few compact classes in few features, as the flowers are.
DrawnRows draw_iris(Random& random, Size size) {
  const Index n = log_uniform_size(random, 60, size == Size::large ? 200 : 150);
  const Index d = random.below(4) == 0 ? 7 + static_cast<Index>(random.below(7))
                                       : 2 + static_cast<Index>(random.below(5));
  DrawnRows rows;
  rows.classes = size == Size::small ? 3 + static_cast<Index>(random.below(2)) : 2;
  const double separation = log_uniform(random, 1.0, 6.0);
  const Matrix centres = random_matrix(rows.classes, d, random) * separation / std::sqrt(2.0);
  Matrix x = correlated_normals(n, d, random);
  for (Index i = 0; i < n; ++i) {
    rows.label.push_back(i % rows.classes);
    x.row(i) += centres.row(rows.label.back());
  }
  for (Index j = 0; j < d; ++j) {
    const double scale = d > 6 ? std::pow(10.0, uniform(random, -1.0, 2.0)) : uniform(random, 0.1, 1.0);
    x.col(j) = scale * (x.col(j).array() + uniform(random, 3.0, 10.0));
  }
  rows.x = std::move(x);
  rows.shape = fmt::format("{} classes, separation {:.1f}", rows.classes, separation);
  return rows;
}

const std::vector<std::string> kAll = {"ridge",   "lasso", "elastic-net", "logistic",
                                       "softmax", "svm",   "huber",       "poisson"};

}  // namespace

double uniform(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }
double log_uniform(Random& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}
Index log_uniform_size(Random& random, Index smallest, Index largest) {
  return static_cast<Index>(
      std::lround(log_uniform(random, static_cast<double>(smallest), static_cast<double>(largest))));
}

double poisson_count(Random& random, double mean) {
  // Knuth's product of uniforms; means here are small.
  const double end = std::exp(-mean);
  double product = random.uniform();
  double count = 0.0;
  while (product > end) {
    product *= random.uniform();
    ++count;
  }
  return count;
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"scaled", kAll, {"raw", "raw", "center"}, draw_scaled},
      {"tiny",
       {"ridge", "ridge", "lasso", "logistic", "softmax", "svm", "huber", "poisson"},
       {"raw", "standardize"},
       draw_tiny},
      {"descriptors", kAll, {"raw", "raw", "raw", "center"}, draw_descriptors},
      {"spectra", kAll, {"raw", "center"}, draw_spectra},
      {"classes", {"logistic", "svm", "softmax"}, {"raw", "raw", "center", "standardize"}, draw_classes},
      {"iris", {"softmax", "softmax", "logistic", "svm"}, {"raw", "standardize"}, draw_iris},
  };
  return all;
}

const Kind& kind(const std::string& name) {
  std::string known = "random";
  for (const Kind& each : kinds()) {
    if (each.name == name) return each;
    known += ", " + each.name;
  }
  throw InputError(fmt::format("kind = {}: must be one of {}", name, known));
}

}  // namespace yosida::bench
