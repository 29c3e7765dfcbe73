#include "yosida/version.hpp"

#include <string_view>

#define YOSIDA_TEXT_OF(number) #number
#define YOSIDA_TEXT(number) YOSIDA_TEXT_OF(number)

namespace yosida {

static_assert(std::string_view(YOSIDA_VERSION) ==
              YOSIDA_TEXT(YOSIDA_VERSION_MAJOR) "." YOSIDA_TEXT(YOSIDA_VERSION_MINOR) "." YOSIDA_TEXT(
                  YOSIDA_VERSION_PATCH));

const char* version() { return YOSIDA_VERSION; }

}  // namespace yosida
