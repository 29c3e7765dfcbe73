// The specification and the outcome of a run, as a study of anyone's may hold them.
#include "fuzzing.hpp"
#include "study/limits.hpp"
#include "yosida/study/problem_name.hpp"
#include "yosida/study/run_outcome.hpp"
#include "yosida/study/run_spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace yosida;
  const std::string text(fuzz::text_of(data, size));
  // A store gives out nothing else.
  if (!study::fault_of_json(text).empty()) return 0;
  return fuzz::allowing_our_errors([&] {
    const study::SpecText spec{.method = "m", .seed = 1, .json = text};
    const study::SpecInWords words = study::in_words(spec);
    study::text_without_build(spec);
    const study::RunOutcome outcome = study::outcome_from_json(text);
    study::to_json(outcome);
    study::problem_name(words, outcome.file_names, "");
    study::indented(text);
  });
}
