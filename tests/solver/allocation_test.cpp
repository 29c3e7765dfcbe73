// After two warm-up steps the paper's single-loop solvers allocate nothing: every call of malloc and its kin
// in this program passes through the counters below. Sanitizers bring their own malloc, so they skip this
// file.
#include <cstdlib>  // defines __GLIBC__ where there is one

#if !defined(__SANITIZE_ADDRESS__) && defined(__GLIBC__)

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "support/problem_case.hpp"
#include "support/threads_guard.hpp"
#include "yosida/solver/methods.hpp"

namespace {
std::atomic<bool> counting{false};
std::atomic<long> allocations{0};
void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  count();
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t size) {
  count();
  return __libc_realloc(p, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** p, std::size_t alignment, std::size_t size) {
  *p = memalign(alignment, size);
  return *p == nullptr ? ENOMEM : 0;
}
}

namespace yosida {
namespace {

using test::lambda_of;
using test::random_split;

enum class Form { dense, sparse, collapsed, large_dense, large_sparse };

struct Case {
  const char* method;
  const Loss* loss;
  Form form;
  bool intercept;
};

std::vector<Case> cases() {
  static const SharedLoss of_three = softmax(3);
  std::vector<Case> all;
  for (const char* method : {"sho", "my-hpo-c", "my-hpo-bt"})
    for (const Form form :
         {Form::dense, Form::sparse, Form::collapsed, Form::large_dense, Form::large_sparse})
      for (const bool intercept : {false, true}) {
        all.push_back({method, &least_squares(), form, intercept});
        if (form == Form::collapsed) continue;
        all.push_back({method, &logistic(), form, intercept});
        all.push_back({method, &*of_three, form, intercept});
      }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& each) {
  const char* const forms[] = {"dense", "sparse", "collapsed", "large_dense", "large_sparse"};
  std::string name = each.param.method;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::string(each.param.loss->name()) + "_" + forms[static_cast<int>(each.param.form)] +
         (each.param.intercept ? "_intercept" : "");
}

/// The large forms hold more than 2^17 numbers: passes over them are chunked.
std::shared_ptr<const BilevelProblem> build(const Case& c) {
  const bool large = c.form == Form::large_dense || c.form == Form::large_sparse;
  const bool sparse = c.form == Form::sparse || c.form == Form::large_sparse;
  const Index rows = large ? 6000 : 30;
  const auto direct = std::make_shared<LinearProblem>(
      random_split(rows, rows / 2, 0, large ? 60 : 12, 1, *c.loss, sparse ? 0.4 : 1.0), *c.loss, c.intercept);
  if (c.form == Form::collapsed) return std::make_shared<CollapsedLeastSquares>(direct);
  return direct;
}

class Allocation : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, Allocation, testing::ValuesIn(cases()), name_of);

TEST_P(Allocation, StepsDoNotAllocate) {
  const test::ThreadsGuard one_thread(1);
  const auto problem = build(GetParam());
  const auto solver = method(GetParam().method).make({});
  const auto run = solver->start(*problem, {.lambda = lambda_of(-1.0)});
  for (int warm_up = 0; warm_up < 2; ++warm_up) run->step();
  allocations = 0;
  counting = true;
  for (int i = 0; i < 50; ++i) run->step();
  counting = false;
  EXPECT_EQ(allocations, 0);
  EXPECT_TRUE(run->iterate().w.allFinite());
}

// The counters work at all.
TEST(Allocation, IsCounted) {
  allocations = 0;
  counting = true;
  const Vector v = Vector::Zero(100);
  counting = false;
  EXPECT_GE(allocations, 1);
  EXPECT_EQ(v.size(), 100);
}

}  // namespace
}  // namespace yosida

#endif
