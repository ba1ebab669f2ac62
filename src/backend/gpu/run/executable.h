// The executable of the WebGPU backend. executable.cc loads and runs batches; token_stream.cc decodes on the device.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <deque>
#include <map>
#include <set>

#include "backend/backend.h"
#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/device_sampler.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/recorder.h"
#include "backend/gpu/run/batch_words.h"
#include "backend/gpu/trust/try_one_dispatch.h"
#include "backend/gpu/weights/weight_store.h"
#include "backend/kv_layout.h"
#include "backend/repack.h"

namespace tern::gpu {

class GpuTokenStream;

// The rows that there are dispatches for, of tokens of as many sequences.
struct RowsInOne {
  int fewest, most;
};
inline constexpr std::array<RowsInOne, 3> kRowsInOne = {{{2, 2}, {3, 4}, {5, 8}}};

class GpuExecutable final : public Executable {
 public:
  static Result<std::unique_ptr<GpuExecutable>> create(std::unique_ptr<Device> device, const Plan& plan,
                                                       const CompileOptions& options);

  std::string description() const override;
  int max_batch() const override { return options_.max_batch; }
  int max_logit_rows() const override { return options_.max_logit_rows; }
  int max_slices() const override { return std::min(64, options_.max_batch); }
  bool decodes() const override { return true; }
  int kv_block_tokens(int) const override { return kKvBlock; }
  Result<std::unique_ptr<KvStore>> new_kv_store(int block_tokens, KvType type) const override;
  Result<void> expect(int n_sequences) override;
  using Executable::decode;
  using Executable::run;
  Result<std::span<const float>> run(KvStore& store, Batch batch) override;
  Result<std::unique_ptr<TokenStream>> decode(KvStore& store, Batch starts, int n_tokens,
                                              std::span<const DeviceSampling> sampling) override;
  std::optional<GpuStats> gpu_stats() const override;
  std::optional<GpuAdapter> gpu_adapter() const override;
  Result<std::vector<GpuKernel>> gpu_kernels() override;
  std::optional<std::string> own_head() const override;
  int64_t bytes_beyond_plan() const override;
  Result<TokenTimes> time_ops(KvStore& store, Batch tokens, int repeats) override;
  void observe(StepObserver observer) override { observer_ = std::move(observer); }

  // Whether products with this model's weights come out right (check_products.h): kNotSupported where they do not. The
  // kernels are compiled then, those of keys and values as f16, which will most likely be wanted, but for attention on
  // matrices, which takes longest.
  Result<void> check();
  // Whether that does, too; where not, attention leaves matrices out. The first run with so many tokens of a sequence
  // asks for it.
  Result<void> check_long_prompts();
  // What gpu_adapter() tells of features that the device is used without, because it failed their tests.
  void note_failed_tests(std::vector<std::string> findings);

  // Why the layers of a token are computed step by step; empty where they are not, or nobody wants anything else.
  const std::string& why_in_steps() const { return why_in_steps_; }
  const std::string& why_rows_in_steps() const { return why_rows_in_steps_; }  // … and those of several, once expected

  // Workgroups of the dispatch that computes the layers of a token of each of so many sequences; 0: there is none.
  uint32_t workgroups_in_one(int n_sequences) const {
    const OneDispatch* one = one_for(n_sequences);
    return one ? one->workgroups(n_sequences) : 0;
  }

  // For what compares layouts.
  Device& device() { return *device_; }
  const Device& device() const { return *device_; }
  const Plan& plan() const { return plan_; }
  const GpuOptions& options() const { return options_.gpu; }
  Layouts layouts() const;
  void set_layouts(const Layouts& layouts);        // of programs that are recorded from now on
  void keep_to_steps() { only_in_steps_ = true; }  // for whom only they are of interest

 private:
  friend class GpuTokenStream;
  GpuExecutable(std::unique_ptr<Device> device, const Plan& plan, const CompileOptions& options);

  Result<void> load();
  // Looks whether the layers can be one dispatch, before weights are uploaded, and whether they had better be, after.
  Result<void> plan_one_dispatch(std::optional<LayersInOne>& layers);
  Result<void> try_one_dispatch(const GpuKvStore& store);
  // Finds out with how many workgroups it is used; 0, and why not, where it is not.
  Result<std::string> try_one_dispatch(OneDispatch& one, const GpuKvStore& store);
  // Compiles their kernels together, and tries them: of_rows_ has those that are of use from then on.
  Result<void> add_rows(std::vector<std::unique_ptr<OneDispatch>> made);
  // What steps of their fewest and most rows take, either way.
  Result<void> compile_for_rows(const Program& program, std::span<OneDispatch* const> added) const;
  void say_rows_in_steps(const std::string& why, int fewest, int most);
  // That of a run with so many rows, each of another sequence; null: there is none.
  OneDispatch* one_for(int n_rows) const;
  Result<std::unique_ptr<GpuKvStore>> checked_store();
  // What the batch is the first to need.
  Result<void> check_before(const GpuKvStore& store, Batch batch);
  // Likewise, of the best n_best logits of each of so many rows: those that are not checked are found without the copy.
  Result<void> check_best_rows(int n_rows, int n_best);
  Result<void> check_best_rows(const GpuKvStore& store, uint32_t columns);
  void leave_head_copy(const Error& why);
  static uint32_t best_columns(int n_rows) { return std::bit_ceil(static_cast<uint32_t>(std::max(n_rows, 1))); }
  bool finds_best(int n_rows) const {
    const auto found = best_rows_.find(best_columns(n_rows));
    return head_copy_ && found != best_rows_.end() && found->second;
  }
  Result<std::optional<DeviceSamplerContext::Embedding>> embedding_of_next();
  void defer_attention_on_matrices();
  std::optional<MatrixAttentionConfig> attention_on_matrices(const Step& step) const;
  std::pair<uint32_t, uint32_t> attention_layout() const {
    return {layouts_.matrix_attention_subgroups, layouts_.matrix_attention_chunk};
  }
  void begin_slow_kernels(const std::optional<LayersInOne>& in_one);
  // The way in which a run computes the layers and the head.
  RunShape in_best_way(RunShape shape, const GpuKvStore& store) const;
  // Workgroups of a run that computed them as one have waited in vain: from now on it is not done so.
  void leave_one_dispatch(OneDispatch& one);
  Result<void> check_heads(KvType type) const;
  RecorderContext context() const;
  uint64_t bytes_moved(const Step& step, KvType type, int pos, int n_rows) const;
  std::unique_ptr<GpuKvStore> make_store(KvType type, bool together) const;
  // With room for one block, and its program recorded.
  Result<std::unique_ptr<GpuKvStore>> new_spare_store(bool together = false) const;
  // The store's program, for positions before n_pos: recorded anew where the buffers are not those that it is for.
  Result<void> prepare(GpuKvStore& store, int n_pos) const;
  // Puts the batch where the kernels find it, with tables for n_more positions after each slice. Gives its shape.
  Result<RunShape> put(Batch batch, int n_more = 0) const;
  // The commands of a token like the last one, and the token set that they run: at the position after the last, but in
  // the store's spare block. Empty where there was none or its blocks are gone.
  Result<std::vector<Command>> last_token_again() const;
  // Keeps what last_token_again() has to know of the token that commands_ run.
  void remember(const GpuKvStore& store, const Slice& token, const Program* sampler, const RunShape& shape);
  // Seconds that the last token's dispatches take as one; 0 where they cannot be run again or timed.
  double time_last_token() const;
  Result<void> run_observed(const GpuKvStore& store, const RunShape& shape);
  Result<void> report(const Step& step, const RunShape& shape);

  // Destroyed in reverse: the device last.
  std::unique_ptr<Device> device_;
  std::deque<Repacked> repacked_;
  Plan plan_;
  CompileOptions options_;
  mutable KernelLibrary kernels_;
  mutable WeightStore weights_;
  std::unique_ptr<WorkBuffers> work_;
  std::unique_ptr<DeviceSampler> sampler_;
  std::unique_ptr<HeadCopy> head_copy_;  // null: all logits are always computed
  // Whether they have been checked, of up to so many rows and more than half as many: powers of two.
  std::map<uint32_t, bool> best_rows_;
  Layouts layouts_;                 // of what is recorded
  int on_matrices_from_ = INT_MAX;  // attention, once it has been checked; INT_MAX: it has been, or is to be without
  std::vector<std::string> failed_tests_;
  std::unique_ptr<OneDispatch> one_;                         // null: the layers are always computed step by step
  std::string why_in_steps_;                                 // why that is so; empty: nobody asked for anything else
  std::vector<std::unique_ptr<OneDispatch>> of_rows_;        // of tokens of several sequences
  std::string why_rows_in_steps_;                            // likewise
  size_t n_tried_ = 0;                                       // of kRowsInOne
  uint64_t n_ways_ = 0;                                      // that were added since programs were first recorded
  bool only_in_steps_ = false;                               // for the time being
  std::set<std::pair<uint32_t, uint32_t>> wrong_attention_;  // its layouts that were found wrong on matrices
  StepObserver observer_;
  std::vector<float> logits_;
  std::vector<Command> commands_;  // kept, so that the token loop allocates nothing
  mutable BatchWords words_;       // likewise
  // Of the last decoded token, for gpu_stats and gpu_kernels.
  struct LastToken {
    std::weak_ptr<const GpuKvStore> store;
    std::vector<KvBlockId> blocks;
    int n_ctx = 0;
    const Program* sampler = nullptr;  // null: the host chose
    int n_pos = 0;
    int n_best = 0;
    bool embeds_next = false;
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
