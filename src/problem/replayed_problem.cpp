#include "problem/replayed_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "linalg/ranks.hpp"
#include "yosida/whole_file.hpp"

namespace yosida {
namespace {

constexpr std::string_view kMagic = "yosida checkpoint 1\n";
constexpr std::size_t kMostBytes = std::size_t{1} << 28;  // of answers

/// What was asked or kept, in a number: something else has another one, but for one chance in 2⁶⁴ (FNV-1a).
class Digest {
 public:
  template <typename... Parts>
  explicit Digest(std::string_view kind, const Parts&... parts) {
    add(kind.data(), kind.size());
    (with(parts), ...);
  }
  void with(const Vector& v) { add(v.data(), static_cast<std::size_t>(v.size()) * sizeof(double)); }
  void with(const Matrix& m) { add(m.data(), static_cast<std::size_t>(m.size()) * sizeof(double)); }
  void with(double number) { add(&number, sizeof number); }
  std::uint64_t number() const { return number_; }

 private:
  void add(const void* data, std::size_t size) {
    const auto* const bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) number_ = (number_ ^ bytes[i]) * 0x100000001b3U;
  }
  std::uint64_t number_ = 0xcbf29ce484222325U;
};

// What an answer is made of.

void exchange(Archive& archive, double& number) { archive.exchange(number); }
void exchange(Archive& archive, Vector& v) { archive.exchange(v); }
void exchange(Archive& archive, Matrix& m) { archive.exchange(m); }

void exchange(Archive& archive, std::optional<double>& number) {
  bool is_there = number.has_value();
  double value = number.value_or(0.0);
  archive.exchange(is_there);
  archive.exchange(value);
  number = is_there ? std::optional(value) : std::nullopt;
}

void exchange(Archive& archive, Work& work) {
  for (std::int64_t* each : {&work.train_gradients, &work.validation_gradients, &work.hessian_products,
                             &work.loss_evaluations, &work.inner_solves})
    archive.exchange(*each);
  archive.exchange(work.factorisations);
}

void exchange(Archive& archive, InnerReport& report) {
  archive.exchange(report.gradient_norm);
  archive.exchange(report.converged);
  archive.exchange(report.blur);
  archive.exchange(report.setup);
  exchange(archive, report.work);
}

void exchange(Archive& archive, LinearReport& report) {
  archive.exchange(report.residual_norm);
  archive.exchange(report.converged);
  archive.exchange(report.damping);
  exchange(archive, report.work);
}

void exchange(Archive& archive, Losses& losses) {
  archive.exchange(losses.train);
  archive.exchange(losses.validation);
  exchange(archive, losses.test);
}

/// Takes `size` bytes and the number before them that says so.
std::string_view take_part(std::string_view& bytes, const std::filesystem::path& file) {
  std::uint64_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (bytes.size() < sizeof size || bytes.size() - sizeof size < size)
    throw InputError(fmt::format("{}: the checkpoint is damaged: it ends too early", file.string()));
  const std::string_view part = bytes.substr(sizeof size, size);
  bytes.remove_prefix(sizeof size + size);
  return part;
}

void put_part(std::string& bytes, std::string_view part) {
  const std::uint64_t size = part.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
}

}  // namespace

/// Tells the checkpoint of a memory as long as it lives.
class ReplayedProblem::HeldMemory final : public SolveMemory {
 public:
  HeldMemory(std::unique_ptr<SolveMemory> memory, std::shared_ptr<Held> held)
      : memory_(std::move(memory)), held_(std::move(held)), place_(held_->size()) {
    held_->push_back(this);
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() override { (*held_)[place_] = nullptr; }
  SolveMemory& memory() { return *memory_; }
  void exchange(Archive& archive) {
    if (auto* const archived = dynamic_cast<ArchivedMemory*>(memory_.get())) archived->exchange(archive);
  }

 private:
  std::unique_ptr<SolveMemory> memory_;
  std::shared_ptr<Held> held_;
  std::size_t place_;
};

ReplayedProblem::ReplayedProblem(const BilevelProblem& problem, std::filesystem::path file,
                                 std::string_view run, const Vector& lambda)
    : ForwardingProblem(problem), file_(std::move(file)) {
  // Other rows have other gradients.
  const Vector w = starting_weights(problem);
  Vector train(w.size()), validation(w.size());
  problem.train_gradient(w, lambda, train);
  const double loss = problem.validation_gradient(w, lambda, validation);
  header_ = kMagic;
  header_ += fmt::format("{:016x}\n", Digest(run, lambda, train, validation, loss).number());
  std::ifstream stream(file_, std::ios::binary);
  if (stream) read_.assign(std::istreambuf_iterator<char>(stream), {});
  linalg::any_rank(false);  // before the first of them writes, all have read
  if (read_.empty()) {
    write_file();  // what cannot be written is known now
    return;
  }
  if (!std::string_view(read_).starts_with(kMagic))
    throw InputError(fmt::format("{}: is no checkpoint of this version of yosida", file_.string()));
  if (!std::string_view(read_).starts_with(header_))
    throw InputError(
        fmt::format("{}: is the checkpoint of another run: of other rows, another method or other settings; "
                    "remove it, or name another file",
                    file_.string()));
  std::string_view rest = std::string_view(read_).substr(header_.size());
  const std::string_view body = take_part(rest, file_);
  std::uint64_t digest = 0;
  if (rest.size() != sizeof digest)
    throw InputError(fmt::format("{}: the checkpoint is damaged: it ends too early", file_.string()));
  std::memcpy(&digest, rest.data(), sizeof digest);
  if (digest != Digest(body).number())
    throw InputError(fmt::format("{}: the checkpoint is damaged: its digest is another", file_.string()));
  rest = body;
  answers_ = take_part(rest, file_);
  memories_ = take_part(rest, file_);
}

ReplayedProblem::~ReplayedProblem() = default;

void ReplayedProblem::write() const {
  if (!changed_ || is_full_) return;
  try {
    write_file();
  } catch (const OutputError& error) {  // the answer does not need it
    fault_ = error.what();
    is_full_ = true;
  }
}

void ReplayedProblem::write_file() const {
  if (linalg::ranks() != nullptr && linalg::ranks()->rank() != 0) return;
  const Clock::time_point begin = Clock::now();
  Archive archive;
  for (HeldMemory* each : *held_)
    if (each != nullptr) each->exchange(archive);
  std::string body;
  put_part(body, log_);
  put_part(body, archive.bytes());
  std::string bytes = header_;
  put_part(bytes, body);
  const std::uint64_t digest = Digest(body).number();
  bytes.append(reinterpret_cast<const char*>(&digest), sizeof digest);
  WholeFile whole(file_);
  whole.write(bytes);
  whole.finish();
  changed_ = false;
  written_ = Clock::now();
  cost_ = written_ - begin;
}

void ReplayedProblem::restore_memories() const {
  Archive archive(memories_);
  for (HeldMemory* each : *held_)
    if (each != nullptr) each->exchange(archive);
}

SolveMemory* ReplayedProblem::inner(SolveMemory* memory) {
  auto* const held = dynamic_cast<HeldMemory*>(memory);
  return held == nullptr ? memory : &held->memory();
}

/// What is asked, and what may end the answer on its way.
struct ReplayedProblem::Question {
  template <typename... Parts>
  explicit Question(std::string_view kind, const Parts&... parts) : number(Digest(kind, parts...).number()) {}
  Question stopped_by(const StopToken* token) const {
    Question same = *this;
    same.stop = token;
    return same;
  }
  std::uint64_t number;
  const StopToken* stop = nullptr;
};

template <typename Compute, typename... Answer>
void ReplayedProblem::answer(const Question& question, const Compute& compute, Answer&... found) const {
  if (answers_.empty()) {
    compute();
    keep(question, found...);
    return;
  }
  std::string_view part = take_part(answers_, file_);
  std::uint64_t asked = 0;
  if (part.size() < sizeof asked)
    throw InputError(fmt::format("{}: the checkpoint is damaged", file_.string()));
  std::memcpy(&asked, part.data(), sizeof asked);
  if (asked != question.number)
    throw InputError(fmt::format(
        "{}: is the checkpoint of another run, which has asked otherwise; remove it, or name another file",
        file_.string()));
  Archive archive(part.substr(sizeof asked));
  (exchange(archive, found), ...);
  put_part(log_, part);
  if (answers_.empty()) restore_memories();
}

template <typename... Answer>
void ReplayedProblem::keep(Question question, Answer&... found) const {
  constexpr std::chrono::seconds kOften{1};
  constexpr int kShare = 20;  // of the time goes to writing at most one part in so many
  // A solve that was stopped on its way gives no answer, and it has changed the memory: so the file stays as
  // it is.
  is_full_ |= question.stop != nullptr && question.stop->stop_requested();
  if (is_full_) return;
  Archive archive;
  archive.exchange(question.number);
  (exchange(archive, found), ...);
  is_full_ = log_.size() + archive.bytes().size() > kMostBytes;
  if (is_full_) return;
  put_part(log_, archive.bytes());
  changed_ = true;
  if (Clock::now() - written_ >= std::max<Clock::duration>(kOften, kShare * cost_)) write();
}

double ReplayedProblem::train_loss(const Vector& w, const Vector& lambda) const {
  double loss = 0.0;
  answer(
      Question("train_loss", w, lambda), [&] { loss = problem_.train_loss(w, lambda); }, loss);
  return loss;
}

void ReplayedProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  answer(
      Question("train_gradient", w, lambda), [&] { problem_.train_gradient(w, lambda, g); }, g);
}

void ReplayedProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                      Vector& out) const {
  answer(
      Question("hessian_product", w, lambda, p), [&] { problem_.hessian_product(w, lambda, p, out); }, out);
}

void ReplayedProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                    Vector& out) const {
  answer(
      Question("cross_product", w, lambda, q), [&] { problem_.cross_product(w, lambda, q, out); }, out);
}

void ReplayedProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                               Vector& out) const {
  answer(
      Question("cross_product_transposed", w, lambda, p),
      [&] { problem_.cross_product_transposed(w, lambda, p, out); }, out);
}

double ReplayedProblem::validation_loss(const Vector& w, const Vector& lambda) const {
  double loss = 0.0;
  answer(
      Question("validation_loss", w, lambda), [&] { loss = problem_.validation_loss(w, lambda); }, loss);
  return loss;
}

double ReplayedProblem::validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  double loss = 0.0;
  answer(
      Question("validation_gradient", w, lambda), [&] { loss = problem_.validation_gradient(w, lambda, g); },
      loss, g);
  return loss;
}

void ReplayedProblem::validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                                 Vector& out) const {
  answer(
      Question("validation_hessian_product", w, lambda, p),
      [&] { problem_.validation_hessian_product(w, lambda, p, out); }, out);
}

std::unique_ptr<SolveMemory> ReplayedProblem::solve_memory() const {
  std::unique_ptr<SolveMemory> memory = problem_.solve_memory();
  if (!memory) return nullptr;
  return std::make_unique<HeldMemory>(std::move(memory), held_);
}

std::optional<double> ReplayedProblem::largest_curvature(SolveMemory& memory, Work& work) const {
  std::optional<double> largest;
  Work own;
  answer(
      Question("largest_curvature"), [&] { largest = problem_.largest_curvature(*inner(&memory), own); },
      largest, own);
  work += own;
  return largest;
}

InnerReport ReplayedProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  const auto question = options.proximal
                            ? Question("inner_solve", lambda, w, options.tolerance, options.blur,
                                       options.proximal->u, options.proximal->v, options.proximal->rho)
                            : Question("inner_solve", lambda, w, options.tolerance, options.blur);
  InnerOptions own = options;
  own.memory = inner(options.memory);
  InnerReport report;
  answer(
      question.stopped_by(options.stop), [&] { report = problem_.inner_solve(lambda, own, w); }, w, report);
  return report;
}

LinearReport ReplayedProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                            const LinearOptions& options, Vector& x) const {
  LinearOptions own = options;
  own.memory = inner(options.memory);
  LinearReport report;
  answer(
      Question("hessian_solve", w, lambda, b, x, options.tolerance).stopped_by(options.stop),
      [&] { report = problem_.hessian_solve(w, lambda, b, own, x); }, x, report);
  return report;
}

LinearReport ReplayedProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                                 const LinearOptions& options, Matrix& x) const {
  LinearOptions own = options;
  own.memory = inner(options.memory);
  LinearReport report;
  answer(
      Question("hessian_solve_many", w, lambda, b, options.tolerance).stopped_by(options.stop),
      [&] { report = problem_.hessian_solve_many(w, lambda, b, own, x); }, x, report);
  return report;
}

void ReplayedProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  answer(
      Question("certificate_scale", w, lambda), [&] { problem_.certificate_scale(w, lambda, out); }, out);
}

void ReplayedProblem::fit_intercept(Vector& w) const {
  if (problem_.intercepts() == 0) return;
  answer(
      Question("fit_intercept", w), [&] { problem_.fit_intercept(w); }, w);
}

Losses ReplayedProblem::losses(const Vector& w, const Vector& lambda) const {
  Losses found;
  answer(
      Question("losses", w, lambda), [&] { found = problem_.losses(w, lambda); }, found);
  return found;
}

}  // namespace yosida
