// The file of a model. One that is read is written and read again, to the same text.
#include <sstream>

#include "fuzzing.hpp"
#include "yosida/model/fitted_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace yosida;
  return fuzz::allowing_our_errors([&] {
    std::istringstream in{std::string(fuzz::text_of(data, size))};
    const std::string text = to_json(read_model(in, "fuzzed"));
    std::istringstream again(text);
    if (to_json(read_model(again, "written")) != text) std::abort();
  });
}
