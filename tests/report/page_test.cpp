#include "yosida/report/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace yosida::report {
namespace {

/// What stands between the tags of the element with the data.
std::string data_of(const std::string& page) {
  const std::string begin = "<script id=\"data\" type=\"application/json\">";
  const std::size_t start = page.find(begin) + begin.size();
  return page.substr(start, page.find("</script>", start) - start);
}

TEST(Page, TextOfAStudyCannotLeaveTheData) {
  const nlohmann::json data = {
      {"title", "</script><script>alert(1)</script><!-- --> &amp; \u2028\u2029 \\ \" {{script}}"}};
  const std::string page = page_html(data.dump(), "a title");
  const std::string shown = data_of(page);
  EXPECT_EQ(nlohmann::json::parse(shown), data);
  for (const char* forbidden : {"<", ">", "&", "\u2028", "\u2029"})
    EXPECT_EQ(shown.find(forbidden), std::string::npos) << forbidden;
}

TEST(Page, TitleIsText) {
  const std::string page = page_html("{}", "</title><script>\"&");
  EXPECT_EQ(page.find("</title><script>\""), std::string::npos);
  EXPECT_NE(page.find("<title>&lt;/title&gt;&lt;script&gt;&quot;&amp;</title>"), std::string::npos);
}

TEST(Page, NothingIsLeftToFillIn) {
  for (const std::string& page : {page_html("{}", "t"), live_page_html("t")})
    for (const char* name :
         {"{{title}}", "{{policy}}", "{{mode}}", "{{style}}", "{{d3}}", "{{script}}", "{{data}}"})
      EXPECT_EQ(page.find(name), std::string::npos) << name;
}

TEST(Page, ReportsMayNotConnectAndLivePagesOnlyHome) {
  const std::string report = page_html("{}", "t");
  const std::string live = live_page_html("t");
  EXPECT_NE(report.find("connect-src 'none'"), std::string::npos);
  EXPECT_NE(live.find("connect-src 'self'"), std::string::npos);
  for (const std::string& page : {report, live}) {
    EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
    EXPECT_EQ(page.find("unsafe-"), std::string::npos);
  }
}

TEST(Page, HoldsTheLicenceOfD3) {
  EXPECT_NE(page_html("{}", "t").find("Redistribution and use in source and binary forms"),
            std::string::npos);
}

}  // namespace
}  // namespace yosida::report
