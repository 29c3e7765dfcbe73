#include "http.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>

namespace yosida::cli {
namespace {

/// What stands before the separator, which is taken away together with it; all of it where there is none.
std::string_view take_until(std::string_view separator, std::string_view& text) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + separator.size(), text.size()));
  return taken;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool is_field(std::string_view name, std::string_view known) {
  return name.size() == known.size() && strncasecmp(name.data(), known.data(), name.size()) == 0;
}

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

}  // namespace

std::optional<HttpRequest> parse_http_request(std::string_view head) {
  HttpRequest request;
  std::string_view line = take_until("\r\n", head);
  request.method = take_until(" ", line);
  std::string_view target = take_until(" ", line);
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return std::nullopt;

  int hosts = 0;
  while (!head.empty()) {
    line = take_until("\r\n", head);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view name = line.substr(0, colon);
    if (name.empty() || name.find_first_of(" \t") != std::string_view::npos) return std::nullopt;
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (is_field(name, "Host")) {
      request.host = value;
      if (++hosts > 1) return std::nullopt;
    } else if (is_field(name, "If-None-Match")) {
      request.known_tag = value;
    }
  }

  // As to a proxy; the host that it names is then the one that counts.
  constexpr std::string_view kScheme = "http://";
  if (target.starts_with(kScheme)) {
    target.remove_prefix(kScheme.size());
    const std::size_t slash = std::min(target.find_first_of("/?"), target.size());
    request.host = target.substr(0, slash);
    target.remove_prefix(slash);
    if (!target.starts_with('/')) target = "/";
  }
  if (!target.starts_with('/')) return std::nullopt;
  request.path = take_until("?", target);
  return request;
}

HttpReply http_refusal(int status, std::string_view why) {
  return {.status = status, .text = std::make_shared<const std::string>(fmt::format("{}\n", why))};
}

std::string http_head(const HttpReply& reply) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\n"
      "Connection: close\r\n"
      "Accept-Ranges: none\r\n"
      "Cache-Control: no-cache\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n",
      reply.status, reason(reply.status));
  if (reply.status == 405) head += "Allow: GET, HEAD\r\n";
  if (!reply.tag.empty()) head += fmt::format("ETag: {}\r\n", reply.tag);
  if (reply.text)
    head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", reply.type, reply.text->size());
  return head + "\r\n";
}

}  // namespace yosida::cli
