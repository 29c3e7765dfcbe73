#include "yosida/report/study_view.hpp"

#include <algorithm>
#include <future>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "report/problem_builder.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/study/builds.hpp"
#include "yosida/study/place.hpp"
#include "yosida/version.hpp"

namespace yosida::report {
namespace {

using study::Store;
using Keys = std::vector<std::string>;

/// Samples of a run and of all runs together: 24 bytes each.
constexpr std::size_t kMostOfRun = 4096, kMostOfAll = 8'000'000;

/// The runs that are still there.
std::vector<std::pair<std::string, RunDigest>> read(const Store& store, std::span<const std::string> keys,
                                                    std::size_t most_samples) {
  std::vector<std::pair<std::string, RunDigest>> runs;
  for (const std::string& key : keys)
    if (const auto record = store.record(key)) {
      runs.emplace_back(key, digest(*record));
      auto& samples = runs.back().second.samples;
      samples = thinned(samples, most_samples);
    }
  return runs;
}

}  // namespace

struct StudyView::Impl {
  Impl(const std::string& path_, Builds builds_)
      : path(path_), builds(builds_), store(path_, Store::Mode::read) {}

  /// Several threads where there is much to read, each with a store of its own: one store reads one run at a
  /// time.
  void read_all(const Keys& keys) {
    constexpr std::size_t kShare = 64;  // runs of a thread; no more are held before their traces are thinned
    for (std::size_t begin = 0; begin < keys.size();) {
      std::vector<std::future<void>> others;
      std::vector<decltype(read(store, {}, 0))> found(static_cast<std::size_t>(std::max(threads(), 1)));
      for (std::size_t i = 0; i < found.size() && begin < keys.size(); ++i) {
        const std::span share = std::span(keys).subspan(begin, std::min(kShare, keys.size() - begin));
        begin += share.size();
        others.push_back(std::async(std::launch::async, [&, share, i] {
          found[i] = read(Store(path, Store::Mode::read), share, most_of_run);
        }));
      }
      for (auto& each : others) each.get();
      for (auto& runs_of_thread : found)
        for (auto& [key, run] : runs_of_thread) {
          share_spec(run);
          runs.emplace(key, std::move(run));
        }
      hold_limit();
    }
  }

  /// The runs of a row differ by their seeds alone.
  void share_spec(RunDigest& run) {
    run.spec =
        specs.try_emplace({run.spec->problem, run.spec->row, run.spec->spec.build}, run.spec).first->second;
  }

  /// The runs that are shown, by key.
  Runs chosen() const {
    Runs all;
    std::map<std::tuple<std::string, std::string, std::uint64_t>, const RunDigest*> one_of_each;
    const auto place = [](const RunDigest& run) {
      return std::tuple(run.spec->spec.build == study::this_build(), run.finished);
    };
    for (const auto& [key, run] : runs) {
      if (builds == Builds::this_one && run.spec->spec.build != study::this_build()) continue;
      if (builds != Builds::any) {
        all.push_back(&run);
        continue;
      }
      const RunDigest*& one =
          one_of_each.try_emplace({run.spec->problem, run.spec->row, run.seed}, &run).first->second;
      if (place(*one) < place(run)) one = &run;
    }
    for (const auto& [what, run] : one_of_each) all.push_back(run);
    return all;
  }

  void hold_limit() {
    const auto total = [&] {
      std::size_t sum = 0;
      for (const auto& [key, run] : runs) sum += run.samples.size();
      return sum;
    };
    constexpr std::size_t kFewest = 64;
    while (most_of_run > kFewest && total() > kMostOfAll) {
      most_of_run /= 2;
      for (auto& [key, run] : runs) run.samples = thinned(run.samples, most_of_run);
    }
  }

  /// How far the runs are that the last command asked for. A run that was there before it began says nothing
  /// of its pace.
  std::optional<Planned> progress() const {
    const std::set<std::string> wanted(planned.begin(), planned.end());
    if (wanted.empty()) return {};
    Planned at{.done = 0, .total = static_cast<std::int64_t>(wanted.size()), .seconds_left = {}};
    const auto sessions = store.sessions();
    const double never = std::numeric_limits<double>::infinity();
    const double started =
        sessions.empty() ? never : study::seconds_of(sessions.back().started).value_or(never);
    std::int64_t since = 0;
    double last = 0.0;
    for (const auto& [key, run] : runs) {
      if (!wanted.contains(key)) continue;
      ++at.done;
      const double finished = study::seconds_of(run.finished).value_or(-never);
      if (finished < started) continue;
      ++since;
      last = std::max(last, finished - started);
    }
    if (since == 0) return at;
    const double waited = study::seconds_of(study::utc_now()).value() - started - last;
    const double left = static_cast<double>(at.total - at.done) * last / static_cast<double>(since);
    at.seconds_left = std::max(0.0, left - waited);
    return at;
  }

  void build() {
    const Runs all = chosen();
    contents = {.title = study::title_of(path),
                .generated = study::utc_now(),
                .program = version(),
                .runs = static_cast<std::int64_t>(all.size()),
                .failed = 0,
                .diverged = 0,
                .sessions = store.sessions(),
                .problems = {}};
    for (const RunDigest* run : all) {
      if (run->state == State::failed) ++contents.failed;
      if (run->state == State::diverged) ++contents.diverged;
      ++contents.builds[study::build_in_words(run->spec->spec.build)];
    }
    contents.planned = progress();
    contents.problems = problems_of(all, builds == Builds::each);
  }

  std::string path;
  Builds builds;
  Store store;
  std::map<std::tuple<std::string, std::string, std::string>, std::shared_ptr<const study::SpecInWords>>
      specs;
  std::map<std::string, RunDigest> runs;  // by key
  Keys planned;
  std::size_t most_of_run = kMostOfRun;
  StudyContents contents;
  bool is_built = false;
};

StudyView::StudyView(const std::string& path, Builds builds) : impl_(new Impl(path, builds)) {}
StudyView::~StudyView() = default;

bool StudyView::refresh() {
  const Keys keys = impl_->store.keys();
  const std::set<std::string> there(keys.begin(), keys.end());
  const std::size_t removed =
      std::erase_if(impl_->runs, [&](const auto& run) { return !there.contains(run.first); });
  Keys added;
  std::copy_if(there.begin(), there.end(), std::back_inserter(added),
               [&](const std::string& key) { return !impl_->runs.contains(key); });
  Keys planned = impl_->store.planned();
  if (impl_->is_built && removed == 0 && added.empty() && planned == impl_->planned) return false;
  impl_->planned = std::move(planned);
  impl_->is_built = false;  // until all of it is: a damaged run may end the reading
  impl_->read_all(added);
  impl_->build();
  impl_->is_built = true;
  return true;
}

std::int64_t StudyView::runs() const { return impl_->contents.runs; }
const StudyContents& StudyView::contents() const { return impl_->contents; }

}  // namespace yosida::report
