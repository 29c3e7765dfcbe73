#include "study/place.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "yosida/error.hpp"

namespace yosida::study {
namespace {

constexpr std::string_view kSchemes[] = {"postgresql://", "postgres://"};
constexpr std::size_t kMostLettersOfStudy = 63;  // of a name in PostgreSQL

/// scheme://authority/path?parameters
struct Uri {
  std::string head;  ///< scheme and authority and path
  std::vector<std::string> parameters;

  std::string text() const {
    return parameters.empty() ? head : fmt::format("{}?{}", head, fmt::join(parameters, "&"));
  }
};

Uri split(const std::string& place) {
  const std::size_t mark = place.find('?');
  Uri uri{.head = place.substr(0, mark), .parameters = {}};
  if (mark == std::string::npos) return uri;
  std::string_view rest = std::string_view(place).substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    uri.parameters.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return uri;
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= kMostLettersOfStudy && is_letter(text.front()) &&
         !text.starts_with("pg_") &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace

bool is_database(const std::string& place) {
  return std::any_of(std::begin(kSchemes), std::end(kSchemes),
                     [&](std::string_view scheme) { return place.starts_with(scheme); });
}

DatabasePlace database_place(const std::string& place) {
  Uri uri = split(place);
  DatabasePlace parts{.connection = {}, .study = "yosida"};
  constexpr std::string_view kStudy = "study=";
  std::erase_if(uri.parameters, [&](const std::string& parameter) {
    if (!parameter.starts_with(kStudy)) return false;
    parts.study = parameter.substr(kStudy.size());
    return true;
  });
  if (!is_name(parts.study))
    throw InputError(
        fmt::format("{}: study = \"{}\": must be a name of at most {} letters a to z, digits and _, that "
                    "starts with a letter and not with pg_",
                    shown_place(place), parts.study, kMostLettersOfStudy));
  parts.connection = uri.text();
  return parts;
}

std::string shown_place(const std::string& place) {
  if (const std::size_t equals = place.find('='); place.starts_with("--") && equals != std::string::npos)
    return place.substr(0, equals + 1) + shown_place(place.substr(equals + 1));
  if (!is_database(place)) return place;
  Uri uri = split(place);
  std::erase_if(uri.parameters, [](const std::string& parameter) {
    return parameter.starts_with("password=") || parameter.starts_with("sslpassword=");
  });
  // Up to the last @: a password that was written without its escapes is not shown either.
  const std::size_t begin = uri.head.find("://") + 3;
  const std::size_t at = uri.head.rfind('@');
  const std::size_t colon = uri.head.find(':', begin);
  if (at != std::string::npos && at >= begin && colon < at) uri.head.erase(colon, at - colon);
  return uri.text();
}

std::string title_of(const std::string& place) {
  return is_database(place) ? database_place(place).study : std::filesystem::path(place).filename().string();
}

std::string identity_of(const std::string& place) {
  if (is_database(place)) return "";
  struct stat file {};
  if (::stat(place.c_str(), &file) != 0) throw InputError(fmt::format("{}: is gone", place));
  return fmt::format("{} {}", file.st_dev, file.st_ino);
}

}  // namespace yosida::study
