// Finding the next token on the device: the most probable one (kernels/argmax.h), or one by chance (kernels/sample.h).
// Either becomes the input of the next step and goes into a ring of ids, which the host reads behind it.
#pragma once

#include <array>
#include <memory>

#include "backend/backend.h"
#include "backend/gpu/device.h"
#include "backend/gpu/kernel_library.h"
#include "backend/gpu/kernels/sample.h"
#include "backend/gpu/program.h"

namespace tern::gpu {

// What a chooser works with; all outlive it.
struct ChooserContext {
  Device& device;
  KernelLibrary& kernels;
  Caps caps;
  uint32_t n_vocab;
  BufferView logits;     // [n_vocab] f32
  const Buffer& tokens;  // [0] becomes the chosen token
  const Buffer& params;  // RunParams; pos and step move on
  bool serial = false;   // as Layouts::serial
};

class Chooser {
 public:
  static constexpr uint32_t kRing = 64;  // chosen tokens that the device remembers

  static Result<std::unique_ptr<Chooser>> create(const ChooserContext& context);

  const Program& greedy() const { return greedy_; }

  // The program that draws with these options (temperature above 0), which hold until the next call. Null where the
  // vocabulary is too large or the device slower at it than the host. Each set of filters is compiled when it is first
  // asked for.
  Result<const Program*> sampling(const DeviceSampling& options);

  // Keeps the random number that the draw of this step will use.
  Result<void> set_draw(uint64_t step, float uniform);

  // Where the token of this step will be.
  BufferView id(uint64_t step) const { return {ids_.get(), 4 * (step % kRing), 4}; }

 private:
  explicit Chooser(const ChooserContext& context) : c_(context) {}
  Result<void> prepare_greedy();
  Result<void> prepare_sampling();
  Result<void> record_sampling(bool has_top_k, bool has_top_p, Program& program);
  template <class... P, class... V>
  Result<void> add(Program& program, const wgsl::Kernel<P...>& kernel, uint32_t grid, const V&... views);

  ChooserContext c_;
  std::unique_ptr<Buffer> ids_;               // ring of chosen tokens
  std::unique_ptr<Buffer> values_, indices_;  // argmax, per part
  Program greedy_;

  // Made when they are first needed.
  std::unique_ptr<Buffer> hist_, state_, parts_, draws_, options_;
  std::array<std::unique_ptr<Buffer>, 2 * kSampleLevels> levels_;
  std::array<std::unique_ptr<Program>, 4> sampling_;  // by filters: 1 top-k, 2 top-p
};

}  // namespace tern::gpu
