#pragma once

#include <map>
#include <string>

#include "data/byte_stream.hpp"

namespace yosida {

/// The files of a tar archive by name, as far as POSIX's ustar and the older form have them: plain files and
/// folders, names of up to 255 characters. Throws InputError where it is damaged, cut short or holds anything
/// else.
std::map<std::string, std::string> read_tar(ByteStream& archive);

}  // namespace yosida
