#include "linalg/design_bytes.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/random_split.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

std::vector<double> bytes_of(const Design& x) {
  std::string bytes;
  linalg::put_bytes(x, [&](std::string_view piece) { bytes += piece; });
  std::vector<double> aligned(bytes.size() / sizeof(double) + 1);  // where a double may lie
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return aligned;
}

std::span<const char> view(const std::vector<double>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size() * sizeof(double)};
}

TEST(DesignBytes, ComeBackAsTheyWere) {
  Random random(3);
  const std::vector<Index> chosen = {4, 0, 4, 7};
  for (const double density : {1.0, 0.3}) {
    const Design x = test::random_design(9, 5, density, random);
    for (const Design& each : {x, x.row_range(2, 5), x.select_rows(chosen), x.row_range(0, 0)}) {
      const std::vector<double> bytes = bytes_of(each);
      const Design back = linalg::view_bytes(view(bytes), nullptr);
      EXPECT_EQ(back.omits_zeros(), each.omits_zeros());
      EXPECT_EQ(back.cols(), 5);
      EXPECT_EQ(to_matrix(back), to_matrix(each));
    }
  }
}

TEST(DesignBytes, OtherBytesAreRefused) {
  Random random(4);
  for (const double density : {1.0, 0.5}) {
    const std::vector<double> bytes = bytes_of(test::random_design(6, 5, density, random));
    for (std::size_t size = 0; size + 16 < bytes.size() * sizeof(double); size += 7)
      EXPECT_THROW(linalg::view_bytes(view(bytes).first(size), nullptr), InputError) << size;
    for (const std::int64_t wrong :
         {std::int64_t{-1}, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()})
      for (const std::size_t field : {1, 3}) {  // rows, entries
        std::vector<double> changed = bytes;
        std::memcpy(&changed[field], &wrong, sizeof wrong);
        EXPECT_THROW(linalg::view_bytes(view(changed), nullptr), InputError) << field << " " << wrong;
      }
  }
}

}  // namespace
}  // namespace yosida
