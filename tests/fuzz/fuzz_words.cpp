// What people write on a command line and the library takes apart: methods with settings, pretreatments,
// places of studies.
#include "fuzzing.hpp"
#include "study/place.hpp"
#include "yosida/data/pretreatment.hpp"
#include "yosida/tune/data_files.hpp"
#include "yosida/tune/method_text.hpp"
#include "yosida/utf8.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace yosida;
  const std::string text(fuzz::text_of(data, size));
  fuzz::allowing_our_errors([&] { parse_method(text); });
  fuzz::allowing_our_errors([&] { parse_x_steps(text); });
  fuzz::allowing_our_errors([&] { parse_y_step(text); });
  fuzz::allowing_our_errors([&] { parse_missing(text); });
  fuzz::allowing_our_errors([&] { study::database_place("postgresql://" + text); });
  utf8::printable(text);
  const std::string shown = study::shown_place("postgresql://me:secret@" + text);
  return text.find("secret") == std::string::npos && shown.find("secret") != std::string::npos ? std::abort(),
         0                                                                                     : 0;
}
