// Turns the JSON of a report on standard input into its page on standard output: page_tool report|live TITLE
#include <iostream>
#include <iterator>
#include <string>

#include "yosida/report/page.hpp"

int main(int count, char** arguments) {
  const std::string mode = count == 3 ? arguments[1] : "";
  if (mode == "live") {
    std::cout << yosida::report::live_page_html(arguments[2]);
  } else if (mode == "report") {
    const std::string data{std::istreambuf_iterator<char>(std::cin), {}};
    std::cout << yosida::report::page_html(data, arguments[2]);
  } else {
    std::cerr << "page_tool report|live TITLE\n";
    return 2;
  }
  return std::cout.flush() ? 0 : 4;
}
