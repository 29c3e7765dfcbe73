#include "yosida/number_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace yosida {
namespace {

TEST(NumberText, HasTheDigitsThatCountAndNoPowersOfTen) {
  EXPECT_EQ(number_text(1478.0, 3), "1480");
  EXPECT_EQ(number_text(1234567.0), "1234570");
  EXPECT_EQ(number_text(0.000123456, 3), "0.000123");
  EXPECT_EQ(number_text(2.0), "2");
  EXPECT_EQ(number_text(0.5), "0.5");
  EXPECT_EQ(number_text(-3.25, 2), "-3.2");
  EXPECT_EQ(number_text(999999.9, 6), "1000000");
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(-0.0), "0");
}

TEST(NumberText, TakesPowersOnlyWhereDigitsWouldBeZeros) {
  EXPECT_EQ(number_text(3.2e-7, 2), "3.2e-7");
  EXPECT_EQ(number_text(1e12), "1e12");
  EXPECT_EQ(number_text(-1.5e-300, 3), "-1.5e-300");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(NumberText, AnErrorSaysHowFarAValueIsRounded) {
  EXPECT_EQ(with_error(1478.3, 110.4), "1480 ± 110");
  EXPECT_EQ(with_error(0.123456, 0.0123), "0.123 ± 0.012");
  EXPECT_EQ(with_error(0.5, 0.0996), "0.50 ± 0.10");
  EXPECT_EQ(with_error(12.0, 0.0), "12 ± 0");
  EXPECT_EQ(with_error(12.0, 1e-9), "12 ± 0");
  EXPECT_EQ(with_error(0.0, 0.0), "0 ± 0");
  EXPECT_EQ(with_error(-0.001, 12.0), "0 ± 12");
  EXPECT_EQ(with_error(1e12, 2e10), "1e12 ± 2e10");
  EXPECT_EQ(with_error(123456.0, 0.12), "123456.00 ± 0.12");
}

TEST(NumberText, PercentagesHaveTwoDecimals) {
  EXPECT_EQ(percent_text(0.0), "0.00 %");
  EXPECT_EQ(percent_text(3e-9), "0.00 %");
  EXPECT_EQ(percent_text(-3e-9), "0.00 %");
  EXPECT_EQ(percent_text(0.12345), "12.35 %");
  EXPECT_EQ(percent_text(1.2346), "123.5 %");
  EXPECT_EQ(percent_text(14.78), "1478 %");
  EXPECT_EQ(signed_percent_text(0.0), "+0.00 %");
  EXPECT_EQ(signed_percent_text(-0.5), "-50.00 %");
}

}  // namespace
}  // namespace yosida
