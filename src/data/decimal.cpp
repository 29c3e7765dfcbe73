#include "data/decimal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

namespace yosida::decimal {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kLargestPower = 27;  // 5^27 is the last that 64 bits hold

/// 10^k, all that a double holds exactly.
constexpr std::array<double, 23> kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// 5^k, shifted so that its highest bit is set, and ⌊2^127 / that⌋.
struct Divisor {
  std::uint64_t number = 0, reciprocal = 0;
  int shift = 0;
};

constexpr std::array<Divisor, kLargestPower + 1> divisors() {
  std::array<Divisor, kLargestPower + 1> all{};
  std::uint64_t power = 1;
  for (Divisor& each : all) {
    each.shift = std::countl_zero(power);
    each.number = power << each.shift;
    // 2^127 / 2^63, of 5^0, takes 65 bits; it is not asked for.
    each.reciprocal = static_cast<std::uint64_t>((static_cast<Wide>(1) << 127) / each.number);
    power *= 5;
  }
  return all;
}

/// `whole` / 10^`power`, rounded once. `whole` > 0, 0 < power ≤ kLargestPower.
double divided(std::uint64_t whole, int power) {
  static constexpr auto kDivisors = divisors();
  const Divisor& divisor = kDivisors[static_cast<std::size_t>(power)];
  const int shift = std::countl_zero(whole);
  const std::uint64_t dividend = whole << shift;
  // The quotient's leading bits, 62 or 63 of them, lie in [low, low + 2). Where both ends round to the same
  // double, so does all that is between.
  const auto low = static_cast<std::int64_t>(static_cast<Wide>(dividend) * divisor.reciprocal >> 65);
  auto rounded = static_cast<double>(low);
  if (rounded != static_cast<double>(low + 2)) {
    const Wide wide = static_cast<Wide>(dividend) << 62;
    const auto quotient = static_cast<std::uint64_t>(wide / divisor.number);
    // A last bit for what is left makes 53 bits round as the exact quotient does.
    const bool is_exact = static_cast<Wide>(quotient) * divisor.number == wide;
    rounded =
        static_cast<double>(static_cast<std::int64_t>(quotient | static_cast<std::uint64_t>(!is_exact)));
  }
  constexpr int kBias = 1023, kFractionBits = 52;
  const auto exponent = static_cast<std::uint64_t>(kBias + divisor.shift - shift - 62 - power);
  return rounded * std::bit_cast<double>(exponent << kFractionBits);
}

/// take_digits where there are many: eight at a time, each a byte of one word.
const char* take_many_digits(const char* at, const char* end, std::uint64_t& whole) {
  static_assert(std::endian::native == std::endian::little);
  while (end - at >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t over = word + 0x4646464646464646, under = word - 0x3030303030303030;
    if (((over | under) & 0x8080808080808080) != 0) break;
    word = under * 10 + (under >> 8);  // pairs, then fours, then all eight
    word = ((word & 0x000000FF000000FF) * 0x000F424000000064 +
            ((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >>
           32;
    whole = whole * 100000000 + word;
    at += 8;
  }
  return take_digits(at, end, whole);
}

}  // namespace

const char* read_with_care(const char* at, const char* end, double& number) {
  const bool is_negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  const char* const first = at;
  std::uint64_t whole = 0;
  at = take_digits(at, end, whole);
  std::ptrdiff_t digits = at - first;
  std::ptrdiff_t power = 0;
  if (at != end && *at == '.') {
    const char* const fraction = at + 1;
    at = take_many_digits(fraction, end, whole);
    power = fraction - at;
    digits -= power;
  }
  if (digits == 0) return nullptr;
  constexpr std::ptrdiff_t kDigitsOfWord = 19;
  if (digits > kDigitsOfWord) {  // zeros in front count for nothing
    const char* const significant = std::find_if(first, at, [](char c) { return c != '0' && c != '.'; });
    const bool holds_point = power < 0 && significant < at + power;
    if (at - significant - (holds_point ? 1 : 0) > kDigitsOfWord) return nullptr;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    const bool is_small = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    constexpr std::ptrdiff_t kMostDigits = 4;
    const char* const begin = at;
    std::uint64_t written = 0;
    while (at != end && is_digit(*at) && at - begin <= kMostDigits)
      written = written * 10 + static_cast<std::uint64_t>(*at++ - '0');
    if (at == begin || at - begin > kMostDigits) return nullptr;
    power += is_small ? -static_cast<std::ptrdiff_t>(written) : static_cast<std::ptrdiff_t>(written);
  }
  // Where both are exact, one operation rounds once (Clinger 1990).
  constexpr std::uint64_t kExactWhole = std::uint64_t{1} << 53;
  auto magnitude = static_cast<double>(whole);
  if (whole <= kExactWhole && power < 0 && -power < std::ssize(kTens)) {
    magnitude /= kTens[static_cast<std::size_t>(-power)];
  } else if (whole <= kExactWhole && power >= 0 && power < std::ssize(kTens)) {
    magnitude *= kTens[static_cast<std::size_t>(power)];
  } else if (whole > 0 && power < 0 && power >= -kLargestPower) {
    magnitude = divided(whole, static_cast<int>(-power));
  } else {
    return nullptr;
  }
  number = is_negative ? -magnitude : magnitude;
  return at;
}

}  // namespace yosida::decimal
