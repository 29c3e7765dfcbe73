#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

template <typename Signature>
class FunctionRef;

/// A reference to something callable, for parameters: it neither owns nor allocates.
template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
 public:
  /// Refers to what must outlive it: an argument of the call does.
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Args...>)
      FunctionRef(F&& f)  // NOLINT(bugprone-forwarding-reference-overload): the constraint keeps copies out
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  /// Calls it.
  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace yosida
