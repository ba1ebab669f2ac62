// What can be done with a model besides generating text: looking inside it, measuring it, checking it, making one.
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
  std::string type;            // "I2_S", "F16", …; in directories their own name for it: "BF16", "uint32"
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
  uint64_t kv_bytes_per_token = 0;  // in the type of KV cache that was asked for
  std::string not_supported;        // why Tern cannot run it; empty if it can
  SamplingAdvice sampling;          // what its makers recommend; nothing if Tern cannot run it
  std::vector<LayerShape> layers;   // where they differ from each other, and Tern can run the model; else none
  MetadataChanges changes;          // that it was looked at with; `metadata` has the overridden values
};

// `path` is a GGUF file, any part of a split one, or a Hugging Face or MLC directory.
Result<FileInfo> inspect(const std::string& path, KvType kv_type = KvType::kF16, const MetadataChanges& changes = {});

// The same file's metadata as a JSON object, with numbers as numbers. An array longer than 16 items becomes
// {"count": n, "first": [16 items]}, unless `whole_arrays`.
Result<std::string> inspect_metadata_json(const std::string& path, bool whole_arrays,
                                          const MetadataChanges& changes = {});

// ---- convert: a model from any container to a GGUF file

struct ConvertOptions {
  std::string in_path;    // a GGUF file, or a Hugging Face or MLC directory
  std::string out_path;   // appears only when it is complete
  std::string type = {};  // of the linear layers: i2_s, tq1_0, tq2_0; q8_0, q4_0 …; empty: as they are
  std::string head = {};  // of the embedding and the head; empty: as they are, or `type` if that is not ternary
  // An importance matrix (llama.cpp's llama-imatrix makes them), for packing K-quants; empty: all inputs count alike.
  std::string imatrix_path = {};
  MetadataChanges metadata = {};  // of a GGUF file; the file that is written has the overridden values that Tern reads
  OnProgress on_progress = {};
  std::stop_token stop = {};  // gives up with kInterrupted and leaves no file
};

// A matrix whose values were packed anew.
struct MatrixLoss {
  std::string name;
  std::string from, to;  // "F16", "Q6_K"; in directories their own name for it: "BF16"
  double nmse = 0;       // Σ (packed − value)² / Σ value²
  // The same with every value's square times the importance of its column; where the imatrix has the matrix.
  std::optional<double> weighted_nmse = {};
};

struct ConvertResult {
  std::vector<MatrixLoss> losses = {};           // worst first
  double nmse = 0;                               // of all of them together
  size_t n_kept = 0;                             // tensors without such a loss: copied, or made of the same codes
  std::vector<std::string> not_in_imatrix = {};  // could have been packed with it, but it lacks them
  std::vector<std::string> not_in_model = {};    // entries of the imatrix that no tensor of the model has the name of
};

// Formats that hold only −d, 0 and +d (I2_S, TQ1_0, TQ2_0, PTQ1_0, Q1_0, Q2_0, PQ2_0) are for weights that are just
// that, but for the rounding of their scale: others are refused. What other formats lose is measured.
//
// Errors: those of loading the model and of reading the imatrix; kInvalidArgument for a type that the model's layers
// cannot have, and an imatrix that is of no use or of another model; kNotSupported where rows are not whole blocks of a
// type, or weights do not fit it, with the name of the tensor; kIo. None leaves a file.
Result<ConvertResult> convert(const ConvertOptions& options);

// ---- synth: a random model of a given shape, for measuring without a download

struct SynthOptions {
  std::string preset = "bitnet-2b-4t";  // one of synth_presets()
  std::string type = {};                // linear layers: i2_s, tq1_0, q4_k, q4_k_m …; empty: the preset's own
  std::string head = {};                // token embedding: f16, f32, bf16, q8_0, q6_k …; empty: the preset's own
  std::string tokenizer = {};           // bytes: a token a byte, so that it can be served; empty: none
  uint64_t seed = 0;
  std::string out_path = {};
  OnProgress on_progress = {};
  std::stop_token stop = {};  // gives up with kInterrupted and leaves no file
};

struct SynthPreset {
  std::string name;
  std::string description;
};

std::vector<SynthPreset> synth_presets();
Result<void> synth(const SynthOptions& options);

// ---- bench: how fast

struct Spread {
  double median = 0, min = 0, max = 0;
};

struct BenchOptions {
  int n_prompt = 128;
  int n_generate = 32;
  int repeats = 5;
  KvType kv_type = KvType::kF16;
  int n_parallel = 1;   // replies at a time, each with a prompt of its own; rates are those of all together
  bool energy = false;  // measure it too
  bool memory = true;   // … and how fast the machine reads memory, which takes a second
  OnProgress on_progress = {};
};

// Energy over all runs of one part.
struct PartEnergy {
  double joules_per_token = 0;
  double watts = 0;             // on average
  double seconds_of_a_run = 0;  // the counters change about once a millisecond: below 0.05 these figures are coarse
};

// What the whole processor used, including other programs but not GPUs.
struct BenchEnergy {
  std::string source;                 // "powercap (package-0, dram)"; empty: nothing could be read, and
  std::string reason;                 // … why
  std::optional<PartEnergy> prefill;  // where that part was measured
  std::optional<PartEnergy> decode;
};

struct BenchResult {
  Spread prefill;  // tokens/s
  Spread decode;   // tokens/s
  uint64_t bytes_per_token = 0;
  double decode_gb_per_s = 0;  // bytes_per_token × median decode rate
  // What this machine can read from memory with the same number of threads. A model that fits into the caches can
  // exceed it. 0: not measured, because a GPU computes or nobody asked for it.
  double machine_gb_per_s = 0;
  std::optional<BenchEnergy> energy = {};  // where it was asked for
};

Result<BenchResult> bench(const Engine& engine, const BenchOptions& options);

// ---- bench ops: where the time of a token goes

struct OpBenchOptions {
  int pos = 0;  // tokens already in the context
  int repeats = 20;
  KvType kv_type = KvType::kF16;
  int n_parallel = 1;  // sequences of which each has a token computed, all at the same position
};

// One kind of operation: the same kernel for the same purpose, in all layers.
struct OpBench {
  std::string name;     // "ffn_down"
  std::string kernel;   // "ternary_matvec"
  int dispatches = 0;   // within a token
  double us = 0;        // of all of them together, within a token: the median of the repeats
  double us_alone = 0;  // of as many dispatches with nothing else running
  uint64_t bytes = 0;   // that all of them have to move
  double gb_per_s = 0;  // bytes ÷ us
  double share = 0;     // of the sum of `us`
};

struct OpBenchResult {
  std::vector<OpBench> ops;  // in the order of the token
  int dispatches = 0;
  uint64_t bytes = 0;
  double sum_us = 0;    // of `ops`
  double token_us = 0;  // from one token to the next while tokens are generated
};

// kNotSupported on backends that do not time single operations (only webgpu does), and on GPUs without timestamps.
// kInvalidArgument: a position for which the context has no room.
Result<OpBenchResult> bench_ops(const Engine& engine, const OpBenchOptions& options);

// ---- tune: the layouts of kernels that are fastest on this GPU with this model

struct TuneTrial {
  std::string setting;       // "glu=16x2x256"
  bool of_prompts = false;   // else of decoding
  double ms = 0;             // a prompt or a token, with this setting on top of those that had stayed
  std::string failure = {};  // why there is no time
};

struct TuneOptions {
  double seconds = 50;  // no further setting is tried after so many
  bool keep = true;     // in the folder of compiled pipelines, for engines that are loaded from now on
  std::function<void(const TuneTrial&)> on_trial = {};
};

struct TuneResult {
  std::string device;
  double decode_ms_before = 0, decode_ms_after = 0;  // a token, without and with the settings
  double prompt_ms_before = 0, prompt_ms_after = 0;  // a prompt of prompt_tokens
  int prompt_tokens = 0;
  std::vector<TuneTrial> trials;
  std::vector<std::string> settings;  // that are better than the defaults; empty: the defaults are best
  std::string rejected;               // why the fastest settings were not taken; empty: they were
  bool is_complete = true;            // false: the time was over before all settings were tried
  std::string path;                   // where they are kept; empty: they are not
};

// The engine goes on with the settings. kNotSupported where the backend has no layouts to choose from (only webgpu has,
// on hardware); kIo where they cannot be kept.
Result<TuneResult> tune(Engine& engine, const TuneOptions& options);
// Forgets what is kept for this device and model; gives the file.
Result<std::string> forget_tuning(Engine& engine);

// ---- bench kernels: what packings of a ternary matrix and ways to multiply by it cost on this CPU

struct KernelBenchOptions {
  int64_t rows = 4096, cols = 4096;
  int n_threads = 0;    // one per CPU at most; 0: one per CPU that this process may use
  int repeats = 0;      // products per kernel; 0: at least 20, and as many as half a second takes
  bool cached = false;  // multiply by one copy of the matrix, which may stay in a cache, instead of by many in turn
  OnProgress on_progress = {};
};

struct KernelBench {
  std::string name;         // "base3-int8"
  std::string packing;      // "f32", "2-bit", "base-3"
  std::string activations;  // "f32", "int8"
  std::string what;         // one line about it
  std::string target;       // the instruction set it runs on, "avx2"; "scalar" for plain C++
  uint64_t bytes = 0;       // of the packed matrix: all of it that a product reads
  double bits_per_weight = 0;
  Spread ms = {};            // of one product, quantising or look-up tables included
  int runs = 0;              // that `ms` is taken from
  int copies = 0;            // of the matrix, used in turn
  double gb_per_s = 0;       // bytes ÷ median
  double read_gb_per_s = 0;  // the same for as many threads that only read, alternating with the products
  double share = 0;          // gb_per_s ÷ read_gb_per_s
  double max_error = 0;      // of any result, against sums in double of the same weights and the float activations
};

struct KernelBenchResult {
  std::vector<KernelBench> kernels = {};
  int n_threads = 0;
  uint64_t cache_bytes = 0;  // the CPU's last-level cache; 0 if the system does not say
  double result_rms = 0;     // of the exact results, for judging errors
};

// Random weights and activations. Results are checked before anything is reported: kNotSupported names a kernel that
// is off by more than its bound, which is a bug in Tern. kInvalidArgument: a shape, thread count or number of runs out
// of range, or TERN_CPU_TARGET names none. kOutOfMemory: copies of the matrix do not fit.
Result<KernelBenchResult> bench_kernels(const KernelBenchOptions& options);

// ---- eval: how well it predicts a text

struct EvalResult {
  double perplexity = 0;
  double nats_per_token = 0;
  size_t n_tokens = 0;  // predicted
};

struct EvalOptions {
  int n_ctx = 0;  // tokens per window; 0: what the model was trained for
  KvType kv_type = KvType::kF16;
  OnProgress on_progress = {};
};

// Splits the text into windows of `n_ctx` tokens and predicts the second half of each (the first
// window from its start), so that every prediction has at least half a window of context. Where the model begins texts
// with a BOS token, every window begins with it, and it counts as one of the n_ctx. kInvalidArgument: a text of too few
// tokens, n_ctx below 4 or beyond the model's. kNotSupported: no tokenizer.
Result<EvalResult> eval(const Engine& engine, std::string_view text, const EvalOptions& options = {});

// How far a model's predictions are from those of another, the reference.
struct Divergence {
  EvalResult model, reference;
  // The Kullback-Leibler divergence from the reference's probabilities p to the model's q, Σ p·ln(p/q) ≥ 0 in nats, of
  // every prediction that counts: their mean, their median, the value that 99 % of them do not exceed, the greatest.
  double kl_mean = 0, kl_median = 0, kl_99 = 0, kl_max = 0;
  double same_top1 = 0;  // the share of predictions with the same likeliest token
};

// Both read the same windows of the text, as in eval(), whose errors it has; n_ctx of 0 is what both were trained for.
// kInvalidArgument: their vocabularies differ, or they split this text differently; the message names the first token
// that is not the same. kCorruption: logits that are not finite.
Result<Divergence> eval_against(const Engine& engine, const Engine& reference, std::string_view text,
                                const EvalOptions& options = {});

// What a way to keep keys and values changes in a model's predictions.
struct KvDivergence {
  struct AtContext {
    int n_ctx = 0;          // tokens per window
    Divergence divergence;  // `reference` is the same model with keys and values kept in the other way
  };
  struct LeftOut {
    int n_ctx = 0;
    std::string reason;  // one line
  };
  std::vector<AtContext> contexts;  // by n_ctx, at least one
  std::vector<LeftOut> left_out;    // by n_ctx
};

// Compares a model that keeps keys and values in options.kv_type with itself keeping them in `reference`, over the same
// windows as in eval(), whose errors it has. With n_ctx of 0 it does so for windows of 512, of 4,096 and of as many
// tokens as the model was trained for, and leaves out what the model was not trained for and what the text does not
// fill. kInvalidArgument: the text fills none of them. kNotSupported: the backend cannot keep keys and values in such a
// way. kCorruption: logits that are not finite.
Result<KvDivergence> eval_kv(const Engine& engine, std::string_view text, KvType reference,
                             const EvalOptions& options = {});

// ---- validate: does this backend compute the same as the reference

struct ValidateOptions {
  // What to run. Empty: a built-in text, or fixed ids if there is no tokenizer, cut short for a large model because ref
  // is slow.
  std::vector<TokenId> tokens = {};
  int n_decode = 16;   // cached steps to compare with full forward passes
  int n_tokens = 200;  // tokens that a GPU chooses by itself, to compare with what the CPU would choose
  KvType kv_type = KvType::kF16;
  OnProgress on_progress = {};
};

struct LayerDifference {
  std::string step;  // e.g. "blk.3 attn_output"
  double max_abs = 0;
  double nmse = 0;
  double rounding_nmse = 0;  // what a harmless change does to this step: ref with the other type of KV cache
};

struct ValidateResult {
  // Backend against ref, step by step, on plans without fusion. Both run the same tokens from the start, so what one
  // step rounds differently shows in the steps after it.
  std::vector<LayerDifference> layers;
  double logits_nmse = 0;  // backend (as it runs, with fusion) against ref
  double logits_cosine = 0;
  // Of the logits: ref with the other type of KV cache against ref. A backend may differ a few times as much.
  double rounding_nmse = 0;
  bool same_top1 = false;    // backend against ref, at every position
  double cached_cosine = 0;  // least cosine, cached decode against full forward
  bool cached_same_top1 = false;
  // Tokens that the device chose by itself, greedily, against what the CPU would choose after the same tokens. Only on
  // a GPU. Two correct computations choose differently where two tokens are nearly tied.
  int n_tokens = 0;
  int n_other_tokens = 0;      // of them, those that the CPU would not have chosen
  int first_other_token = -1;  // the first of those (0: the first generated); −1: none
  double first_lead = 0;       // by how much the CPU's logits prefer another token there
  double largest_lead = 0;     // of all of them, in units of the RMS of the logits around their mean
  bool passed = false;
  std::string verdict;  // one line
};

Result<ValidateResult> validate(const LoadOptions& load, const ValidateOptions& options);

// ---- devices: what each backend found

struct DeviceInfo {
  std::string backend;                                     // "cpu"
  std::string name;                                        // "Intel Xeon …"
  std::vector<std::pair<std::string, std::string>> facts;  // feature → used or not, and why
};

std::vector<DeviceInfo> list_devices();

// The same, and for each device what the model in this file needs there with the context that it was trained for, and
// whether it fits. Reads only the file's description: nothing is loaded or uploaded.
Result<std::vector<DeviceInfo>> list_devices_for(const std::string& model_path, KvType kv_type = KvType::kF16,
                                                 const MetadataChanges& changes = {});

// ---- files

// Writes float32 [rows, cols] as NumPy .npy, row by row, so that a large result is never in memory as a whole.
class NpyWriter {
 public:
  static Result<NpyWriter> create(const std::string& path, size_t rows, size_t cols);
  NpyWriter(NpyWriter&&) noexcept;
  ~NpyWriter();
  Result<void> append(std::span<const float> row);
  Result<void> finish();  // flushes; reports a full disk; a file that was not finished is removed

 private:
  struct Impl;
  explicit NpyWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The whole file as text; "-" is standard input.
Result<std::string> read_text(const std::string& path);

}  // namespace tern
