#include "rows.hpp"

#include "yosida/error.hpp"

namespace yosida::python {
namespace {

/// Holds an object of Python for whoever may drop it without the GIL.
std::shared_ptr<const void> owner_of(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* held) {
            const py::gil_scoped_acquire gil;
            delete held;
          }};
}

template <typename T>
std::span<const T> numbers_of(const py::handle& object, const char* name) {
  if (!py::isinstance<py::array_t<T>>(object))
    throw InputError(std::string("X: ") + name + " has another dtype");
  const auto array = py::reinterpret_borrow<py::array_t<T>>(object);
  if (array.ndim() != 1 || (array.shape(0) > 1 && array.strides(0) != sizeof(T)))
    throw InputError(std::string("X: ") + name + " must be one contiguous array");
  return {array.data(), static_cast<std::size_t>(array.shape(0))};
}

Vector optional_vector(const py::handle& numbers, const char* name) {
  return numbers.is_none() ? Vector() : to_vector(numbers, name);
}

template <typename Number>
Design dense_rows(const py::object& x) {
  constexpr py::ssize_t size = sizeof(Number);
  const auto array = py::reinterpret_borrow<py::array>(x);
  if (!py::isinstance<py::array_t<Number>>(x) || array.ndim() != 2 ||
      (array.shape(1) > 1 && array.strides(1) != size) || array.strides(0) % size != 0)
    throw InputError("X: must be an array of float64 or float32 with contiguous rows");
  const Index cols = array.shape(1);
  const Index stride = array.shape(0) > 1 ? array.strides(0) / size : cols;
  return dense_view(static_cast<const Number*>(array.data()), array.shape(0), cols, stride, owner_of(x));
}

}  // namespace

Design design_of(const py::object& x) {
  if (py::isinstance<py::tuple>(x)) {
    const auto parts = py::reinterpret_borrow<py::tuple>(x);
    return sparse_view(numbers_of<std::int64_t>(parts[0], "indptr"),
                       numbers_of<std::int32_t>(parts[1], "indices"), numbers_of<double>(parts[2], "data"),
                       parts[3].cast<Index>(), owner_of(x));
  }
  return py::isinstance<py::array_t<float>>(x) ? dense_rows<float>(x) : dense_rows<double>(x);
}

Dataset dataset_of(const py::tuple& rows, const char* source) {
  Dataset data;
  data.x = design_of(rows[0]);
  data.y = optional_vector(rows[1], "y");
  data.weight = optional_vector(rows[2], "sample_weight");
  data.fold = optional_vector(rows[3], "folds");
  data.feature_names = rows[4].cast<std::vector<std::string>>();
  data.source = source;
  return data;
}

}  // namespace yosida::python
