#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yosida::cli {

/// What a request for a page says, as far as anything here depends on it. Ranges and encodings are not: every
/// answer is whole and as it is.
struct HttpRequest {
  std::string_view method;
  std::string_view path;       // without the query
  std::string_view host;       // "name", "name:port" or "[name]:port"
  std::string_view known_tag;  // If-None-Match
};

/// Reads the head of a request: its lines, each ended by CR LF, without the empty one. The parts point into
/// it. Nothing where it is not HTTP/1.x, or names no host or several clearly.
std::optional<HttpRequest> parse_http_request(std::string_view head);

struct HttpReply {
  int status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> text;  // none: a reply that has no body by its status
  std::string tag = {};                     // none: ""
};

/// A reply of one line that says what is wrong.
HttpReply http_refusal(int status, std::string_view why);

/// The head of a reply, with the empty line: the last one of its connection, for readers of the same site
/// alone.
std::string http_head(const HttpReply& reply);

}  // namespace yosida::cli
