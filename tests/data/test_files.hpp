#pragma once

#include <gtest/gtest.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "yosida/data/reader.hpp"
#include "yosida/error.hpp"

namespace yosida::test_files {

/// A directory of this test alone (tests run at the same time), gone with the object.
class TestFiles {
 public:
  TestFiles() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ =
        std::filesystem::path(::testing::TempDir()) /
        (std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  TestFiles(const TestFiles&) = delete;
  TestFiles& operator=(const TestFiles&) = delete;
  ~TestFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  const std::filesystem::path& directory() const { return directory_; }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = directory_ / name;
    std::filesystem::remove(file);  // writing over a file makes some file systems wait for the disk
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  std::filesystem::path directory_;
};

/// The file must be refused with a message that starts with the path of a file and holds all the parts.
inline void expect_refused(const std::filesystem::path& file, const ReadOptions& options,
                           std::initializer_list<std::string_view> parts) {
  std::string message;
  try {
    read_dataset(file, options);
  } catch (const InputError& error) {
    message = error.what();
  }
  ASSERT_FALSE(message.empty()) << file << " was read without an error";
  EXPECT_TRUE(message.starts_with(file.parent_path().string())) << message;
  for (const std::string_view part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" is missing in: " << message;
  }
}

inline Matrix dense(const Dataset& data) { return to_matrix(data.x); }

inline Matrix matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix values(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index i = 0;
  for (const auto& row : rows) {
    Index j = 0;
    for (const double value : row) values(i, j++) = value;
    ++i;
  }
  return values;
}

inline Vector vector(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), static_cast<Index>(values.size()));
}

inline std::string deflated(std::string_view bytes, int window_bits) {
  z_stream state{};
  if (deflateInit2(&state, Z_BEST_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string packed(deflateBound(&state, bytes.size()) + 64, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  deflate(&state, Z_FINISH);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

inline std::string gzipped(std::string_view bytes) { return deflated(bytes, MAX_WBITS + 16); }

inline std::string xzed(std::string_view bytes) {
  std::string packed(lzma_stream_buffer_bound(bytes.size()), '\0');
  std::size_t size = 0;
  if (lzma_easy_buffer_encode(
          6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
          reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()) != LZMA_OK) {
    throw std::runtime_error("lzma_easy_buffer_encode");
  }
  packed.resize(size);
  return packed;
}

/// The number in `count` bytes, 8 at most.
inline std::string little_endian(std::uint64_t number, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

inline std::string reversed(std::string bytes) { return {bytes.rbegin(), bytes.rend()}; }

template <typename Number>
std::string raw(std::initializer_list<double> values, bool big_endian = false) {
  std::string bytes;
  for (const double value : values) {
    const auto number = static_cast<Number>(value);
    const std::string one(reinterpret_cast<const char*>(&number), sizeof(number));
    bytes += big_endian ? reversed(one) : one;
  }
  return bytes;
}

inline std::string npy(const std::string& type, const std::string& shape, std::string_view numbers,
                       bool by_column = false, int version = 1) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + (by_column ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.resize(118 - 10 - 1, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += little_endian(header.size(), version == 1 ? 2 : 4);
  return bytes.append(header).append(numbers);
}

enum class Zip { stored, deflated, wide };

/// A zip archive; Zip::wide is one with all its sizes in 64 bits, as for more than 4 GiB.
inline std::string zipped(const std::vector<std::pair<std::string, std::string>>& members, Zip form) {
  const bool is_wide = form == Zip::wide;
  std::string archive;
  std::string directory;
  for (const auto& [name, bytes] : members) {
    const std::string packed = form == Zip::deflated ? deflated(bytes, -MAX_WBITS) : bytes;
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    const std::string method = little_endian(form == Zip::deflated ? 8 : 0, 2);
    const auto narrow = [&](std::uint64_t size) { return little_endian(is_wide ? 0xffffffff : size, 4); };
    const std::uint64_t header_at = archive.size();
    const std::string wide_sizes = little_endian(bytes.size(), 8) + little_endian(packed.size(), 8);
    const std::string local_extra =
        is_wide ? little_endian(1, 2) + little_endian(16, 2) + wide_sizes : std::string();
    const std::string extra =
        is_wide ? little_endian(1, 2) + little_endian(24, 2) + wide_sizes + little_endian(header_at, 8)
                : std::string();
    const std::string sizes = little_endian(checksum, 4) + narrow(packed.size()) + narrow(bytes.size());
    const std::string flags = little_endian(0, 2);
    const std::string time = little_endian(0, 4);
    archive += "PK\3\4" + little_endian(45, 2) + flags + method + time + sizes +
               little_endian(name.size(), 2) + little_endian(local_extra.size(), 2) + name + local_extra +
               packed;
    directory += "PK\1\2" + little_endian(45, 2) + little_endian(45, 2) + flags + method + time + sizes +
                 little_endian(name.size(), 2) + little_endian(extra.size(), 2) +
                 std::string(2 + 2 + 2 + 4, '\0') + narrow(header_at) + name + extra;
  }
  const std::uint64_t directory_at = archive.size();
  archive += directory;
  if (is_wide) {
    const std::uint64_t end_at = archive.size();
    archive += "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
               little_endian(0, 8) + little_endian(members.size(), 8) + little_endian(members.size(), 8) +
               little_endian(directory.size(), 8) + little_endian(directory_at, 8);
    archive += "PK\6\7" + little_endian(0, 4) + little_endian(end_at, 8) + little_endian(1, 4);
  }
  const auto count = little_endian(is_wide ? 0xffff : members.size(), 2);
  return archive + "PK\5\6" + little_endian(0, 4) + count + count +
         little_endian(is_wide ? 0xffffffff : directory.size(), 4) +
         little_endian(is_wide ? 0xffffffff : directory_at, 4) + little_endian(0, 2);
}

inline std::string idx(char type, std::initializer_list<std::uint64_t> shape, std::string_view numbers) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const std::uint64_t size : shape) bytes += reversed(little_endian(size, 4));
  return bytes.append(numbers);
}

}  // namespace yosida::test_files
