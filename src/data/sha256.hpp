#pragma once

#include <string>
#include <string_view>

namespace yosida {

/// 64 hexadecimal digits.
std::string sha256_of_text(std::string_view text);
/// Hashes the bytes of a file as they are, packed or not. Throws InputError where it cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace yosida
