#include "yosida/model/loss.hpp"

#include "yosida/model/models.hpp"

namespace yosida {

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const Model& each : models()) names.push_back(each.name);
  return names;
}

SharedLoss loss_of_model(std::string_view name, Index classes) { return model(name).loss(classes); }

}  // namespace yosida
