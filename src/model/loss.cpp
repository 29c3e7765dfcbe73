#include "yosida/model/loss.hpp"

#include "yosida/error.hpp"

namespace yosida {
namespace {

struct Model {
  std::string_view name;
  const Loss& (*loss)(Index classes);
};

constexpr Model kModels[] = {
    {"ridge", [](Index) -> const Loss& { return least_squares(); }},
    {"logistic", [](Index) -> const Loss& { return logistic(); }},
    {"svm", [](Index) -> const Loss& { return squared_hinge(); }},
    {"huber", [](Index) -> const Loss& { return huber(); }},
    {"poisson", [](Index) -> const Loss& { return poisson(); }},
    {"softmax", [](Index classes) -> const Loss& { return softmax(classes); }},
};

}  // namespace

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const Model& model : kModels) names.push_back(model.name);
  return names;
}

const Loss& loss_of_model(std::string_view model, Index classes) {
  for (const Model& each : kModels)
    if (each.name == model) return each.loss(classes);
  std::string known;
  const auto names = model_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) known += i + 1 < names.size() ? ", " : " or ";
    known += names[i];
  }
  throw InputError("model = " + std::string(model) + ": must be " + known);
}

}  // namespace yosida
