#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "yosida/error.hpp"
#include "yosida/study/store.hpp"

/// What the tests of studies share. The database is looked into by plain SQLite, not by the store.
namespace yosida::study {

/// A test with a folder of its own.
class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/yosida-study-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    path = (folder / "study.db").string();
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder, ignored);
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::filesystem::path folder;
  std::string path;
};

/// A study of its own in the server that tests/study/postgres_test.py has started; empty without one.
inline std::string postgres_place(const std::string& more = "") {
  static int number = 0;
  const char* server = std::getenv("YOSIDA_TEST_POSTGRES");
  return server == nullptr ? ""
                           : std::string(server) + "&study=test_" + std::to_string(::getpid()) + "_" +
                                 std::to_string(++number) + more;
}

/// Numbers that a careless conversion would change: 0.1 + 0.2, a denormal, −0, what is not finite.
inline Trace odd_trace() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  TracePoint first;
  first.lambda = Vector::Constant(2, 0.1 + 0.2);
  first.lambda[1] = -0.0;
  first.loss = {.train = nan, .validation = 4.9406564584124654e-324, .test = std::nullopt};
  first.primal_residual = nan;
  first.dual_residual = infinity;
  TracePoint second;
  second.iteration = std::numeric_limits<std::int64_t>::max();
  second.lambda = Vector::Constant(1, -1.7976931348623157e308);
  second.loss = {.train = 1.0 / 3.0, .validation = -infinity, .test = nan};
  second.primal_residual = 1e-17;
  second.work = {.train_gradients = 1,
                 .validation_gradients = 2,
                 .hessian_products = 3,
                 .loss_evaluations = 4,
                 .inner_solves = 5,
                 .factorisations = 6.0 + 1e-15};
  second.seconds = 1e-9;
  second.tried = Vector::Constant(1, 0.1 + 0.7);
  second.tried_validation = 1e-320;
  TracePoint third = second;
  third.lambda = Vector();
  third.loss.test = 2.0 / 3.0;
  return {first, second, third};
}

inline Record sample(const std::string& method = "sho", std::uint64_t seed = 0) {
  Record record;
  record.spec = {.method = method,
                 .seed = seed,
                 .json = "{\"method\":\"" + method + "\",\"seed\":" + std::to_string(seed) + "}"};
  record.status = "converged";
  record.outcome = R"({"final":{"loss":{"validation":0.25}}})";
  record.trace = odd_trace();
  record.program = "0.1.0";
  record.data_sha256 = std::string(64, 'd');
  record.seconds = 0.1 + 0.2;
  record.finished = "2026-01-31T12:00:00Z";
  return record;
}

/// The same number, to the last bit but for the payload of NaN.
inline bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

inline void expect_same(const Trace& a, const Trace& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(a[i].iteration, b[i].iteration);
    ASSERT_EQ(a[i].lambda.size(), b[i].lambda.size());
    for (Index j = 0; j < a[i].lambda.size(); ++j) EXPECT_TRUE(same(a[i].lambda[j], b[i].lambda[j]));
    EXPECT_TRUE(same(a[i].loss.train, b[i].loss.train));
    EXPECT_TRUE(same(a[i].loss.validation, b[i].loss.validation));
    ASSERT_EQ(a[i].loss.test.has_value(), b[i].loss.test.has_value());
    EXPECT_TRUE(same(a[i].loss.test.value_or(0.0), b[i].loss.test.value_or(0.0)));
    EXPECT_TRUE(same(a[i].primal_residual, b[i].primal_residual));
    EXPECT_EQ(a[i].tried, b[i].tried);
    EXPECT_TRUE(same(a[i].tried_validation, b[i].tried_validation));
    EXPECT_TRUE(same(a[i].dual_residual, b[i].dual_residual));
    EXPECT_EQ(a[i].work.train_gradients, b[i].work.train_gradients);
    EXPECT_EQ(a[i].work.validation_gradients, b[i].work.validation_gradients);
    EXPECT_EQ(a[i].work.hessian_products, b[i].work.hessian_products);
    EXPECT_EQ(a[i].work.loss_evaluations, b[i].work.loss_evaluations);
    EXPECT_EQ(a[i].work.inner_solves, b[i].work.inner_solves);
    EXPECT_TRUE(same(a[i].work.factorisations, b[i].work.factorisations));
    EXPECT_TRUE(same(a[i].seconds, b[i].seconds));
  }
}

inline void expect_same(const Record& a, const Record& b) {
  EXPECT_EQ(a.spec.method, b.spec.method);
  EXPECT_EQ(a.spec.seed, b.spec.seed);
  EXPECT_EQ(a.spec.json, b.spec.json);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.program, b.program);
  EXPECT_EQ(a.data_sha256, b.data_sha256);
  EXPECT_TRUE(same(a.seconds, b.seconds));
  EXPECT_EQ(a.finished, b.finished);
  expect_same(a.trace, b.trace);
}

/// Runs SQL on a file by plain SQLite; gives the first column of the rows.
inline std::vector<std::string> sql(const std::string& path, const std::string& statements) {
  sqlite3* database = nullptr;
  std::vector<std::string> rows;
  const auto keep = [](void* out, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(values[0] != nullptr ? values[0] : "NULL");
    return 0;
  };
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK ||
      sqlite3_exec(database, statements.c_str(), keep, &rows, nullptr) != SQLITE_OK) {
    const std::string message = sqlite3_errmsg(database);
    sqlite3_close(database);
    throw std::runtime_error(path + ": " + message);
  }
  sqlite3_close(database);
  return rows;
}

/// Calls `action`, which must throw an Error whose message holds all the parts; gives the message.
template <typename ErrorType, typename Action>
std::string expect_throw_with(const Action& action, const std::vector<std::string>& parts) {
  try {
    action();
  } catch (const ErrorType& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << part << " is not in: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// Waits for processes, each of which must end well.
inline void expect_success(const std::vector<pid_t>& children) {
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

/// Does `action` in a process of its own; gives its exit code: 0 unless it threw or a test failed in it.
inline int in_child(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 0;
    try {
      action();
      if (::testing::Test::HasFailure()) code = 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
      code = 2;
    }
    std::_Exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace yosida::study
