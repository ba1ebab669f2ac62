// The backend interface: a backend compiles a plan and then runs batches of tokens through it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/kv_store.h"
#include "base/logit_change.h"
#include "base/phase_times.h"
#include "base/result.h"
#include "plan/plan.h"
#include "tern/gpu_stats.h"
#include "tern/options.h"

namespace tern {

class ThreadPool;

class KvCache;

enum class WantLogits { kNone, kLast, kAll };

// Tokens at consecutive positions of one sequence.
struct Slice {
  std::span<const TokenId> tokens;
  int first_pos = 0;
  WantLogits logits = WantLogits::kLast;
  // Only the n_best largest logits of each row (NaN aside), and all that tie with the smallest of them, are read. A
  // backend may set any other logit to −infinity, and may ignore this. 0: all logits are wanted.
  int n_best = 0;
  // The sequence's KV blocks, in order; they cover first_pos + tokens.size() positions. n_ctx is the most positions
  // that the sequence may have: some models use other RoPE frequencies for long sequences (model/source/rope.h).
  std::span<const KvBlockId> blocks = {};
  int n_ctx = 0;

  // The sequence's state, if the model has recurrent layers. It describes it after first_pos − n_confirmed tokens. The
  // run continues it: first with the first n_confirmed tokens of the last run that was a check, then with `tokens`. If
  // the latter is a check, they are only left pending, at most kMostPending of them (state_layout.h), in the set that
  // is not confirmed_set. A state of no tokens counts as zero.
  StateId state = -1;
  int n_confirmed = 0;
  int confirmed_set = 0;
  bool is_check = false;

  // Plans with step::Hidden: a row of d_model floats for each token.
  std::span<const float> hidden = {};

  int n_logit_rows() const {
    return logits == WantLogits::kNone ? 0 : logits == WantLogits::kLast ? 1 : static_cast<int>(tokens.size());
  }
};

// The slices of one run: 1 to max_slices() slices of different sequences, with at most max_batch() tokens and
// max_logit_rows() rows of logits in all.
using Batch = std::span<const Slice>;

// What a step wrote, for comparing backends: float rows (int8 blocks are dequantized), or the int8 rows as floats with
// their scales and sums.
struct StepOutput {
  const Step* step = nullptr;
  const Slot* slot = nullptr;
  int rows = 0;
  std::span<const float> values;  // [rows, width]; int8: the integers
  std::span<const float> scales;  // [rows]; int8 slots only
  std::span<const int32_t> sums;  // [rows]; int8 slots only
};
using StepObserver = std::function<void(const StepOutput&)>;

// How a device samples tokens: like Sampler (src/sample/sampler.h).
struct DeviceSampling {
  float temperature = 0;  // 0: greedy, and `uniform` is not called
  int top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float top_n_sigma = 0;      // the first filter; 0 or less: off
  float typical_p = 1;        // before top_p; 1: off
  float xtc_probability = 0;  // after min_p; 0: off. Else a number before that of each token decides
  float xtc_threshold = 0;
  std::function<float()> uniform = {};  // [0, 1), one call (with XTC two) per token drawn, in order
  // Lists the changes of the next token's logits, after the caller has recorded all tokens that it has taken. The
  // device then runs the layers ahead of the caller, but not the choice. Empty: there are none.
  std::function<void(std::vector<LogitChange>&)> changes = {};
  // With changes: Slice::n_best for the logits of the next two tokens.
  std::function<int()> n_best = {};
};

// Tokens sampled on the device, in order, for one sequence or for several.
class TokenStream {
 public:
  virtual ~TokenStream() = default;
  // The next token of each sequence, in the order in which they were given; valid until the next call.
  virtual Result<std::span<const TokenId>> next() = 0;
};

// Tokens that a device has chosen after a batch, and the logits of the rows whose slices have several tokens: the
// caller can see there whether a sequence's results are finite. Valid until the next run.
struct ChosenTokens {
  std::span<const TokenId> tokens;  // of each row of logits
  std::span<const float> logits;    // [those rows, n_vocab]
};

// One kind of operation inside a decoded token: the same kernel for the same purpose, in all layers.
struct OpTime {
  std::string name;    // what it computes: the step without its layer, "ffn_down"
  std::string kernel;  // the kernel that computes it
  int dispatches = 0;
  double seconds = 0;        // all dispatches together, within a token
  double alone_seconds = 0;  // the same dispatches, with nothing else running
  uint64_t bytes = 0;        // that all of them must move: weights, keys and values, activations
};
struct TokenTimes {
  std::vector<OpTime> ops;  // in the order in which they run
  double seconds = 0;       // from one token to the next while tokens are generated
};

// What a compiled model tells about itself, for ModelInfo, statistics, tools and tests. Running needs none of it.
class Introspection {
 public:
  virtual ~Introspection() = default;

  virtual std::string description() const = 0;  // "cpu (avx512vnni, 2 threads)"

  // What is read to compute a token's logits instead of the plan's last matrix: "exact (int8 + F16)".
  virtual std::optional<std::string> own_head() const { return {}; }
  // Bytes that a decoded token reads beyond those of the plan's matrices, since a backend may read copies in another
  // order or format. Negative if it reads less.
  virtual int64_t bytes_beyond_plan() const { return 0; }
  virtual std::optional<GpuStats> gpu_stats() const { return {}; }
  virtual std::optional<GpuAdapter> gpu_adapter() const { return {}; }
  virtual Result<std::vector<GpuKernel>> gpu_kernels() { return {}; }
  virtual std::vector<DeviceShare> device_shares() const { return {}; }

  // Times the ops of one token of each slice `repeats` times and returns medians. The slices' blocks must have room for
  // `repeats` + 1 more positions. kNotSupported where steps cannot be timed.
  virtual Result<TokenTimes> time_ops(KvStore& /*store*/, Batch /*tokens*/, int /*repeats*/) {
    return fail(ErrorCode::kNotSupported, "{} does not time single operations; use the webgpu backend", description());
  }

  // The observer is called after every step with what that step wrote, except scratch; an empty observer switches this
  // off. For tests and `tern validate`: slow.
  virtual void observe(StepObserver observer) = 0;
};

struct CompileOptions;

class Executable : public Introspection {
 public:
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable() override = default;

  virtual int max_batch() const = 0;
  virtual int max_logit_rows() const = 0;

  virtual int max_slices() const = 0;

  // Block size, in positions, for stores of sequences of at most n_ctx tokens.
  virtual int kv_block_tokens(int n_ctx) const = 0;
  virtual Result<std::unique_ptr<KvStore>> new_kv_store(int block_tokens, KvType type) const = 0;

  // Runs the batch: writes keys and values at the slices' positions of `store`, which must come from this executable's
  // new_kv_store(). Returns the wanted logits, [rows, n_vocab], slice after slice; they are valid until the next run.
  // The positions before a slice's first must have been run already; positions from there on are overwritten.
  virtual Result<std::span<const float>> run(KvStore& store, Batch batch) = 0;

  // Plan::hidden of the last run(), [tokens, d_model], valid until the next one. Empty: the plan keeps none, or a
  // device could not be read.
  virtual std::span<const float> hidden() const { return {}; }

  // Compiles another plan of the same model, beside this one on the same device. Weights of both plans are there once.
  // kNotSupported: the backend shares nothing, and compiles plans one by one.
  virtual Result<std::unique_ptr<Executable>> compile_beside(const Plan& /*plan*/, const CompileOptions& /*options*/) {
    return fail(ErrorCode::kNotSupported, "{} has no plans beside each other", description());
  }

  // Announces that tokens of up to n_sequences sequences will be run together, so that the backend can compile and test
  // what it needs for that now.
  virtual Result<void> expect(int /*n_sequences*/) { return {}; }

  // True if decode() may return a stream.
  virtual bool decodes() const { return false; }

  // Starts decoding with sampling on the device. Each slice of `starts` has one token; the stream runs it, returns the
  // token sampled after it, runs that at the next position, and so on, for at most n_tokens (≥ 1) per sequence. The
  // slices' blocks must have room for all of them. `starts`: different sequences, at most max_slices() and
  // max_logit_rows() of them. `sampling`: one entry per sequence. The device may run a few tokens ahead of the caller;
  // positions past the tokens taken count as never run. Other streams and batches may run in between: the stream then
  // continues from where it was and computes the tokens that were ahead again. Null: this backend does not support it,
  // or not with these options; use run() and a sampler.
  virtual Result<std::unique_ptr<TokenStream>> decode(KvStore& /*store*/, Batch /*starts*/, int /*n_tokens*/,
                                                      std::span<const DeviceSampling> /*sampling*/) {
    return nullptr;
  }

  // run(), followed by the choice of a token for each row of logits on the device, so that most logits need not be
  // read. Each slice has at most one row. `sampling`: one entry per row, without changes. None: nothing was run, since
  // the backend does not support it, or not for this batch or these options.
  virtual Result<std::optional<ChosenTokens>> run_and_choose(KvStore& /*store*/, Batch /*batch*/,
                                                             std::span<const DeviceSampling> /*sampling*/) {
    return std::nullopt;
  }

  // A cache for one sequence with a store of its own (kv_cache.h) and room for n_ctx tokens. kOutOfMemory.
  Result<std::unique_ptr<KvCache>> new_cache(int n_ctx, KvType type) const;
  // Run and decode one sequence; the blocks are the cache's.
  Result<std::span<const float>> run(KvCache& cache, Slice slice);
  Result<std::unique_ptr<TokenStream>> decode(KvCache& cache, TokenId token, int pos, int n_tokens,
                                              const DeviceSampling& sampling);
};

// Use of an int8 copy of the head to find the best logits (Slice::n_best).
enum class ExactHead {
  kNo,
  kWherePays,  // if the copy can be made and the head is large
  kYes,        // kNotSupported if it cannot be made, kOutOfMemory
};

struct CompileOptions {
  int max_batch = 256;
  // If larger than max_batch: a GPU that has the memory, and prefills faster this way, may take up to this many tokens.
  int preferred_max_batch = 0;
  int max_logit_rows = 16;
  ExactHead exact_head = ExactHead::kNo;  // used by the cpu and webgpu backends
  GpuOptions gpu = {};
  bool only_hardware_gpu = false;  // kNotFound if the chosen adapter is a software renderer
  OnProgress on_progress = {};
  ThreadPool* pool = nullptr;   // packs weights for a GPU; null: the calling thread packs them
  PhaseTimes* times = nullptr;  // records phases of the compilation only; may be null

  void end_phase(std::string_view phase) const {
    if (times) times->end(phase);
  }
};

}  // namespace tern
