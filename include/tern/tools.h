// What can be done with a model besides generating text: inspecting, measuring, checking and making models.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tern/engine.h"

namespace tern {

// ---- inspect: what is in a model file, without loading it

struct TensorInfo {
  std::string name;
  std::string type;            // "I2_S", "F16", …; for directories the name used there: "BF16", "uint32"
  std::vector<int64_t> shape;  // rows first, as in PyTorch: [n_out, n_in]
  uint64_t offset = 0;         // of the first byte in its file
  uint64_t bytes = 0;
};

struct LayerShape {
  int n_heads = 0;
  int n_kv_heads = 0;
  int d_ff = 0;  // width of the feed-forward layer
};

struct FileInfo {
  std::string path;
  std::string container;  // "GGUF v3", "safetensors", "MLC"
  uint64_t file_bytes = 0;
  std::vector<std::pair<std::string, std::string>> metadata;  // long arrays shortened
  std::vector<TensorInfo> tensors;
  uint64_t n_params = 0;
  uint64_t bytes_per_token = 0;     // weight bytes read per decoded token; 0 if Tern cannot run the model
  uint64_t kv_bytes_per_token = 0;  // for the requested type of KV cache
  uint64_t state_bytes = 0;         // of the recurrent layers, for each conversation; 0: there are none
  std::string not_supported;        // why Tern cannot run it; empty if it can
  SamplingAdvice sampling;          // its makers' recommendation; empty if Tern cannot run it
  std::vector<LayerShape> layers;   // only if the layers differ from each other and Tern can run the model
  MetadataChanges changes;          // the changes that were applied; `metadata` has the overridden values
};

// `path` is a GGUF file, any part of a split one, or a Hugging Face or MLC directory.
Result<FileInfo> inspect(const std::string& path, KvType kv_type = KvType::kF16, const MetadataChanges& changes = {});

// The file's metadata as a JSON object, with numbers as numbers. Arrays of more than 16 items become {"count": n,
// "first": [16 items]}, unless `whole_arrays`.
Result<std::string> inspect_metadata_json(const std::string& path, bool whole_arrays,
                                          const MetadataChanges& changes = {});

// ---- convert: a model from any container to a GGUF file

struct ConvertOptions {
  std::string in_path;    // a GGUF file, or a Hugging Face or MLC directory
  std::string out_path;   // created only when it is complete
  std::string type = {};  // of the linear layers: i2_s, tq1_0, tq2_0; q8_0, q4_0 …; empty: unchanged
  std::string head = {};  // of the embedding and the head; empty: unchanged, or `type` if that is not ternary
  // An importance matrix for K-quants, made by llama.cpp's llama-imatrix; empty: all inputs have equal weight.
  std::string imatrix_path = {};
  MetadataChanges metadata = {};  // of a GGUF file; the output has the overridden values that Tern reads
  OnProgress on_progress = {};
  std::stop_token stop = {};  // stops with kInterrupted and leaves no file
};

// The loss of a matrix that was quantized again.
struct MatrixLoss {
  std::string name;
  std::string from, to;  // "F16", "Q6_K"; for directories the name used there: "BF16"
  double nmse = 0;       // Σ (packed − value)² / Σ value²
  // The same with every squared value weighted by the importance of its column; only if the imatrix has the matrix.
  std::optional<double> weighted_nmse = {};
};

struct ConvertResult {
  std::vector<MatrixLoss> losses = {};           // worst first
  double nmse = 0;                               // over all these matrices
  size_t n_kept = 0;                             // tensors without loss: copied, or made of the same codes
  std::vector<std::string> not_in_imatrix = {};  // matrices that could have used the imatrix but are not in it
  std::vector<std::string> not_in_model = {};    // entries of the imatrix that name no tensor of the model
};

// Formats that hold only −d, 0 and +d (I2_S, TQ1_0, TQ2_0, PTQ1_0, Q1_0, Q2_0, PQ2_0) require weights with just these
// values, up to the rounding of their scale; other weights are rejected. The loss of other formats is measured.
//
// Errors: those of loading the model and of reading the imatrix; kInvalidArgument: a type that the model's layers
// cannot have, or an imatrix that is unusable or belongs to another model; kNotSupported: rows that are not whole
// blocks of a type, or weights that do not fit it, with the name of the tensor; kIo. No error leaves a file.
Result<ConvertResult> convert(const ConvertOptions& options);

// ---- synth: a random model of a given shape, for measurements without a download

struct SynthOptions {
  std::string preset = "bitnet-2b-4t";  // one of synth_presets()
  std::string type = {};                // linear layers: i2_s, tq1_0, q4_k, q4_k_m …; empty: the preset's own
  std::string head = {};                // token embedding: f16, f32, bf16, q8_0, q6_k …; empty: the preset's own
  std::string tokenizer = {};           // "bytes": one token for each byte, so that it can be served; empty: none
  uint64_t seed = 0;
  std::string out_path = {};
  OnProgress on_progress = {};
  std::stop_token stop = {};  // stops with kInterrupted and leaves no file
};

struct SynthPreset {
  std::string name;
  std::string description;
};

std::vector<SynthPreset> synth_presets();
Result<void> synth(const SynthOptions& options);

// ---- bench: the speed of a model

struct Spread {
  double median = 0, min = 0, max = 0;
};

struct BenchOptions {
  int n_prompt = 128;
  int n_generate = 32;
  int repeats = 5;
  KvType kv_type = KvType::kF16;
  int n_parallel = 1;   // replies at a time, each with its own prompt; rates are totals
  bool energy = false;  // also measure energy
  bool memory = true;   // also measure the memory bandwidth, which takes a second
  OnProgress on_progress = {};
};

// Energy over all runs of one phase.
struct PartEnergy {
  double joules_per_token = 0;
  double watts = 0;             // on average
  double seconds_of_a_run = 0;  // the counters change about once a millisecond: below 0.05 these figures are coarse
};

// Energy of the whole processor, including other programs but not GPUs.
struct BenchEnergy {
  std::string source;                 // "powercap (package-0, dram)"; empty: nothing could be read
  std::string reason;                 // … for this reason
  std::optional<PartEnergy> prefill;  // if prefill was measured
  std::optional<PartEnergy> decode;
};

struct BenchResult {
  Spread prefill;  // tokens/s
  Spread decode;   // tokens/s
  uint64_t bytes_per_token = 0;
  double decode_gb_per_s = 0;  // bytes_per_token × median decode rate
  // The memory read bandwidth of this machine with the same number of threads. A model that fits into the caches can
  // exceed it. 0: not measured, because a GPU computes or BenchOptions::memory is false.
  double machine_gb_per_s = 0;
  std::optional<BenchEnergy> energy = {};  // if BenchOptions::energy is set
};

Result<BenchResult> bench(const Engine& engine, const BenchOptions& options);

// ---- bench ops: the time of each operation of a token

struct OpBenchOptions {
  int pos = 0;  // tokens already in the context
  int repeats = 20;
  KvType kv_type = KvType::kF16;
  int n_parallel = 1;  // number of sequences that each decode a token, all at the same position
};

// One kind of operation: the same kernel for the same purpose in all layers.
struct OpBench {
  std::string name;     // "ffn_down"
  std::string kernel;   // "ternary_matvec"
  int dispatches = 0;   // per token
  double us = 0;        // all dispatches together, per token: the median of the repeats
  double us_alone = 0;  // for the same number of dispatches with nothing else running
  uint64_t bytes = 0;   // bytes that all dispatches together must move
  double gb_per_s = 0;  // bytes ÷ us
  double share = 0;     // fraction of the sum of `us`
};

struct OpBenchResult {
  std::vector<OpBench> ops;  // in execution order
  int dispatches = 0;
  uint64_t bytes = 0;
  double sum_us = 0;    // sum over `ops`
  double token_us = 0;  // time between tokens during decode
};

// kNotSupported: the backend does not time single operations (only webgpu does), or the GPU has no timestamps.
// kInvalidArgument: `pos` is beyond the context.
Result<OpBenchResult> bench_ops(const Engine& engine, const OpBenchOptions& options);

// ---- tune: finds the fastest kernel layouts for this GPU and model

struct TuneTrial {
  std::string setting;       // "glu=16x2x256"
  bool of_prompts = false;   // true: measures prefill; false: decode
  double ms = 0;             // time of a prompt or a token, with this setting on top of those accepted before
  std::string failure = {};  // why there is no time; else empty
};

struct TuneOptions {
  double seconds = 50;  // no further setting is tried after this time
  bool keep = true;     // keep the result in the folder of compiled pipelines, for engines loaded later
  std::function<void(const TuneTrial&)> on_trial = {};
};

struct TuneResult {
  std::string device;
  double decode_ms_before = 0, decode_ms_after = 0;  // per token, without and with the settings
  double prompt_ms_before = 0, prompt_ms_after = 0;  // for a prompt of prompt_tokens
  int prompt_tokens = 0;
  std::vector<TuneTrial> trials;
  std::vector<std::string> settings;  // better than the defaults; empty: the defaults are best
  std::string rejected;               // why the fastest settings were rejected; empty: they were not
  bool is_complete = true;            // false: time ran out before all settings were tried
  std::string path;                   // file of the kept settings; empty: not kept
};

// Finds the settings and uses them in the engine from now on. kNotSupported: the backend has no layouts to choose from
// (only webgpu on hardware has); kIo: the settings cannot be kept.
Result<TuneResult> tune(Engine& engine, const TuneOptions& options);
// Deletes the settings kept for this device and model; returns the file's path.
Result<std::string> forget_tuning(Engine& engine);

// ---- bench kernels: the cost of ternary matrix packings and of the ways to multiply by them on this CPU

struct KernelBenchOptions {
  int64_t rows = 4096, cols = 4096;
  int n_threads = 0;    // at most one per CPU; 0: one per fast CPU that this process may use
  int repeats = 0;      // products per kernel; 0: half a second's worth, at least 20
  bool cached = false;  // use one copy of the matrix, which may stay in a cache, instead of many copies in turn
  OnProgress on_progress = {};
};

struct KernelBench {
  std::string name;         // "base3-int8"
  std::string packing;      // "f32", "2-bit", "base-3"
  std::string activations;  // "f32", "int8"
  std::string what;         // one-line description
  std::string target;       // the instruction set it runs on, "avx2"; "scalar" for plain C++
  uint64_t bytes = 0;       // size of the packed matrix, all of which a product reads
  double bits_per_weight = 0;
  Spread ms = {};            // per product, including quantization or look-up tables
  int runs = 0;              // number of runs behind `ms`
  int copies = 0;            // copies of the matrix, used in turn
  double gb_per_s = 0;       // bytes ÷ median
  double read_gb_per_s = 0;  // the read bandwidth of as many threads that only read, alternating with the products
  double share = 0;          // gb_per_s ÷ read_gb_per_s
  double max_error = 0;      // maximum over all results, against double sums of the same weights and float activations
};

struct KernelBenchResult {
  std::vector<KernelBench> kernels = {};
  int n_threads = 0;
  uint64_t cache_bytes = 0;  // the CPU's last-level cache; 0: unknown
  double result_rms = 0;     // RMS of the exact results, for judging errors
};

// Uses random weights and activations. Results are checked before anything is reported. kNotSupported: a kernel's error
// exceeds its bound, which is a bug in Tern; the message names the kernel. kInvalidArgument: a shape, thread count or
// number of runs out of range, or TERN_CPU_TARGET names no target. kOutOfMemory: the copies of the matrix do not fit.
Result<KernelBenchResult> bench_kernels(const KernelBenchOptions& options);

// ---- eval: how well a model predicts a text

struct EvalResult {
  double perplexity = 0;
  double nats_per_token = 0;
  size_t n_tokens = 0;  // tokens predicted
};

struct EvalOptions {
  int n_ctx = 0;  // tokens per window; 0: the trained context length
  KvType kv_type = KvType::kF16;
  OnProgress on_progress = {};
};

// Splits the text into windows of `n_ctx` tokens and predicts the second half of each (all of the first window), so
// that later predictions have at least half a window of context. If the model begins texts with a BOS token, every
// window begins with it, and it counts as one of the n_ctx. kInvalidArgument: too few tokens in the text, or n_ctx
// below 4 or beyond the model's. kNotSupported: no tokenizer.
Result<EvalResult> eval(const Engine& engine, std::string_view text, const EvalOptions& options = {});

// How far a model's predictions are from those of a reference model.
struct Divergence {
  EvalResult model, reference;
  // The Kullback-Leibler divergence from the reference's probabilities p to the model's q, Σ p·ln(p/q) ≥ 0 in nats,
  // over all counted predictions: mean, median, 99th percentile and maximum.
  double kl_mean = 0, kl_median = 0, kl_99 = 0, kl_max = 0;
  double same_top1 = 0;  // fraction of predictions with the same most probable token
};

// Both models read the same windows of the text. Errors as in eval(); n_ctx = 0 is the context that both were trained
// for. kInvalidArgument: their vocabularies differ, or they tokenize this text differently; the message names the first
// differing token. kCorruption: logits that are not finite.
Result<Divergence> eval_against(const Engine& engine, const Engine& reference, std::string_view text,
                                const EvalOptions& options = {});

// The effect of a KV cache type on a model's predictions.
struct KvDivergence {
  struct AtContext {
    int n_ctx = 0;          // tokens per window
    Divergence divergence;  // `reference` is the same model with the other KV cache type
  };
  struct LeftOut {
    int n_ctx = 0;
    std::string reason;  // one line
  };
  std::vector<AtContext> contexts;  // sorted by n_ctx, at least one
  std::vector<LeftOut> left_out;    // sorted by n_ctx
};

// Compares a model with the KV cache type options.kv_type to itself with `reference`, over the same windows as eval().
// With n_ctx = 0 it uses windows of 512, of 4,096 and of as many tokens as the model was trained for, and leaves out
// those that exceed the trained context or the text. Errors as in eval(); kInvalidArgument: the text fills no window.
// kNotSupported: the backend does not have this KV cache type. kCorruption: logits that are not finite.
Result<KvDivergence> eval_kv(const Engine& engine, std::string_view text, KvType reference,
                             const EvalOptions& options = {});

// ---- validate: compares this backend with the reference

struct ValidateOptions {
  // The tokens to run. Empty: a built-in text, or fixed ids if there is no tokenizer, shortened for a large model
  // because ref is slow.
  std::vector<TokenId> tokens = {};
  int n_decode = 16;   // cached decode steps to compare with full forward passes
  int n_tokens = 200;  // tokens sampled on a GPU to compare with the CPU's choice
  KvType kv_type = KvType::kF16;
  OnProgress on_progress = {};
};

struct LayerDifference {
  std::string step;  // e.g. "blk.3 attn_output"
  double max_abs = 0;
  double nmse = 0;
  double rounding_nmse = 0;  // the effect of a harmless change on this step: ref with the other type of KV cache
};

struct ValidateResult {
  // Backend against ref, step by step, on plans without fusion. Both run the same tokens from the start, so the
  // rounding differences of a step carry over to later steps.
  std::vector<LayerDifference> layers;
  double logits_nmse = 0;  // backend (as it runs, with fusion) against ref
  double logits_cosine = 0;
  // The same for logits: ref with the other type of KV cache against ref. A backend's value may be a few times as
  // large.
  double rounding_nmse = 0;
  bool same_top1 = false;    // backend against ref, at every position
  double cached_cosine = 0;  // minimum cosine of cached decode against full forward passes
  bool cached_same_top1 = false;
  // Tokens sampled on the device, greedily, compared with the CPU's choice after the same tokens. Only on a GPU. Two
  // correct computations may differ where two tokens are nearly tied.
  int n_tokens = 0;
  int n_other_tokens = 0;      // tokens that the CPU would not have chosen
  int first_other_token = -1;  // the first of those (0: the first generated); −1: none
  double first_lead = 0;       // the CPU's logit lead of its own choice at that token
  double largest_lead = 0;     // the largest such lead, in units of the RMS of the logits around their mean
  bool passed = false;
  std::string verdict;  // one line
};

Result<ValidateResult> validate(const LoadOptions& load, const ValidateOptions& options);

// ---- devices: the devices that each backend found

struct DeviceInfo {
  std::string backend;                                     // "cpu"
  std::string name;                                        // "Intel Xeon …"
  std::vector<std::pair<std::string, std::string>> facts;  // feature → used or not, and why
};

std::vector<DeviceInfo> list_devices();

// The same, and for each device the memory that this model needs there with its trained context, and whether it fits.
// Reads only the file's description; nothing is loaded or uploaded.
Result<std::vector<DeviceInfo>> list_devices_for(const std::string& model_path, KvType kv_type = KvType::kF16,
                                                 const MetadataChanges& changes = {});

// ---- files

// Writes float32 [rows, cols] as NumPy .npy, one row at a time, so that a large result never needs to fit in memory.
class NpyWriter {
 public:
  static Result<NpyWriter> create(const std::string& path, size_t rows, size_t cols);
  NpyWriter(NpyWriter&&) noexcept;
  ~NpyWriter();
  Result<void> append(std::span<const float> row);
  Result<void> finish();  // flushes; reports a full disk; an unfinished file is removed

 private:
  struct Impl;
  explicit NpyWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reads a whole file as text; "-" is standard input.
Result<std::string> read_text(const std::string& path);

}  // namespace tern
