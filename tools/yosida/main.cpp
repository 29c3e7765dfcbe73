#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "commands.hpp"
#include "yosida/error.hpp"

int main(int argc, char** argv) {
  using namespace yosida;
  CLI::App app("Yosida: tune a model's regularisation by gradients that do not blow up.", "yosida");
  app.set_version_flag("--version", YOSIDA_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  yosida tune --data spectra --oracle\n"
      "  yosida tune --train train.csv --target price --save model.json\n"
      "  yosida predict --from model.json --data new.csv --out predictions.csv\n"
      "Each command has its own --help.");
  int exit_code = cli::kOk;
  cli::add_tune(app, exit_code);
  cli::add_predict(app, exit_code);
  cli::add_methods(app, exit_code);
  cli::add_check_grad(app, exit_code);
  cli::add_data(app, exit_code);
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kOk : cli::kBadInput;
  } catch (const InputError& error) {
    fmt::print(stderr, "yosida: {}\n", error.what());
    return cli::kBadInput;
  } catch (const OutputError& error) {
    fmt::print(stderr, "yosida: {}\n", error.what());
    return cli::kNotWritten;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "yosida: out of memory\n");
    return cli::kInternal;
  } catch (const std::exception& error) {
    fmt::print(stderr, "yosida: internal error: {}\n", error.what());
    return cli::kInternal;
  }
}
