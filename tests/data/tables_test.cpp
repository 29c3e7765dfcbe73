#include <fmt/format.h>

#include <cmath>

#include "data/field.hpp"
#include "data/test_files.hpp"
#include "support/threads_guard.hpp"
#include "yosida/data/pretreatment.hpp"

namespace yosida {
namespace {

using namespace test_files;
using Names = std::vector<std::string>;

class Tables : public ::testing::Test {
 protected:
  Dataset read(std::string_view text, const ReadOptions& options = {}) {
    return read_dataset(files_.write("data.csv", text), options);
  }
  void expect_error(std::string_view text, const ReadOptions& options,
                    std::initializer_list<std::string_view> parts) {
    expect_refused(files_.write("bad.csv", text), options, parts);
  }
  static ReadOptions target(const std::string& name) {
    ReadOptions options;
    options.target = name;
    return options;
  }

  TestFiles files_;
};

TEST(Field, Numbers) {
  EXPECT_EQ(field::number("1,234,567.5", '.'), 1234567.5);
  EXPECT_EQ(field::number("-1.234.567,25", ','), -1234567.25);
  EXPECT_EQ(field::number("12 345,5e1", ','), 123455.0);
  EXPECT_EQ(field::number("1\xc2\xa0"
                          "234",
                          ','),
            1234.0);
  EXPECT_EQ(field::number("1'234.5", '.'), 1234.5);
  EXPECT_EQ(field::number("12,34,567", '.'), 1234567.0);  // as India groups digits
  EXPECT_EQ(field::number("3,14", ','), 3.14);
  EXPECT_EQ(field::number("+,5", ','), 0.5);
  // What means the same with either mark needs none.
  EXPECT_EQ(field::number("-1'234'567", '\0'), -1234567.0);
  EXPECT_EQ(field::number("12 345", '\0'), 12345.0);
  for (const std::string_view text : {"1,234", "1.234'567", "12'34", "1'234.5", "1'234,5"})
    EXPECT_FALSE(field::number(text, '\0')) << text;
  for (const std::string_view text :
       {"1,23", "1,2345", "12,345,67", "1,234 567", "", "-", ",", "1e", "a", "1,,234"})
    EXPECT_FALSE(field::number(text, '.')) << text;
  EXPECT_FALSE(field::number("1.5", ','));
}

TEST(Field, Dates) {
  const auto days = [](std::string_view text, DateOrder order = DateOrder::year_month_day) {
    return field::date(text, order).value_or(std::nan(""));
  };
  EXPECT_EQ(days("1970-01-01"), 0.0);
  EXPECT_EQ(days("2024-02-29"), 19782.0);  // by `date -u -d 2024-02-29 +%s` / 86400
  EXPECT_EQ(days("1969/12/31"), -1.0);
  EXPECT_EQ(days("29.2.2024", DateOrder::day_month_year), 19782.0);
  EXPECT_EQ(days("2/29/2024", DateOrder::month_day_year), 19782.0);
  EXPECT_EQ(days("2024-02-29T18:00"), 19782.75);
  EXPECT_EQ(days("2024-02-29 18:00:00.000Z"), 19782.75);
  EXPECT_EQ(days("2024-02-29T18:00:00+06:00"), 19782.5);
  EXPECT_EQ(days("2024-02-29 18:00 -0600"), 19783.0);
  EXPECT_EQ(days("06:00"), 0.25);
  for (const std::string_view text : {"6:00 PM", "6:00PM", "06:00:00 pm", "6:00 p.m.", "18:00"})
    EXPECT_EQ(days(text), 0.75) << text;
  EXPECT_EQ(days("12:30 AM"), days("00:30"));
  EXPECT_EQ(days("12:30 PM"), days("12:30"));
  EXPECT_EQ(days("2/29/2024 6:00:00 PM", DateOrder::month_day_year), 19782.75);
  for (const std::string_view text :
       {"2023-02-29", "2024-13-01", "2024-1", "24-01-01", "2024-01-01x", "2024-01-01T25:00",
        "2024-01-01T10:00+1", "10", "1.2.3", "", "13:00 PM", "0:10 AM", "6:00 P", "6:00 PMs"})
    EXPECT_TRUE(std::isnan(days(text))) << text;
}

TEST(Field, DatesWithNamesOfMonths) {
  const auto days = [](std::string_view text) {
    const auto found = field::date(text, DateOrder::year_month_day);
    EXPECT_EQ(found, field::date(text, DateOrder::month_day_year));
    return found.value_or(std::nan(""));
  };
  for (const std::string_view text :
       {"29 Feb 2024", "29-FEB-2024", "29. Februar 2024", "29-Feb-24", "February 29, 2024", "Feb. 29, 2024",
        "feb 29 2024", "2024-Feb-29", "29/feb/2024"})
    EXPECT_EQ(days(text), 19782.0) << text;
  EXPECT_EQ(days("29 Feb 2024 18:00"), 19782.75);
  EXPECT_EQ(days("1. März 2024"), 19783.0);
  EXPECT_EQ(days("3 Jan 1970"), 2.0);
  for (const std::string_view text :
       {"29 Feb 2023", "29 Fe 2024", "29 Febr 2024", "29Feb2024", "Feb 2024", "Feb 29 24", "Feb 29",
        "2024-Feb-290", "029 Feb 2024", "29 Feb 224", "May", "29 - - Feb 2024", "29 Feb 2024x", "February"})
    EXPECT_TRUE(std::isnan(days(text))) << text;
}

TEST_F(Tables, TextBecomesAFeatureForEachLevel) {
  const Dataset data =
      read("a,city,y\n1,Rome,5\n2,Oslo,6\n3,Rome,7\n4,\"Ouro, Preto\",8\n5,Oslo,9\n6,Rome,1\n", target("y"));
  EXPECT_EQ(data.feature_names, (Names{"a", "city=Oslo", "city=Ouro, Preto", "city=Rome"}));
  EXPECT_EQ(dense(data),
            matrix({{1, 0, 0, 1}, {2, 1, 0, 0}, {3, 0, 0, 1}, {4, 0, 1, 0}, {5, 1, 0, 0}, {6, 0, 0, 1}}));
  ASSERT_EQ(data.table.columns.size(), 2U);
  EXPECT_EQ(data.table.columns[1].levels, (Names{"Oslo", "Ouro, Preto", "Rome"}));
  ReadOptions options = target("y");
  options.drop_first = true;
  EXPECT_EQ(read("a,city,y\n1,Rome,5\n2,Oslo,6\n3,Rome,7\n", options).feature_names,
            (Names{"a", "city=Rome"}));
}

TEST_F(Tables, AMissingLevelIsOneOfItsOwn) {
  const Dataset data = read("c,d\nx,1\n,2\ny,3\nx,4\ny,5\n");
  EXPECT_EQ(data.feature_names, (Names{"c=", "c=x", "c=y", "d"}));
  ReadOptions options;
  options.missing = Missing::drop;
  const Dataset dropped = read("c,d\nx,1\n,2\ny,3\nx,4\ny,\n", options);
  EXPECT_EQ(dense(dropped), matrix({{1, 0, 1}, {0, 1, 3}, {1, 0, 4}}));
  EXPECT_EQ(dropped.row_number, (std::vector<Index>{0, 2, 3}));
}

TEST_F(Tables, BooleansAndDatesAreNumbers) {
  const Dataset data = read("a,b\ntrue,2024-02-29\nFALSE,2024-03-01\nTrue,1970-01-01\n");
  EXPECT_EQ(dense(data), matrix({{1, 19782}, {0, 19783}, {1, 0}}));
  EXPECT_EQ(data.table.columns[0].kind, ColumnKind::boolean);
  EXPECT_EQ(data.table.columns[1].kind, ColumnKind::date);
  // The day that cannot be a month tells the order of all.
  EXPECT_EQ(dense(read("a\n01/02/2024\n31/01/2024\n")), matrix({{19754}, {19753}}));
}

// One wrong date among many made a feature of each of the others.
TEST_F(Tables, AFewFieldsThatAreNoDatesAreRefused) {
  const auto days = [](std::string_view last) {
    std::string text = "x,sold,y\n";
    for (int i = 1; i < 29; ++i) text += fmt::format("{},2023-02-{:02},{}\n", i % 7, i, i % 5);
    return text + fmt::format("1,{},2\n", last);
  };
  for (const std::string_view last : {"2023-02-30", "unknown", "17"}) {
    try {
      read(days(last), target("y"));
      FAIL() << last;
    } catch (const TableError& error) {
      EXPECT_EQ(error.correction, "--ignore sold") << error.what();
      for (const std::string& part : {std::string("data.csv:30: field 2 (\"sold\")"), std::string(last),
                                      std::string("must be a date, as 28 of the 29 fields of its column are"),
                                      std::string("--categorical sold")})
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
  EXPECT_THROW(read(days("unknown"), target("sold")), TableError);
  ReadOptions options = target("y");
  options.categorical = {"sold"};
  EXPECT_EQ(read(days("unknown"), options).features(), 30);
  options.categorical = {};
  options.missing = Missing::mean;
  EXPECT_EQ(read(days(""), options).features(), 2);
}

TEST_F(Tables, AHeaderMayNameTheTargetAlone) {
  const Dataset data = read(",,y\n1,2,3\n2,5,6\n", target("y"));
  EXPECT_EQ(data.y, vector({3, 6}));
  EXPECT_EQ(data.features(), 2);
  // A title that is called like the target stays one.
  EXPECT_EQ(read("y,,\na,b,y\n1,2,3\n2,5,6\n", target("y")).feature_names, (Names{"a", "b"}));
}

TEST_F(Tables, ATargetOfTextHasClasses) {
  const Dataset data = read("a,kind\n1,b\n2,a\n3,b\n4,c\n", target("kind"));
  EXPECT_EQ(data.y, vector({1, 0, 1, 2}));
  EXPECT_EQ(data.table.classes, (Names{"a", "b", "c"}));
  EXPECT_TRUE(data.table.columns.empty());
  const Dataset apart = read("a,y\n1,true\n2,false\n", target("y"));
  EXPECT_EQ(apart.table.classes, (Names{"false", "true"}));
}

TEST_F(Tables, NamesOfRowsAreNoFeature) {
  // As pandas writes its index, R its row names by write.csv, and pandas what it has read back.
  for (const std::string_view name : {"", "\"\"", "Unnamed: 0"}) {
    const Dataset data = read(fmt::format("{},a,y\n0,5,1\n1,6,2\n2,9,3\n", name), target("y"));
    EXPECT_EQ(data.feature_names, (Names{"a"})) << name;
    EXPECT_EQ(dense(data), matrix({{5}, {6}, {9}}));
    ASSERT_EQ(data.notes.size(), 1U);
    EXPECT_NE(data.notes[0].find("first column"), std::string::npos) << data.notes[0];
  }
  // R's write.table: a header without a name for them.
  const Dataset data =
      read_dataset(files_.write("data.txt", "\"a\" \"y\"\n\"Mazda\" 5 1\n\"Fiat\" 6 2\n"), target("y"));
  EXPECT_EQ(dense(data), matrix({{5}, {6}}));
  EXPECT_EQ(data.y, vector({1, 2}));
  ReadOptions options = target("y");
  options.numeric = {"0"};
  EXPECT_EQ(dense(read(",a,y\n0,5,1\n1,6,2\n", options)), matrix({{0, 5}, {1, 6}}));
  // Two columns without names: nothing says what they are.
  EXPECT_EQ(dense(read(",,b,y\n0,5,2,1\n1,6,3,2\n", target("y"))).cols(), 3);
}

TEST_F(Tables, InfiniteNumbersAreNamedWithAWayOn) {
  const std::string_view text = "a,b,y\n1,2,3\n4,-inf,5\n6,7,8\n9,1e999,2\n";
  expect_error(text, target("y"), {"bad.csv:3: field 2 (\"b\") is \"-inf\"", "--numeric b --missing mean"});
  ReadOptions options = target("y");
  options.numeric = {"b"};
  options.missing = Missing::mean;
  const Matrix x = dense(read(text, options));
  EXPECT_TRUE(std::isnan(x(1, 1)) && std::isnan(x(3, 1)));
  expect_error("a,y\n1,inf\n2,3\n", target("y"), {"--numeric y --missing drop"});
}

TEST_F(Tables, ARowWithoutAnyNumberIsLeftOut) {
  expect_error("a,b,kind,y\n1,2,x,3\n4,5,y,9\n6,7,x,1\n,,Total,13\n", target("y"),
               {"bad.csv:5: field 1", "it can be read with --missing drop"});
  expect_error("a,b,kind,y\n1,2,x,3\n4,,y,9\n,7,x,1\n", target("y"), {"it can be read with --missing mean"});
}

TEST_F(Tables, AColumnIsAWordOfTheShellInMessages) {
  const Dataset data =
      read("\"it's a \"\"name\"\"\",\"b, c\",d,y\nq,u,5,1\nr,v,6,2\ns,w,8,3\nt,x,8,4\n", target("y"));
  ASSERT_EQ(data.notes.size(), 2U);
  EXPECT_NE(data.notes[0].find("(--categorical 'it'\\''s a \"name\"' takes"), std::string::npos)
      << data.notes[0];
  EXPECT_NE(data.notes[1].find("(--categorical 1 takes"), std::string::npos) << data.notes[1];
}

TEST_F(Tables, TextInAColumnOfNumbersStaysMissingInFilesReadLikeIt) {
  ReadOptions options = target("y");
  options.numeric = {"a"};
  options.missing = Missing::mean;
  const Dataset first = read("a,city,y\n1,Rome,5\nold,Oslo,6\n3,Rome,7\n4,Oslo,8\n", options);
  EXPECT_TRUE(first.table.columns[0].ignores_text);
  ReadOptions like;
  like.like = first.table;
  like.missing = Missing::mean;
  EXPECT_TRUE(std::isnan(dense(read("city,a\nOslo,unknown\n", like))(0, 0)));
}

TEST_F(Tables, ReadLikeAnother) {
  const Dataset first = read("a,city,y\n1,Rome,5\n2,Oslo,6\n3,Rome,7\n4,Oslo,8\n", target("y"));
  ReadOptions options = target("y");
  options.like = first.table;
  const Dataset same = read("extra,y,city,a\nx,1,Oslo,7\ny,2,Lima,8\n", options);
  EXPECT_EQ(same.feature_names, first.feature_names);
  EXPECT_EQ(dense(same), matrix({{7, 1, 0}, {8, 0, 0}}));
  ASSERT_EQ(same.notes.size(), 1U);
  EXPECT_NE(same.notes[0].find("1 of 2 fields of column \"city\""), std::string::npos) << same.notes[0];
  expect_error("y,b\n1,2\n", options, {"has no columns \"a\", \"city\""});
  options.refuse_unseen = true;
  expect_error("y,city,a\n1,Oslo,7\n2,Lima,8\n", options, {"bad.csv:3", "\"Lima\"", "Oslo, Rome"});
}

// A table of names that was trained on has columns 1 and 2; the file that it came from has three.
TEST_F(Tables, ReadLikeAnotherWithoutNamesThatHasMore) {
  ReadOptions options = target("3");
  const std::string text = "n1,4,u,1\nn2,5,v,2\nn3,6,u,3\nn4,7,v,4\n";
  const Dataset first = read(text, options);
  ASSERT_EQ(first.feature_names, (Names{"1", "2=u", "2=v"}));
  options.like = first.table;
  EXPECT_EQ(to_matrix(read(text, options).x), to_matrix(first.x));
  options.target = "2";  // in order where there are as many
  EXPECT_EQ(to_matrix(read("4,u,1\n5,v,2\n6,u,3\n7,v,4\n", options).x), to_matrix(first.x));
}

// A model of others may say that a category has no level at all.
TEST_F(Tables, ACategoryWithoutLevelsHasNoFeature) {
  ReadOptions options = target("y");
  options.like.columns = {{.name = "c", .kind = ColumnKind::category}, {.name = "x"}};
  for (const bool drops_first : {false, true}) {
    options.like.drop_first = drops_first;
    const Dataset data = read("c,x,y\nred,4,1\nblue,5,2\n", options);
    EXPECT_EQ(data.feature_names, (Names{"x"}));
    EXPECT_EQ(to_matrix(data.x), (Matrix(2, 1) << 4.0, 5.0).finished());
  }
}

TEST_F(Tables, AColumnWithoutValuesIsPassedOverWhateverItIsTakenFor) {
  for (const bool as_text : {false, true}) {
    ReadOptions options = target("y");
    (as_text ? options.categorical : options.numeric) = {"c"};
    EXPECT_EQ(read("c,x,y\n,4,1\n,5,2\n", options).feature_names, (Names{"x"}));
  }
}

TEST_F(Tables, IdsArePassedOverUnlessAskedFor) {
  const std::string text = "id,a\nx1,1\nx2,2\nx3,3\nx4,4\n";
  const Dataset data = read(text);
  EXPECT_EQ(data.feature_names, Names{"a"});
  ASSERT_EQ(data.notes.size(), 1U);
  EXPECT_NE(data.notes[0].find("--categorical id"), std::string::npos);
  ReadOptions options;
  options.categorical = {"id"};
  EXPECT_EQ(read(text, options).features(), 5);
  options.categorical = {};
  options.id = "id";
  EXPECT_EQ(read(text, options).id, (Names{"x1", "x2", "x3", "x4"}));
}

TEST_F(Tables, DecimalCommasAndThousands) {
  const Dataset commas = read("a;b\n1,5;1.234\n2,25;2.345\n");
  EXPECT_EQ(dense(commas), matrix({{1.5, 1234}, {2.25, 2345}}));
  EXPECT_EQ(commas.table.decimal, ',');
  EXPECT_EQ(dense(read("a,b\n\"1,234.5\",1\n\"12,345\",2.5\n")), matrix({{1234.5, 1}, {12345, 2.5}}));
  try {
    read("a;b\n1,234;1\n2,345;2\n");
    FAIL() << "two meanings";
  } catch (const TableError& error) {
    EXPECT_EQ(error.correction, "--decimal ,");
  }
  ReadOptions options;
  options.decimal = '.';
  EXPECT_EQ(dense(read("a;b\n1,234;1\n2,345;2\n", options)), matrix({{1234, 1}, {2345, 2}}));
  options.decimal = 'x';
  expect_error("a\n1\n", options, {"decimal", "must be . or ,"});
}

TEST_F(Tables, AFileReadLikeAnotherMayHaveTheOtherDecimalMark) {
  const std::string dots = "a,b\n1.25,1.234\n-2.5,7\n", commas = "b;a\n1,234;1,25\n7;-2,5\n";
  const Matrix truth = matrix({{1.25, 1.234}, {-2.5, 7}});
  ReadOptions options;
  options.like.columns = {{.name = "a"}, {.name = "b"}};
  EXPECT_EQ(dense(read(dots, options)), truth);
  EXPECT_EQ(dense(read(commas, options)), truth);
  options.like.decimal = ',';
  EXPECT_EQ(dense(read(commas, options)), truth);
  EXPECT_EQ(dense(read(dots, options)), truth);
  expect_error("a;b\nx;1,5\n2;3\n", options, {"bad.csv:2", "\"x\"", "must be a number"});
  // Where a file does not tell, it is read as the other was, unless a flag says more.
  const std::string either = "a,b\n1.234,1\n";
  EXPECT_EQ(dense(read(either, options)), matrix({{1234, 1}}));
  options.decimal = '.';
  EXPECT_EQ(dense(read(either, options)), matrix({{1.234, 1}}));
  expect_error(commas, options, {"bad.csv:2", "--decimal ,"});
}

TEST_F(Tables, AllBadColumnsAreNamedAtOnce) {
  try {
    read("a,b,c,d,y\n1,2,x,03/04/2021,1\n2,oops,y,03/04/2021,\n3,4,x,03/04/2021,3\n,5,x,03/04/2021,3\n",
         target("y"));
    FAIL() << "bad columns";
  } catch (const TableError& error) {
    EXPECT_EQ(error.correction, "--ignore d --categorical b --missing drop") << error.what();
    for (const std::string_view part :
         {"data.csv:2: field 4 (\"d\")", "\"b\" (line 3: \"oops\")", "\"a\" (line 5: empty)"})
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
  }
}

TEST_F(Tables, TheFirstLineIsARowWhereItsTextStandsAboveText) {
  const Dataset data = read("5.1,red,a\n4.9,blue,b\n5.0,red,a\n4.0,blue,a\n", target("2"));
  EXPECT_EQ(data.rows(), 4);
  EXPECT_EQ(data.feature_names, (Names{"0", "1=blue", "1=red"}));
  // Numbers may be names.
  EXPECT_EQ(read("fat,1100,1102\n1,2,3\n", target("fat")).feature_names, (Names{"1100", "1102"}));
  EXPECT_EQ(read("name,1100\nx,2\ny,3\nx,4\ny,1\n", target("name")).rows(), 4);
}

TEST_F(Tables, ThreadsAndBlocksChangeNothing) {
  std::string text = "k,x,y\n";
  for (int i = 0; i < 20000; ++i) text += fmt::format("\"l{}\",{},c{}\n", (i * 7919) % 301, i % 13, i % 3);
  const test::ThreadsGuard guard(1);
  const Dataset one = read(text, target("y"));
  set_threads(4);
  const Dataset four = read(text, target("y"));
  EXPECT_EQ(one.feature_names, four.feature_names);
  EXPECT_EQ(one.features(), 302);
  EXPECT_TRUE(one.x.omits_zeros());
  EXPECT_EQ(one.y, four.y);
  EXPECT_EQ(dense(one), dense(four));
}

TEST_F(Tables, SparseAndDenseFormsArePretreatedAlike) {
  std::string text = "k,x\n";
  for (int i = 0; i < 90; ++i)
    text += fmt::format("l{},{}\n", i % 30, i == 5 ? "" : fmt::format("{}", 100.5 + i % 7));
  ReadOptions options;
  options.missing = Missing::mean;
  const Dataset sparse = read(text, options);
  options.dense = true;
  const Dataset full = read(text, options);
  ASSERT_TRUE(sparse.x.omits_zeros());
  ASSERT_FALSE(full.x.omits_zeros());
  const auto treat = [](const Dataset& data) {
    return to_matrix(fit_pretreatment(data, {XStep::standardize}, YStep::raw, true).apply(data).x);
  };
  EXPECT_LT((treat(sparse) - treat(full)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST_F(Tables, KeptFilesAreTheSame) {
  ReadOptions options = target("y");
  options.cache = files_.directory() / "cache";
  const std::string text =
      "id,c,d,y\na,u,2024-01-01,p\nb,v,2024-01-02,q\nc,u,2024-01-03,p\nd,v,2024-01-05,q\n";
  const Dataset first = read(text, options), second = read(text, options);
  EXPECT_EQ(dense(first), dense(second));
  EXPECT_EQ(first.table.classes, second.table.classes);
  EXPECT_EQ(first.notes, second.notes);
  ASSERT_EQ(first.table.columns.size(), second.table.columns.size());
  EXPECT_EQ(first.table.columns[0].levels, second.table.columns[0].levels);
}

}  // namespace
}  // namespace yosida
