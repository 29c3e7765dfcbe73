// What every sampler promises, whatever it does inside: run over every kind the library knows.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "yosida/error.hpp"
#include "yosida/search/samplers.hpp"

namespace yosida::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const SamplerKind& each : samplers()) names.push_back(each.name);
  return names;
}

Space one_dimension() { return Space({{-10.0, 5.0}}); }
Space three_dimensions() {
  return Space(
      {{-10.0, 5.0}, {1e-8, 1e4, Scale::logarithmic}, {1e300, 1.1e300, Scale::linear, "far from zero"}});
}

bool is_inside(const Space& space, const Vector& x) {
  if (x.size() != space.size() || !x.allFinite()) return false;
  for (Index j = 0; j < x.size(); ++j) {
    const Dimension& dimension = space.dimensions()[static_cast<std::size_t>(j)];
    if (x[j] < dimension.low || x[j] > dimension.high) return false;
  }
  return true;
}

/// On the unit cube, so that dimensions of any scale count alike.
double bowl(const Space& space, const Vector& x) {
  return (space.to_unit(x) - Vector::Constant(x.size(), 0.3)).squaredNorm();
}

class SamplerContract : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Sampler> make(const Space& space, std::int64_t trials, std::uint64_t seed = 7) const {
    const SettingValues quick = {{"grid", "500"}};  // candidates: what is promised does not depend on them
    return make_sampler(GetParam(), space, {.seed = seed, .trials = trials},
                        GetParam() == "gp-ei" ? quick : SettingValues());
  }
  bool is_grid() const { return GetParam() == "grid"; }
  /// A Gaussian process costs the cube of its trials; it has a bound of its own in its own test.
  std::int64_t affordable(std::int64_t trials) const {
    return GetParam() == "gp-ei" ? std::min<std::int64_t>(trials, 15) : trials;
  }

  using Value = std::function<double(const Proposal&)>;
  /// Asks and tells until the trials are used up or the sampler is done, and checks every proposal.
  std::vector<Proposal> run(const Space& space, std::int64_t wanted, const Value& value,
                            std::uint64_t seed = 7) const {
    const std::int64_t trials = affordable(wanted);
    const auto sampler = make(space, trials, seed);
    std::vector<Proposal> proposals;
    while (std::ssize(proposals) < trials) {
      const std::optional<Proposal> proposal = sampler->ask();
      if (!proposal) break;
      EXPECT_TRUE(is_inside(space, proposal->x)) << proposal->x.transpose();
      EXPECT_GT(proposal->share, 0.0);
      EXPECT_LE(proposal->share, 1.0);
      proposals.push_back(*proposal);
      sampler->tell(*proposal, value(*proposal));
    }
    EXPECT_TRUE(is_grid() || std::ssize(proposals) == trials);
    return proposals;
  }
};
INSTANTIATE_TEST_SUITE_P(Samplers, SamplerContract, testing::ValuesIn(kind_names()), [](const auto& each) {
  std::string name = each.param;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

bool same(const std::vector<Proposal>& a, const std::vector<Proposal>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Proposal& left, const Proposal& right) {
    return left.id == right.id && left.share == right.share && left.x == right.x;
  });
}

TEST_P(SamplerContract, IsRepeatableBySeed) {
  for (const Space& space : {one_dimension(), three_dimensions()}) {
    const auto value = [&](const Proposal& proposal) { return bowl(space, proposal.x); };
    const auto first = run(space, 40, value);
    EXPECT_TRUE(same(first, run(space, 40, value)));
    EXPECT_EQ(same(first, run(space, 40, value, 8)), is_grid());
  }
}

TEST_P(SamplerContract, StaysInTheBoxAndFindsABowl) {
  for (const Space& space : {one_dimension(), three_dimensions()}) {
    double best = infinity;
    run(space, 60, [&](const Proposal& proposal) {
      const double value = bowl(space, proposal.x);
      best = std::min(best, value);
      return value;
    });
    // A ball of radius 0.4 about the minimiser holds 0.22 of the cube: 60 uniform draws all miss it in one of
    // 10⁶ runs. The grid of three points a dimension has 0.5, at a squared distance of 0.12.
    EXPECT_LT(best, space.size() == 1 ? 0.02 : 0.16);
  }
}

TEST_P(SamplerContract, GoesOnPastTrialsThatFail) {
  const Space space = three_dimensions();
  const double odd[] = {not_a_number, infinity, -infinity, 1e308, -1e308, 1e-308, 0.0};
  std::size_t trial = 0;
  run(space, 50, [&](const Proposal&) { return odd[trial++ % std::size(odd)]; });
  run(space, 50, [&](const Proposal&) { return not_a_number; });
  run(space, 50, [&](const Proposal&) { return -infinity; });
}

TEST_P(SamplerContract, GoesOnWhereTheFunctionIsConstant) {
  for (const double value : {0.0, -3.0, 1e308})
    run(one_dimension(), 50, [&](const Proposal&) { return value; });
}

TEST_P(SamplerContract, KeepsConfigurationsApart) {
  // One id is one x; it is asked for again only with a larger share.
  std::map<std::int64_t, Proposal> last;
  const Space space = one_dimension();
  for (const Proposal& proposal :
       run(space, 60, [&](const Proposal& each) { return bowl(space, each.x) / each.share; })) {
    const auto [before, is_new] = last.try_emplace(proposal.id, proposal);
    if (is_new) continue;
    EXPECT_EQ(before->second.x, proposal.x);
    EXPECT_GT(proposal.share, before->second.share);
    before->second = proposal;
  }
}

TEST_P(SamplerContract, TakesSeveralOpenProposalsToldInAnyOrder) {
  const Space space = three_dimensions();
  const auto sampler = make(space, 60);
  std::deque<Proposal> open;
  for (std::int64_t trial = 0; trial < affordable(60); ++trial) {
    if (const auto proposal = sampler->ask()) {
      EXPECT_TRUE(is_inside(space, proposal->x));
      open.push_back(*proposal);
    }
    if (open.size() < 7) continue;
    const auto told = open.begin() + static_cast<std::ptrdiff_t>(trial % 7);
    sampler->tell(*told, bowl(space, told->x));
    open.erase(told);
  }
  for (const Proposal& proposal : open) sampler->tell(proposal, 1.0);
}

TEST_P(SamplerContract, NeverWaitsForResults) {
  const Space space = one_dimension();
  const auto sampler = make(space, 120);
  for (std::int64_t trial = 0; trial < affordable(120); ++trial) {
    const auto proposal = sampler->ask();
    ASSERT_TRUE(proposal);
    EXPECT_TRUE(is_inside(space, proposal->x));
  }
}

TEST_P(SamplerContract, RefusesWhatItHasNotProposed) {
  const auto sampler = make(one_dimension(), 10);
  const Proposal proposal = *sampler->ask();
  Proposal foreign = proposal;
  foreign.id = 12345;
  EXPECT_THROW(sampler->tell(foreign, 1.0), InputError);
  foreign.id = -1;
  EXPECT_THROW(sampler->tell(foreign, 1.0), InputError);
  foreign = proposal;
  foreign.share = 0.123;
  EXPECT_THROW(sampler->tell(foreign, 1.0), InputError);
  sampler->tell(proposal, 1.0);
  EXPECT_THROW(sampler->tell(proposal, 1.0), InputError);
}

TEST_P(SamplerContract, RefusesUnknownSettingsAndBrokenRules) {
  const SamplerKind& kind = sampler(GetParam());
  EXPECT_THROW(kind.make({{"no_such_setting", "1"}}), InputError);
  for (const SettingInfo& info : kind.settings) {
    EXPECT_NO_THROW(kind.make({{info.name, info.default_value}})) << info.name;
    EXPECT_THROW(kind.make({{info.name, "nonsense"}}), InputError) << info.name;
    EXPECT_THROW(kind.make({{info.name, "nan"}}), InputError) << info.name;
    EXPECT_FALSE(info.rule.empty() || info.meaning.empty() || info.origin.empty()) << info.name;
  }
  for (const std::int64_t trials : {0, -1}) EXPECT_THROW(make(one_dimension(), trials), InputError);
}

TEST_P(SamplerContract, IsQuick) {
  const Space space = three_dimensions();
  const auto start = std::chrono::steady_clock::now();
  run(space, 300, [&](const Proposal& proposal) { return bowl(space, proposal.x); });
  // 0.1 s where it is built for speed; sanitizers and busy machines take more.
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20.0);
}

TEST(Samplers, NearestNameIsNamed) {
  EXPECT_THROW(sampler("tpo"), InputError);
  try {
    sampler("radnom");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean random?"), std::string::npos) << error.what();
  }
}

TEST(Samplers, NamesAreUniqueAndSummed) {
  std::set<std::string> names;
  for (const SamplerKind& each : samplers()) {
    EXPECT_TRUE(names.insert(each.name).second);
    EXPECT_FALSE(each.summary.empty());
  }
}

}  // namespace
}  // namespace yosida::search
