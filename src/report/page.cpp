#include "yosida/report/page.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "data/sha256.hpp"
#include "yosida/report/palette.hpp"

namespace yosida::embedded {
extern const std::string_view d3_script, page_template, page_style, page_script;
}  // namespace yosida::embedded

namespace yosida::report {
namespace {

using Replacements = std::vector<std::pair<std::string_view, std::string_view>>;

/// The text with every key replaced, in one pass: what was put in is not looked at again.
std::string replaced(std::string_view text, const Replacements& replacements) {
  std::string result;
  result.reserve(text.size());
  std::array<bool, 256> begins_key{};
  for (const auto& [key, value] : replacements) begins_key[static_cast<unsigned char>(key.front())] = true;
  const auto is_key_near = [&](char byte) { return begins_key[static_cast<unsigned char>(byte)]; };
  while (!text.empty()) {
    const auto plain = std::find_if(text.begin(), text.end(), is_key_near) - text.begin();
    result += text.substr(0, static_cast<std::size_t>(plain));
    text.remove_prefix(static_cast<std::size_t>(plain));
    if (text.empty()) break;
    const auto found =
        std::find_if(replacements.begin(), replacements.end(),
                     [text](const auto& replacement) { return text.starts_with(replacement.first); });
    result += found == replacements.end() ? text.substr(0, 1) : found->second;
    text.remove_prefix(found == replacements.end() ? 1 : found->first.size());
  }
  return result;
}

std::string escaped_html(std::string_view text) {
  return replaced(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

/// JSON that may stand in a script element: no text in it can end the element or begin a comment. These
/// characters occur in strings only, where the escapes mean the same. (The last two end lines in some
/// JavaScript.)
std::string escaped_json(std::string_view json) {
  return replaced(json, {{"<", "\\u003c"},
                         {">", "\\u003e"},
                         {"&", "\\u0026"},
                         {"\xe2\x80\xa8", "\\u2028"},
                         {"\xe2\x80\xa9", "\\u2029"}});
}

/// What a content security policy calls the source of an inline script or style.
std::string source_hash(std::string_view content) {
  const std::string digits = sha256_of_text(content);
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  std::vector<unsigned char> base64(2 * bytes.size());
  const int length = EVP_EncodeBlock(base64.data(), bytes.data(), static_cast<int>(bytes.size()));
  return fmt::format("'sha256-{}'", std::string(base64.begin(), base64.begin() + length));
}

/// The colours of methods as the page's style sheet knows them.
std::string declared(const char* Hue::*theme) {
  std::string text;
  for (std::size_t i = 0; i < hues().size(); ++i)
    text += fmt::format("--series-{}: {};", i, hues()[i].*theme);
  return text;
}

std::string filled_page(std::string_view mode, std::string_view data, const std::string& title) {
  // A scope of their own: the names of our scripts do not meet those of the window.
  const std::string script = fmt::format("\"use strict\";\n{{\n{}}}\n", embedded::page_script);
  // Nothing may be loaded or run but what the page brings along, whatever text a study holds.
  const std::string style = replaced(embedded::page_style, {{"{{light hues}}", declared(&Hue::light)},
                                                            {"{{dark hues}}", declared(&Hue::dark)}});
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {} {}; style-src {}; img-src data:; connect-src {}; base-uri 'none'; "
      "form-action 'none'",
      source_hash(embedded::d3_script), source_hash(script), source_hash(style),
      mode == "live" ? "'self'" : "'none'");
  return replaced(embedded::page_template, {{"{{title}}", escaped_html(title)},
                                            {"{{policy}}", policy},
                                            {"{{mode}}", mode},
                                            {"{{style}}", style},
                                            {"{{d3}}", embedded::d3_script},
                                            {"{{script}}", script},
                                            {"{{data}}", data}});
}

}  // namespace

std::string page_html(const std::string& data, const std::string& title) {
  return filled_page("report", escaped_json(data), title);
}

std::string live_page_html(const std::string& title) { return filled_page("live", "null", title); }

}  // namespace yosida::report
