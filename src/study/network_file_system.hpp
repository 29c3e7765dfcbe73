#pragma once

#include <cstdint>
#include <string>

namespace yosida::study {

/// What the system says of the file system that a folder is on (statfs); 0 where it says nothing.
using FileSystemType = std::uint64_t (*)(const std::string& folder);

/// The kind of network file system that this folder is on, "NFS"; empty where it is on a disk of this
/// machine.
std::string network_file_system(const std::string& folder);

/// Has tests answer in place of the system; null asks the system again.
void ask_for_file_systems(FileSystemType answer);

}  // namespace yosida::study
