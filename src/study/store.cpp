#include "yosida/study/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "study/backend.hpp"
#include "study/limits.hpp"
#include "study/trace_codec.hpp"
#include "yosida/error.hpp"
#include "yosida/study/place.hpp"

namespace yosida::study {

std::string fault_of(const Record& record) {
  for (const auto& [field, text] : {std::pair("method", &record.spec.method),
                                    {"status", &record.status},
                                    {"program", &record.program},
                                    {"data_sha256", &record.data_sha256},
                                    {"finished", &record.finished}})
    if (text->size() > kMostBytesOfName)
      return fmt::format("its {} has {} bytes: must be at most {}", field, text->size(), kMostBytesOfName);
  for (const auto& [field, text] : {std::pair("spec", &record.spec.json), {"outcome", &record.outcome}})
    if (const std::string fault = fault_of_json(*text); !fault.empty())
      return fmt::format("its {} {}", field, fault);
  if (!std::isfinite(record.seconds)) return fmt::format("its seconds = {}: must be finite", record.seconds);
  return "";
}

Record checked(StoredRun&& stored, bool with_trace) {
  Record record = std::move(stored.run);
  if (stored.key != record.spec.key())
    throw InputError(fmt::format("its key is not the sha256 of its spec, {}", record.spec.key()));
  if (const std::string fault = fault_of(record); !fault.empty()) throw InputError(fault);
  if (with_trace) record.trace = trace_from_json(stored.trace_is_json ? stored.trace : inflate(stored.trace));
  return record;
}

struct Store::Impl {
  std::string place;  // as messages name it
  Mode mode;
  std::unique_ptr<Backend> backend;

  void require_writable(const char* function) const {
    if (mode == Mode::read)
      throw std::logic_error(fmt::format("Store::{} of a store that is only read", function));
  }
};

Store::Store(const std::string& place, Mode mode)
    : impl_(new Impl{shown_place(place), mode,
                     is_database(place) ? open_postgres(place, mode) : open_sqlite(place, mode)}) {}
Store::Store() : impl_(new Impl{"study in memory", Mode::create, open_in_memory()}) {}
Store::~Store() = default;

bool Store::has(const std::string& key) const { return impl_->backend->has(key); }

std::vector<std::string> Store::keys() const { return impl_->backend->keys(); }

std::unique_ptr<Claim> Store::claim(const std::string& key) {
  impl_->require_writable("claim");
  return impl_->backend->claim(key);
}

void Store::put(const Record& record) {
  impl_->require_writable("put");
  if (const std::string fault = fault_of(record); !fault.empty())
    throw InputError(fmt::format("run of {}, seed {}: {}", record.spec.method, record.spec.seed, fault));
  impl_->backend->put(record.spec.key(), record, packed(record.trace));
}

void Store::put(const Session& session, const std::vector<std::string>& planned) {
  impl_->require_writable("put");
  impl_->backend->put(session, planned);
}

std::vector<Session> Store::sessions() const { return impl_->backend->sessions(); }

std::vector<std::string> Store::planned() const { return impl_->backend->planned(); }

std::vector<Record> Store::records(bool with_traces) const {
  std::vector<Record> records = impl_->backend->records(with_traces);
  const auto place = [](const Record& run) {
    return std::tie(run.spec.method, run.spec.seed, run.spec.json);
  };
  std::sort(records.begin(), records.end(),
            [&](const Record& a, const Record& b) { return place(a) < place(b); });
  const auto twice = std::adjacent_find(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return a.spec.json == b.spec.json;
  });
  if (twice != records.end())
    throw InputError(
        fmt::format("{}: run {} is damaged: it is there twice", impl_->place, twice->spec.key()));
  return records;
}

std::optional<Record> Store::record(const std::string& key_prefix) const {
  std::string prefix = key_prefix;
  for (char& c : prefix)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  constexpr std::size_t kNamed = 5;
  Backend::Found found = impl_->backend->find(prefix, kNamed + 1);
  if (found.keys.size() <= 1) return std::move(found.first);
  const bool is_more = found.keys.size() > kNamed;
  if (is_more) found.keys.pop_back();
  throw InputError(fmt::format("{}: several runs start with \"{}\": {}{}", impl_->place, prefix,
                               fmt::join(found.keys, ", "), is_more ? ", and more" : ""));
}

void Store::in_snapshot(const std::function<void()>& action) const {
  if (impl_->mode != Mode::read) throw std::logic_error("Store::in_snapshot of a store that may be written");
  impl_->backend->in_snapshot(action);
}

void Store::remove(const std::vector<std::string>& keys) {
  impl_->require_writable("remove");
  impl_->backend->remove(keys);
}

std::int64_t Store::size_in_bytes() const { return impl_->backend->size_in_bytes(); }

CopyReport copy_study(const Store& from, Store& to) {
  CopyReport report;
  from.in_snapshot([&] {
    const bool is_new = to.sessions().empty();
    // One run at a time: the traces of all may be more than memory holds.
    for (const std::string& key : from.keys()) {
      if (to.has(key)) {
        ++report.there_before;
        continue;
      }
      to.put(from.record(key).value());
      ++report.copied;
    }
    const std::vector<Session> sessions = from.sessions();
    for (std::size_t i = 0; is_new && i < sessions.size(); ++i)
      to.put(sessions[i], i + 1 == sessions.size() ? from.planned() : std::vector<std::string>());
  });
  return report;
}

}  // namespace yosida::study
