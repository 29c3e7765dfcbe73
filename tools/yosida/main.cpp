#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <tuple>

#include "commands.hpp"
#include "help.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "say.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/blas_kernels.hpp"
#include "yosida/study/place.hpp"
#include "yosida/version.hpp"

namespace yosida::cli {
namespace {

/// An empty value is a shell variable that was not set: never what was meant.
void refuse_empty_values(CLI::App& app) {
  const CLI::Validator not_empty(
      [](const std::string& text) { return text.empty() ? "the value is empty" : std::string(); }, "");
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0) option->check(not_empty);
  for (CLI::App* command : app.get_subcommands({})) refuse_empty_values(*command);
}

/// A descriptor of these three that is closed would be that of the next file, which would then be printed
/// into. What is printed to a descriptor that can only be read fails, as it should.
void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0)
      std::ignore = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

std::string& command_text() {
  static std::string text;
  return text;
}

std::vector<std::string>& words_of_command() {
  static std::vector<std::string> words;
  return words;
}

/// The command with these flags behind it, in the place of what it says of those that are given once.
std::string command_with(const std::string& flags) {
  std::string text = "yosida";
  const std::vector<std::string>& words = words_of_command();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string flag = words[i].substr(0, words[i].find('='));
    const bool is_replaced =
        (flag == "--missing" || flag == "--decimal") && flags.find(flag) != std::string::npos;
    if (!is_replaced) {
      text += " " + shell_word(words[i]);
    } else if (flag == words[i]) {
      ++i;
    }
  }
  return flags.empty() ? text : text + " " + flags;
}

}  // namespace

const std::string& this_command() { return command_text(); }

CLI::Validator whole_number() {
  return {[](const std::string& text) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            return error == std::errc{} && end == text.data() + text.size()
                       ? std::string()
                       : fmt::format("{} must be a whole number, 0 or more and below 2^64", text);
          },
          ""};
}

CLI::Validator signed_number() {
  return {[](const std::string& text) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            return error == std::errc{} && end == text.data() + text.size()
                       ? std::string()
                       : fmt::format("{} must be a whole number below 2^63", text);
          },
          ""};
}

namespace {

/// Without fmt, which would want memory for the text.
void say_memory_is_out() {
  std::fputs("yosida: there is not enough memory (fewer --jobs need less; ulimit -v shows a limit)\n",
             stderr);
}

std::terminate_handler terminate_otherwise = nullptr;

/// Where memory is out an exception can meet code that wants memory to clean up, and get no further.
void end_where_memory_is_out() {
  try {
    if (const std::exception_ptr failure = std::current_exception()) std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    say_memory_is_out();
    std::_Exit(kInternal);
  } catch (...) {
    terminate_otherwise();
  }
  terminate_otherwise();
}

/// Before the static initialisers of other files, those of CLI11 above all, which allocate too.
[[gnu::constructor(101)]] void handle_lack_of_memory() {
  terminate_otherwise = std::set_terminate(end_where_memory_is_out);
}

struct Command {
  std::string_view name;
  void (*add)(CLI::App& app, int& exit_code);
};
constexpr Command kCommands[] = {
    {"tune", add_tune},           {"compare", add_compare},
    {"predict", add_predict},     {"coefficients", add_coefficients},
    {"methods", add_methods},     {"check-grad", add_check_grad},
    {"data", add_data},           {"study", add_study},
    {"reproduce", add_reproduce}, {"dashboard", add_dashboard},
    {"report", add_report},
};

/// The one that is called, or all of them. Making the flags of all takes a tenth of a short run.
void add_commands(CLI::App& app, int& exit_code, std::string_view called) {
  for (const Command& command : kCommands)
    if (command.name == called) return command.add(app, exit_code);
  for (const Command& command : kCommands) command.add(app, exit_code);
  add_help(app, exit_code);
}

int run(int argc, char** argv) {
  hold_standard_descriptors();
  fold_standard_output();
  CLI::App app("Yosida: tune a model's regularisation by gradients that do not blow up.", "yosida");
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  yosida tune --data spectra --oracle\n"
      "  yosida tune --train train.csv --target price --save model.json\n"
      "  yosida compare --data spectra --methods my-hpo,random,tpe --study spectra.study\n"
      "  yosida report spectra.study\n"
      "  yosida predict --from model.json --data new.csv --out predictions.csv\n"
      "  yosida coefficients model.json\n"
      "  yosida reproduce                     the experiments of the paper\n"
      "Each command has its own --help, and a page: yosida help tune");
  int exit_code = kOk;
  // What is shown and stored of the command: without the passwords of databases.
  std::transform(argv + std::min(argc, 1), argv + argc, std::back_inserter(words_of_command()),
                 study::shown_place);
  command_text() = command_with("");
  add_commands(app, exit_code, argc > 1 ? argv[1] : "");
  refuse_empty_values(app);
  try {
    require_known_command(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    throw InputError(unexpected_in_words(app, app.remaining(true)));
  } catch (const CLI::ArgumentMismatch& error) {
    throw InputError(refused_in_words(app, count_in_words(error.what())));
  } catch (const CLI::ParseError& error) {  // help, too
    if (error.get_exit_code() != 0) throw InputError(refused_in_words(app, error.what()));
    std::ostringstream out, said;
    app.exit(error, out, said);
    std::fputs(out.str().c_str(), stdout);
  } catch (const std::system_error& error) {
    // By fmt::print, where the disk is full.
    if (std::ferror(stdout) == 0) throw;
    throw OutputError(fmt::format("standard output: {}", error.code().message()));
  }
  flush_standard_output();
  return exit_code;
}

}  // namespace
}  // namespace yosida::cli

namespace {

/// A large matrix goes back to the system when it is freed. By itself the C library would take the next one
/// from its heaps, and these keep the holes that it leaves.
///
/// Under a limit on memory threads cannot have heaps of their own: the C library would ask for one at every
/// other allocation, in vain, and give back what it just got. One heap for all, which keeps what it has.
void set_up_the_heap() {
  constexpr int kLarge = 4 << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    mallopt(M_MMAP_THRESHOLD, kLarge);
    mallopt(M_TRIM_THRESHOLD, 2 * kLarge);  // as the C library has it: the first alone would leave it tiny
    return;
  }
  constexpr int kKept = 32 << 20;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

/// Does it; leaves in `message` what is to be said where it fails.
int run_and_explain(int argc, char** argv, std::string& message) {
  using namespace yosida;
  const auto failed = [&](int code, std::string text) {
    message = std::move(text);
    return code;
  };
  try {
    return cli::run(argc, argv);
  } catch (const TableError& error) {
    const std::string text = cli::printable(error.what(), true);
    if (error.correction.empty()) return failed(cli::kBadInput, fmt::format("yosida: {}\n", text));
    return failed(cli::kBadInput,
                  fmt::format("yosida: {}\n  {}\n", text, cli::command_with(error.correction)));
  } catch (const InputError& error) {
    return failed(cli::kBadInput, fmt::format("yosida: {}\n", cli::printable(error.what())));
  } catch (const OutputError& error) {
    return failed(cli::kNotWritten, fmt::format("yosida: {}\n", cli::printable(error.what())));
  } catch (const MemoryError& error) {
    return failed(cli::kInternal,
                  fmt::format("yosida: {}{}\n", cli::own_rank(), cli::printable(error.what())));
  } catch (const std::bad_alloc&) {
    cli::say_memory_is_out();
    return failed(cli::kInternal,
                  cli::session() == nullptr
                      ? ""
                      : fmt::format("yosida: {}there is not enough memory\n", cli::own_rank()));
  } catch (const std::system_error& error) {
    const bool is_thread = error.code() == std::errc::resource_unavailable_try_again;
    return failed(cli::kInternal,
                  fmt::format("yosida: {}: {}\n",
                              is_thread ? "there is not enough memory for a thread, or there are too many"
                                        : "internal error",
                              cli::printable(error.what())));
  } catch (const std::exception& error) {
    return failed(cli::kInternal, fmt::format("yosida: internal error: {}\n", cli::printable(error.what())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace yosida;
  set_up_the_heap();
  use_fast_blas_kernels();
  std::string message;
  int code = cli::kOk;
  try {
    const std::string_view command = argc > 1 ? argv[1] : "";
    const bool shares_runs = command == "compare" || command == "reproduce";
    if (command == "tune" || shares_runs) cli::join_ranks(!shares_runs);
    const auto run = [&] { code = run_and_explain(argc, argv, message); };
    if (shares_runs && cli::session() != nullptr) {
      cli::session()->alone(run);
    } else {
      run();
    }
    code = cli::leave_ranks(code, message);
  } catch (const mpi::Ended& ended) {
    message = ended.message;
    code = ended.code;
  } catch (const InputError& error) {
    message = fmt::format("yosida: {}\n", error.what());
    code = cli::kBadInput;
  }
  if (!message.empty()) cli::say("{}", message);
  return code;
}
