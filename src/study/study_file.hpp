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

/// The columns of a run in the order of Record, whatever the schema of the file.
std::string columns_of_run(const sqlite::Database& database);

/// Throws what SQLite said as an InputError or an OutputError about this file.
[[noreturn]] void throw_as_ours(const std::string& path, const sqlite::Error& error);
/// What to say where a run could not be written.
std::string write_failure(const std::string& path, const sqlite::Error& error);

}  // namespace yosida::study
