#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "yosida/error.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida {

/// A row of bytes. Values are written at its end, or read from its beginning in the same order.
class Archive {
 public:
  /// An archive that numbers are written to.
  Archive() = default;
  /// An archive that numbers are read from.
  explicit Archive(std::string_view bytes) : from_(bytes), reads_(true) {}

  bool reads() const { return reads_; }
  std::string& bytes() { return bytes_; }

  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void exchange(Number& number) { raw(&number, sizeof number); }
  void exchange(Vector& v) {
    Index size = v.size();
    exchange(size);
    if (reads_) v.resize(checked(size));
    raw(v.data(), static_cast<std::size_t>(size) * sizeof(double));
  }
  void exchange(Matrix& m) {
    Index rows = m.rows(), cols = m.cols();
    exchange(rows);
    exchange(cols);
    if (reads_) m.resize(checked(rows), rows == 0 ? checked(cols) : checked(rows * cols) / rows);
    raw(m.data(), static_cast<std::size_t>(m.size()) * sizeof(double));
  }
  void exchange(std::string& text) {
    auto size = static_cast<Index>(text.size());
    exchange(size);
    if (reads_) text.resize(static_cast<std::size_t>(checked(size)));
    raw(text.data(), text.size());
  }
  /// Calls each(item) for all of a list, which is made as long as it was.
  template <typename Item, typename Each>
  void exchange(std::vector<Item>& list, const Each& each) {
    auto size = static_cast<Index>(list.size());
    exchange(size);
    if (reads_) list.resize(static_cast<std::size_t>(checked(size)));
    for (Item& item : list) each(item);
  }

 private:
  /// Checks a number of things that was read: each takes at least a byte, so there cannot be more than bytes
  /// are left.
  Index checked(Index count) const {
    if (count < 0 || count > static_cast<Index>(from_.size())) throw InputError("what was kept is damaged");
    return count;
  }
  void raw(void* data, std::size_t size) {
    if (!reads_) {
      bytes_.append(static_cast<const char*>(data), size);
      return;
    }
    if (size > from_.size()) throw InputError("what was kept is damaged");
    if (size > 0) std::memcpy(data, from_.data(), size);
    from_.remove_prefix(size);
  }

  std::string bytes_;
  std::string_view from_;
  bool reads_ = false;
};

}  // namespace yosida
