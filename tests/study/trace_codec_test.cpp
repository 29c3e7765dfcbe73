#include "study/trace_codec.hpp"

#include <gtest/gtest.h>

#include "study/study_files.hpp"
#include "yosida/random.hpp"

namespace yosida::study {
namespace {

TEST(TraceCodec, SpacesAndTheOrderOfColumnsMeanNothing) {
  std::string text = trace_to_json(odd_trace());
  std::string wide;
  bool is_name = false;
  for (const char c : text) {
    is_name ^= c == '"';
    wide +=
        is_name || c == '"'
            ? std::string(1, c)
            : std::string((std::string_view(",:[]{}").find(c) != std::string_view::npos) ? " \n" : "") + c;
  }
  expect_same(trace_from_json(wide), odd_trace());
  const std::size_t second = text.find(",\"lambda\"");
  const std::string first = text.substr(1, second - 1);
  text.erase(1, second);
  text.insert(text.size() - 1, "," + first);
  expect_same(trace_from_json(text), odd_trace());
}

TEST(TraceCodec, AnEmptyTrace) { EXPECT_TRUE(trace_from_json(trace_to_json({})).empty()); }

TEST(TraceCodec, WhatEndsTooEarlyOrTooLateIsRefused) {
  const std::string text = trace_to_json(odd_trace());
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_THROW(trace_from_json(text.substr(0, length)), InputError) << length;
  EXPECT_THROW(trace_from_json(text + "0"), InputError);
}

TEST(TraceCodec, ColumnsMustBeThoseOfATraceAndOfOneLength) {
  const std::string text = trace_to_json(odd_trace());
  const auto with = [&](const std::string& old, const std::string& changed) {
    std::string result = text;
    const std::size_t at = result.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return result.replace(at, old.size(), changed);
  };
  for (const std::string& bad :
       {with("\"seconds\"", "\"minutes\""), with("\"seconds\"", "\"train\""),
        with("\"iteration\":[0,", "\"iteration\":["), with("\"NaN\"", "NaN"), with("\"NaN\"", "\"nan\""),
        with("\"Infinity\"", "inf"), with("\"Infinity\"", "1e999"), with("null", "nil"),
        with("\"iteration\":[0,", "\"iteration\":[0.5,"), with("\"tried_validation\"", "\"tried\""),
        std::string("[]"), std::string("{}"), std::string("null")})
    EXPECT_THROW(trace_from_json(bad), InputError) << bad;
}

TEST(TraceCodec, NoMoreIsUnpackedThanMayBe) {
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 1000u, 100'000u}) {
    const std::string text(size, 'x');
    EXPECT_EQ(inflate(deflate(text)), text);
    EXPECT_EQ(inflate(deflate(text), size), text);
    if (size > 0) {
      EXPECT_THROW(inflate(deflate(text), size - 1), InputError) << size;
    }
    EXPECT_THROW(inflate(deflate(text) + "x"), InputError);
    EXPECT_THROW(inflate(deflate(text).substr(0, deflate(text).size() - 1)), InputError);
  }
  EXPECT_THROW(inflate(""), InputError);
}

TEST(TraceCodec, OfALongTraceFewerPointsArePacked) {
  Trace trace(1001);
  for (std::size_t i = 0; i < trace.size(); ++i) trace[i].iteration = static_cast<std::int64_t>(i);
  const auto iterations = [&](std::size_t most) {
    std::vector<std::int64_t> kept;
    for (const TracePoint& point : trace_from_json(inflate(packed(trace, most))))
      kept.push_back(point.iteration);
    return kept;
  };
  const std::size_t whole = trace_to_json(trace).size();
  EXPECT_EQ(iterations(whole).size(), 1001u);
  const auto half = iterations(whole - 1);
  EXPECT_EQ(half.size(), 501u);
  EXPECT_EQ((std::vector{half.front(), half[1], half.back()}), (std::vector<std::int64_t>{0, 2, 1000}));
  EXPECT_EQ(iterations(whole / 20).back(), 1000);
  EXPECT_THROW(packed(trace, 10), InputError);
}

TEST(TraceCodec, DamagedTextIsReadOrRefusedButNeverCrashes) {
  const std::string text = trace_to_json(odd_trace());
  Random random(7);
  const auto any = [&](std::size_t below) {
    return static_cast<std::size_t>(random.uniform() * static_cast<double>(below));
  };
  std::size_t refused = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string damaged = text;
    for (std::size_t changes = 1 + any(3); changes > 0; --changes) {
      const std::size_t at = any(damaged.size());
      if (any(2) == 0) {
        damaged.erase(at, 1 + any(4));
      } else {
        damaged[at] = "0-.e,:[]{}\"naN \x80"[any(16)];
      }
    }
    try {
      trace_from_json(damaged);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10'000U) << "most of them";
}

}  // namespace
}  // namespace yosida::study
