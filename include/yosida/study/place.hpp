#pragma once

#include <string>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// Whether a study of this name lies in PostgreSQL: "postgresql://[user[:password]@][host][:port]/database",
/// with the parameters of libpq after a "?". The parameter `study` names the study in the database
/// ["yosida"]; it is a schema there. Any other name is that of a file.
bool is_database(const std::string& place);

/// The name without a password, to be shown to people and kept in studies. It also takes an argument of the
/// command line, --study=NAME.
std::string shown_place(const std::string& place);

/// The short name of a place: that of its file, or of the study in its database.
std::string title_of(const std::string& place);

/// What stands there now: another text where a file was replaced by another. Throws InputError where a file
/// is gone.
std::string identity_of(const std::string& place);

}  // namespace study
}  // namespace yosida
