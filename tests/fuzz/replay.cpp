// The fuzzers without clang: replay FUZZER FILE... gives each file to the fuzzer, and so does it with each
// file changed a little, as often as --changes says. What is wrong ends the program.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#define YOSIDA_FUZZERS(DO) DO(reader) DO(model) DO(study) DO(trace) DO(spec) DO(words)
#define YOSIDA_DECLARE(name) extern "C" int fuzz_##name(const std::uint8_t*, std::size_t);
YOSIDA_FUZZERS(YOSIDA_DECLARE)

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Some bytes replaced, removed or doubled, or the end cut off.
Bytes changed(Bytes bytes, std::mt19937& chance) {
  for (unsigned times = 1 + chance() % 4; times > 0 && !bytes.empty(); --times) {
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(chance() % bytes.size());
    switch (chance() % 5) {
      case 0:
        *place = static_cast<std::uint8_t>(chance());
        break;
      case 1:
        *place = static_cast<std::uint8_t>(*place ^ (1U << chance() % 8));
        break;
      case 2:
        bytes.erase(place);
        break;
      case 3:
        bytes.insert(place, *place);
        break;
      default:
        if (chance() % 4 == 0) bytes.erase(place, bytes.end());
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
#define YOSIDA_NAME(name) {#name, &fuzz_##name},
  const std::map<std::string, int (*)(const std::uint8_t*, std::size_t)> fuzzers = {
      YOSIDA_FUZZERS(YOSIDA_NAME)};
  std::vector<std::string> words(argv + 1, argv + argc);
  unsigned changes = 0;
  if (words.size() > 1 && words[0] == "--changes") {
    changes = static_cast<unsigned>(std::stoul(words[1]));
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty() || !fuzzers.contains(words[0]))
    return std::fputs("usage: replay [--changes N] FUZZER FILE...\n", stderr), 2;
  const auto fuzzer = fuzzers.at(words[0]);
  std::mt19937 chance(1);
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::ifstream stream(words[i], std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(stream), {}};
    std::fprintf(stderr, "%s\n", words[i].c_str());
    fuzzer(bytes.data(), bytes.size());
    for (unsigned number = 0; number < changes; ++number) {
      const Bytes other = changed(bytes, chance);
      fuzzer(other.data(), other.size());
    }
  }
  return 0;
}
