#pragma once

/// Stands on the namespace of every public header: what such a header declares is what a shared library
/// exports. All else is hidden, so that the linker binds calls within the library directly and nobody comes
/// to depend on it.
#define YOSIDA_EXPORT [[gnu::visibility("default")]]
