#include "yosida/data/gtsrb.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include "data/feature_cache.hpp"
#include "data/hog.hpp"
#include "data/signs.hpp"
#include "data/tar.hpp"
#include "data/test_files.hpp"
#include "yosida/data/catalog.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;
using namespace test_files;
using Files = std::map<std::string, std::string>;

/// What InputError says; the call must throw one.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// ---- archives ----

/// A member as tar writes it (POSIX 1003.1, "ustar Interchange Format").
std::string tar_member(const std::string& name, const std::string& bytes, char kind = '0',
                       const std::string& prefix = "") {
  const auto digits = [](std::uint64_t number, int count) {
    std::string octal(static_cast<std::size_t>(count), '0');
    for (std::size_t i = octal.size(); i-- > 0; number /= 8) octal[i] = static_cast<char>('0' + number % 8);
    return octal;
  };
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, 11, digits(bytes.size(), 11));
  header.replace(148, 8, "        ");
  header[156] = kind;
  header.replace(257, 5, "ustar");
  header.replace(345, prefix.size(), prefix);
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  header.replace(148, 6, digits(sum, 6));
  return header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

const std::string kEndOfTar(1024, '\0');

class Tar : public testing::Test {
 protected:
  Files read(const std::string& bytes) const {
    ByteStream stream(files.write("archive.tar.xz", xzed(bytes)));
    return read_tar(stream);
  }
  TestFiles files;
};

TEST_F(Tar, FilesAreReadByNameAndFoldersPassedOver) {
  const std::string block(512, 'b'), more(513, 'm');
  const Files found = read(tar_member("folder/", "", '5') + tar_member("folder/block", block) +
                           tar_member("more", more, '\0') + tar_member("empty", "") +
                           tar_member("name", "of two", '0', "a/long") + kEndOfTar + "anything");
  EXPECT_EQ(found,
            (Files{{"folder/block", block}, {"more", more}, {"empty", ""}, {"a/long/name", "of two"}}));
}

TEST_F(Tar, DamageIsNamed) {
  const std::string good = tar_member("first", "abc") + tar_member("second", "defg");
  EXPECT_HAS(refusal([&] { read(good); }), "archive.tar.xz: the file is truncated") << "no end mark";
  for (const std::size_t size : {100U, 512U, 700U, 1024U + 514U})
    EXPECT_HAS(refusal([&] { read(good.substr(0, size)); }), "the file is truncated") << size;
  std::string wrong = good + kEndOfTar;
  wrong[1024] = 'S';
  EXPECT_HAS(refusal([&] { read(wrong); }), "the header of its member 2 is wrong");
  EXPECT_HAS(refusal([&] { read(std::string(2048, 'x')); }), "not a tar archive");
  EXPECT_HAS(refusal([&] { read(tar_member("link", "", '2') + kEndOfTar); }),
             "\"link\" is neither a file nor");
  const std::string packed = xzed(good + kEndOfTar);
  EXPECT_HAS(refusal([&] {
               ByteStream stream(files.write("half.tar.xz", packed.substr(0, packed.size() / 2)));
               read_tar(stream);
             }),
             "half.tar.xz: the file is truncated");
}

// ---- pictures ----

TEST(Ppm, PixelsComeAsBlueGreenRed) {
  const Picture picture = read_ppm("p", "P6\n# by hand\n2 1\n255\n\x01\x02\x03\n\xff ");
  EXPECT_EQ(picture.columns, 2);
  EXPECT_EQ(picture.rows, 1);
  EXPECT_EQ(picture.pixels, (std::vector<unsigned char>{3, 2, 1, ' ', 255, '\n'}));
}

TEST(Ppm, WhatIsMalformedIsRefused) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "does not start with P6"},
      {"P5\n1 1\n255\n1", "does not start with P6"},
      {"P6", "its PPM header must"},
      {"P6\n1", "its PPM header must"},
      {"P6\n0 1\n255\n", "its PPM header must"},
      {"P6\n1 -1\n255\nabc", "its PPM header must"},
      {"P6\n1 1x\n255\nabc", "its PPM header must"},
      {"P6\n99999999999 1\n255\nabc", "its PPM header must"},
      {"P6\n1 1\n65535\nabcdef", "its PPM header must"},
      {"P6\n1 1\n255\nab", "has 2 bytes of pixels: must have 3"},
      {"P6\n1 1\n255\nabcd", "has 4 bytes of pixels: must have 3"},
  };
  for (const auto& [bytes, part] : wrong) {
    const std::string message = refusal([&, &text = bytes] { read_ppm("a.ppm", text); });
    EXPECT_TRUE(message.starts_with("a.ppm: ")) << message;
    EXPECT_HAS(message, part);
  }
}

// ---- histograms of gradients ----

class Hog : public testing::Test {
 protected:
  void SetUp() override {
    if (!hog::fault().empty()) GTEST_SKIP() << hog::fault();
  }
};

/// The features of a grey picture of 40 × 40 pixels.
template <typename Brightness>
std::vector<float> features_of(Brightness brightness) {
  std::vector<unsigned char> pixels;
  for (int row = 0; row < hog::picture_side; ++row)
    for (int column = 0; column < hog::picture_side; ++column)
      pixels.insert(pixels.end(), 3, static_cast<unsigned char>(brightness(row, column)));
  std::vector<float> features(hog::features, NAN);
  hog::function()(pixels.data(), hog::picture_side, hog::picture_side, std::size_t{3} * hog::picture_side,
                  features.data());
  return features;
}

/// The share of each bin in the sum of all features.
std::vector<double> bin_shares(const std::vector<float>& features) {
  std::vector<double> shares(hog::bins, 0.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    shares[i % hog::bins] += features[i];
    sum += features[i];
  }
  for (double& share : shares) share /= sum;
  return shares;
}

TEST_F(Hog, AGradientFallsIntoTheBinsOfItsDirection) {
  // A bin covers 22.5 degrees, the first from 0 on. A gradient on the border of two counts half for each:
  // 0 degrees lies between the last and the first, 45 between the second and the third, 90 in the middle.
  const auto expect_only = [](const std::vector<float>& features, std::size_t first, std::size_t second,
                              double tolerance) {
    const std::vector<double> shares = bin_shares(features);
    for (std::size_t bin = 0; bin < shares.size(); ++bin)
      EXPECT_NEAR(shares[bin], bin == first || bin == second ? 0.5 : 0.0, tolerance) << "bin " << bin;
  };
  constexpr double rounding = 1e-5;  // numbers of 4 bytes, and OpenCV's table of arc tangents
  expect_only(features_of([](int, int column) { return 5 * column; }), 7, 0, rounding);
  expect_only(features_of([](int row, int) { return 5 * row; }), 3, 4, rounding);
  // On the outermost pixels the picture is mirrored, so that one of the two differences is 0.

  expect_only(features_of([](int row, int column) { return 3 * (row + column); }), 1, 2, 0.03);
}

TEST_F(Hog, BlocksAreNormalised) {
  const auto features =
      features_of([](int row, int column) { return (row * 37 + column * column * 11) % 256; });
  ASSERT_EQ(features.size(), 1568U);
  constexpr std::size_t block = hog::cells_per_block * hog::bins;
  for (std::size_t first = 0; first < features.size(); first += block) {
    double square = 0.0;
    for (std::size_t i = first; i < first + block; ++i) {
      EXPECT_GE(features[i], 0.0F);
      square += static_cast<double>(features[i]) * features[i];
    }
    // OpenCV divides by the norm + 0.001 after clipping at 0.2: what had a norm of s has s / (s + 0.001), and
    // s is at least 0.2, that of a single clipped number.
    EXPECT_LE(std::sqrt(square), 1.0);
    EXPECT_GE(std::sqrt(square), 0.2 / 0.201 - 1e-6);
  }
}

TEST_F(Hog, AConstantPictureHasNoGradients) {
  for (const float feature : features_of([](int, int) { return 200; })) EXPECT_EQ(feature, 0.0F);
}

// ---- signs ----

std::string ppm(int columns, int rows, int seed) {
  std::string bytes = "P6\n" + std::to_string(columns) + " " + std::to_string(rows) + "\n255\n";
  for (int i = 0; i < 3 * rows * columns; ++i) bytes += static_cast<char>((i * i * 7 + i * seed) % 251);
  return bytes;
}

const std::string kHeader = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\r\n";
const std::string kFolder = "GTSRB/Final_Training/Images/";
const std::vector<SignClass> kClasses{{"00001", -1.0, 2}, {"00005", 1.0, 1}};

/// An archive in small: its tables name the pictures in another order than the archive does.
Files small_archive() {
  return {
      {kFolder + "00001/GT-00001.csv", kHeader + "b.ppm;50;45;3;4;47;40;1\r\na.ppm;41;42;0;0;41;42;1\r\n"},
      {kFolder + "00001/a.ppm", ppm(41, 42, 1)},
      {kFolder + "00001/b.ppm", ppm(50, 45, 2)},
      {kFolder + "00005/GT-00005.csv", kHeader + "c.ppm;40;40;0;0;40;40;5\r\n"},
      {kFolder + "00005/c.ppm", ppm(40, 40, 3)}};
}

TEST_F(Hog, SignsAreCutOutInTheOrderOfTheirTables) {
  const Dataset data = describe_signs("signs", small_archive(), kClasses);
  EXPECT_EQ(data.y, vector({-1.0, -1.0, 1.0}));
  const auto expect_row = [&](Index row, const std::string& bytes, int left, int top, int right, int bottom) {
    // The region is copied out pixel by pixel first.
    const Picture whole = read_ppm("whole", bytes);
    std::vector<unsigned char> region;
    for (int i = top; i < bottom; ++i)
      for (int j = 3 * left; j < 3 * right; ++j)
        region.push_back(whole.pixels[static_cast<std::size_t>(3 * whole.columns * i + j)]);
    std::vector<float> features(hog::features);
    hog::function()(region.data(), bottom - top, right - left, 3 * static_cast<std::size_t>(right - left),
                    features.data());
    for (Index j = 0; j < hog::features; ++j)
      ASSERT_EQ(to_matrix(data.x)(row, j), features[static_cast<std::size_t>(j)]) << "row " << row;
  };
  expect_row(0, ppm(50, 45, 2), 3, 4, 47, 40);
  expect_row(1, ppm(41, 42, 1), 0, 0, 41, 42);
  expect_row(2, ppm(40, 40, 3), 0, 0, 40, 40);
}

TEST_F(Hog, WhatDoesNotFitTogetherIsRefused) {
  const auto message = [](const std::string& name, const std::string& bytes) {
    Files files = small_archive();
    files[kFolder + name] = bytes;
    return refusal([&] { describe_signs("signs", files, kClasses); });
  };
  EXPECT_HAS(message("00005/GT-00005.csv", kHeader), "GT-00005.csv: names 0 pictures: must be 1");
  EXPECT_HAS(message("00005/GT-00005.csv", "a;b\n"), "the first line is \"a;b\": must be Filename;");
  EXPECT_HAS(message("00005/GT-00005.csv", kHeader + "d.ppm;40;40;0;0;40;40;5\r\n"),
             "d.ppm: is not in the archive");
  EXPECT_HAS(message("00005/c.ppm", ppm(40, 41, 3)), "c.ppm: has 40 x 41 pixels: must have 40 x 40");
  EXPECT_HAS(message("00005/c.ppm", "P6\n40 40\n255\nhalf"), "c.ppm: has 4 bytes of pixels");
  for (const char* region : {"40;40;0;0;41;40", "40;40;0;0;40;41", "40;40;5;0;5;40", "40;40;0;-1;40;40",
                             "40;40;0;0;40", "40;40;0;0;x;40", ""})
    EXPECT_HAS(message("00005/GT-00005.csv", kHeader + "c.ppm;" + region + ";5\n"),
               "csv line 2: must have 8 fields, the region of \"c.ppm\"")
        << region;
}

// ---- what is kept ----

class Kept : public testing::Test {
 protected:
  Kept() : folder(files.directory() / "new/folder"), cache(folder, "of the archive", "in this way") {
    data.x = Design(matrix({{0.5, 0.25, 1.0F / 3.0F}, {-1.0, 0.0, 7.0}}));
    data.y = vector({-1.0, 1.0});
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  void expect_whole() const {
    const auto read = cache.read();
    ASSERT_TRUE(read);
    EXPECT_EQ(dense(*read), dense(data));
    EXPECT_EQ(read->y, data.y);
  }
  TestFiles files;
  fs::path folder;
  FeatureCache cache;
  Dataset data;
};

TEST_F(Kept, ComesBackAsItWas) {
  EXPECT_FALSE(cache.read());
  cache.write(data);
  expect_whole();
  // Numbers of 4 bytes behind a header of whole 64 bytes, as NumPy writes them.
  EXPECT_EQ(fs::file_size(cache.x_file()), 128U + 6U * sizeof(float));
  cache.write(data);  // over what is there
  expect_whole();
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : fs::directory_iterator(folder)) ++count;
  EXPECT_EQ(count, 3U) << "no side file stays";
}

TEST_F(Kept, DamageIsSeenAndMendedByWriting) {
  const std::vector<std::pair<std::string, std::string>> damages{{"hog_x.npy", ""},
                                                                 {"hog_x.npy", "foreign"},
                                                                 {"hog_y.npy", "foreign"},
                                                                 {"hog.json", ""},
                                                                 {"hog.json", "[1]"},
                                                                 {"hog.json", "{\"archive_sha256\": 1}"},
                                                                 {"hog.json", std::string(10000, '[')}};
  for (const auto& [name, bytes] : damages) {
    cache.write(data);
    write(name, bytes);
    EXPECT_HAS(refusal([&] { cache.read(); }), (folder / name).string());
  }
  cache.write(data);
  fs::resize_file(cache.x_file(), fs::file_size(cache.x_file()) - 1);
  EXPECT_HAS(refusal([&] { cache.read(); }), "it is damaged");
  fs::remove(cache.y_file());
  EXPECT_THROW(cache.read(), InputError);
  write("hog_x.npy.part", "of a process that was killed");
  cache.write(data);
  expect_whole();
}

TEST_F(Kept, FeaturesOfSomethingElseAreNotTaken) {
  cache.write(data);
  EXPECT_THROW(FeatureCache(folder, "of another", "in this way").read(), InputError);
  EXPECT_THROW(FeatureCache(folder, "of the archive", "in another way").read(), InputError);
}

TEST_F(Kept, AFolderThatCannotBeIsAnOutputError) {
  const FeatureCache blocked(files.write("file", "") / "below", "of the archive", "in this way");
  EXPECT_FALSE(blocked.read());
  EXPECT_THROW(blocked.write(data), OutputError);
}

// ---- all of it ----

TEST_F(Kept, WithoutTheArchiveTheAdviceOfTheCatalogIsGiven) {
  EXPECT_HAS(refusal([&] { gtsrb_features({files.directory()}, folder); }),
             "gtsrb_30_80.tar.xz not found. It holds the folders");
  files.write("gtsrb_30_80.tar.xz", "half");
  EXPECT_HAS(refusal([&] { gtsrb_features({files.directory()}, folder); }),
             "has 4 bytes: must have 21877636");
}

TEST_F(Hog, TheRealArchive) {
  const CatalogEntry& entry = catalog_entry("gtsrb");
  if (!find_data_file(entry, entry.files[0], data_folders("")))
    GTEST_SKIP() << "gtsrb_30_80.tar.xz not found";
  const TestFiles files;
  std::vector<std::string> told;
  const auto tell = [&](const std::string& sentence) { told.push_back(sentence); };
  const GtsrbFeatures made = gtsrb_features(data_folders(""), files.directory() / "kept", tell);
  EXPECT_EQ(made.not_kept, "");
  EXPECT_EQ(told.size(), 1U);
  EXPECT_EQ(made.data.rows(), 4080);
  EXPECT_EQ(made.data.features(), 1568);
  EXPECT_EQ((made.data.y.array() == -1.0).count(), 2220);
  EXPECT_EQ((made.data.y.array() == 1.0).count(), 1860);
  EXPECT_EQ(made.data.y[2219], -1.0);
  // By OpenCV 4.6 for Python; releases of OpenCV may differ in how they round.
  EXPECT_NEAR(dense(made.data).sum(), 775971.463, 1.0);
  EXPECT_NEAR(dense(made.data).row(0).sum(), 194.10733, 1e-3);
  EXPECT_NEAR(dense(made.data).row(4079).sum(), 184.21401, 1e-3);

  const GtsrbFeatures kept = gtsrb_features({}, files.directory() / "kept", tell);
  EXPECT_EQ(told.size(), 1U) << "nothing is made a second time";
  EXPECT_EQ(dense(kept.data), dense(made.data));
  EXPECT_EQ(kept.data.y, made.data.y);

  fs::resize_file(kept.x_file, 1000);
  EXPECT_EQ(dense(gtsrb_features(data_folders(""), files.directory() / "kept", tell).data), dense(made.data));
  EXPECT_EQ(told.size(), 3U) << "damage is told of, and mended";

  const GtsrbFeatures unkept = gtsrb_features(data_folders(""), files.write("file", "") / "below", tell);
  EXPECT_HAS(unkept.not_kept, "cannot be kept");
  EXPECT_EQ(unkept.data.rows(), 4080) << "the result is not lost";
}

}  // namespace
}  // namespace yosida
