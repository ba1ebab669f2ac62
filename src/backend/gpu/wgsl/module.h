// The result of tracing a kernel: one WGSL module, and what a host must know about it. Plain data, independent of a
// device.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace tern::wgsl {

enum class Access { kRead, kReadWrite, kUniform };  // storage read, storage read_write, uniform

struct BindingDecl {
  std::string name;  // as in the WGSL text; its index in Module::bindings is its @binding
  Access access = Access::kRead;
  uint32_t element_bytes = 0;  // of one array element, or of the whole uniform
};

// A subgroup-matrix shape: D[m, n] += A[m, k] · B[k, n].
enum class MatrixTypes { kI8ToI32, kF16ToF32, kF16ToF16, kF32ToF32 };
struct MatrixShape {
  MatrixTypes types = MatrixTypes::kI8ToI32;
  uint32_t m = 0, n = 0, k = 0;
  auto operator<=>(const MatrixShape&) const = default;
};

// Device features and limits that a kernel needs, collected while tracing.
struct Requirements {
  bool f16 = false;              // enable f16
  bool subgroups = false;        // enable subgroups
  bool packed_dot = false;       // language feature packed_4x8_integer_dot_product
  bool subgroup_matrix = false;  // enable chromium_experimental_subgroup_matrix, of the shapes in `matrices`
  std::vector<MatrixShape> matrices;
  uint32_t immediate_bytes = 0;  // var<immediate>
  uint32_t workgroup_bytes = 0;  // var<workgroup>
  uint32_t invocations = 0;      // per workgroup
  uint32_t storage_buffers = 0;
};

struct Module {
  std::string name;  // of the kernel and its entry point
  std::string text;  // WGSL: a pure function of the kernel's Config; the key of the pipeline cache
  std::vector<BindingDecl> bindings;
  Requirements needs;
};

}  // namespace tern::wgsl
