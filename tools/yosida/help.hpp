#pragma once

#include <string>

namespace CLI {
class App;
}

namespace yosida::cli {

/// What is wrong with the words of a command, and where to read on: "study show: file is required; see:
/// yosida help study show".
std::string refused_in_words(const CLI::App& app, const std::string& what);

/// What the parser says where a flag has too many values or too few, in words of ours: "--json: needs a
/// value".
std::string count_in_words(const std::string& what);

}  // namespace yosida::cli
