#include "yosida/study/store.hpp"

#include <cmath>
#include <fstream>
#include <thread>

#include "study_files.hpp"

namespace yosida::study {
namespace {

using Mode = Store::Mode;

/// The contract of a store: the same for one in a file, one in memory and one in PostgreSQL.
class StoreContract : public InFolder, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    InFolder::SetUp();
    const std::string kind = GetParam();
    if (kind == "postgres") path = postgres_place();
    store = kind == "memory" ? std::make_unique<Store>() : std::make_unique<Store>(path, Mode::create);
  }
  void TearDown() override {
    store.reset();
    InFolder::TearDown();
  }
  std::unique_ptr<Store> store;
};

TEST_P(StoreContract, ARunComesBackToTheLastBit) {
  const Record run = sample("sho:alpha=0.05", 7);
  store->put(run);
  const std::vector<Record> all = store->records(true);
  ASSERT_EQ(all.size(), 1u);
  expect_same(all[0], run);
  const std::optional<Record> one = store->record(run.spec.key());
  ASSERT_TRUE(one);
  expect_same(*one, run);
}

TEST_P(StoreContract, AnyTextAndSeed) {
  Record run = sample();
  run.spec = {
      .method = "ütf-8 \"quoted\", 'too'\n", .seed = ~std::uint64_t{0}, .json = R"({"λ":[1,"\u0000"]})"};
  run.status = "failed";
  run.outcome = R"({"error":"日本語\n"})";
  run.program = run.data_sha256 = run.finished = "";
  run.trace.clear();
  run.seconds = 0.0;
  store->put(run);
  expect_same(store->records(true).at(0), run);
}

TEST_P(StoreContract, SessionsComeBackInTheirOrder) {
  EXPECT_TRUE(store->sessions().empty());
  store->put(
      Session{.started = "2026-02-01T00:00:00Z", .command = "b 'x' λ", .program = "1", .machine = "m"});
  store->put(Session{.started = "2026-01-01T00:00:00Z", .command = "a", .program = "2", .machine = ""});
  const std::vector<Session> sessions = store->sessions();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].command, "b 'x' λ");
  EXPECT_EQ(sessions[0].machine, "m");
  EXPECT_EQ(sessions[1].started, "2026-01-01T00:00:00Z");
  EXPECT_EQ(sessions[1].program, "2");
  EXPECT_TRUE(store->records(true).empty());
}

TEST_P(StoreContract, HasWhatWasPut) {
  const Record run = sample();
  EXPECT_FALSE(store->has(run.spec.key()));
  store->put(run);
  EXPECT_TRUE(store->has(run.spec.key()));
  EXPECT_FALSE(store->has(run.spec.key().substr(0, 63)));
}

TEST_P(StoreContract, ARunThatIsThereStaysAsItIs) {
  const Record first = sample();
  Record second = first;
  second.status = "diverged";
  second.trace.clear();
  store->put(first);
  store->put(second);
  ASSERT_EQ(store->records(true).size(), 1u);
  expect_same(store->records(true)[0], first);
}

TEST_P(StoreContract, TheOrderIsThatOfMethodAndSeed) {
  const std::uint64_t large = ~std::uint64_t{0};
  for (const auto& [method, seed] : {std::pair("b", large),
                                     {"a", std::uint64_t{10}},
                                     {"b", std::uint64_t{1}},
                                     {"a:x=1", std::uint64_t{0}},
                                     {"a", std::uint64_t{9}}})
    store->put(sample(method, seed));
  std::vector<std::pair<std::string, std::uint64_t>> order;
  for (const Record& record : store->records(false)) order.emplace_back(record.spec.method, record.spec.seed);
  EXPECT_EQ(order, (std::vector<std::pair<std::string, std::uint64_t>>{
                       {"a", 9}, {"a", 10}, {"a:x=1", 0}, {"b", 1}, {"b", large}}));
}

TEST_P(StoreContract, TracesOnlyWhereAskedFor) {
  store->put(sample());
  EXPECT_TRUE(store->records(false).at(0).trace.empty());
  EXPECT_FALSE(store->records(true).at(0).trace.empty());
}

TEST_P(StoreContract, ByTheStartOfAKey) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) store->put(sample("sho", seed));
  const std::string key = sample("sho", 42).spec.key();
  std::string upper = key;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  for (const std::string& prefix : {key, key.substr(0, 12), upper.substr(0, 12)}) {
    const std::optional<Record> found = store->record(prefix);
    ASSERT_TRUE(found) << prefix;
    EXPECT_EQ(found->spec.seed, 42u);
  }
  EXPECT_FALSE(store->record(key + "0"));
  EXPECT_FALSE(store->record("not hexadecimal"));
  // Of 100 keys, some share their first digit.
  expect_throw_with<InputError>([&] { store->record(""); }, {"several runs", "and more"});
}

TEST_P(StoreContract, AmbiguousKeysAreNamed) {
  std::vector<std::string> keys;
  for (std::uint64_t seed = 0; keys.size() < 2; ++seed) {
    const Record run = sample("sho", seed);
    if (run.spec.key()[0] != 'a') continue;
    keys.push_back(run.spec.key());
    store->put(run);
  }
  const std::string message = expect_throw_with<InputError>([&] { store->record("a"); }, {keys[0], keys[1]});
  EXPECT_EQ(message.find("and more"), std::string::npos);
}

TEST_P(StoreContract, RemovedRunsAreGone) {
  std::vector<std::string> keys;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    store->put(sample("sho", seed));
    keys.push_back(sample("sho", seed).spec.key());
  }
  store->remove({keys[1], keys[3], std::string(64, '0')});
  EXPECT_TRUE(store->has(keys[0]));
  EXPECT_FALSE(store->has(keys[1]));
  EXPECT_EQ(store->records(true).size(), 2u);
}

TEST_P(StoreContract, AClaimIsHeldByOne) {
  const std::string key = sample().spec.key();
  std::unique_ptr<Claim> claim = store->claim(key);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(store->claim(key));
  EXPECT_TRUE(store->claim(sample("sho", 1).spec.key()));
  claim.reset();
  EXPECT_TRUE(store->claim(key));
}

TEST_P(StoreContract, AClaimMayOutliveItsStore) {
  const std::unique_ptr<Claim> claim = store->claim(sample().spec.key());
  store.reset();
  EXPECT_TRUE(claim);
}

TEST_P(StoreContract, BadRunsAreRefused) {
  Record run = sample();
  run.outcome = "{";
  expect_throw_with<InputError>([&] { store->put(run); }, {"sho", "outcome", "JSON"});
  run = sample();
  run.spec.json = "\"\xff\"";
  expect_throw_with<InputError>([&] { store->put(run); }, {"spec", "UTF-8"});
  run = sample();
  run.seconds = std::nan("");
  expect_throw_with<InputError>([&] { store->put(run); }, {"seconds", "finite"});
  expect_throw_with<InputError>([&] { store->claim("short"); }, {"short", "sha256"});
  EXPECT_TRUE(store->records(false).empty());
}

TEST_P(StoreContract, FromSeveralThreads) {
  constexpr std::uint64_t kEach = 25;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const Record run = sample("sho", t * kEach + i);
        const auto claim = store->claim(run.spec.key());
        if (claim && !store->has(run.spec.key())) store->put(run);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->records(false).size(), 4 * kEach);
}

TEST_P(StoreContract, PlansComeBack) {
  EXPECT_TRUE(store->planned().empty());
  const std::vector<std::string> keys{sample().spec.key(), sample("sho", 1).spec.key()};
  store->put(Session{}, {"old"});
  store->put(Session{}, keys);
  EXPECT_EQ(store->planned(), keys);
}

/// Of stores that another may open at the same time.
class SharedStoreContract : public StoreContract {};

TEST_P(SharedStoreContract, CopiesAreEqual) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) store->put(sample("sho", seed));
  store->put(Session{.started = "2026-02-01T00:00:00Z", .command = "c", .program = "1", .machine = "m"},
             {"k"});
  Store copy((folder / "copy.db").string(), Mode::create);
  copy.put(sample("sho", 3));
  const CopyReport there = copy_study(Store(path, Mode::read), copy);
  EXPECT_EQ(there.copied, 4);
  EXPECT_EQ(there.there_before, 1);
  EXPECT_EQ(copy.sessions().at(0).command, "c");
  EXPECT_EQ(copy.planned(), std::vector<std::string>{"k"});
  // And back to where only one of them is left.
  store->remove({sample("sho", 0).spec.key(), sample("sho", 1).spec.key()});
  EXPECT_EQ(copy_study(Store((folder / "copy.db").string(), Mode::read), *store).copied, 2);
  const std::vector<Record> all = store->records(true);
  ASSERT_EQ(all.size(), 5u);
  for (std::uint64_t seed = 0; seed < 5; ++seed) expect_same(all[seed], sample("sho", seed));
  EXPECT_EQ(store->sessions().size(), 1u);
}

TEST_P(SharedStoreContract, ASnapshotIsOfOneMoment) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) store->put(sample("sho", seed));
  const Store reader(path, Mode::read);
  reader.in_snapshot([&] {
    store->put(sample("sho", 3));
    EXPECT_EQ(reader.records(false).size(), 3u);
    EXPECT_FALSE(reader.has(sample("sho", 3).spec.key()));
  });
  EXPECT_TRUE(reader.has(sample("sho", 3).spec.key()));
  EXPECT_THROW(reader.in_snapshot([] { throw InputError("x"); }), InputError);
  store->put(sample("sho", 4));
  EXPECT_TRUE(reader.has(sample("sho", 4).spec.key()));
}

TEST_P(SharedStoreContract, OneThatIsReadIsNotWritten) {
  Store reader(path, Mode::read);
  EXPECT_THROW(reader.put(sample()), std::logic_error);
  EXPECT_THROW(reader.remove({sample().spec.key()}), std::logic_error);
  EXPECT_THROW(reader.claim(sample().spec.key()), std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::Values("file", "memory"));
INSTANTIATE_TEST_SUITE_P(Stores, SharedStoreContract, ::testing::Values("file"));
// By tests/study/postgres_test.py, which starts a server.
INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract, ::testing::Values("postgres"));
INSTANTIATE_TEST_SUITE_P(Postgres, SharedStoreContract, ::testing::Values("postgres"));

// ---- of PostgreSQL only ----

TEST(PostgresStore, MustBeThereUnlessItIsMade) {
  const std::string place = postgres_place();
  for (const Mode mode : {Mode::read, Mode::update})
    expect_throw_with<InputError>([&] { Store(place, mode); },
                                  {"the database has no study", "compare --study"});
  Store(place, Mode::create).put(sample());
  expect_same(Store(place, Mode::update).records(true).at(0), sample());
  EXPECT_GT(Store(place, Mode::read).size_in_bytes(), 0);
}

TEST(PostgresStore, ATextThatTheServerCannotKeepIsRefused) {
  Store store(postgres_place(), Mode::create);
  Record run = sample();
  run.program = std::string("a\0b", 3);
  expect_throw_with<InputError>([&] { store.put(run); }, {"text"});
  store.put(sample());
  EXPECT_EQ(store.records(false).size(), 1u);
}

TEST(PostgresStore, AServerThatIsNotThereIsNamed) {
  expect_throw_with<InputError>(
      [] { Store("postgresql://me:secret@/x?host=/nowhere", Mode::create); },
      {"postgresql://me@/x?host=/nowhere: the database cannot be opened", "/nowhere"});
}

// ---- of files only ----

class StoreFile : public InFolder {};

TEST_F(StoreFile, IsThereAgainWhenOpenedAgain) {
  Store(path, Mode::create).put(sample());
  expect_same(Store(path, Mode::read).records(true).at(0), sample());
  expect_same(Store(path, Mode::update).records(true).at(0), sample());
  expect_same(Store(path, Mode::create).records(true).at(0), sample());
  EXPECT_EQ(files(), std::vector<std::string>{"study.db"});
}

TEST_F(StoreFile, HoldsWhatTheDocumentsSay) {
  Store(path, Mode::create).put(sample("sho", 5));
  EXPECT_EQ(sql(path, "PRAGMA application_id"), std::vector<std::string>{std::to_string(0x596f7364)});
  EXPECT_EQ(sql(path, "PRAGMA user_version"), std::vector<std::string>{"2"});
  EXPECT_EQ(sql(path, "PRAGMA journal_mode"), std::vector<std::string>{"wal"});
  EXPECT_EQ(sql(path, "SELECT key || method || seed || status || typeof(trace) FROM run"),
            std::vector<std::string>{sample("sho", 5).spec.key() + "sho5convergedblob"});
}

TEST_F(StoreFile, TwoStoresSeeEachOther) {
  Store first(path, Mode::create);
  Store second(path, Mode::create);
  first.put(sample("sho", 1));
  second.put(sample("sho", 2));
  EXPECT_TRUE(second.has(sample("sho", 1).spec.key()));
  EXPECT_EQ(first.records(false).size(), 2u);
}

TEST_F(StoreFile, RemovingGivesBackTheSpace) {
  Store store(path, Mode::create);
  std::vector<std::string> keys;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Record run = sample("sho", seed);
    run.outcome = "\"" + std::string(10'000, 'x') + "\"";
    store.put(run);
    keys.push_back(run.spec.key());
  }
  store.remove(keys);
  EXPECT_LT(std::filesystem::file_size(path), 50'000u);
  EXPECT_EQ(std::filesystem::file_size(path + "-wal"), 0u);
}

TEST_F(StoreFile, OneThatIsReadIsNotWritten) {
  { Store(path, Mode::create).put(sample()); }
  Store store(path, Mode::read);
  EXPECT_THROW(store.put(sample("sho", 1)), std::logic_error);
  EXPECT_THROW(store.remove({sample().spec.key()}), std::logic_error);
  EXPECT_THROW(store.claim(sample().spec.key()), std::logic_error);
}

TEST_F(StoreFile, ABusyStoreIsWaitedFor) {
  Store store(path, Mode::create);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  });
  const auto start = std::chrono::steady_clock::now();
  store.put(sample());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  release.join();
  sqlite3_close(other);
  EXPECT_TRUE(store.has(sample().spec.key()));
}

TEST_F(StoreFile, OneThatIsRemovedOrReplacedTakesNoMoreRuns) {
  Store store(path, Mode::create);
  store.put(sample());
  std::filesystem::rename(path, folder / "elsewhere.db");
  const auto put = [&] { store.put(sample("sho", 1)); };
  expect_throw_with<OutputError>(put, {path, "removed, renamed or replaced"});
  std::ofstream(path) << "another";
  expect_throw_with<OutputError>(put, {path, "removed, renamed or replaced"});
  std::filesystem::rename(folder / "elsewhere.db", path);
  put();
  EXPECT_EQ(store.records(true).size(), 2u);
}

TEST_F(StoreFile, WithoutTracesNoneIsReadToSortTheRuns) {
  Store store(path, Mode::create);
  store.put(sample());
  sql(path, "UPDATE run SET trace = zeroblob(20000000)");
  sqlite3_memory_highwater(1);
  EXPECT_EQ(store.records(false).size(), 1u);
  const sqlite3_int64 most = sqlite3_memory_highwater(0);
  EXPECT_GT(most, 0);
  // The cache of pages is 2 MB, and all but the trace a few KB.
  EXPECT_LT(most, 8'000'000);
}

TEST_F(StoreFile, ASnapshotIsOfOneMoment) {
  Store writer(path, Mode::create);
  for (std::uint64_t seed = 0; seed < 3; ++seed) writer.put(sample("sho", seed));
  const Store reader(path, Mode::read);
  reader.in_snapshot([&] {
    // Also where nothing was read before.
    sql(path, "DELETE FROM run WHERE seed = 1");
    writer.put(sample("sho", 3));
    EXPECT_EQ(reader.records(false).size(), 3u);
    const std::optional<Record> run = reader.record(sample("sho", 1).spec.key());
    ASSERT_TRUE(run);
    expect_same(*run, sample("sho", 1));
    EXPECT_FALSE(reader.has(sample("sho", 3).spec.key()));
  });
  EXPECT_FALSE(reader.has(sample("sho", 1).spec.key()));
  EXPECT_TRUE(reader.has(sample("sho", 3).spec.key()));
  // After an error, too.
  EXPECT_THROW(reader.in_snapshot([] { throw InputError("x"); }), InputError);
  writer.put(sample("sho", 4));
  EXPECT_TRUE(reader.has(sample("sho", 4).spec.key()));
  // What is put in a snapshot would be lost with it.
  EXPECT_THROW(writer.in_snapshot([] {}), std::logic_error);
}

TEST_F(StoreFile, ProcessesThatMakeItAtTheSameMoment) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 0;
      try {
        Store(path, Mode::create).put(sample("sho", static_cast<std::uint64_t>(i)));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "process %d: %s\n", i, error.what());
        code = 1;
      }
      std::_Exit(code);
    }
    children.push_back(child);
  }
  expect_success(children);
  EXPECT_EQ(Store(path, Mode::read).records(true).size(), static_cast<std::size_t>(kProcesses));
  EXPECT_EQ(sql(path, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
}

TEST_F(StoreFile, AnEmptyFileIsANewStudy) {
  std::ofstream(path).flush();
  Store(path, Mode::create).put(sample());
  EXPECT_EQ(Store(path, Mode::read).records(true).size(), 1u);
}

TEST_F(StoreFile, ALinkLeadsToTheSameClaims) {
  Store store(path, Mode::create);
  const std::string link = (folder / "link.db").string();
  std::filesystem::create_symlink(path, link);
  Store linked(link, Mode::update);
  const auto claim = store.claim(sample().spec.key());
  EXPECT_FALSE(linked.claim(sample().spec.key()));
}

TEST_F(StoreFile, NamesThatSqliteWouldTakeForSomethingElse) {
  for (const char* name : {":memory:", "file:x?mode=memory", "100% #1?.db", "für Zürich.db"}) {
    const std::string file = (folder / name).string();
    Store(file, Mode::create).put(sample());
    EXPECT_TRUE(std::filesystem::is_regular_file(file)) << name;
    EXPECT_TRUE(Store(file, Mode::read).has(sample().spec.key())) << name;
  }
  std::filesystem::current_path(folder);
  Store(":memory:", Mode::update).put(sample("sho", 1));
  EXPECT_EQ(Store((folder / ":memory:").string(), Mode::read).records(false).size(), 2u);
}

}  // namespace
}  // namespace yosida::study
