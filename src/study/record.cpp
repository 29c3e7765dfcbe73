#include "yosida/study/record.hpp"

#include <array>
#include <ctime>

#include "yosida/data/sha256.hpp"

namespace yosida::study {

std::string RunSpec::key() const { return sha256_of_text(json); }

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, sizeof("2026-01-31T12:00:00Z")> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace yosida::study
