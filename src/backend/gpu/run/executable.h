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
#include "backend/gpu/batch/batch_words.h"
#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/common.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/device_sampler.h"
#include "backend/gpu/record/kernel_library.h"
#include "backend/gpu/record/recorder.h"
#include "backend/gpu/run/prepared_store.h"
#include "backend/gpu/trust/try_one_dispatch.h"
#include "backend/gpu/weights/weight_store.h"
#include "backend/kv_layout.h"
#include "backend/repack.h"

namespace tern::gpu {

class GpuTokenStream;

// The megakernels for several sequences, one token each: the range of row counts that each covers.
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

  // Tests whether products with this model's weights are right (check_products.h): kNotSupported if not. This compiles
  // the kernels for f16 keys and values, which are the most likely to be used, but not attention on matrices, which
  // takes longest.
  Result<void> check();
  // Tests attention on subgroup matrices; if it is wrong, attention does not use them. Called before the first run with
  // that many tokens of a sequence.
  Result<void> check_long_prompts();
  // Adds findings about features that failed their tests and so are not used; gpu_adapter() reports them.
  void note_failed_tests(std::vector<std::string> findings);

  // Why the layers are computed in steps; empty if they are not, or if the megakernel was not requested.
  const std::string& why_in_steps() const { return why_in_steps_; }
  const std::string& why_rows_in_steps() const { return why_rows_in_steps_; }  // for several sequences, after expect()

  // Workgroups of the megakernel for one token each of n_sequences sequences; 0: it is not used.
  uint32_t workgroups_in_one(int n_sequences) const {
    const OneDispatch* one = one_for(n_sequences);
    return one ? one->workgroups(n_sequences) : 0;
  }

  // For tools that compare layouts.
  Device& device() { return *device_; }
  const Device& device() const { return *device_; }
  const Plan& plan() const { return plan_; }
  const GpuOptions& options() const { return options_.gpu; }
  Layouts layouts() const;
  void set_layouts(const Layouts& layouts);        // for programs recorded from now on
  void keep_to_steps() { only_in_steps_ = true; }  // switches the megakernel off

 private:
  friend class GpuTokenStream;
  GpuExecutable(std::unique_ptr<Device> device, const Plan& plan, const CompileOptions& options);

  Result<void> load();
  // plan_one_dispatch: decides before the upload whether the layers can be one dispatch. try_one_dispatch: tests it
  // after the upload.
  Result<void> plan_one_dispatch(std::optional<LayersInOne>& layers);
  Result<void> try_one_dispatch(const PreparedStore& store);
  // Chooses the number of workgroups of `one`. If it is not to be used, returns the reason.
  Result<std::string> try_one_dispatch(OneDispatch& one, const PreparedStore& store);
  // Compiles these megakernels together and tests them; afterwards of_rows_ has those that are useful.
  Result<void> add_rows(std::vector<std::unique_ptr<OneDispatch>> made);
  // Compiles what their fewest and most rows need, both in steps and in one dispatch.
  Result<void> compile_for_rows(const Program& program, std::span<OneDispatch* const> added) const;
  void say_rows_in_steps(const std::string& why, int fewest, int most);
  // The megakernel for n_rows rows, each of another sequence; null: none.
  OneDispatch* one_for(int n_rows) const;
  Result<std::unique_ptr<PreparedStore>> checked_store();
  // Runs the checks that this batch is the first to need.
  Result<void> check_before(const PreparedStore& store, Batch batch);
  // The same for the n_best best logits of each of n_rows rows; rows that were not checked do not use the head copy.
  Result<void> check_best_rows(int n_rows, int n_best);
  Result<void> check_best_rows(const PreparedStore& store, uint32_t columns);
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
  // Chooses how a run computes the layers and the head.
  RunShape in_best_way(RunShape shape, const PreparedStore& store) const;
  // Stops using this megakernel, after a run in which workgroups waited too long.
  void leave_one_dispatch(OneDispatch& one);
  Result<void> check_heads(KvType type) const;
  RecorderContext context() const;
  uint64_t bytes_moved(const Step& step, KvType type, int pos, int n_rows) const;
  std::unique_ptr<PreparedStore> make_store(KvType type, bool together) const;
  // A store with room for one block, and its program recorded.
  Result<std::unique_ptr<PreparedStore>> new_spare_store(bool together = false) const;
  // Makes the store's program ready for positions below n_pos: records or binds it again if the buffers have changed.
  Result<void> prepare(PreparedStore& store, int n_pos) const;
  // Writes the batch to the work buffers, with tables for n_more positions after each slice. Returns its shape.
  Result<RunShape> put(Batch batch, int n_more = 0) const;
  // Sets up a token like the last one, at the position after it but in the store's spare block, and returns its
  // commands. Empty if there was none or its blocks are gone.
  Result<std::vector<Command>> last_token_again() const;
  // Keeps what last_token_again() must know about the token in commands_.
  void remember(const PreparedStore& store, const Slice& token, const Program* sampler, const RunShape& shape);
  // Seconds of the last token's dispatches in one submit; 0 if they cannot be run again or timed.
  double time_last_token() const;
  Result<void> run_observed(const PreparedStore& store, const RunShape& shape);
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
  // Results of checking the head copy, by number of rows rounded up to a power of two.
  std::map<uint32_t, bool> best_rows_;
  Layouts layouts_;                 // of programs recorded now
  int on_matrices_from_ = INT_MAX;  // attention_on_matrices_from, until it is checked; INT_MAX: no check is pending
  std::vector<std::string> failed_tests_;
  std::unique_ptr<OneDispatch> one_;                         // null: the layers are always computed in steps
  std::string why_in_steps_;                                 // empty: the megakernel is used, or was not requested
  std::vector<std::unique_ptr<OneDispatch>> of_rows_;        // for tokens of several sequences
  std::string why_rows_in_steps_;                            // the same for of_rows_
  size_t n_tried_ = 0;                                       // entries of kRowsInOne
  uint64_t n_ways_ = 0;                                      // counts changes, for PreparedStore::Version::layer_paths
  bool only_in_steps_ = false;                               // set by keep_to_steps()
  std::set<std::pair<uint32_t, uint32_t>> wrong_attention_;  // layouts whose results on matrices were wrong
  StepObserver observer_;
  std::vector<float> logits_;
  std::vector<Command> commands_;  // kept, so that the token loop allocates nothing
  mutable BatchWords words_;       // also kept for that
  // The last decoded token, for gpu_stats and gpu_kernels.
  struct LastToken {
    std::weak_ptr<const PreparedStore> store;
    std::vector<KvBlockId> blocks;
    int n_ctx = 0;
    const Program* sampler = nullptr;  // null: sampled on the host
    int n_pos = 0;
    int n_best = 0;
    bool embeds_next = false;
    int dispatches = 0;
  };
  LastToken last_;
  int streams_ = 0;                                     // that are alive
  mutable const GpuTokenStream* in_control_ = nullptr;  // the stream whose next token the device is about to run
  uint64_t decoded_ = 0;
  double record_seconds_ = 0;  // spent recording and submitting the decoded tokens
  uint64_t streamed_ = 0;      // decoded tokens that followed another one in a stream
  double stream_seconds_ = 0;  // from each of those to the next, as the stream's reader saw it
};

}  // namespace tern::gpu
