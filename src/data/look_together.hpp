#pragma once

#include <string>
#include <vector>

#include "data/column_look.hpp"
#include "data/levels.hpp"
#include "linalg/ranks.hpp"
#include "yosida/error.hpp"

namespace yosida {

inline void append(ColumnLook& look, ColumnLook& behind) { look.append(behind, 0); }
inline void append(Levels& levels, Levels& behind) { levels.take_over(behind); }

/// Together: each process looks at its own rows, and `seen`, an item for each column, becomes what all of
/// them have seen, in the order of the processes. Throws InputError in all of them where one does.
template <typename Look, typename Seen>
void look_together(const Look& look, std::vector<Seen>& seen) {
  std::string own;
  try {
    look();
    Archive archive;
    archive.exchange(seen, [&](Seen& each) { each.exchange(archive); });
    own = std::move(archive.bytes());
  } catch (const InputError&) {  // whoever reads all rows in order says what is wrong
  }
  const std::vector<std::string> all = linalg::gather_texts(own);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) throw InputError("a part of the rows cannot be read by itself");
    Archive archive(all[rank]);
    std::vector<Seen> theirs;
    archive.exchange(theirs, [&](Seen& each) { each.exchange(archive); });
    if (rank == 0) seen.assign(theirs.size(), Seen());
    for (std::size_t i = 0; i < seen.size(); ++i) append(seen[i], theirs[i]);
  }
}

}  // namespace yosida
