#include "backend/gpu/run/trust/self_test.h"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/memory/views.h"
#include "base/check.h"
#include "base/text/format_text.h"

namespace tern::gpu {
namespace {

using namespace wgsl;

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

// A word that a probe must write.
struct Answer {
  std::string what;
  uint32_t word;
  bool is_rounded = false;  // a float; devices may round it differently
};

struct Probe {
  std::string_view feature;     // a name of GpuOptions::without
  bool Restrictions::* broken;  // what to leave out if it fails; null: the device cannot be used
  Module module;                // bindings: x, y
  std::array<std::array<uint32_t, 4>, 2> x;
  std::vector<Answer> answers;  // y
};

// The probes' input: numbers that reveal errors of sign, byte position or rounding.
constexpr float kAngle = std::numbers::pi_v<float>;
constexpr uint32_t kHalves = 0xC0003E00;  // −2, 1.5
constexpr uint32_t kBytesA = 0x80FF7F01;  // −128, −1, 127, 1
constexpr uint32_t kBytesB = 0x7F8003FE;  // 127, −128, 3, −2
constexpr int32_t kDot = -128 * 127 + 128 + 127 * 3 - 2;
const std::array<std::array<uint32_t, 4>, 2> kX = {
    {{bits_of(kAngle), bits_of(-2.5f), static_cast<uint32_t>(-100), kHalves},
     {kBytesA, kBytesB, bits_of(3.5f), bits_of(2.5f)}}};

constexpr uint32_t kWorkgroup = 64;

// Arithmetic without any feature, workgroup memory, loops.
Probe basics() {
  const auto traced = kernel("self_test_basics", kWorkgroup, [](In<"x", Vec4<U32>> x, Out<"y", U32> y, LocalIndex tid) {
    auto a = let("a", x[0u]);
    auto b = let("b", x[1u]);
    auto sum = reduce_workgroup(Reduce::kSum, Caps{}, let("one", f32(tid + 1u)), tid, kWorkgroup);
    const Dot4 dot4{Caps{}};
    when(tid == 0u, [&] {
      auto angle = let("angle", bitcast<F32>(at(a, 0)));
      auto negative = let("negative", bitcast<F32>(at(a, 1)));
      auto whole = let("whole", bitcast<I32>(at(a, 2)));
      auto halves = let("halves", unpack2x16float(packed<F16x2>(at(a, 3))));
      auto as_floats = let("as_floats", bitcast<Vec4<F32>>(a));
      auto words = let("words", bitcast<Vec4<U32>>(abs(as_floats)));
      y[0u] = bitcast<U32>(angle * 2.0f);
      y[1u] = bitcast<U32>(whole >> 3u);
      y[2u] = bitcast<U32>(f32(whole));
      y[3u] = bitcast<U32>(i32(negative));
      y[4u] = bitcast<U32>(at(halves, 0));
      y[5u] = bitcast<U32>(at(halves, 1));
      y[6u] = bits(pack2x16float(vec2f(at(halves, 0), at(halves, 1))));
      y[7u] = bitcast<U32>(round(bitcast<F32>(at(b, 2))));
      y[8u] = bitcast<U32>(round(bitcast<F32>(at(b, 3))));
      y[9u] = at(words, 1);
      y[10u] = bitcast<U32>(dot4(packed<I8x4>(at(b, 0)), packed<I8x4>(at(b, 1))));
      y[11u] = bitcast<U32>(exp(negative));
      y[12u] = bitcast<U32>(inverseSqrt(angle));
      y[13u] = bitcast<U32>(sqrt(angle));
      auto total = var("total", 0u);
      loop("i", 1u, 5u, 1u, [&](const Name<U32>& i) {
        auto fresh = var<U32>("fresh");
        fresh += i;
        auto now = let("now", fresh);
        total += now;
      });
      y[14u] = total;
      y[15u] = bitcast<U32>(sum);
    });
  });
  return {.feature = "shaders",
          .broken = nullptr,
          .module = traced.module,
          .x = kX,
          .answers = {{"bitcast<f32> of π, doubled,", bits_of(2 * kAngle)},
                      {"-100 >> 3", static_cast<uint32_t>(-13)},
                      {"f32(-100)", bits_of(-100)},
                      {"i32(-2.5)", static_cast<uint32_t>(-2)},
                      {"unpack2x16float, low half,", bits_of(1.5f)},
                      {"unpack2x16float, high half,", bits_of(-2)},
                      {"pack2x16float", kHalves},
                      {"round(3.5)", bits_of(4)},
                      {"round(2.5)", bits_of(2)},
                      {"bitcast<vec4<u32>>", bits_of(2.5f)},
                      {"a dot product of bytes by shifts", static_cast<uint32_t>(kDot)},
                      {"exp(-2.5)", bits_of(std::exp(-2.5f)), true},
                      {"inverseSqrt(π)", bits_of(1 / std::sqrt(kAngle)), true},
                      {"sqrt(π)", bits_of(std::sqrt(kAngle)), true},
                      {"a variable that a loop declares", 10},
                      {"a sum over a workgroup", bits_of(kWorkgroup * (kWorkgroup + 1) / 2)}}};
}

Probe packed_dot() {
  const auto traced = kernel("self_test_dot4", 1, [](In<"x", Vec4<U32>> x, Out<"y", U32> y, LocalIndex) {
    auto b = let("b", x[1u]);
    auto high = let("high", bitcast<Vec4<I32>>(x[0u]));
    y[0u] = bitcast<U32>(dot4I8Packed(packed<I8x4>(at(b, 0)), packed<I8x4>(at(b, 1))));
    y[1u] = bits(pack4xI8(high));
  });
  const auto byte = [](uint32_t word, int i) { return (word & 0xFF) << (8 * i); };
  const uint32_t low_bytes = byte(kX[0][0], 0) | byte(kX[0][1], 1) | byte(kX[0][2], 2) | byte(kX[0][3], 3);
  return {.feature = "dot4",
          .broken = &Restrictions::packed_dot,
          .module = traced.module,
          .x = kX,
          .answers = {{"dot4I8Packed", static_cast<uint32_t>(kDot)}, {"pack4xI8", low_bytes}}};
}

// f16 in memory, and conversions from and to f32.
Probe halves() {
  const auto traced = kernel("self_test_f16", 1, [](In<"x", F16> x, Out<"y", Vec4<F16>> y, LocalIndex) {
    auto low = let("low", f32(x[6u]));
    auto high = let("high", f32(x[7u]));
    y[0u] = vec4h(vec4f(low, high, low * 2.0f, high * low));
  });
  return {.feature = "f16",
          .broken = &Restrictions::f16,
          .module = traced.module,
          .x = kX,
          .answers = {{"two halves as they were stored", kHalves}, {"two halves computed", 0xC2004200}}};  // −3, 3
}

// Shuffles within groups of caps.subgroup invocations, as in reduce_lanes(); by lane number if all subgroups have that
// size.
Probe subgroups(const Caps& caps, bool has_one_size) {
  const uint32_t workgroup = std::max(kWorkgroup, caps.subgroup);
  const auto traced = kernel("self_test_subgroups", workgroup, [&](In<"x", U32> x, Out<"y", U32> y, LocalIndex tid) {
    auto value = let("value", f32(tid) + f32(x[7u] & 1u));
    auto sum = reduce_lanes(Reduce::kSum, caps, value, tid, caps.subgroup, workgroup);
    auto greatest = reduce_lanes(Reduce::kMax, caps, value, tid, caps.subgroup, workgroup);
    auto answer = let("answer", u32(sum + greatest));
    if (has_one_size) {
      auto second = subgroupShuffle(value, 1u);
      y[tid] = answer + u32(second);
    } else {
      y[tid] = answer;
    }
  });
  std::vector<Answer> answers;
  for (uint32_t tid = 0; tid < workgroup; ++tid) {
    const uint32_t first = tid & ~(caps.subgroup - 1), n = caps.subgroup;
    const uint32_t sum = n * first + n * (n - 1) / 2, greatest = first + n - 1, second = has_one_size ? first + 1 : 0;
    answers.push_back({format_text("shuffles, invocation {},", tid), sum + greatest + second});
  }
  return {.feature = "subgroups",
          .broken = &Restrictions::subgroups,
          .module = traced.module,
          .x = kX,
          .answers = std::move(answers)};
}

bool is_right(const Answer& answer, uint32_t word) {
  if (!answer.is_rounded) return word == answer.word;
  const auto expected = std::bit_cast<float>(answer.word), got = std::bit_cast<float>(word);
  return std::abs(got - expected) <= 1e-5f * std::abs(expected);  // false for a NaN
}

Result<std::vector<uint32_t>> run(Device& device, const Probe& probe) {
  std::vector<uint32_t> words(probe.answers.size());
  const Bytes in = std::as_bytes(std::span(probe.x));
  TRY(const auto x, device.new_buffer("self-test, in", in.size(), BufferUse::kWeights));
  TRY(const auto y, device.new_buffer("self-test, out", words.size() * 4, BufferUse::kWork));
  TRY_STATUS(device.write(*x, 0, in));
  TRY(const Pipeline* pipeline, device.pipeline(probe.module));
  TRY(const auto bindings, device.bind(*pipeline, std::array{BufferView{x.get()}, BufferView{y.get()}}));
  const Command command{.pipeline = pipeline, .bindings = bindings.get(), .grid = {}, .from = {}, .to = {}};
  TRY_STATUS(device.submit(std::span(&command, 1)));
  TRY_STATUS(device.read({y.get()}, std::as_writable_bytes(std::span(words))));
  TRY_STATUS(device.check());
  return words;
}

// Describes what is wrong; empty if nothing is. A kernel that does not compile counts as wrong.
Result<std::string> finding(Device& device, const Probe& probe) {
  const auto words = run(device, probe);
  if (!words) {
    if (words.error().code == ErrorCode::kDeviceLost) return std::unexpected(words.error());
    return format_text("{}: {}", probe.feature, words.error().message);
  }
  for (size_t i = 0; i < words->size(); ++i) {
    const Answer& answer = probe.answers[i];
    if (is_right(answer, (*words)[i])) continue;
    return format_text("{}: {} gives 0x{:08X}, not 0x{:08X}", probe.feature, answer.what, (*words)[i], answer.word);
  }
  return std::string();
}

std::vector<Probe> probes_for(const Device& device) {
  const Features& f = device.features();
  std::vector<Probe> probes;
  probes.push_back(basics());
  if (f.packed_dot) probes.push_back(packed_dot());
  if (f.f16) probes.push_back(halves());
  if (f.subgroups && f.subgroup_min >= 4 && f.subgroup_min <= device.limits().invocations) {
    probes.push_back(subgroups({.subgroup = f.subgroup_min}, f.subgroup_min == f.subgroup_max));
  }
  return probes;
}

}  // namespace

Result<SelfTest> self_test(Device& device) {
  SelfTest result;
  for (const Probe& probe : probes_for(device)) {
    TRY(std::string wrong, finding(device, probe));
    if (wrong.empty()) continue;
    if (probe.broken == nullptr) {
      return fail(ErrorCode::kNotSupported, "the GPU {} computes wrongly ({}); use the cpu backend",
                  device.adapter().name, wrong);
    }
    result.broken.*probe.broken = true;
    result.findings.push_back(std::move(wrong));
  }
  return result;
}

Result<TrustedDevice> open_trusted(const DeviceOptions& options, const OpenDevice& open) {
  DeviceOptions without = options;
  TrustedDevice trusted;
  // Each round leaves out at least one more feature.
  for (;;) {
    TRY(trusted.device, open(without));
    TRY(SelfTest test, self_test(*trusted.device));
    if (test.findings.empty()) return trusted;
    without.without.f16 |= test.broken.f16;
    without.without.packed_dot |= test.broken.packed_dot;
    without.without.subgroups |= test.broken.subgroups;
    std::ranges::move(test.findings, std::back_inserter(trusted.findings));
    trusted.device.reset();
  }
}

}  // namespace tern::gpu
