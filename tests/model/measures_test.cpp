#include "yosida/model/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "yosida/model/models.hpp"

namespace yosida {
namespace {

std::set<std::string_view> names_for(const Loss& loss) {
  std::set<std::string_view> names;
  for (const Measure& measure : measures())
    if (measure.exists(loss)) names.insert(measure.name);
  return names;
}

TEST(Measures, ExistWhereTheirFormulasMeanSomething) {
  using Names = std::set<std::string_view>;
  EXPECT_EQ(names_for(least_squares()), (Names{"loss", "scaled_loss", "r_squared"}));
  EXPECT_EQ(names_for(huber()), (Names{"loss", "r_squared"}));
  EXPECT_EQ(names_for(poisson()), (Names{"loss", "r_squared"}));
  EXPECT_EQ(names_for(logistic()), (Names{"loss", "accuracy", "area_under_roc"}));
  EXPECT_EQ(names_for(squared_hinge()), (Names{"loss", "accuracy", "area_under_roc"}));
  EXPECT_EQ(names_for(softmax(3)), (Names{"loss", "accuracy"}));
}

TEST(Measures, AreFoundByTheirNames) {
  for (std::size_t i = 0; i < measures().size(); ++i) {
    EXPECT_EQ(find_measure(measures()[i].name), i);
    EXPECT_NE(measure_names().find(measures()[i].name), std::string::npos);
    EXPECT_FALSE(measures()[i].title.empty());
  }
  EXPECT_FALSE(find_measure("no such measure"));
  EXPECT_FALSE(measures()[find_measure(kLoss).value()].larger_is_better);
  EXPECT_FALSE(measures()[find_measure(kScaledLoss).value()].larger_is_better);
  EXPECT_TRUE(measures()[find_measure("r_squared").value()].larger_is_better);
}

TEST(Measures, ByHand) {
  Dataset data;
  data.x = Design(Matrix(Matrix::Ones(4, 1)));
  data.y = Eigen::Vector4d(1, 2, 3, 6);          // mean 3, variance 3.5
  const Vector m = Eigen::Vector4d(1, 2, 4, 6);  // one error of 1
  const auto value = [&](const char* name, const Loss& loss, const Vector& margins) {
    return measures()[find_measure(name).value()].value(
        {.data = data, .loss = loss, .margins = margins, .mean_loss = 0.125});
  };
  EXPECT_DOUBLE_EQ(*value("loss", least_squares(), m), 0.125);
  EXPECT_DOUBLE_EQ(*value("scaled_loss", least_squares(), m), 0.125 / 3.5);
  EXPECT_DOUBLE_EQ(*value("r_squared", least_squares(), m), 1.0 - 0.25 / 3.5);
  EXPECT_NEAR(*value("r_squared", poisson(), m.array().log()), 1.0 - 0.25 / 3.5, 1e-14)
      << "of means, by the link";
  data.y = Vector::Constant(4, 2.0);
  EXPECT_FALSE(value("scaled_loss", least_squares(), m)) << "y does not vary";
}

}  // namespace
}  // namespace yosida
