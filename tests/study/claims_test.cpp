#include <chrono>
#include <csignal>
#include <thread>

#include "study_files.hpp"

namespace yosida::study {
namespace {

using Mode = Store::Mode;

class Claims : public InFolder {
 protected:
  const std::string key = sample().spec.key();
  const std::string side_file = "study.db-claims";
  bool has_side_file() const { return std::filesystem::exists(folder / side_file); }
};

/// A process that claims a run of the study and then waits to be killed.
class Holder {
 public:
  Holder(const std::string& path, const std::string& key) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("pipe");
    child_ = ::fork();
    if (child_ == 0) {
      Store store(path, Mode::create);
      const auto claim = store.claim(key);
      const char answer = claim ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) != 1) std::_Exit(1);
      while (true) ::pause();
    }
    if (::read(ready[0], &answer_, 1) != 1) throw std::runtime_error("read");
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Holder() { kill(); }
  bool has_claim() const { return answer_ == 'y'; }
  void kill() {
    if (child_ == 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
  char answer_ = '?';
};

/// What holds of claims wherever a study lies.
class AnyClaims : public Claims, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Claims::SetUp();
    if (GetParam() == std::string("postgres")) path = postgres_place();
  }
};

TEST_P(AnyClaims, TwoStoresOfOneProcessExcludeEachOther) {
  Store first(path, Mode::create);
  Store second(path, Mode::create);
  auto claim = first.claim(key);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(second.claim(key));
  EXPECT_TRUE(second.claim(sample("sho", 1).spec.key()));
  claim.reset();
  EXPECT_TRUE(second.claim(key));
}

TEST_P(AnyClaims, AreHeldAgainstOtherProcessesUntilTheyDie) {
  Store store(path, Mode::create);
  Holder holder(path, key);
  ASSERT_TRUE(holder.has_claim());
  EXPECT_FALSE(store.claim(key));
  EXPECT_FALSE(Holder(path, key).has_claim());
  holder.kill();
  // The server of PostgreSQL notices the end of a connection a moment later.
  std::unique_ptr<Claim> claim;
  for (int i = 0; i < 500 && !claim; ++i) {
    claim = store.claim(key);
    if (!claim) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(claim);
}

TEST_F(Claims, SqliteDoesNotDropThem) {
  // Closing any descriptor of a file drops all POSIX locks that the process has on it.
  Store store(path, Mode::create);
  const auto claim = store.claim(key);
  { Store(path, Mode::create).put(sample("sho", 1)); }
  { Store(path, Mode::read).records(true); }
  EXPECT_FALSE(Holder(path, key).has_claim());
}

TEST_F(Claims, ReadersAndStoresWithoutClaimsMakeNoSideFile) {
  Store store(path, Mode::create);
  store.put(sample());
  Store reader(path, Mode::read);
  EXPECT_FALSE(has_side_file());
}

TEST_F(Claims, TheLastOneRemovesTheSideFile) {
  auto first = std::make_unique<Store>(path, Mode::create);
  auto second = std::make_unique<Store>(path, Mode::create);
  first->claim(key);
  auto claim = second->claim(key);
  EXPECT_TRUE(has_side_file());
  first.reset();
  EXPECT_TRUE(has_side_file());
  // A claim uses the file as long as it lives.
  second.reset();
  EXPECT_TRUE(has_side_file());
  claim.reset();
  EXPECT_FALSE(has_side_file());
}

TEST_F(Claims, ASideFileOfTheDeadIsUsedAndRemoved) {
  { Holder holder(path, key); }
  ASSERT_TRUE(has_side_file());
  {
    Store store(path, Mode::create);
    EXPECT_TRUE(store.claim(key));
  }
  EXPECT_FALSE(has_side_file());
}

TEST_F(Claims, ASideFileOfTheDeadIsRemovedAlsoWhereNothingIsClaimed) {
  { Holder holder(path, key); }
  ASSERT_TRUE(has_side_file());
  { const Store reader(path, Mode::read); }
  EXPECT_TRUE(has_side_file());
  { const Store store(path, Mode::update); }
  EXPECT_FALSE(has_side_file());
}

TEST_P(AnyClaims, ProcessesThatComeAndGoNeverHoldOneRunTwice) {
  // Each comes, takes the claim if it can, and while it holds it makes a file that must not be there yet.
  { const Store store(path, Mode::create); }
  const std::string proof = (folder / "proof").string();
  std::vector<pid_t> children;
  const int rounds =
      GetParam() == std::string("postgres") ? 30 : 150;  // a connection takes longer than a file
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 0;
      for (int round = 0; round < rounds; ++round) {
        Store store(path, Mode::update);
        const auto claim = store.claim(key);
        if (!claim) continue;
        std::FILE* file = std::fopen(proof.c_str(), "wx");
        if (file == nullptr) {
          code = 1;
          continue;
        }
        std::fclose(file);
        std::filesystem::remove(proof);
      }
      std::_Exit(code);
    }
    children.push_back(child);
  }
  expect_success(children);
  EXPECT_FALSE(has_side_file());
}

INSTANTIATE_TEST_SUITE_P(Stores, AnyClaims, ::testing::Values("file"));
INSTANTIATE_TEST_SUITE_P(Postgres, AnyClaims, ::testing::Values("postgres"));

}  // namespace
}  // namespace yosida::study
