#pragma once

#include <string>

#include "study/sqlite.hpp"
#include "yosida/study/store.hpp"

namespace yosida::study {

constexpr int kSchema = 2;

/// Opens the file of a study; makes it or migrates it where the mode says so. Throws InputError where it is
/// none, OutputError where it cannot be written for want of space.
sqlite::Database open_study_file(const std::string& path, Store::Mode mode);

/// Gives an empty database the tables of a study.
void create_tables(const sqlite::Database& database);

/// The columns of a run in the order of Record, whatever the schema of the file. Without its trace an empty
/// one stands there, so that its pages are not read.
std::string columns_of_run(const sqlite::Database& database, bool with_trace);

/// Gives a study a table of sessions where it has none. Those made before there were sessions, and those that
/// had none, are of the same schema without it.
void create_session_tables(const sqlite::Database& database);
bool has_table(const sqlite::Database& database, std::string_view name);

/// Throws OutputError where the path names another file by now, or none: what is written would be lost.
void require_at_path(const std::string& path, const sqlite::Database& database);

/// Throws what SQLite said as an InputError or an OutputError about this file.
[[noreturn]] void throw_as_ours(const std::string& path, const sqlite::Error& error);
/// The same for what it said to a write of a run: an InputError only where the file is at fault.
[[noreturn]] void throw_write_failure(const std::string& path, const sqlite::Error& error);

}  // namespace yosida::study
