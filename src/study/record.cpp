#include "yosida/study/record.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>
#include <ctime>
#include <fstream>
#include <thread>

namespace yosida::study {
namespace {

/// The name of the processor as Linux tells it; elsewhere the name of the architecture.
std::string processor(const utsname& system) {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return system.machine;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, sizeof("2026-01-31T12:00:00Z")> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::optional<double> seconds_of(const std::string& utc) {
  std::tm parts{};
  const char* end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return {};
  return static_cast<double>(::timegm(&parts));
}

std::string this_machine() {
  utsname system{};
  uname(&system);
  const unsigned cores = std::thread::hardware_concurrency();
  return fmt::format("{}, {} core{}, {} {} {}", processor(system), cores, cores == 1 ? "" : "s",
                     system.sysname, system.release, system.machine);
}

}  // namespace yosida::study
