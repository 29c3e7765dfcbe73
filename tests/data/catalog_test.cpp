#include "yosida/data/catalog.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "yosida/error.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

const CatalogEntry kEntry{
    .name = "made-up",
    .title = "",
    .shape = "",
    .licence = "",
    .origin = Origin::by_hand,
    .package = "",
    .advice = "Ask for it.",
    .folder = "inside",
    .files = {{"abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}};

/// Two folders, and files in them.
class Catalog : public testing::Test {
 protected:
  Catalog() {
    std::string name = (fs::temp_directory_path() / "yosida-catalog-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root = name;
  }
  ~Catalog() override { fs::remove_all(root); }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  std::string message(const std::vector<fs::path>& folders) const {
    try {
      require_data(kEntry, folders);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  fs::path root;
};

TEST_F(Catalog, LooksInTheFoldersInTheirOrderAndInTheEntrysOwnFirst) {
  write("second/inside/abc", "abc");
  EXPECT_EQ(require_data(kEntry, {root / "first", root / "second"})[0], root / "second/inside/abc");
  write("first/abc", "abc");
  EXPECT_EQ(require_data(kEntry, {root / "first", root / "second"})[0], root / "first/abc");
  write("first/inside/abc", "abc");
  EXPECT_EQ(require_data(kEntry, {root / "first", root / "second"})[0], root / "first/inside/abc");
}

TEST_F(Catalog, MissingFilesComeWithAdvice) {
  EXPECT_EQ(message({root}), "data set made-up: abc not found. Ask for it.");
  fs::create_directories(root / "abc");
  EXPECT_EQ(message({root}), "data set made-up: abc not found. Ask for it.") << "a folder is no file";
}

TEST_F(Catalog, WrongFilesAreNamedWithWhatWasExpected) {
  write("abc", "ab");
  EXPECT_NE(message({root}).find("has 2 bytes: must have 3"), std::string::npos) << message({root});
  write("abc", "abd");
  EXPECT_NE(message({root}).find("must be ba7816bf8f01cfea"), std::string::npos) << message({root});
}

TEST_F(Catalog, TheFoldersAreThoseOfFlagEnvironmentAndCache) {
  ::setenv("YOSIDA_DATA", "/of/the/environment", 1);
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(data_folders("."), (std::vector<fs::path>{".", "/of/the/environment", "/cache/yosida"}));
  EXPECT_THROW(data_folders("/not/there"), InputError);
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/me", 1);
  ::setenv("YOSIDA_DATA", "", 1);
  EXPECT_EQ(data_folders(""), (std::vector<fs::path>{"/home/me/.cache/yosida"}));
  ::unsetenv("HOME");
  EXPECT_TRUE(data_folders("").empty());
  EXPECT_THROW(data_cache(), InputError);
}

TEST_F(Catalog, EntriesAreComplete) {
  std::set<std::string> names;
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.title.empty() || entry.shape.empty() || entry.licence.empty() || entry.advice.empty());
    EXPECT_EQ(entry.files.empty(), entry.origin == Origin::built_in) << entry.name;
    EXPECT_EQ(entry.package.empty(), entry.origin == Origin::built_in || entry.origin == Origin::by_hand);
    for (const CatalogFile& file : entry.files) {
      EXPECT_EQ(file.sha256.size(), 64U) << file.name;
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos) << file.name;
    }
  }
  EXPECT_THROW(catalog_entry("minst"), InputError);
}

}  // namespace
}  // namespace yosida
