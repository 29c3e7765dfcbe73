// Every reader of data: the first byte is the ending, the second the options, the rest the file.
#include "fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace yosida;
  static const char* const kEndings[] = {".csv",       ".tsv",    ".txt",    ".libsvm", ".npy",
                                         ".npz",       ".idx",    ".csv.gz", ".csv.xz", ".npy.gz",
                                         ".libsvm.xz", ".idx.gz", ""};
  if (size < 2) return 0;
  const fuzz::ScratchFile file(kEndings[data[0] % std::size(kEndings)], fuzz::text_of(data + 2, size - 2));
  const unsigned choice = data[1];
  ReadOptions options;
  options.max_memory = 64 << 20;
  options.missing = static_cast<Missing>(choice % 3);
  if (choice & 4) options.target = "y";
  if (choice & 8) options.target = "-1";
  if (choice & 16) options.dense = true;
  if (choice & 32) options.drop_first = true;
  if (choice & 64) options.decimal = ',';
  if (choice & 128) options.ignore = {"id"};
  return fuzz::allowing_our_errors([&] { read_dataset(file.path(), options); });
}
