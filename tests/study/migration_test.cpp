#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "study_files.hpp"

namespace yosida::study {
namespace {

using Mode = Store::Mode;

/// As the program of schema 1 made it.
constexpr const char* kSchema1 = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA application_id = 1500476260;
  PRAGMA user_version = 1;
  CREATE TABLE run (key TEXT NOT NULL PRIMARY KEY, method TEXT NOT NULL, seed INTEGER NOT NULL, spec TEXT NOT NULL,
                    status TEXT NOT NULL, outcome TEXT NOT NULL, trace TEXT NOT NULL, seconds REAL NOT NULL,
                    finished TEXT NOT NULL) STRICT;)";

constexpr const char* kTrace =
    R"({"iteration":[0,4],"lambda":[[0.5],[-0.25]],"train":["NaN",0.125],"validation":[1.0,0.1],"test":[null,3e-310],)"
    R"("primal_residual":[0.0,"Infinity"],"dual_residual":[0.0,"-Infinity"],"train_gradients":[0,1],)"
    R"("validation_gradients":[0,2],"hessian_products":[0,3],"loss_evaluations":[0,4],"inner_solves":[0,5],)"
    R"("factorisations":[0.0,6.5],"seconds":[0.0,0.75]})";

class Migration : public InFolder {
 protected:
  void make_schema_1(int runs) {
    sql(path, kSchema1);
    for (int i = 0; i < runs; ++i)
      sql(path,
          fmt::format(
              "INSERT INTO run VALUES ('{}', 'sho:alpha=0.05', {}, '{}', 'converged', '{{\"a\":{}}}', '{}', "
              "0.5, '2026-01-31T12:00:00Z')",
              spec(i).key(), i, spec(i).json, i, kTrace));
  }
  static SpecText spec(int i) {
    return {.method = "sho:alpha=0.05",
            .seed = static_cast<std::uint64_t>(i),
            .json = fmt::format("{{\"seed\":{}}}", i)};
  }

  static void expect_all(const std::vector<Record>& records, int runs) {
    ASSERT_EQ(records.size(), static_cast<std::size_t>(runs));
    for (int i = 0; i < runs; ++i) {
      Record expected;
      expected.spec = spec(i);
      expected.status = "converged";
      expected.outcome = fmt::format("{{\"a\":{}}}", i);
      expected.seconds = 0.5;
      expected.finished = "2026-01-31T12:00:00Z";
      expected.trace = trace();
      expect_same(records[static_cast<std::size_t>(i)], expected);
    }
  }
  static Trace trace() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    TracePoint first;
    first.lambda = Vector::Constant(1, 0.5);
    first.loss = {.train = std::nan(""), .validation = 1.0, .test = std::nullopt};
    TracePoint last;
    last.iteration = 4;
    last.lambda = Vector::Constant(1, -0.25);
    last.loss = {.train = 0.125, .validation = 0.1, .test = 3e-310};
    last.primal_residual = infinity;
    last.dual_residual = -infinity;
    last.work = {.train_gradients = 1,
                 .validation_gradients = 2,
                 .hessian_products = 3,
                 .loss_evaluations = 4,
                 .inner_solves = 5,
                 .factorisations = 6.5};
    last.seconds = 0.75;
    return {first, last};
  }
  std::string bytes(const std::string& file) const {
    std::ifstream stream(folder / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

TEST_F(Migration, EverythingArrivesAndTheOldFileIsKept) {
  make_schema_1(20);
  expect_all(Store(path, Mode::update).records(true), 20);
  EXPECT_EQ(sql(path, "PRAGMA user_version"), std::vector<std::string>{"2"});
  EXPECT_EQ(sql(path, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
  EXPECT_EQ(sql(path, "SELECT name FROM sqlite_master WHERE type = 'table'"),
            std::vector<std::string>{"run"});
  EXPECT_EQ(files(), (std::vector<std::string>{"study.db", "study.db.schema1"}));
  const std::string kept = path + ".schema1";
  EXPECT_EQ(sql(kept, "PRAGMA user_version"), std::vector<std::string>{"1"});
  EXPECT_EQ(sql(kept, "SELECT trace FROM run"), std::vector<std::string>(20, kTrace));
  expect_all(Store(kept, Mode::read).records(true), 20);
  // And it is a study like any other from then on.
  Store store(path, Mode::create);
  store.put(sample());
  EXPECT_EQ(store.records(true).size(), 21u);
}

TEST_F(Migration, ReadingChangesNothing) {
  make_schema_1(3);
  const std::string before = bytes("study.db");
  const Store store(path, Mode::read);
  expect_all(store.records(true), 3);
  const std::optional<Record> one = store.record(spec(1).key());
  ASSERT_TRUE(one);
  expect_same(one->trace, trace());
  EXPECT_EQ(bytes("study.db"), before);
  EXPECT_FALSE(std::filesystem::exists(path + ".schema1"));
}

TEST_F(Migration, AReaderOfTheOldSchemaReadsOnAfterIt) {
  make_schema_1(3);
  const Store reader(path, Mode::read);
  expect_all(reader.records(true), 3);
  { const Store migrates(path, Mode::update); }
  expect_all(reader.records(true), 3);
}

TEST_F(Migration, TheCopyHoldsWhatIsOnlyInTheWalFile) {
  make_schema_1(0);
  // A process that is killed leaves its last runs in the -wal file.
  const int code = in_child([&] {
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    const std::string insert = fmt::format(
        "INSERT INTO run VALUES ('{}', 'sho:alpha=0.05', 0, '{}', 'converged', '{{\"a\":0}}', '{}', 0.5, "
        "'2026-01-31T12:00:00Z')",
        spec(0).key(), spec(0).json, kTrace);
    ASSERT_EQ(sqlite3_exec(database, insert.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  });
  ASSERT_EQ(code, 0);
  ASSERT_GT(std::filesystem::file_size(path + "-wal"), 0u);
  expect_all(Store(path, Mode::update).records(true), 1);
  expect_all(Store(path + ".schema1", Mode::read).records(true), 1);
}

TEST_F(Migration, NoFileIsOverwritten) {
  make_schema_1(2);
  std::ofstream(path + ".schema1") << "something else";
  std::filesystem::create_directory(path + ".schema1-2");
  { const Store store(path, Mode::update); }
  EXPECT_EQ(bytes("study.db.schema1"), "something else");
  expect_all(Store(path + ".schema1-3", Mode::read).records(true), 2);
}

TEST_F(Migration, AnEqualCopyIsNotMadeTwice) {
  // So it looks where the process was killed between the copy and the end of the migration, or during the
  // copy.
  make_schema_1(2);
  const std::string old = bytes("study.db");
  { const Store store(path, Mode::update); }
  std::ofstream(path, std::ios::binary) << old;
  std::ofstream(path + ".schema1.part", std::ios::binary) << old.substr(0, old.size() / 2);
  expect_all(Store(path, Mode::update).records(true), 2);
  EXPECT_EQ(files(), (std::vector<std::string>{"study.db", "study.db.schema1"}));
}

TEST_F(Migration, BySeveralProcessesAtOnce) {
  make_schema_1(50);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 1;
      try {
        code = Store(path, Mode::update).records(true).size() == 50 ? 0 : 1;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "process %d: %s\n", i, error.what());
      }
      std::_Exit(code);
    }
    children.push_back(child);
  }
  expect_success(children);
  EXPECT_EQ(files(), (std::vector<std::string>{"study.db", "study.db.schema1"}));
  expect_all(Store(path, Mode::read).records(true), 50);
}

TEST_F(Migration, AFailureLeavesTheOldStudy) {
  make_schema_1(2);
  // A folder of the name that the migration needs.
  std::filesystem::create_directories(path + ".schema1.part/full");
  EXPECT_THROW(Store(path, Mode::update), InputError);
  expect_all(Store(path, Mode::read).records(true), 2);
}

}  // namespace
}  // namespace yosida::study
