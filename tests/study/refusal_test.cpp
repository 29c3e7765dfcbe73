#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "study_files.hpp"

namespace yosida::study {
namespace {

using Mode = Store::Mode;

/// Files that are no studies, cannot be written or are damaged.
class Refusal : public InFolder {
 protected:
  void expect_refused(Mode mode, const std::vector<std::string>& parts) const {
    const std::string message = expect_throw_with<InputError>([&] { Store(path, mode); }, parts);
    EXPECT_TRUE(message.starts_with(path)) << message;
  }
  void expect_refused_always(const std::vector<std::string>& parts) const {
    for (const Mode mode : {Mode::read, Mode::update, Mode::create}) expect_refused(mode, parts);
  }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string content() const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

TEST_F(Refusal, NoFile) {
  expect_refused(Mode::read, {"no such file"});
  expect_refused(Mode::update, {"no such file"});
  EXPECT_TRUE(files().empty());
  path = (folder / "no folder" / "study.db").string();
  expect_refused(Mode::create, {"no folder", "does not exist"});
  EXPECT_THROW(Store("", Mode::create), InputError);
}

TEST_F(Refusal, ADirectoryOrADevice) {
  std::filesystem::create_directory(path);
  expect_refused_always({"is a directory"});
  path = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_refused_always({"not a plain file"});
}

TEST_F(Refusal, AnEmptyFileIsNoStudyToRead) {
  write("");
  expect_refused(Mode::read, {"is empty"});
  expect_refused(Mode::update, {"is empty"});
}

TEST_F(Refusal, AnotherKindOfFile) {
  for (const std::string& bytes :
       {std::string("a"), std::string("key,method\n"), std::string(100'000, 'x')}) {
    write(bytes);
    expect_refused_always({"not a study"});
    EXPECT_TRUE(content() == bytes) << "the file has changed";
  }
  EXPECT_EQ(files(), std::vector<std::string>{"study.db"});
}

TEST_F(Refusal, ADatabaseOfAnotherProgram) {
  sql(path, "CREATE TABLE run (key TEXT)");
  const std::string before = content();
  expect_refused_always({"another program"});
  EXPECT_TRUE(content() == before) << "the file has changed";
  sql(path, "PRAGMA application_id = 7; PRAGMA user_version = 2");
  expect_refused_always({"another program"});
}

TEST_F(Refusal, AnEmptyDatabaseIsNewOnlyToThoseWhoCreate) {
  sql(path, "CREATE TABLE x (y); DROP TABLE x");
  expect_refused(Mode::read, {"empty database"});
  expect_refused(Mode::update, {"empty database"});
  Store(path, Mode::create).put(sample());
}

TEST_F(Refusal, ANewerSchema) {
  { const Store store(path, Mode::create); }
  sql(path, "PRAGMA user_version = 3");
  expect_refused_always({"study of schema 3, this program knows up to 2; use a newer yosida"});
}

TEST_F(Refusal, AStudyWithoutItsTable) {
  { const Store store(path, Mode::create); }
  sql(path, "DROP TABLE run");
  expect_refused_always({"is damaged", "no table run"});
}

TEST_F(Refusal, ARunThatCouldNotBeReadAgain) {
  Store store(path, Mode::create);
  Record run = sample();
  run.outcome = std::string(100, '[') + std::string(100, ']');
  expect_throw_with<InputError>([&] { store.put(run); }, {"sho", "outcome", "nested more than 64 deep"});
  run = sample(std::string(5000, 'x'));
  expect_throw_with<InputError>([&] { store.put(run); }, {"method", "5000"});
  EXPECT_TRUE(store.keys().empty());
  run = sample();
  run.outcome = std::string(64, '[') + std::string(64, ']');
  store.put(run);
  expect_same(store.records(true).at(0), run);
}

TEST_F(Refusal, ADamagedFile) {
  {
    Store store(path, Mode::create);
    for (std::uint64_t seed = 0; seed < 40; ++seed) store.put(sample("sho", seed));
  }
  const std::string whole = content();
  ASSERT_GT(whole.size(), 20'000u);
  // Cut off, and with every page but the first overwritten.
  write(whole.substr(0, 6000));
  expect_throw_with<InputError>([&] { Store(path, Mode::read).records(true); }, {path, "damaged"});
  write(whole.substr(0, 4096) + std::string(whole.size() - 4096, '\x5a'));
  expect_throw_with<InputError>([&] { Store(path, Mode::read).records(true); }, {path, "damaged"});
  expect_throw_with<InputError>([&] { Store(path, Mode::update).put(sample("sho", 99)); },
                                {path, "is damaged", ".recover"});
}

TEST_F(Refusal, ARunForAFileThatIsNoStudyAnyLonger) {
  Store store(path, Mode::create);
  sql(path, "ALTER TABLE run RENAME COLUMN program TO programme");
  expect_throw_with<InputError>([&] { store.put(sample()); }, {path, "is damaged", "program"});
  sql(path, "DROP TABLE run");
  expect_throw_with<InputError>([&] { store.put(sample()); }, {path, "is damaged", "no such table"});
}

TEST_F(Refusal, ARunWhoseKeyIsNotThatOfItsSpec) {
  Store(path, Mode::create).put(sample());
  sql(path, "UPDATE run SET spec = '{}'");
  const Store store(path, Mode::read);
  const std::string key = sample().spec.key();
  expect_throw_with<InputError>([&] { store.records(false); }, {path, key, "is damaged", "spec"});
  expect_throw_with<InputError>([&] { store.record(key); }, {path, key, "is damaged", "spec"});
}

TEST_F(Refusal, AFileOfTwoNamesIsOnlyRead) {
  Store(path, Mode::create).put(sample());
  const std::string other = (folder / "other.db").string();
  std::filesystem::create_hard_link(path, other);
  expect_refused(Mode::update, {"hard links", "copy"});
  expect_refused(Mode::create, {"hard links", "copy"});
  expect_same(Store(other, Mode::read).records(true).at(0), sample());
  std::filesystem::remove(other);
  Store(path, Mode::update).put(sample("sho", 1));
}

TEST_F(Refusal, WhereThereIsNoWal) {
  // This file system of SQLite's has no shared memory, and says so only in the answer to the pragma.
  EXPECT_EQ(in_child([&] {
              sqlite3_vfs_register(sqlite3_vfs_find("unix-none"), 1);
              expect_refused(Mode::create, {"WAL", "delete"});
            }),
            0);
}

TEST_F(Refusal, ADamagedTraceNamesItsRun) {
  Store(path, Mode::create).put(sample());
  for (const char* blob : {"x'00'", "substr(trace, 1, length(trace) - 5)", "x'789c030000000001'"}) {
    sql(path, std::string("UPDATE run SET trace = ") + blob);
    const Store store(path, Mode::read);
    EXPECT_EQ(store.records(false).size(), 1u);
    expect_throw_with<InputError>([&] { store.records(true); }, {path, sample().spec.key(), "trace"});
  }
}

// ---- rights: tried as a user who has none, since root may do all ----

int as_nobody(const std::function<void()>& action) {
  return in_child([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0)
      throw std::runtime_error("setresuid");
    action();
  });
}

TEST_F(Refusal, AFolderThatCannotBeWritten) {
  Store(path, Mode::create).put(sample());
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  EXPECT_EQ(as_nobody([&] {
              expect_refused(Mode::create, {folder.string(), "cannot be written"});
              expect_refused(Mode::update, {folder.string(), "cannot be written"});
              // Reading needs no side file where nobody writes.
              expect_same(Store(path, Mode::read).records(true).at(0), sample());
              path = (folder / "other.db").string();
              expect_refused(Mode::create, {folder.string(), "cannot be written"});
            }),
            0);
}

TEST_F(Refusal, AFileThatCannotBeWritten) {
  Store(path, Mode::create).put(sample());
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(as_nobody([&] {
              expect_refused(Mode::create, {"cannot be written"});
              expect_refused(Mode::update, {"cannot be written"});
              expect_same(Store(path, Mode::read).records(true).at(0), sample());
            }),
            0);
}

TEST_F(Refusal, AFileThatCannotBeRead) {
  Store(path, Mode::create).put(sample());
  ASSERT_EQ(::chmod(path.c_str(), 0000), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(as_nobody([&] { expect_refused_always({"cannot be"}); }), 0);
}

TEST_F(Refusal, RunsOfTheKilledInAFolderThatCannotBeWritten) {
  ASSERT_EQ(in_child([&] {
              static Store store(path, Mode::create);  // never closed
              store.put(sample());
            }),
            0);
  ASSERT_GT(std::filesystem::file_size(path + "-wal"), 0u);
  ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  // With both side files there, SQLite reads them.
  EXPECT_EQ(as_nobody([&] { EXPECT_EQ(Store(path, Mode::read).records(true).size(), 1u); }), 0);
  // Without the -shm file it would have to be made.
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  std::filesystem::remove(path + "-shm");
  ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  EXPECT_EQ(as_nobody([&] { expect_refused(Mode::read, {"-wal", "copy both files"}); }), 0);
  // And where it can be made, all is there.
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  expect_same(Store(path, Mode::read).records(true).at(0), sample());
}

// ---- a full disk, played by a limit on the size of files; kill_test.py has one with ENOSPC ----

Record large(std::uint64_t seed) {
  Record run = sample("sho", seed);
  run.outcome = "\"" + std::string(20'000, 'x') + "\"";
  return run;
}

void limit_file_size(rlim_t bytes) {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_F(Refusal, AFullDiskLosesNothing) {
  EXPECT_EQ(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit then fails with EFBIG
              Store store(path, Mode::create);
              store.put(large(0));
              limit_file_size(200'000);
              std::uint64_t stored = 1;
              const std::string message = expect_throw_with<OutputError>(
                  [&] {
                    for (; stored < 100; ++stored) store.put(large(stored));
                  },
                  {path, "cannot be written", "start again", "are kept"});
              EXPECT_GT(stored, 3u);
              EXPECT_EQ(store.records(true).size(), stored);
              // With room again, the same store goes on.
              limit_file_size(RLIM_INFINITY);
              store.put(large(stored));
              EXPECT_EQ(store.records(true).size(), stored + 1);
            }),
            0);
  EXPECT_EQ(sql(path, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
  const std::vector<Record> records = Store(path, Mode::read).records(true);
  ASSERT_GT(records.size(), 4u);
  for (std::size_t i = 0; i < records.size(); ++i) expect_same(records[i], large(i));
}

TEST_F(Refusal, AFullDiskAtTheStart) {
  EXPECT_EQ(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              limit_file_size(0);
              expect_throw_with<OutputError>([&] { Store(path, Mode::create); }, {path, "disk is full"});
              limit_file_size(RLIM_INFINITY);
              Store(path, Mode::create).put(sample());
            }),
            0);
}

}  // namespace
}  // namespace yosida::study
