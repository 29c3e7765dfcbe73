#include "yosida/model/loss.hpp"

#include "yosida/error.hpp"

namespace yosida {

const Loss& loss_of_model(std::string_view model) {
  if (model == least_squares().name()) return least_squares();
  if (model == logistic().name()) return logistic();
  throw InputError("model = " + std::string(model) + ": must be ridge or logistic");
}

}  // namespace yosida
