#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "commands.hpp"
#include "output.hpp"
#include "yosida/error.hpp"
#include "yosida/report/figure.hpp"
#include "yosida/report/page.hpp"
#include "yosida/report/study_view.hpp"
#include "yosida/study/place.hpp"

namespace yosida::cli {
namespace {

namespace fs = std::filesystem;

struct ReportFlags {
  std::string study, out, figures;
};

/// Made where it is not there; its parent must be.
void require_folder(const std::string& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  if (fs::exists(folder, error)) throw InputError(fmt::format("--figures {}: is not a folder", folder));
  fs::create_directory(folder, error);
  if (error) throw InputError(fmt::format("--figures {}: cannot be made: {}", folder, error.message()));
}

std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  constexpr std::size_t kHead = 4096;
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head;
}

/// A page may not replace hours of runs.
void refuse_study(const std::string& out) {
  std::error_code error;
  if (fs::is_regular_file(out, error) && head_of(out).starts_with("SQLite format 3"))
    throw InputError(
        fmt::format("--out {}: is a study, which the page would replace; name another file", out));
}

/// A name that nobody gave may only replace a report.
std::string default_out(const std::string& place) {
  std::string out = fs::path(study::title_of(place)).replace_extension(".html").string();
  std::error_code error;
  if (!fs::exists(out, error)) return out;
  if (head_of(out).find("content=\"yosida report\"") == std::string::npos)
    throw InputError(
        fmt::format("{}: is there and is no report of yosida; to replace it name it by --out", out));
  return out;
}

int run_report(ReportFlags flags) {
  const std::string shown = study::shown_place(flags.study);
  if (flags.out.empty()) flags.out = default_out(flags.study);
  const std::vector<std::string> inputs = files_of_study(flags.study);
  report::StudyView view(flags.study);
  require_writable({{"--out", flags.out}}, inputs);
  refuse_study(flags.out);
  view.refresh();
  if (view.runs() == 0)
    throw InputError(fmt::format("{}: has no runs to report; yosida compare --study {} … makes some", shown,
                                 shell_word(shown)));
  std::vector<report::Figure> figures;
  if (!flags.figures.empty()) {
    require_folder(flags.figures);
    figures = report::figure_files(view.contents());
    std::vector<OutputFile> outputs{{"--out", flags.out}};
    for (auto& [name, svg] : figures) {
      name = (fs::path(flags.figures) / name).string();
      outputs.push_back({"--figures", name});
    }
    require_writable(outputs, inputs);
  }
  write_file(flags.out, report::page_html(view.json(), view.contents().title));
  for (const auto& [path, svg] : figures) write_file(path, svg);
  if (flags.out == "-") return kOk;
  fmt::print("{}: {} of {}\n", printable(flags.out),
             view.runs() == 1 ? "1 run" : fmt::format("{} runs", view.runs()), printable(shown));
  for (const auto& [path, svg] : figures) fmt::print("{}\n", printable(path));
  return kOk;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "report", "a study as one page with tables and interactive pictures, which needs no network");
  auto flags = std::make_shared<ReportFlags>();
  command->add_option("study", flags->study, "the study, as compare --study makes it")->required();
  command->add_option("--out", flags->out, "the page to write [the study's name with .html, in this folder]");
  command->add_option(
      "--figures", flags->figures,
      "a folder for the convergence of each problem as an SVG file, for a paper; made where it is not there");
  command->footer(
      "Examples:\n"
      "  yosida report spectra.study\n"
      "  yosida report spectra.study --out report.html --figures figures");
  command->callback([flags, &exit_code] { exit_code = run_report(*flags); });
}

}  // namespace yosida::cli
