#include "yosida/model/loss.hpp"

#include <algorithm>
#include <limits>

#include "yosida/model/models.hpp"

namespace yosida {

double Loss::sum_and_slopes(std::span<const double> m, std::span<const double> y,
                            std::span<double> out) const {
  const double total = sum(m, y);
  slopes(m, y, out);
  return total;
}

void Loss::conjugates(std::span<const double>, std::span<const double>, std::span<double> out) const {
  std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
}

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const Model& each : models()) names.push_back(each.name);
  return names;
}

SharedLoss loss_of_model(std::string_view name, Index classes) { return model(name).loss(classes); }

}  // namespace yosida
