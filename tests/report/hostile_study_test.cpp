#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "study/study_files.hpp"
#include "study/trace_codec.hpp"
#include "yosida/random.hpp"
#include "yosida/report/figure.hpp"
#include "yosida/report/study_view.hpp"

namespace yosida::report {
namespace {

using study::Record;
using study::Store;

/// Studies that are damaged at random. Whoever reads one gets all of it or an InputError: any other
/// exception, a crash and a hang fail the test.
class HostileStudy : public study::InFolder {
 protected:
  void SetUp() override {
    InFolder::SetUp();
    Store store(path, Store::Mode::create);
    store.put(study::Session{
        .started = "2026-01-31T12:00:00Z", .command = "yosida compare", .program = "1", .machine = "m"});
    for (std::uint64_t seed = 0; seed < 12; ++seed) store.put(run(seed));
  }

  static Record run(std::uint64_t seed) {
    Record record = study::sample("sho:alpha=0.05", seed);
    record.spec.json =
        R"({"data":{"files":{"train":")" + std::string(64, 'a') +
        R"("}},"method":"sho","model":{"name":"ridge"},"run":{"budget_gradients":100},"seed":)" +
        std::to_string(seed) + R"(,"settings":{"alpha":0.05}})";
    record.outcome =
        R"({"best":{"lambda":[-1.5],"loss":{"train":0.1,"validation":0.25,"test":null}},)"
        R"("certificate":{"verdict":"certified","reason":"so","hypergradient":1e-9},"iterations":3,)"
        R"("final":{"lambda":[-1.5],"loss":{"train":0.1,"validation":0.25,"test":null},"gap":0.1,"lambda_gap":0.01},)"
        R"("oracle":{"lambda":-1.4,"validation":0.2},"work":{"gradient_equivalents":20.5,"paper_count":20}})";
    record.trace.clear();
    for (std::int64_t i = 0; i < 30; ++i) {
      TracePoint point;
      point.iteration = i;
      point.lambda = Vector::Constant(1, -0.05 * static_cast<double>(i));
      point.loss = {.train = 0.1, .validation = 1.0 / static_cast<double>(i + 1), .test = std::nullopt};
      point.work.train_gradients = i;
      point.seconds = 1e-3 * static_cast<double>(i);
      record.trace.push_back(point);
    }
    return record;
  }

  /// True where something was refused.
  bool read_all(bool also_written = false) const {
    bool is_refused = false;
    const auto attempt = [&](const auto& action) {
      try {
        action();
      } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find("internal"), std::string::npos);
        is_refused = true;
      }
    };
    attempt([&] {
      const Store store(path, Store::Mode::read);
      attempt([&] { store.records(true); });
      attempt([&] { store.sessions(); });
      for (const std::string& key : store.keys()) attempt([&] { store.record(key); });
    });
    attempt([&] {
      StudyView view(path);
      view.refresh();
      view.json();
      for (const ProblemContents& problem : view.contents().problems) figures_of(problem);
    });
    if (!also_written) return is_refused;
    attempt([&] {
      Store store(path, Store::Mode::update);
      store.put(run(99));
      store.remove({run(99).spec.key()});
    });
    return is_refused;
  }

  std::string content() const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& bytes) const {
    for (const char* ending : {"-wal", "-shm", "-journal"}) std::filesystem::remove(path + ending);
    std::ofstream(path, std::ios::binary) << bytes;
  }

  /// Below a number, the same in every run of the test.
  std::size_t any(std::size_t below) {
    return static_cast<std::size_t>(random_.uniform() * static_cast<double>(below));
  }
  /// One to three bytes changed, left out, or given twice.
  std::string damaged(std::string bytes) {
    for (std::size_t changes = 1 + any(3); changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = any(bytes.size());
      switch (any(4)) {
        case 0:
          bytes[at] = static_cast<char>(any(256));
          break;
        case 1:
          bytes[at] = "0-.e9,:[]{}\"nI "[any(15)];
          break;
        case 2:
          bytes.erase(at, 1 + any(4));
          break;
        default:
          bytes.insert(at, bytes.substr(at, 1 + any(8)));
      }
    }
    return bytes;
  }

 private:
  Random random_{11};
};

const std::string kQuick = "PRAGMA synchronous = OFF; ";

std::string hexadecimal(const std::string& bytes) {
  std::string digits;
  for (const char c : bytes)
    for (const int shift : {4, 0})
      digits += "0123456789abcdef"[(static_cast<unsigned char>(c) >> shift) & 15];
  return digits;
}

TEST_F(HostileStudy, BytesOfTheFileDamaged) {
  const std::string whole = content();
  ASSERT_FALSE(read_all(true));
  const std::string after = content();  // with the pages that the store has given back
  std::size_t refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::string bytes = trial % 2 == 0 ? whole : after;
    // Headers of the file and of its pages decide most: half of the changes are there.
    for (std::size_t changes = 1 + any(4); changes > 0; --changes) {
      const std::size_t at = any(2) == 0 ? any(bytes.size()) : 4096 * any(bytes.size() / 4096) + any(120);
      bytes[at] = static_cast<char>(any(256));
    }
    if (any(10) == 0) bytes.resize(any(bytes.size()));
    write(bytes);
    refused += read_all(trial % 10 == 0) ? 1 : 0;  // each commit waits for the disk
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(HostileStudy, CellsDamaged) {
  const std::string whole = content();
  std::size_t refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    write(whole);
    const std::string seed = std::to_string(any(12));
    const std::string column =
        std::vector<std::string>{"spec", "outcome", "trace", "trace", "outcome", "status"}[any(6)];
    if (column == "trace" && any(2) == 0) {
      // The text itself: few changes of a zlib stream come to its reader.
      const std::string text = damaged(study::trace_to_json(run(0).trace));
      study::sql(path,
                 "UPDATE run SET trace = x'" + hexadecimal(study::deflate(text)) + "' WHERE seed = " + seed);
    } else {
      const std::string bytes =
          study::sql(path, "SELECT hex(" + column + ") FROM run WHERE seed = " + seed).at(0);
      std::string plain;
      for (std::size_t i = 0; i < bytes.size(); i += 2)
        plain += static_cast<char>(std::stoi(bytes.substr(i, 2), nullptr, 16));
      const std::string changed = "x'" + hexadecimal(damaged(plain)) + "'";
      study::sql(path, kQuick + "UPDATE run SET " + column + " = " +
                           (column == "trace" ? changed : "CAST(" + changed + " AS TEXT)") +
                           " WHERE seed = " + seed);
    }
    refused += read_all(trial % 10 == 0) ? 1 : 0;  // each commit waits for the disk
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(HostileStudy, NumbersOfAnySize) {
  for (const char* number :
       {"1e308", "-1e308", "1e-320", "0", "-1", "9007199254740993", "-9223372036854775808",
        "18446744073709551615", "99999999999999999999999", "1e17"}) {
    const std::string value(number);
    for (int part = 0; part < 2; ++part) {
      Store store(path, Store::Mode::update);
      Record record = run(100 + static_cast<std::uint64_t>(part));
      store.remove({record.spec.key()});
      for (const char* old : {"0.25", "-1.5", "20.5", "0.1", "3,", "-1.4", "1e-9"})
        if (const std::size_t at = record.outcome.find(old); at != std::string::npos)
          record.outcome.replace(at, std::string(old).size() - (old[1] == ',' ? 1 : 0), value);
      for (TracePoint& point : record.trace) {
        const double sign = part == 1 && point.iteration % 2 == 1 ? -1.0 : 1.0;
        point.loss.validation = sign * std::stod(value == "1e-320" ? "0" : value);
        point.lambda[0] = sign * std::min(std::stod(value == "1e-320" ? "0" : value), 1e308);
        point.seconds = point.loss.validation;
        point.tried = point.lambda;
        point.tried_validation = point.loss.validation;
      }
      store.put(record);
    }
    EXPECT_FALSE(read_all()) << number;
  }
}

}  // namespace
}  // namespace yosida::report
