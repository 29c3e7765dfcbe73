#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "yosida/search/samplers.hpp"

namespace yosida::search {
namespace {

struct Rung {
  int configurations;
  double resource;
};
using Bracket = std::vector<Rung>;

/// Algorithm 1 of Li et al. (2018) for R = 81, η = 3.
const std::vector<Bracket>& brackets_of_the_paper() {
  static const std::vector<Bracket> all = {
      {{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
      {{34, 3}, {11, 9}, {3, 27}, {1, 81}},
      {{15, 9}, {5, 27}, {1, 81}},
      {{8, 27}, {2, 81}},
      {{5, 81}},
  };
  return all;
}

std::unique_ptr<Sampler> hyperband(const SettingValues& settings = {}) {
  return make_sampler("hyperband", Space({{0.0, 1.0}, {0.0, 1.0}}), {.seed = 5}, settings);
}
/// Changes with the share, so that ranks of one rung are not those of the next.
double value_of(const Proposal& proposal) {
  return std::sin(50.0 * proposal.x[0] + 7.0 * proposal.share) + proposal.x[1];
}

TEST(Hyperband, RungsAreThoseOfThePaperAndTheBestAreKept) {
  const auto sampler = hyperband();
  std::set<std::int64_t> seen;
  for (int round = 0; round < 2; ++round)  // after the last bracket the first, with new configurations
    for (const Bracket& bracket : brackets_of_the_paper()) {
      std::map<std::int64_t, Vector> expected;  // promoted from the rung before
      for (std::size_t i = 0; i < bracket.size(); ++i) {
        std::vector<std::pair<double, Proposal>> told;
        for (int n = 0; n < bracket[i].configurations; ++n) {
          const Proposal proposal = *sampler->ask();
          EXPECT_DOUBLE_EQ(proposal.share, bracket[i].resource / 81.0);
          if (i == 0) {
            EXPECT_TRUE(seen.insert(proposal.id).second) << "an old configuration at a first rung";
          } else {
            ASSERT_EQ(expected.count(proposal.id), 1u);
            EXPECT_EQ(expected[proposal.id], proposal.x);
            expected.erase(proposal.id);
          }
          told.emplace_back(value_of(proposal), proposal);
          sampler->tell(proposal, value_of(proposal));
        }
        EXPECT_TRUE(expected.empty());
        std::sort(told.begin(), told.end(),
                  [](const auto& left, const auto& right) { return left.first < right.first; });
        const auto kept =
            i + 1 < bracket.size() ? static_cast<std::size_t>(bracket[i + 1].configurations) : 0;
        for (std::size_t n = 0; n < kept; ++n) expected[told[n].second.id] = told[n].second.x;
      }
    }
}

TEST(Hyperband, FailedTrialsAreTheWorst) {
  const auto sampler = hyperband({{"resource", "9"}});  // 9 configurations, 3 are promoted
  std::set<std::int64_t> good;
  for (int n = 0; n < 9; ++n) {
    const Proposal proposal = *sampler->ask();
    if (n % 3 == 1) good.insert(proposal.id);
    sampler->tell(proposal, n % 3 == 0 ? std::nan("") : n % 3 == 1 ? 1e300 : -INFINITY);
  }
  for (int n = 0; n < 3; ++n) {
    const Proposal proposal = *sampler->ask();
    EXPECT_EQ(good.count(proposal.id), 1u);
    sampler->tell(proposal, 0.0);
  }
}

TEST(Hyperband, OpenProposalsBeginTheNextBracketAndPromotionsComeFirst) {
  const auto sampler = hyperband({{"resource", "3"}});  // brackets (3, 1) (1, 3) and (2, 3)
  std::vector<Proposal> first;
  for (int n = 0; n < 3; ++n) first.push_back(*sampler->ask());
  for (const Proposal& proposal : first) EXPECT_DOUBLE_EQ(proposal.share, 1.0 / 3.0);
  const Proposal next_bracket = *sampler->ask();
  EXPECT_EQ(next_bracket.share, 1.0);
  EXPECT_EQ(next_bracket.id, 3);

  sampler->tell(first[2], 1.0);
  sampler->tell(first[0], 2.0);
  sampler->tell(first[1], 3.0);
  const Proposal promoted = *sampler->ask();
  EXPECT_EQ(promoted.id, first[2].id);
  EXPECT_EQ(promoted.share, 1.0);
  EXPECT_EQ(sampler->ask()->id, 4);  // the second of (2, 3)
}

TEST(Hyperband, SeveralOpenProposalsGetTheSameRungs) {
  // Five at a time, told in the order asked: every bracket still has its rungs, each of its size.
  const auto sampler = hyperband();
  std::deque<Proposal> open;
  std::map<double, int> by_share;
  for (int trial = 0; trial < 206 + 10; ++trial) {
    open.push_back(*sampler->ask());
    ++by_share[open.back().share];
    if (open.size() < 5) continue;
    sampler->tell(open.front(), value_of(open.front()));
    open.pop_front();
  }
  // The first round is 206 trials; what began beyond it begins at the smallest share.
  EXPECT_EQ(by_share[1.0], 1 + 1 + 1 + 2 + 5);
  EXPECT_EQ(by_share[27.0 / 81.0], 3 + 3 + 5 + 8);
  EXPECT_EQ(by_share[9.0 / 81.0], 9 + 11 + 15);
}

TEST(Hyperband, ResourceOfOneIsRandomSearch) {
  const auto sampler = hyperband({{"resource", "1"}});
  for (std::int64_t trial = 0; trial < 5; ++trial) {
    const Proposal proposal = *sampler->ask();
    EXPECT_EQ(proposal.id, trial);
    EXPECT_EQ(proposal.share, 1.0);
    sampler->tell(proposal, 0.0);
  }
}

TEST(Hyperband, ResourceNeedBeNoPower) {
  // s_max = ⌊log₄ 100⌋ = 3; the first bracket has 64 configurations at R/64.
  const auto sampler = hyperband({{"resource", "100"}, {"eta", "4"}});
  EXPECT_DOUBLE_EQ(sampler->ask()->share, 1.0 / 64.0);
}

}  // namespace
}  // namespace yosida::search
