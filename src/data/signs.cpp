#include "data/signs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "data/formats.hpp"
#include "data/hog.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr const char* images = "GTSRB/Final_Training/Images";
constexpr int longest_side = 1 << 14;  // no overflow of 3 x rows x columns

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Takes what comes before `separator`, and it, off the front of `text`.
std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view field = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(field.size() + 1, text.size()));
  return field;
}

/// A whole number from 0 to `largest` that is all of `text`; −1 where it is none.
int small_number(std::string_view text, int largest) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && number <= largest ? number : -1;
}

/// The next word of a PPM header, comments passed over. The blank behind it is taken too.
std::string_view header_word(std::string_view& bytes) {
  while (!bytes.empty() && (is_blank(bytes[0]) || bytes[0] == '#'))
    bytes[0] == '#' ? static_cast<void>(take_until(bytes, '\n')) : bytes.remove_prefix(1);
  const auto end = std::find_if(bytes.begin(), bytes.end(), is_blank);
  const std::string_view word(bytes.begin(), end);
  bytes.remove_prefix(std::min(word.size() + 1, bytes.size()));
  return word;
}

/// A line of a table of regions: the picture, its size, and where in it the sign is (the second corner lies
/// outside).
struct Sign {
  std::string file;
  int columns = 0, rows = 0;
  int left = 0, top = 0, right = 0, bottom = 0;
};

Sign parse_sign(const std::string& table, std::size_t line_number, std::string_view line) {
  const bool is_whole = std::count(line.begin(), line.end(), ';') == 7;
  Sign sign;
  sign.file = take_until(line, ';');
  for (int* field : {&sign.columns, &sign.rows, &sign.left, &sign.top, &sign.right, &sign.bottom})
    *field = small_number(take_until(line, ';'), longest_side);
  if (!is_whole || sign.left < 0 || sign.top < 0 || sign.right <= sign.left || sign.bottom <= sign.top ||
      sign.right > sign.columns || sign.bottom > sign.rows)
    throw InputError(
        fmt::format("{} line {}: must have 8 fields, the region of {} whole numbers X1 < X2 <= Width and "
                    "Y1 < Y2 <= Height, 0 or more",
                    table, line_number, in_quotes(sign.file)));
  return sign;
}

std::vector<Sign> parse_table(const std::string& name, std::string_view text) {
  constexpr std::string_view header = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId";
  std::vector<Sign> signs;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    std::string_view line = take_until(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line_number > 1)
      signs.push_back(parse_sign(name, line_number, line));
    else if (line != header)
      throw InputError(fmt::format("{}: the first line is {}: must be {}", name, in_quotes(line), header));
  }
  return signs;
}

void describe(const std::string& name, const Picture& picture, const Sign& sign, double* features) {
  if (picture.rows != sign.rows || picture.columns != sign.columns)
    throw InputError(fmt::format("{}: has {} x {} pixels: must have {} x {}, as its table says", name,
                                 picture.columns, picture.rows, sign.columns, sign.rows));
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(picture.columns);
  const std::size_t corner =
      static_cast<std::size_t>(sign.top) * row_bytes + 3 * static_cast<std::size_t>(sign.left);
  std::array<float, hog::features> described{};
  hog::function()(picture.pixels.data() + corner, sign.bottom - sign.top, sign.right - sign.left, row_bytes,
                  described.data());
  std::copy(described.begin(), described.end(), features);
}

}  // namespace

Picture read_ppm(const std::string& name, std::string_view bytes) {
  if (header_word(bytes) != "P6")
    throw InputError(
        fmt::format("{}: not a PPM picture of the binary kind: it does not start with P6", name));
  Picture picture;
  picture.columns = small_number(header_word(bytes), longest_side);
  picture.rows = small_number(header_word(bytes), longest_side);
  const int brightest = small_number(header_word(bytes), 65535);
  if (picture.columns < 1 || picture.rows < 1 || brightest != 255)
    throw InputError(fmt::format("{}: its PPM header must name a width and a height from 1 to {}, and 255",
                                 name, longest_side));
  const std::size_t size =
      3 * static_cast<std::size_t>(picture.rows) * static_cast<std::size_t>(picture.columns);
  if (bytes.size() != size)
    throw InputError(fmt::format("{}: has {} bytes of pixels: must have {}, for {} x {} pixels", name,
                                 bytes.size(), size, picture.columns, picture.rows));
  picture.pixels.assign(bytes.begin(), bytes.end());
  for (std::size_t i = 0; i < size; i += 3) std::swap(picture.pixels[i], picture.pixels[i + 2]);
  return picture;
}

Dataset describe_signs(const std::string& source, const std::map<std::string, std::string>& files,
                       const std::vector<SignClass>& classes) {
  const auto place = [&](const std::string& name) { return source + ": " + name; };
  const auto file = [&](const std::string& name) -> const std::string& {
    const auto found = files.find(name);
    if (found == files.end()) throw InputError(fmt::format("{}: is not in the archive", place(name)));
    return found->second;
  };
  Index rows = 0;
  for (const SignClass& each : classes) rows += each.pictures;
  Matrix x(rows, hog::features);
  Vector y(rows);
  Index row = 0;
  for (const SignClass& each : classes) {
    const std::string folder = fmt::format("{}/{}/", images, each.folder);
    const std::string table = fmt::format("{}GT-{}.csv", folder, each.folder);
    const std::vector<Sign> signs = parse_table(place(table), file(table));
    if (static_cast<Index>(signs.size()) != each.pictures)
      throw InputError(
          fmt::format("{}: names {} pictures: must be {}", place(table), signs.size(), each.pictures));
    for (const Sign& sign : signs) {
      const std::string name = folder + sign.file;
      describe(place(name), read_ppm(place(name), file(name)), sign, x.row(row).data());
      y[row++] = each.label;
    }
  }
  return {
      .x = Design(std::move(x)), .y = std::move(y), .feature_names = {}, .target_name = "", .source = source};
}

}  // namespace yosida
