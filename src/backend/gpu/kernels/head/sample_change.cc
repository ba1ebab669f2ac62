// Biases and penalties: logits that change before any filter.
#include "backend/gpu/kernels/head/sample.h"

namespace tern::gpu {

using namespace wgsl;

namespace {

// Keeps squares of distances finite (sample_moments); no such logit has a probability.
constexpr float kMostChanged = 1e15f;
constexpr uint32_t kMinusInfinity = 0xFF800000;

}  // namespace

SampleChangeKernel sample_change() {
  return kernel("sample_change", kSampleWorkgroup,
                [&](InOut<"logits", U32> logits, In<"changes", U32> changes, WorkgroupId wg, LocalIndex tid) {
                  auto i = let("i", wg.x * kSampleWorkgroup + tid);
                  when(i < changes[0u], [&] {
                    auto at = let("change_at", (i + 1u) * kChangeWords);
                    const auto value = [&](std::string_view name, uint32_t word) {
                      return let(name, bitcast<F32>(changes[at + word]));
                    };
                    auto place = let("place", changes[at]);
                    auto bias_bits = let("bias_bits", changes[at + 1u]);
                    auto bits = let("bits", logits[place]);
                    auto biased = let("biased", bitcast<F32>(bits) + bitcast<F32>(bias_bits));
                    auto lowered = let("lowered", biased - value("first", 2));
                    auto factor = value("factor", 3);
                    auto divided = let("divided", select(lowered * factor, lowered / factor, lowered > 0.0f));
                    auto less = let("less", divided - value("second", 4));
                    auto least = let("least", clamp(less - value("third", 5), -kMostChanged, kMostChanged));
                    auto magnitude = let("magnitude", bits & 0x7FFFFFFFu);
                    auto kept = let("kept", select(bits, bitcast<U32>(least), magnitude < kInfinityBits));
                    auto never = let("never", select(select(kMinusInfinity, kNoLogit, bits == kInfinityBits), bits,
                                                     magnitude > kInfinityBits));
                    logits[place] = select(kept, never, bias_bits == kMinusInfinity);
                  });
                });
}

}  // namespace tern::gpu
