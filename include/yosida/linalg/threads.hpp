#pragma once

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// How many threads passes over large designs may use: all cores unless set. Results do not depend on
/// it, to the last bit. For the same reason factorisations use one BLAS thread: they set
/// OpenBLAS to one thread for the process (see HostBlasThreads). For the whole process, and not while a
/// solver runs.
void set_threads(int count);
/// For a host that uses OpenBLAS itself, such as Python with numpy: when the last of these that live at a
/// time ends, OpenBLAS has the number of threads again that it had when the first was made. May be used from
/// several threads.
class HostBlasThreads {
 public:
  HostBlasThreads();
  ~HostBlasThreads();
  HostBlasThreads(const HostBlasThreads&) = delete;
  HostBlasThreads& operator=(const HostBlasThreads&) = delete;
};
/// The number that was set, or the number of cores.
int threads();

}  // namespace yosida
