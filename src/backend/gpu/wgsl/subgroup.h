// Subgroup operations. All lanes must reach them together, so each is written where it is called and returns a Name. An
// expression used later, inside a branch, therefore cannot move the operation there.
#pragma once

#include "backend/gpu/wgsl/memory.h"

namespace tern::wgsl {

namespace detail {
inline void begin_subgroup_operation() {
  writer->refuse_in_function("a subgroup operation");
  writer->needs().subgroups = true;
}
}  // namespace detail

// NOLINTBEGIN(bugprone-macro-parentheses): types and operators cannot be parenthesized
#define WGSL_SUBGROUP_1(name)                                     \
  template <Traced A>                                             \
    requires Number<TypeOf<A>>                                    \
  Name<TypeOf<A>> name(A&& a) {                                   \
    detail::begin_subgroup_operation();                           \
    return let("sg", call<TypeOf<A>>(#name, std::forward<A>(a))); \
  }
WGSL_SUBGROUP_1(subgroupAdd)
WGSL_SUBGROUP_1(subgroupBroadcastFirst)
#undef WGSL_SUBGROUP_1
// NOLINTEND(bugprone-macro-parentheses)

// The value of the lane whose index is this lane's XOR `mask`.
template <Traced A>
  requires Number<TypeOf<A>>
Name<TypeOf<A>> subgroupShuffleXor(A&& a, uint32_t mask) {
  detail::begin_subgroup_operation();
  return let("sg", call<TypeOf<A>>("subgroupShuffleXor", std::forward<A>(a), mask));
}

// The value of lane `from`, which must be the same on every lane.
template <Traced A, ValueOf<U32> From>
  requires Number<TypeOf<A>>
Name<TypeOf<A>> subgroupShuffle(A&& a, From&& from) {
  detail::begin_subgroup_operation();
  return let("sg", call<TypeOf<A>>("subgroupShuffle", std::forward<A>(a), std::forward<From>(from)));
}

}  // namespace tern::wgsl
