// The conform harness of the GPU kernels: runs one kernel on host arrays, on a device with or without each feature.
//
//   std::vector<float> y = poisoned<float>(n);
//   bench().run(gpu::add({width}), {.x = 1, .y = n_rows}, in<F32>(a), out<F32>(y));
//
// Every array is inside a larger buffer, with poison before and after it. The poison after it is part of the binding,
// because drivers drop writes beyond a binding, which the test could not see.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/memory/views.h"
#include "conform/values.h"

namespace tern::conform {

// A quiet NaN in f32, NaN in its high half in f16, and neither 0 nor a small number as an integer.
inline constexpr uint32_t kPoison = 0x7FE5A5A5;

template <class T>
std::vector<T> poisoned(size_t count) {
  static_assert(4 % sizeof(T) == 0);
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = std::bit_cast<std::array<T, 4 / sizeof(T)>>(kPoison)[i % (4 / sizeof(T))];
  return values;
}

// An array for a kernel, which is read back if `result` is not empty. E: the element type of the kernel's binding.
struct Bytes2Way {
  Bytes bytes;
  MutableBytes result = {};
};
template <class E>
struct Arg : Bytes2Way {};

template <class E, class T>
Arg<E> in(const std::vector<T>& values) {
  return {{std::as_bytes(std::span(values))}};
}
// The kernel reads these values; they are replaced by what it wrote.
template <class E, class T>
Arg<E> out(std::vector<T>& values) {
  return {{std::as_bytes(std::span(values)), std::as_writable_bytes(std::span(values))}};
}

// Rows of other sequences at the start of a table of angles, so that a wrong start shows.
inline constexpr uint32_t kOthers = 3;

// `params` (kernels/common.h) of n tokens of one sequence from position `pos` on, with this block table. The angles of
// position 0 are in row `angles` of their table. No logits are requested. Poisoned words separate the parts.
std::vector<uint32_t> batch_params(uint32_t pos, uint32_t n, std::span<const uint32_t> table = {}, uint32_t angles = 0);

// A device configuration that the tests run on.
struct Variant {
  std::string name;
  gpu::Restrictions without;
  bool compare_robustness = false;  // run everything again with robustness on; it must give the same bytes
};
std::vector<Variant> variants();
std::vector<Variant> variants_without_integers();

class GpuBench {
 public:
  // Returns null, with the reason in `why_not`, if there is no adapter.
  static std::unique_ptr<GpuBench> open(const Variant& variant, std::string& why_not);

  gpu::Device& device() { return *devices_.front(); }
  const gpu::Caps& caps() const { return caps_; }
  // True if kernels whose workgroup is one subgroup run here.
  bool has_serial_subgroups() {
    const gpu::Features& features = device().features();
    return caps_.subgroup > 0 && features.subgroup_min == features.subgroup_max;
  }

  template <class... P, class... A>
  void run(const wgsl::Kernel<P...>& kernel, gpu::Grid grid, const A&... args) {
    Take<typename wgsl::Kernel<P...>::Bindings>::run(*this, kernel.module, grid, args...);
  }

 private:
  template <class List>
  struct Take;
  template <class... E>
  struct Take<wgsl::TypeList<E...>> {
    static void run(GpuBench& bench, const wgsl::Module& module, gpu::Grid grid, const Arg<E>&... args) {
      const Bytes2Way list[] = {args...};
      bench.run_module(module, grid, list);
    }
  };
  void run_module(const wgsl::Module& module, gpu::Grid grid, std::span<const Bytes2Way> args);

  std::vector<std::unique_ptr<gpu::Device>> devices_;  // the second, if there is one, is robust
  gpu::Caps caps_;
};

// A test that runs once per variant. Devices are opened once per process.
class GpuConform : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override;
  GpuBench& bench() { return *bench_; }
  const gpu::Caps& caps() { return bench_->caps(); }

 private:
  GpuBench* bench_ = nullptr;
};

#define TERN_FOR_EVERY_VARIANT(Suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(Gpu, Suite, testing::ValuesIn(::tern::conform::variants()), \
                           [](const auto& test) { return test.param.name; })
// For kernels without integer products: their texts are the same with and without packed dot products.
#define TERN_FOR_VARIANTS_WITHOUT_INTEGERS(Suite)                                                       \
  INSTANTIATE_TEST_SUITE_P(Gpu, Suite, testing::ValuesIn(::tern::conform::variants_without_integers()), \
                           [](const auto& test) { return test.param.name; })

}  // namespace tern::conform
