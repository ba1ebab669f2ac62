// What do subgroup matrices cost, by where they are loaded from and how much a subgroup does with each? There is a
// workgroup of four subgroups per tile of m × n matrices. The loop does only what a row of the output names, so each
// row is an upper bound for kernels that do the same.
//
//   bench_gpu_matrix [GPU]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"

namespace tern::gpu {
namespace {

constexpr uint32_t kLanes = 32;

enum class From { kRegisters, kWorkgroup, kStorage };
enum class Stores { kNone, kOneByOne, kWords };

struct Case {
  std::string name;
  wgsl::MatrixShape shape;
  From from = From::kWorkgroup;
  uint32_t m = 2, n = 2;  // matrices per subgroup
  uint32_t stride = 40;   // values between the starts of two rows of a staged matrix
  bool is_right_by_rows = false;
  bool reloads_left = true, reloads_right = true;
  Stores stores = Stores::kNone;  // what each step writes to workgroup memory: as much as it loads
  uint32_t subgroups = 4;
  bool multiplies = true;
  bool barriers = false;
};

std::string text_of(const Case& c, uint32_t steps) {
  const bool is_int8 = c.shape.types == wgsl::MatrixTypes::kI8ToI32;
  const std::string type = is_int8 ? "i8" : "f16", stored = is_int8 ? "i32" : "f16", sum = is_int8 ? "i32" : "f32";
  const auto u = [](uint32_t v) { return std::to_string(v) + "u"; };
  const auto d = [](uint32_t v) { return std::to_string(v); };
  const uint32_t sides = (c.m * c.shape.m + c.n * c.shape.n) * 2;  // rows of both sides of the tile
  const uint32_t values = sides * c.stride, elements = is_int8 ? values / 4 : values;
  std::string t;
  if (!is_int8) t += "enable f16;\n";
  t += "enable subgroups;\nenable chromium_experimental_subgroup_matrix;\n";
  t += "diagnostic(off, chromium.subgroup_matrix_uniformity);\n";
  t += "@group(0) @binding(0) var<storage, read> x: array<" + stored + ">;\n";
  t += "@group(0) @binding(1) var<storage, read_write> y: array<" + sum + ">;\n";
  t += "var<workgroup> staged: array<" + stored + ", " + d(std::max(elements, 4096u)) + ">;\n";
  t += "@compute @workgroup_size(" + d(kLanes * c.subgroups) + ")\n";
  t += "fn step(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) tid: u32) {\n";
  t += "  let subgroup = tid / 32u;\n";
  t += "  for (var i = tid; i < " + u(elements) + "; i += " + u(kLanes * c.subgroups) + ") { staged[i] = x[i]; }\n";
  t += "  workgroupBarrier();\n";
  const auto matrix = [&](const char* role, uint32_t cols, uint32_t rows) {
    return "subgroup_matrix_" + std::string(role) + "<" + type + ", " + d(cols) + ", " + d(rows) + ">";
  };
  const std::string left = matrix("left", c.shape.k, c.shape.m), right = matrix("right", c.shape.n, c.shape.k);
  const std::string result = "subgroup_matrix_result<" + sum + ", " + d(c.shape.n) + ", " + d(c.shape.m) + ">";
  for (uint32_t i = 0; i < c.m * c.n; ++i) t += "  var sum" + d(i) + ": " + result + ";\n";
  const std::string array = c.from == From::kStorage ? "x" : "staged";
  const auto load_left = [&](uint32_t i, const std::string& at) {
    return "subgroupMatrixLoad<" + left + ">(&" + array + ", " + at + " + " + u(i * c.shape.m * c.stride) +
           ", false, " + u(c.stride) + ")";
  };
  const auto load_right = [&](uint32_t i, const std::string& at) {
    return "subgroupMatrixLoad<" + right + ">(&" + array + ", " + at + " + " +
           u((i * c.shape.n + c.m * c.shape.m * 2) * c.stride) + ", " + (c.is_right_by_rows ? "false" : "true") + ", " +
           u(c.stride) + ")";
  };
  t += "  let left_at = subgroup / 2u % 2u * " + u(c.m * c.shape.m * c.stride) + ";\n";
  t += "  let right_at = subgroup % 2u * " + u(c.n * c.shape.n * c.stride) + ";\n";
  for (uint32_t i = 0; i < c.m; ++i) t += "  var a" + d(i) + " = " + load_left(i, "left_at") + ";\n";
  for (uint32_t i = 0; i < c.n; ++i) t += "  var b" + d(i) + " = " + load_right(i, "right_at") + ";\n";
  t += "  for (var step = 0u; step < " + u(steps) + "; step += 1u) {\n";
  // The columns alternate between two places, so that the compiler cannot load them once for all steps.
  t += "    let k = (step & 1u) * " + u(c.stride >= 2 * c.shape.k ? c.shape.k : 0) + ";\n";
  if (c.from != From::kRegisters) {
    if (c.reloads_left) {
      for (uint32_t i = 0; i < c.m; ++i) t += "    a" + d(i) + " = " + load_left(i, "left_at + k") + ";\n";
    }
    if (c.reloads_right) {
      for (uint32_t i = 0; i < c.n; ++i) t += "    b" + d(i) + " = " + load_right(i, "right_at + k") + ";\n";
    }
  }
  if (c.multiplies) {
    for (uint32_t n = 0; n < c.n; ++n) {
      for (uint32_t m = 0; m < c.m; ++m) {
        const std::string s = "sum" + d(m * c.n + n);
        t += "    " + s + " = subgroupMatrixMultiplyAccumulate(a" + d(m) + ", b" + d(n) + ", " + s + ");\n";
      }
    }
  }
  if (c.barriers) t += "    workgroupBarrier();\n";
  if (c.stores != Stores::kNone) {
    // A step's columns of both sides, divided among the invocations.
    const uint32_t n = sides * c.shape.k / (kLanes * c.subgroups) / (is_int8 ? 4 : 1);
    t += "    let to = tid / 4u * " + u(c.stride / (is_int8 ? 4 : 1)) + " + tid % 4u * 4u;\n";
    for (uint32_t i = 0; i < n; ++i) {
      t += "    staged[to + " + u(i % 4 + i / 4 * kLanes * c.subgroups / 4 * c.stride / (is_int8 ? 4 : 1)) +
           "] = " + stored + "(step + tid + " + u(i) + ");\n";
    }
    t += "    workgroupBarrier();\n";
  }
  t += "  }\n  workgroupBarrier();\n";
  // All sums are written out, so that none is optimized away.
  for (uint32_t i = 0; i < c.m * c.n; ++i) {
    t += "  subgroupMatrixStore(&y, (wg.x % 64u * " + d(c.subgroups) + " + subgroup) * " +
         u(c.shape.m * c.shape.n * c.m * c.n) + " + " + u(i * c.shape.m * c.shape.n) + ", sum" + d(i) + ", false, " +
         u(c.shape.n) + ");\n";
  }
  if (!c.multiplies) t += "  y[tid] = " + sum + "(staged[tid]);\n";
  return t + "}\n";
}

void run(Device& device, const Case& c) {
  const bool is_software = device.adapter().type == AdapterType::kSoftware;
  const uint32_t kSteps = is_software ? 2 : 2048, kWorkgroups = is_software ? 2 : 132 * 8;
  wgsl::Module module{.name = "step", .text = text_of(c, kSteps), .bindings = {}, .needs = {}};
  const bool is_int8 = c.shape.types == wgsl::MatrixTypes::kI8ToI32;
  module.bindings = {{.name = "x", .access = wgsl::Access::kRead, .element_bytes = is_int8 ? 4u : 2u},
                     {.name = "y", .access = wgsl::Access::kReadWrite, .element_bytes = 4}};
  module.needs = {.f16 = !is_int8,
                  .subgroups = true,
                  .subgroup_matrix = true,
                  .matrices = {c.shape},
                  .workgroup_bytes = 1,
                  .invocations = kLanes * c.subgroups,
                  .storage_buffers = 2};
  const auto pipeline = device.pipeline(module);
  if (!pipeline) {
    std::printf("%-50s %s\n", c.name.c_str(), pipeline.error().message.c_str());
    return;
  }
  const auto x = device.new_buffer("x", 16 << 20, BufferUse::kWork).value();
  const auto y = device.new_buffer("y", 64 << 20, BufferUse::kWork).value();
  const BufferView views[] = {{x.get(), 0, 0}, {y.get(), 0, 0}};
  const auto group = device.bind(**pipeline, views).value();
  const Command command{
      .pipeline = *pipeline, .bindings = group.get(), .grid = {kWorkgroups, 1, 1}, .from = {}, .to = {}};
  double best = 1e9;
  // Idle GPUs run at a fraction of their clock rate, and take a while to speed up.
  const auto start = std::chrono::steady_clock::now();
  while (!is_software && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(300)) {
    (void)device.time_whole(std::vector(10, command));
  }
  for (int round = 0; round < 4; ++round) {
    const auto seconds = device.time_whole({&command, 1});
    if (!seconds) return void(std::printf("%-50s %s\n", c.name.c_str(), seconds.error().message.c_str()));
    best = std::min(best, *seconds);
  }
  const double macs =
      static_cast<double>(kWorkgroups) * c.subgroups * kSteps * c.m * c.n * c.shape.m * c.shape.n * c.shape.k;
  const double loads = static_cast<double>(kWorkgroups) * c.subgroups * kSteps * (c.m * c.shape.m + c.n * c.shape.n) *
                       c.shape.k * (is_int8 ? 1 : 2);
  std::printf("%-50s %9.3f ms %8.1f T/s  %8.1f TB/s loaded\n", c.name.c_str(), best * 1e3, macs * 2 / best * 1e-12,
              c.from == From::kRegisters ? 0 : loads / best * 1e-12);
  std::fflush(stdout);
}

int main_of(int argc, char** argv) {
  const auto opened = open_device({.adapter = argc > 1 ? argv[1] : ""});
  if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 1;
  Device& device = **opened;
  std::printf("%s\n", device.adapter().name.c_str());
  for (const auto& s : device.features().matrices) {
    std::printf("matrices: types %d, %u × %u × %u\n", static_cast<int>(s.types), s.m, s.n, s.k);
  }
  const bool is_small = device.features().matrices.front().m == 8;  // a software adapter
  const wgsl::MatrixShape f16 = is_small ? wgsl::MatrixShape{wgsl::MatrixTypes::kF16ToF32, 8, 8, 8}
                                         : wgsl::MatrixShape{wgsl::MatrixTypes::kF16ToF32, 16, 16, 16};
  const wgsl::MatrixShape i8 = is_small ? wgsl::MatrixShape{wgsl::MatrixTypes::kI8ToI32, 8, 8, 8}
                                        : wgsl::MatrixShape{wgsl::MatrixTypes::kI8ToI32, 16, 16, 32};
  std::vector<Case> cases;
  for (const auto& [type, shape] : {std::pair<std::string, wgsl::MatrixShape>{"f16", f16}, {"i8", i8}}) {
    const uint32_t wide = shape.k * 2 + (type == "i8" ? 16 : 8);
    for (const auto& [m, n] : {std::pair{2u, 2u}, {4u, 2u}, {4u, 4u}}) {
      const std::string tile = type + " " + std::to_string(m) + "x" + std::to_string(n) + " ";
      cases.push_back(
          {.name = tile + "registers", .shape = shape, .from = From::kRegisters, .m = m, .n = n, .stride = wide});
      cases.push_back({.name = tile + "workgroup", .shape = shape, .m = m, .n = n, .stride = wide});
      cases.push_back({.name = tile + "workgroup, k only", .shape = shape, .m = m, .n = n, .stride = shape.k});
      cases.push_back({.name = tile + "workgroup, no padding", .shape = shape, .m = m, .n = n, .stride = shape.k * 2});
      cases.push_back({.name = tile + "workgroup, loads alone",
                       .shape = shape,
                       .m = m,
                       .n = n,
                       .stride = wide,
                       .multiplies = false});
      cases.push_back({.name = tile + "workgroup, stores",
                       .shape = shape,
                       .m = m,
                       .n = n,
                       .stride = wide,
                       .stores = Stores::kOneByOne});
      cases.push_back(
          {.name = tile + "workgroup, barrier", .shape = shape, .m = m, .n = n, .stride = wide, .barriers = true});
      cases.push_back(
          {.name = tile + "storage", .shape = shape, .from = From::kStorage, .m = m, .n = n, .stride = wide});
      cases.push_back({.name = tile + "storage, k only",
                       .shape = shape,
                       .from = From::kStorage,
                       .m = m,
                       .n = n,
                       .stride = shape.k});
    }
    cases.push_back(
        {.name = type + " 4x4 left only", .shape = shape, .m = 4, .n = 4, .stride = wide, .reloads_right = false});
    cases.push_back(
        {.name = type + " 4x4 right only", .shape = shape, .m = 4, .n = 4, .stride = wide, .reloads_left = false});
    cases.push_back({.name = type + " 4x4 right by rows",
                     .shape = shape,
                     .m = 4,
                     .n = 4,
                     .stride = std::max(shape.n, shape.k) * 2 + 8,
                     .is_right_by_rows = true});
    cases.push_back({.name = type + " 4x4 left from storage once, right wg, 8 subgroups",
                     .shape = shape,
                     .m = 4,
                     .n = 4,
                     .stride = wide,
                     .subgroups = 8});
  }
  for (const Case& c : cases) run(device, c);
  return 0;
}

}  // namespace
}  // namespace tern::gpu

int main(int argc, char** argv) { return tern::gpu::main_of(argc, argv); }
