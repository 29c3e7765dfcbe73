#include "study/place.hpp"

#include "study/network_file_system.hpp"
#include "study_files.hpp"

namespace yosida::study {
namespace {

TEST(Place, IsAFileUnlessItIsAUri) {
  for (const char* file : {"study.db", "/tmp/postgresql", "./postgresql://x", ""}) {
    EXPECT_FALSE(is_database(file)) << file;
    EXPECT_EQ(shown_place(file), file);
  }
  EXPECT_TRUE(is_database("postgresql://host/db"));
  EXPECT_TRUE(is_database("postgres://host/db"));
}

TEST(Place, PasswordsAreNotShown) {
  EXPECT_EQ(shown_place("postgresql://me:se:c@ret@host:5432/db?a=b"), "postgresql://me@host:5432/db?a=b");
  EXPECT_EQ(shown_place("postgresql://me:se/cret@host/db"), "postgresql://me@host/db");
  EXPECT_EQ(shown_place("postgresql://host:5432/db?password=x&study=s&sslpassword=y"),
            "postgresql://host:5432/db?study=s");
  EXPECT_EQ(shown_place("--study=postgresql://me:secret@host/db"), "--study=postgresql://me@host/db");
  EXPECT_EQ(shown_place("--methods=a:b=c@d"), "--methods=a:b=c@d");
}

TEST(Place, TheStudyIsNotForLibpq) {
  const DatabasePlace named = database_place("postgresql://host/db?sslmode=require&study=prices");
  EXPECT_EQ(named.connection, "postgresql://host/db?sslmode=require");
  EXPECT_EQ(named.study, "prices");
  EXPECT_EQ(database_place("postgresql://host/db?study=prices").connection, "postgresql://host/db");
  EXPECT_EQ(database_place("postgresql:///").study, "yosida");
  for (const char* name : {"", "a b", "1a", "pg_x", "a\"; DROP TABLE run; --", "Ä", "A"})
    expect_throw_with<InputError>([&] { database_place(std::string("postgresql://u:p@h/d?study=") + name); },
                                  {"postgresql://u@h/d", "must be a name"});
  EXPECT_THROW(database_place("postgresql://h/d?study=" + std::string(64, 'a')), InputError);
}

TEST(Place, TitlesAreShort) {
  EXPECT_EQ(title_of("/tmp/a.study"), "a.study");
  EXPECT_EQ(title_of("postgresql://host/db?study=prices"), "prices");
}

class NetworkFile : public InFolder {
 protected:
  void TearDown() override {
    ask_for_file_systems(nullptr);
    InFolder::TearDown();
  }
};

TEST_F(NetworkFile, IsNotWritten) {
  { Store(path, Store::Mode::create).put(sample()); }
  ask_for_file_systems([](const std::string&) -> std::uint64_t { return 0x6969; });
  const std::string another = (folder / "another.db").string();
  for (const auto& [file, mode] :
       {std::pair(path, Store::Mode::update), {path, Store::Mode::create}, {another, Store::Mode::create}})
    expect_throw_with<InputError>([&, &name = file, how = mode] { Store(name, how); },
                                  {file, "NFS", "--study postgresql://", "study copy " + file});
  EXPECT_FALSE(std::filesystem::exists(another));
}

TEST_F(NetworkFile, IsReadWithoutATrace) {
  { Store(path, Store::Mode::create).put(sample()); }
  ask_for_file_systems([](const std::string&) -> std::uint64_t { return 0xfe534d42; });
  const Store reader(path, Store::Mode::read);
  expect_same(reader.records(true).at(0), sample());
  EXPECT_EQ(files(), std::vector<std::string>{"study.db"});
  ask_for_file_systems(nullptr);
  Store writer(path, Store::Mode::create);
  writer.put(sample("sho", 1));
  ask_for_file_systems([](const std::string&) -> std::uint64_t { return 0xfe534d42; });
  expect_throw_with<InputError>([&] { Store(path, Store::Mode::read); }, {"-wal", "network file system"});
}

TEST_F(NetworkFile, DisksOfThisMachineAreNone) {
  EXPECT_EQ(network_file_system("/proc"), "");
  EXPECT_EQ(network_file_system("/nowhere"), "");
}

}  // namespace
}  // namespace yosida::study
