#pragma once

namespace yosida {

/// How fast a machine like this one does what problems are made of. By a table, and never by a measurement:
/// what is chosen by it does not depend on what else the machine is doing, nor on the number of threads.
struct Rates {
  double products;  ///< operations a second of matrix products (BLAS 3), on two cores
  double factors;   ///< of factoring a matrix by reflections, half of which waits for memory
  double vectors;   ///< of singular vectors
  double bytes;     ///< read a second in a pass over rows
};
/// The rates of the kernels that BLAS computes with.
Rates rates();

}  // namespace yosida
