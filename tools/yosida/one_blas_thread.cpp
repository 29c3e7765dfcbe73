// OpenBLAS starts a thread for each core when it is loaded, long before main. Each takes a buffer of 128 MB,
// and where a limit on memory (ulimit -v) leaves no room for it, tries again for ever; where no thread can be
// started, the process is ended by a signal. Yosida computes with one BLAS thread, so it wants none of them.
// The environment variable for that is read too early to be set here; these two numbers are what it would be
// put in.

extern "C" {
// Weak: a build of OpenBLAS without threads has neither.
[[gnu::weak]] extern int blas_cpu_number;   // threads to use
[[gnu::weak]] extern int blas_num_threads;  // threads to have; 0 means that nobody has counted the cores yet
}

namespace {

void want_one_blas_thread() {
  if (&blas_cpu_number != nullptr && &blas_num_threads != nullptr) blas_cpu_number = blas_num_threads = 1;
}

/// What stands in this section is called before the constructors of any library.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = want_one_blas_thread;

}  // namespace
