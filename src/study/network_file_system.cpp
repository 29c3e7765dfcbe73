#include "study/network_file_system.hpp"

#include <sys/vfs.h>

#include <atomic>
#include <map>

namespace yosida::study {
namespace {

std::uint64_t of_system(const std::string& folder) {
  struct statfs about {};
  // The kernel's numbers have 32 bits; the type that holds them is signed on some machines.
  constexpr std::uint64_t kBits = 0xffffffff;
  return ::statfs(folder.c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.f_type) & kBits : 0;
}

std::atomic<FileSystemType> asked{&of_system};

}  // namespace

std::string network_file_system(const std::string& folder) {
  // From linux/magic.h and the sources of those that are not in the kernel. FUSE is not among them: it has
  // many file systems of local disks.
  static const std::map<std::uint64_t, const char*> known = {
      {0x6969, "NFS"},        {0x517b, "SMB"},      {0xff534d42, "CIFS"},   {0xfe534d42, "SMB2"},
      {0x5346414f, "AFS"},    {0x6b414653, "AFS"},  {0x00c36400, "Ceph"},   {0x73757245, "Coda"},
      {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"}, {0x564c, "NCP"}};
  const auto found = known.find(asked.load()(folder));
  return found != known.end() ? found->second : "";
}

void ask_for_file_systems(FileSystemType answer) { asked = answer != nullptr ? answer : &of_system; }

}  // namespace yosida::study
