#include "data/hog.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "yosida/error.hpp"

namespace yosida::hog {
namespace {

struct Loaded {
  Function* function = nullptr;
  std::string fault;
};

Loaded load() {
#ifdef YOSIDA_HOG_MODULE
  // By its name alone: the system looks where the run path of this program or library leads, as it does for
  // libraries. It stays loaded: OpenCV may have started threads.
  if (void* module = ::dlopen(YOSIDA_HOG_MODULE, RTLD_NOW | RTLD_LOCAL))
    if (void* symbol = ::dlsym(module, "yosida_hog")) return {reinterpret_cast<Function*>(symbol), ""};
  return {nullptr,
          fmt::format(
              "the part of yosida for OpenCV cannot be loaded ({}); install yosida again, and the package "
              "libopencv-objdetect-dev",
              ::dlerror())};
#else
  return {nullptr,
          "this build of yosida is without OpenCV; install the package libopencv-objdetect-dev, then "
          "configure and build yosida again"};
#endif
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

std::string fault() { return loaded().fault; }

Function& function() {
  if (!loaded().fault.empty())
    throw InputError(fmt::format("histograms of gradients cannot be made: {}", loaded().fault));
  return *loaded().function;
}

}  // namespace yosida::hog
