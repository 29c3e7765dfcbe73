#include "data/sha256.hpp"

#include <fstream>

#include "study_files.hpp"

namespace yosida::study {
namespace {

class Sha256 : public InFolder {};

// The examples of FIPS 180-2, appendix B, and the empty text.
constexpr const char* kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kOfMillion = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST_F(Sha256, OfText) {
  EXPECT_EQ(sha256_of_text(""), kOfNothing);
  EXPECT_EQ(sha256_of_text("abc"), kOfAbc);
  EXPECT_EQ(sha256_of_text(std::string(1'000'000, 'a')), kOfMillion);
}

TEST_F(Sha256, OfAFileInBlocks) {
  for (const auto& [bytes, hash] :
       {std::pair(std::size_t{0}, kOfNothing), {std::size_t{1'000'000}, kOfMillion}}) {
    const std::string file = (folder / std::to_string(bytes)).string();
    std::ofstream(file) << std::string(bytes, 'a');
    EXPECT_EQ(sha256_of_file(file), hash);
  }
}

TEST_F(Sha256, OfWhatCannotBeRead) {
  expect_throw_with<InputError>([&] { sha256_of_file(path); }, {path, "no such file"});
  expect_throw_with<InputError>([&] { sha256_of_file(folder.string()); }, {folder.string(), "directory"});
}

TEST_F(Sha256, NamesARun) { EXPECT_EQ((SpecText{.method = "sho", .seed = 3, .json = "abc"}.key()), kOfAbc); }

}  // namespace
}  // namespace yosida::study
