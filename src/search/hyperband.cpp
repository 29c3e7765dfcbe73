#include "search/hyperband.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/random_search.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida::search {
namespace {

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

constexpr double failed = std::numeric_limits<double>::infinity();

}  // namespace

const std::vector<Setting<Hyperband::Settings>>& Hyperband::table() {
  constexpr std::int64_t largest = 1'000'000'000;
  static const std::vector<Setting<Settings>> rows = {
      settings::whole("resource", &Settings::resource, 1, largest, "a whole number from 1 to 1000000000",
                      "R: the full effort in units of the smallest that makes sense", "Li et al. 2018"),
      settings::whole("eta", &Settings::eta, 2, largest, "a whole number from 2 to 1000000000",
                      "η: one of so many configurations is promoted, to so many times the effort",
                      "Li et al. 2018"),
  };
  return rows;
}

Hyperband::Hyperband(const Space& space, const SamplerOptions& options, const Settings& settings)
    : space_(space), settings_(settings), random_(options.seed) {
  // s_max = ⌊log_η R⌋
  for (std::int64_t left = settings.resource; left >= settings.eta; left /= settings.eta) ++s_max_;
  next_s_ = s_max_;
}

std::optional<Proposal> Hyperband::ask() {
  for (Bracket& bracket : running_)
    if (bracket.asked < bracket.size) return propose(bracket);
  begin_bracket();
  return propose(running_.back());
}

void Hyperband::begin_bracket() {
  Bracket bracket;
  bracket.s = next_s_;
  // n = ⌈(B/R) η^s/(s + 1)⌉ with B = (s_max + 1) R. (The table printed in the ICLR version of the paper
  // rounds (s_max + 1)/(s + 1) down first: 27, 9, 6 in place of 34, 15, 8.)
  const std::int64_t n = (s_max_ + 1) * power(settings_.eta, bracket.s);
  bracket.size = (n + bracket.s) / (bracket.s + 1);
  running_.push_back(std::move(bracket));
  next_s_ = next_s_ > 0 ? next_s_ - 1 : s_max_;
}

Proposal Hyperband::propose(Bracket& bracket) {
  // r_i/R = η^(i − s)
  const double share = 1.0 / static_cast<double>(power(settings_.eta, bracket.s - bracket.rung));
  const auto place = static_cast<std::size_t>(bracket.asked++);
  if (bracket.rung > 0) {
    const Configuration& promoted = bracket.of_rung[place];
    return open_.open_again(promoted.id, promoted.x, share);
  }
  Proposal proposal = open_.open(space_.from_unit(uniform_point(random_, space_.size())), share);
  bracket.place_of[proposal.id] = bracket.of_rung.size();
  bracket.of_rung.push_back({proposal.id, proposal.x, failed});
  return proposal;
}

void Hyperband::tell(const Proposal& proposal, double value) {
  open_.close(proposal);
  for (auto bracket = running_.begin(); bracket != running_.end(); ++bracket) {
    const auto found = bracket->place_of.find(proposal.id);
    if (found == bracket->place_of.end()) continue;
    bracket->of_rung[found->second].value = std::isfinite(value) ? value : failed;
    if (++bracket->told < bracket->size) return;
    promote(*bracket);
    if (bracket->size == 0) running_.erase(bracket);
    return;
  }
}

/// T = top_k(T, L, ⌊n_i/η⌋), the older first where equal.
void Hyperband::promote(Bracket& bracket) const {
  std::stable_sort(bracket.of_rung.begin(), bracket.of_rung.end(),
                   [](const Configuration& a, const Configuration& b) { return a.value < b.value; });
  bracket.size = bracket.rung == bracket.s ? 0 : bracket.size / settings_.eta;
  bracket.of_rung.erase(bracket.of_rung.begin() + bracket.size, bracket.of_rung.end());
  bracket.place_of.clear();
  for (std::size_t i = 0; i < bracket.of_rung.size(); ++i) bracket.place_of[bracket.of_rung[i].id] = i;
  ++bracket.rung;
  bracket.asked = bracket.told = 0;
}

}  // namespace yosida::search
