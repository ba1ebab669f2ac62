// Every option of the public API. All have defaults; set the ones you need with designated initializers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tern/data_dir.h"

namespace tern {

using TokenId = int32_t;

// kBoth: loads the model on the CPU and on a GPU and runs each pass where it costs least, by measured costs
// (tern/routing.h). If the GPU's memory holds a part of the layers only, or if the model has recurrent layers, whose
// states two devices cannot share: the last layers are on the GPU, the others on the CPU.
enum class BackendKind { kAuto, kCpu, kWebGpu, kRef, kBoth };

// How kAuto chooses a device, if costs were measured (tern/routing.h). kGpu: a GPU if there is one; this is also the
// rule without measured costs.
enum class Prefer { kSpeed, kEnergy, kGpu };

// The job that a device is chosen for.
struct ExpectedJob {
  int n_prompt = 512;
  int n_generate = 128;
  int n_parallel = 1;         // number of jobs like this at a time
  bool counts_setup = false;  // the job includes loading the model
  bool any_length = false;    // the loaded model gets jobs of all lengths; the numbers above are typical ones
};

// How keys and values are stored in the KV cache. kQ8_0: int8 with an f16 scale for every 32 values of a head; about
// half the memory of kF16.
enum class KvType { kF16, kF32, kQ8_0 };

// The format of the LM head, the matrix that maps the last activations to logits.
enum class HeadKind {
  kAuto,  // kExact if it pays off (a large float head; not in a browser), else kFile
  kFile,  // as it is in the file
  kQ8_0,  // re-encoded when the model is loaded; the token embedding stays unchanged
  kQ6_K,  // same as kQ8_0, in Q6_K
  // An int8 copy selects the logits that could matter, and only these are computed from the file's weights: same text
  // as kFile (on a GPU up to rounding) for about half the bytes. Not on the ref backend.
  kExact,
};

// Reported from time to time during a long task: the task, and how much of the total is done (both in `unit`s).
struct Progress {
  std::string what;
  uint64_t done = 0;
  uint64_t total = 0;
  std::string unit;
};
using OnProgress = std::function<void(const Progress&)>;

// Megakernel: one dispatch computes all layers of a token, and its workgroups wait for each other; otherwise each layer
// takes several dispatches. kAuto: if a trial at load time gives correct results and is faster.
enum class MegakernelUse { kAuto, kOn, kOff };
using OneDispatchUse = MegakernelUse;  // an older name

// For the webgpu backend; the others ignore it.
struct GpuOptions {
  std::string adapter = {};   // part of its name, or its index as in `tern devices`; empty: the first that works
  std::string wgsl_dir = {};  // for editing kernels: they are written there on first use and then loaded from there
  bool validation = false;    // let the driver layers check every call (slow)
  bool robustness = false;    // let shaders check every index (slower)
  // GPU features not to use: f16, subgroups, subgroup-matrix, dot4, timestamps, limits, serial, tuned, expert-tiles.
  // (serial: the kernels for software drivers; tuned: the settings kept by `tern tune`; expert-tiles: prompts that
  // multiply each expert with many tokens.)
  std::vector<std::string> without = {};
  MegakernelUse megakernel = MegakernelUse::kAuto;
  MegakernelUse one_dispatch = MegakernelUse::kAuto;  // an older name of `megakernel`, used if that is kAuto
  std::string cache_dir = {};                         // folder for compiled pipelines; empty: the user's cache folder
};

// How the vectors of a text's tokens are combined into one.
enum class Pooling {
  kAuto,  // as the model specifies, else kLast
  kLast,  // the last token's vector; that token has seen all others
  kMean,  // the mean over all tokens
};

// Changes to the metadata of a GGUF file when reading it. kInvalidArgument: text that is not KEY=TYPE:VALUE; an
// override that the model does not read, or of another type than it reads; an ignored key that is not in the file or is
// known to change results; a model in another container.
struct MetadataChanges {
  // "KEY=TYPE:VALUE", with a TYPE of int, float, bool or str: sets or adds this key.
  std::vector<std::string> overrides = {};
  // Keys that Tern does not know and would otherwise reject. Each one that is left out causes a warning.
  std::vector<std::string> ignored_keys = {};

  bool is_empty() const { return overrides.empty() && ignored_keys.empty(); }
};

struct LoadOptions {
  std::string model_path = {};               // empty: the default model that comes with Tern
  BackendKind backend = BackendKind::kAuto;  // kAuto: what suits `job` (possibly kBoth), else a GPU
  Prefer prefer = Prefer::kSpeed;            // what kAuto optimizes, if both devices' costs were measured;
  ExpectedJob job = {};             // … the job that it optimizes for; without costs it takes a GPU if there is one
  int n_threads = 0;                // 0: one per fast CPU that this process may use; at most one per CPU
  bool pin_threads = false;         // bind each thread to its own CPU; the caller's thread only while it computes
  int max_batch = 0;                // prompt tokens per forward pass; 0: chosen by Tern
  std::string chat_template = {};   // Jinja source that replaces the model's own template; empty: the model's own
  HeadKind head = HeadKind::kAuto;  // format of the LM head
  bool fuse = true;                 // false: run the plan without fused steps, for comparison
  bool embeddings = false;          // load only for Session::embed(), without the LM head
  MetadataChanges metadata = {};    // changes to a GGUF file's metadata
  // With kAuto: how many layers, the last ones and the head with them, are on a GPU; the first ones are on the CPU.
  // None: all if the GPU's memory holds them, else as many as it holds. All, or more: the whole model is on the GPU.
  std::optional<int> gpu_layers = {};
  GpuOptions gpu = {};
  OnProgress on_progress = {};
};

struct SessionOptions {
  int n_ctx = 0;  // tokens of context; 0: the trained length, or as much of it as fits in memory
  KvType kv_type = KvType::kF16;
  // Share KV blocks of common prompt prefixes with the other sessions of the engine.
  bool share_prefixes = true;
  // A smaller model with the same tokenizer. It proposes the draft tokens for GenerateOptions::speculate. It must
  // outlive the session.
  const class Engine* draft = nullptr;
  // Instead, the model's own layer behind the last one proposes them (qwen35's nextn_predict_layers), on GPUs, too.
  bool draft_block = false;
};

// Bytes of a text, from `begin` up to `end`.
struct TextRange {
  size_t begin = 0, end = 0;
  bool operator==(const TextRange&) const = default;
};

struct ChatOptions {
  bool add_generation_prompt = true;  // end the text where the model's reply begins
  // The last message, the assistant's, is the beginning of the reply: the text ends with it, whatever
  // add_generation_prompt says.
  bool continue_final_message = false;
  std::optional<bool> think = {};  // the template's enable_thinking; none: the template's default
  // The functions that the model may call, as a JSON list in the format of OpenAI's API: {"type": "function",
  // "function": {"name": …, "description": …, "parameters": a JSON schema}}. Empty text or an empty list: none.
  std::string tools = {};
  // A JSON object with the template's other variables, by name. What the template lacks has no effect.
  std::string variables = {};
  // Control tokens' spellings in messages and tools become these tokens. Only for conversations whose every text you
  // trust: others could end their message and write another's.
  bool parse_special = false;
};

struct TokenizeOptions {
  bool add_bos = true;         // put the model's begin-of-sequence token first, if the model wants one
  bool parse_special = false;  // recognize control tokens such as <|eot_id|> in the text
  // With parse_special: parts of the text, in order, where control tokens are text (ChatPrompt::quoted).
  std::span<const TextRange> quoted = {};
};

// All sampling parameters, with Tern's defaults.
struct Sampling {
  float temperature = 0.7f;     // 0: always the most probable token (the lowest id on a tie)
  int top_k = 40;               // keep the k most probable tokens; 0: all
  float top_p = 1.0f;           // keep the smallest set with this much probability; 1: all
  float min_p = 0.0f;           // drop tokens less probable than this fraction of the best; 0: none
  float repeat_penalty = 1.0f;  // divide (or, below zero, multiply) a seen token's logit by penalty^count; 1: off
  int repeat_last_n = 64;       // how many of the last tokens count as seen; -1: all
  // Subtracted from the logits of tokens in the reply so far: once, and once for each occurrence. As in OpenAI's API;
  // 0: off.
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  // DRY ("don't repeat yourself"): a token that would extend a repetition of n ≥ dry_allowed_length tokens loses
  // dry_multiplier · dry_base^(n − dry_allowed_length) of its logit. 0: off.
  float dry_multiplier = 0.0f;
  float dry_base = 1.75f;
  int dry_allowed_length = 2;
  int dry_penalty_last_n = -1;  // how many of the last tokens are searched; 0: off, -1: all
  // Texts that no repetition reaches across.
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};
  float top_n_sigma = -1.0f;  // drop logits more than this many standard deviations below the greatest; 0 or less: off
  // Locally typical: keep the smallest set with this much probability of the tokens whose surprise is closest to the
  // expected one; 1: all.
  float typical_p = 1.0f;
  // XTC ("exclude top choices"): with this probability, of the tokens with at least xtc_threshold only the least
  // probable one is kept. Above a threshold of 0.5 there is never more than one.
  float xtc_probability = 0.0f;
  float xtc_threshold = 0.1f;
  // Mirostat 1 or 2, which keep the average surprise at mirostat_tau bits, in place of all filters; 0: off.
  int mirostat = 0;
  float mirostat_tau = 5.0f;
  float mirostat_eta = 0.1f;  // how fast a reply's limit adapts
  // The steps that run, in this order. A step that is not listed does not run. At temperature 0, only the penalties
  // and DRY matter.
  std::string samplers = "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature";
  uint64_t seed = 0;  // same seed, same text, for any number of threads
};

// The sampling parameters that a request sets. A parameter that is not set is taken from the model makers'
// recommendation (ModelInfo::sampling), else from the defaults of Sampling.
struct SampleOptions {
  std::optional<float> temperature = {};
  std::optional<int> top_k = {};
  std::optional<float> top_p = {};
  std::optional<float> min_p = {};
  std::optional<float> repeat_penalty = {};
  std::optional<int> repeat_last_n = {};
  std::optional<float> presence_penalty = {};
  std::optional<float> frequency_penalty = {};
  std::optional<float> dry_multiplier = {};
  std::optional<float> dry_base = {};
  std::optional<int> dry_allowed_length = {};
  std::optional<int> dry_penalty_last_n = {};
  std::optional<std::vector<std::string>> dry_sequence_breakers = {};
  std::optional<float> top_n_sigma = {};
  std::optional<float> typical_p = {};
  std::optional<float> xtc_probability = {};
  std::optional<float> xtc_threshold = {};
  std::optional<int> mirostat = {};
  std::optional<float> mirostat_tau = {};
  std::optional<float> mirostat_eta = {};
  std::optional<std::string> samplers = {};
  uint64_t seed = 0;

  bool operator==(const SampleOptions&) const = default;
};

// The sampling parameters that a model's makers recommend.
struct SamplingAdvice {
  SampleOptions values = {};  // only those that they give
  // The source: "general.sampling" (keys of a GGUF file), "generation_config.json", "mlc-chat-config.json", "tern
  // models" (the list of published models); empty: none.
  std::string source = {};
  // Recommendations that Tern does not follow, as "NAME VALUE": filters that it does not have, and values out of range.
  std::vector<std::string> not_followed = {};
};

// Added to a token's logit before all other steps.
struct LogitBias {
  TokenId token = 0;
  float bias = 0;  // −infinity: never this token
};

// The marks of a model's thoughts (ChatFormat), and how long they may be. chat_turn() fills in the marks.
struct ThoughtLimit {
  int tokens = -1;         // of thoughts in a reply; then the end mark follows, whatever the model would write. -1: any
  std::string begin = {};  // "<think>"; empty: the model does not mark its thoughts
  std::string end = {};    // "</think>"
  std::string forced = {};  // what follows where the limit is reached; empty: `end`
  bool in_thought = false;  // the reply begins inside a thought
};

struct GenerateOptions {
  int max_tokens = -1;  // -1: until the model stops or the context is full
  // Before the reply has so many tokens, stop tokens are not chosen and stop texts do not end it. At most max_tokens.
  // A grammar that allows nothing more still ends it.
  int min_tokens = 0;
  SampleOptions sample = {};
  std::vector<LogitBias> logit_bias = {};  // if a token is listed twice, the last one counts
  // Log probabilities for GenerateResult::logprobs: of the chosen token and the n most probable ones. -1: none.
  int n_logprobs = -1;
  // The same for GenerateResult::prompt_logprobs: of each token of the prompt but the first, given those before it. The
  // whole prompt is then read, whatever the cache has. -1: none.
  int n_prompt_logprobs = -1;
  std::vector<std::string> stop = {};  // texts that end the reply; they are not part of the output
  bool ignore_eos = false;             // continue past the model's stop tokens, for benchmarks
  // Speculative decoding: the maximum number of draft tokens, from repetitions in the text or the session's draft
  // model, that one pass checks. The text stays the same; it comes faster if drafts are right, and drafting pauses if
  // they are not. 0: off. Not with n_logprobs, and on GPUs only with the model's own layer. A scheduler has no draft
  // model (SchedulerOptions::draft_block).
  int speculate = 0;
  // The tokens of an earlier reply to this prompt that ended too soon (GenerateResult::tokens, e.g. after a lost
  // device). The reply continues after them as if it had never stopped, with the next random numbers. They count for
  // max_tokens and are in the result, but steps do not report them, and they have no log probabilities. Not with
  // mirostat, whose state depends on their logits.
  std::vector<int> reply_so_far = {};
  // If the context is full, keep its first so many tokens and the later half of the others, and continue instead of
  // ending. The later half is read again; the tokens in between are forgotten. At most half the context; -1: end.
  int keep_past_context = -1;
  // For prompts that may end inside a word: the prompt's last tokens are chosen again among those that begin with the
  // same text, so "The cap" may become "The capital". The added text comes first in the reply.
  bool heal_prompt = false;
  // Control tokens whose text is part of the reply; other control tokens have no text (ChatFormat::shown_tokens).
  std::vector<TokenId> shown_tokens = {};
  // A constraint on the reply (tern/grammar.h): tokens are chosen on the host among those that it allows. This turns
  // off `speculate` and `heal_prompt`. Needs the model's tokenizer.
  std::shared_ptr<const class Grammar> grammar = {};
  // Constrains only the tool calls in the reply (tern/chat_reply.h): outside of calls, tokens are chosen freely. Not
  // together with a grammar.
  std::shared_ptr<const struct ConstrainedCalls> calls = {};
  ThoughtLimit thoughts = {};
};

}  // namespace tern
