// The executable of the WebGPU backend. executable.cc loads and runs batches; token_stream.cc decodes on the device.
#pragma once

#include <deque>

#include "backend/backend.h"
#include "backend/gpu/chooser.h"
#include "backend/gpu/device.h"
#include "backend/gpu/gpu_kv_cache.h"
#include "backend/gpu/kernel_library.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/recorder.h"
#include "backend/gpu/weight_store.h"
#include "backend/gpu/work_buffers.h"
#include "backend/repack.h"

namespace tern::gpu {

class GpuTokenStream;

// The weights that a step reads.
struct WeightUse {
  const Tensor* tensor;
  bool is_ternary;
  uint64_t row_bytes() const;  // on the device
  uint64_t bytes() const { return row_bytes() * static_cast<uint64_t>(tensor->rows); }
};
std::vector<WeightUse> weight_uses(const StepBody& body);

class GpuExecutable final : public Executable {
 public:
  static Result<std::unique_ptr<GpuExecutable>> create(std::unique_ptr<Device> device, const Plan& plan,
                                                       const CompileOptions& options);

  std::string description() const override;
  int max_batch() const override { return options_.max_batch; }
  int max_logit_rows() const override { return options_.max_logit_rows; }
  Result<std::unique_ptr<KvCache>> new_cache(int n_ctx, KvType type) const override;
  Result<std::span<const float>> run(KvCache& cache, const Batch& batch) override;
  Result<std::unique_ptr<TokenStream>> decode(KvCache& cache, TokenId token, int pos, int n_tokens,
                                              const DeviceSampling& sampling) override;
  std::optional<GpuStats> gpu_stats() const override;
  std::optional<GpuAdapter> gpu_adapter() const override;
  Result<std::vector<GpuKernel>> gpu_kernels() override;
  Result<TokenTimes> time_ops(KvCache& cache, int pos, int repeats) override;
  void observe(StepObserver observer) override { observer_ = std::move(observer); }

  // Whether products with this model's weights come out right (check_products.h). kNotSupported where they do not.
  Result<void> check();
  // What gpu_adapter() tells of features that the device is used without, because it failed their tests.
  void note_failed_tests(std::vector<std::string> findings) { failed_tests_ = std::move(findings); }

  // For bench/tune_gpu.
  Device& device() { return *device_; }
  void set_layouts(const Layouts& layouts) { layouts_ = layouts; }  // of caches made from now on

 private:
  friend class GpuTokenStream;
  GpuExecutable(std::unique_ptr<Device> device, const Plan& plan, const CompileOptions& options);

  Result<void> load();
  Result<void> check_heads() const;
  RecorderContext context() const;
  uint64_t bytes_moved(const Step& step, const GpuKvCache& cache, int pos) const;
  Result<void> write_params(const RunParams& params, std::span<const TokenId> tokens) const;
  Result<void> set_token(TokenId token, int pos) const;  // what the decoding loop runs next
  // The commands of a token like the last one, and the token set that they run: at the position after the last (or at
  // the cache's last one), where what they leave counts as never run. Empty where there was none or its cache is gone.
  Result<std::vector<Command>> last_token_again() const;
  // Seconds that the last token's dispatches take as one; 0 where they cannot be run again or timed.
  double time_last_token() const;
  Result<void> run_observed(const GpuKvCache& cache, const RunShape& shape);
  Result<void> report(const Step& step, const RunShape& shape);

  // Destroyed in reverse: the device last.
  std::unique_ptr<Device> device_;
  std::deque<Repacked> repacked_;
  Plan plan_;
  CompileOptions options_;
  mutable KernelLibrary kernels_;
  mutable WeightStore weights_;
  std::unique_ptr<WorkBuffers> work_;
  std::unique_ptr<Chooser> chooser_;
  Layouts layouts_;
  Program ahead_;  // the steps that need no cache
  std::vector<std::string> failed_tests_;
  StepObserver observer_;
  std::vector<float> logits_;
  std::vector<Command> commands_;  // kept, so that the token loop allocates nothing
  // Of the last decoded token, for gpu_stats and gpu_kernels.
  struct LastToken {
    std::weak_ptr<const GpuKvCache> cache;
    const Program* chooser = nullptr;  // null: the host chose
    RunShape shape;
    int dispatches = 0;
  };
  LastToken last_;
  int streams_ = 0;                                     // that live
  mutable const GpuTokenStream* in_control_ = nullptr;  // the stream whose next token the device is about to run
  uint64_t decoded_ = 0;
  double record_seconds_ = 0;  // recording and submitting them
  uint64_t streamed_ = 0;      // of them, those that came after another one
  double stream_seconds_ = 0;  // from each of those to the next, as their reader saw it
};

}  // namespace tern::gpu
