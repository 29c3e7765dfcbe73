// A trace of a study: its zlib stream, and its JSON. One that is read is written and read again.
#include "fuzzing.hpp"
#include "study/trace_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace yosida;
  const std::string_view bytes = fuzz::text_of(data, size);
  fuzz::allowing_our_errors([&] { study::inflate(bytes, 1 << 20); });
  return fuzz::allowing_our_errors([&] {
    const std::string text = study::trace_to_json(study::trace_from_json(bytes));
    if (study::trace_to_json(study::trace_from_json(text)) != text) std::abort();
    if (study::inflate(study::deflate(text)) != text) std::abort();
  });
}
