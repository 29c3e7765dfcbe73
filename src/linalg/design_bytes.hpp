#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "yosida/linalg/design.hpp"
#include "yosida/linalg/function_ref.hpp"

namespace yosida::linalg {

/// Calls put with the rows of a design as bytes for a file, piece by piece. The design must have no steps.
void put_bytes(const Design& x, FunctionRef<void(std::string_view)> put);

/// The design that these bytes are, as a view of them; `owner` keeps them. They must begin where a double may
/// lie. Throws InputError where they are no such bytes; the columns of sparse rows are looked at unless
/// somebody has done so.
Design view_bytes(std::span<const char> bytes, std::shared_ptr<const void> owner,
                  bool looks_at_columns = true);

}  // namespace yosida::linalg
