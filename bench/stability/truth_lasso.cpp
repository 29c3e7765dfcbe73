#include <algorithm>
#include <cmath>

#include "lasso_path.hpp"
#include "truth.hpp"

namespace yosida::bench {
namespace {

class LassoTruth final : public FoldTruth {
 public:
  LassoTruth(const Split& split, bool intercept, double ridge) : path_(split, intercept, ridge) {
    for (const double event : path_.events())
      if (event > 0.0) kinks.push_back(std::log(event));
    high = path_.largest() > 0.0 ? std::log(path_.largest()) + step : 1.0;
    low = path_.smallest() > 0.0 ? std::log(path_.smallest()) : high - 1.0;
    if (path_.is_broken()) low -= 1.0;  // so that a scan meets the end of the path, and says so
    step = 0.05;
  }
  double at(double lambda) override { return path_.validation(std::exp(lambda)); }

 private:
  LassoPath path_;
};

}  // namespace

std::unique_ptr<FoldTruth> lasso_truth(const Split& split, bool intercept, double ridge) {
  return std::make_unique<LassoTruth>(split, intercept, ridge);
}

}  // namespace yosida::bench
