// The file of a study, which may come from anyone.
#include "fuzzing.hpp"
#include "yosida/study/export.hpp"
#include "yosida/study/store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace yosida;
  const fuzz::ScratchFile file(".db", fuzz::text_of(data, size));
  return fuzz::allowing_our_errors([&] {
    const study::Store store(file.path().string(), study::Store::Mode::read);
    store.keys();
    store.sessions();
    store.planned();
    store.records(true);
    study::export_runs(store, {.study = "fuzzed", .as_json = size % 2 == 0, .traces = true},
                       [](std::string_view) {});
  });
}
