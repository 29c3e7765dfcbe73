#pragma once

#include <string>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// The report: one HTML file that needs nothing else. `data` is the JSON of a study's view.
std::string page_html(const std::string& data, const std::string& title);

/// The same page without data: it asks its server for data.json, again and again, and shows what is new.
std::string live_page_html(const std::string& title);

}  // namespace report
}  // namespace yosida
