#include "module.hpp"

#include <csignal>
#include <map>

#include "yosida/error.hpp"
#include "yosida/linalg/blas_kernels.hpp"
#include "yosida/linalg/mpi.hpp"
#include "yosida/version.hpp"

namespace yosida::python {
namespace {

/// What the handler of Ctrl-C knows. One computation of the main thread at a time has a handler.
StopSource* asked = nullptr;
struct sigaction of_python;

/// Asks for a stop at once, and tells Python, which comes to it when it has the GIL again.
void on_interrupt(int signal) {
  asked->request_stop();
  of_python.sa_handler(signal);
}

bool is_main_thread() {
  // Never dropped: it would be after the end of Python.
  static const auto& threading = *new py::module_(py::module_::import("threading"));
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace

py::array_t<double> to_numpy(const Vector& v) { return py::array_t<double>(v.size(), v.data()); }

py::array_t<double> to_numpy(const Matrix& m) { return py::array_t<double>({m.rows(), m.cols()}, m.data()); }

Vector to_vector(const py::handle& numbers, const char* name) {
  const auto given = py::array::ensure(numbers);
  if (given && given.dtype().kind() == 'c')
    throw InputError(std::string(name) + ": holds complex numbers: must be real");
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
  if (!array) {
    PyErr_Clear();
    throw InputError(std::string(name) + ": must be an array of numbers");
  }
  if (array.ndim() != 1)
    throw InputError(std::string(name) + ": has " + std::to_string(array.ndim()) +
                     " dimensions: must be an array of one dimension");
  return Eigen::Map<const Vector>(array.data(), array.shape(0));
}

Computation::Computation() {
  if (asked == nullptr && is_main_thread()) {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, nullptr, &of_python);
    // A handler of another kind, or none, is that of somebody who wants Ctrl-C for himself.
    const bool is_plain = (of_python.sa_flags & SA_SIGINFO) == 0 && of_python.sa_handler != SIG_IGN &&
                          of_python.sa_handler != SIG_DFL;
    if (is_plain) {
      asked = &stop_;
      handles_signals_ = true;
      sigaction(SIGINT, &action, nullptr);
    }
  }
  release_.emplace();
}

void Computation::restore_handler() {
  if (!handles_signals_) return;
  sigaction(SIGINT, &of_python, nullptr);
  asked = nullptr;
  handles_signals_ = false;
}

Computation::~Computation() {
  restore_handler();
  release_.reset();
}

bool Computation::end(bool raise) {
  restore_handler();
  release_.reset();
  if (!stop_.token().was_asked()) return false;
  if (PyErr_CheckSignals() != 0) {  // runs the handler that Python has: by default it throws
    if (raise || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw py::error_already_set();
    PyErr_Clear();
  }
  if (raise) {  // somebody's function on the way has seen the exception already
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }
  return true;
}

/// What the command line calls x and y, where it stands in front of " = ".
static void name_pretreatments(std::string& message, std::size_t begin) {
  for (const auto& [from, to] : {std::pair{"x", "pretreatment"}, {"y", "target_pretreatment"}}) {
    if (message.compare(begin, 4, std::string(from) + " = ") != 0) continue;
    message.replace(begin, 1, to);
    if (const auto at = message.find(": no such " + std::string(from) + ";"); at != std::string::npos)
      message.replace(at + 10, 1, to);
  }
}

/// What messages call options, and what they are called in Python.
const std::map<std::string, std::string, std::less<>>& arguments_of_options() {
  static const std::map<std::string, std::string, std::less<>> arguments = {
      {"--valid-fraction", "validation_fraction"},
      {"--test-fraction", "test_fraction"},
      {"--folds", "folds"},
      {"--criterion", "criterion"},
      {"--repeats", "repeats"},
      {"--group-rows", "group_rows"},
      {"--nested", "nested"},
      {"--shrinkage", "shrink"},
      {"--fold-column", "folds"},
      {"--valid", "validation"},
      {"--test", "test"},
      {"--weights", "sample_weight"},
      {"--class-weights", "class_weight"},
      {"--lambda-per", "penalty_per"},
      {"--fixed-penalty", "fixed_penalty"},
      {"--penalty", "penalty"},
      {"--group-scale", "group_scale"},
      {"--group", "groups"},
      {"--groups", "groups"},
      {"--unpenalised", "unpenalised"},
      {"--method", "method"},
      {"--model", "model"},
      {"--oracle", "oracle"},
      {"--refit", "refit"},
      {"--bounds", "bounds"},
      {"--x", "pretreatment"},
      {"--y", "target_pretreatment"},
      {"--missing", "fill_missing"},
      {"--dense", "a dense array"},
      {"lambda-per", "penalty_per"},
      {"fixed-penalty", "fixed_penalty"},
      {"class-weights", "class_weight"},
      {"budget-gradients", "budget gradients"},
      {"max-iterations", "budget iterations"},
      {"time-limit", "budget seconds"},
      {"trace-every", "trace"},
  };
  return arguments;
}

std::string in_words_of_python(std::string message) {
  const auto& arguments = arguments_of_options();
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  std::string words;
  // Options and what has them begin a message, or follow the name of the rows.
  const std::size_t begin = message.starts_with("X: ") ? 3 : 0;
  name_pretreatments(message, begin);
  if (message.starts_with("X: every training target")) message[0] = 'y';
  if (const auto at = message.find("see: yosida methods"); at != std::string::npos)
    message.replace(at, std::string::npos, "see: yosida.methods()");
  constexpr std::string_view kFill = "--missing mean";
  if (const auto at = message.find(kFill); at != std::string::npos)
    message.replace(at, kFill.size(), "fill_missing=True");
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at;
    while (end < message.size() && is_part(message[end])) ++end;
    if (end == at) {
      words += message[at++];
      continue;
    }
    const std::string word = message.substr(at, end - at);
    const auto found = arguments.find(word);
    words += found == arguments.end() ? word : found->second;
    at = end;
  }
  return words;
}

}  // namespace yosida::python

PYBIND11_MODULE(_core, module) {
  using namespace yosida;
  using namespace yosida::python;
  module.doc() = "The C++ library. Use the functions and classes of the package yosida.";
  module.attr("version") = YOSIDA_VERSION;

  static PyObject* const input_error = PyErr_NewExceptionWithDoc(
      "yosida.InputError", "An argument is wrong: the message names it and the rule.", PyExc_ValueError,
      nullptr);
  module.add_object("InputError", input_error);
  static PyObject* const other_ended =
      PyErr_NewExceptionWithDoc("yosida.mpi.OtherEnded", "Another process of a communicator has ended with an error.",
                                PyExc_RuntimeError, nullptr);
  module.add_object("OtherEnded", other_ended);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      PyErr_SetString(input_error, in_words_of_python(error.what()).c_str());
    } catch (const OutputError& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    } catch (const RunEnded& ended) {
      if (ended.reason() == RunEnded::Reason::stopped)
        PyErr_SetString(PyExc_KeyboardInterrupt, "stopped before there was an answer");
      else
        PyErr_SetString(PyExc_TimeoutError, ended.what());
    } catch (const mpi::Ended& ended) {
      PyErr_SetString(other_ended, ("another process has ended: " + ended.message).c_str());
    }
  });

  module.def("set_threads", &set_threads, py::arg("count"));
  module.def("threads", &threads);
  module.def("blas_kernels", &blas_kernels);
  module.def("use_fast_blas_kernels", &use_fast_blas_kernels);
  add_tune(module);
  add_problem(module);
  add_search(module);
  add_study(module);
  add_mpi(module);
}
