// Every option of the public API. All have defaults; set the ones you care about with designated initialisers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tern/data_dir.h"

namespace tern {

using TokenId = int32_t;

// kBoth: the model on the CPU and on a GPU, each pass where it costs least; what that is has to have been measured
// (tern/routing.h).
enum class BackendKind { kAuto, kCpu, kWebGpu, kRef, kBoth };

// What `auto` chooses a device by, where it has been measured what each costs (tern/routing.h). kGpu: a GPU where there
// is one, as without such costs.
enum class Prefer { kSpeed, kEnergy, kGpu };

// What a device is chosen for.
struct ExpectedJob {
  int n_prompt = 512;
  int n_generate = 128;
  int n_parallel = 1;         // such jobs at a time
  bool counts_setup = false;  // loading the model is a part of it
  bool any_length = false;    // the model, once loaded, has jobs of all lengths, of which these are common ones
};

// How keys and values are stored in the KV cache. kQ8_0: int8, with a scale in f16 for every 32 of a head: half the
// memory of kF16.
enum class KvType { kF16, kF32, kQ8_0 };

// What the LM head, the matrix from the last activations to the logits, is read from.
enum class HeadKind {
  kAuto,   // exact where it pays (a large head of floats; not in a browser); else as in the file
  kFile,   // as it is in the file
  kQ8_0,   // re-encoded when the model is loaded; the token embedding stays as it is
  kQ6_K,   // likewise
  kExact,  // an int8 copy says which logits could matter, and only these are computed from the file's: the same text as
           // with kFile for about half the bytes (on a GPU but for roundings). Not on the ref backend.
};

// Reported from time to time during a long task: what it is, and how much of the total is done (both in `unit`s).
struct Progress {
  std::string what;
  uint64_t done = 0;
  uint64_t total = 0;
  std::string unit;
};
using OnProgress = std::function<void(const Progress&)>;

// Whether a GPU computes all layers of a token in one dispatch, whose workgroups wait for each other, instead of
// several for each layer. kAuto: where a trial when the model is loaded comes out right, and faster.
enum class OneDispatchUse { kAuto, kOn, kOff };

// For the webgpu backend; the others ignore it.
struct GpuOptions {
  std::string adapter = {};   // part of its name, or its index, as in `tern devices`; empty: the first that can run
  std::string wgsl_dir = {};  // kernels are written there on first use and loaded from there afterwards: edit them
  bool validation = false;    // let the driver layers check every call: slow
  bool robustness = false;    // let shaders check every index: slower
  // Features to do without: f16, subgroups, subgroup-matrix, dot4, timestamps, limits, serial, tuned. (serial: the
  // kernels that software drivers run instead of those for GPUs; tuned: what `tern tune` has kept.)
  std::vector<std::string> without = {};
  OneDispatchUse one_dispatch = OneDispatchUse::kAuto;
  std::string cache_dir = {};  // compiled pipelines are kept there; empty: the user's cache folder
};

// How a text's vector comes from those of its tokens.
enum class Pooling {
  kAuto,  // as the model's makers say; else kLast
  kLast,  // the last token's, which has seen all others
  kMean,  // the mean of all tokens'
};

// Where the metadata of a GGUF file is not to be taken as it is. kInvalidArgument: what is no KEY=TYPE:VALUE, an
// override that the model would not read or of another type than it reads, a key to ignore that the file does not have
// or that is known to change what is computed, and a model in another container.
struct MetadataChanges {
  // "KEY=TYPE:VALUE", with a TYPE of int, float, bool or str: the key has this value, whether the file has the key or
  // not.
  std::vector<std::string> overrides = {};
  // Keys that Tern does not know and would refuse. A warning names each that is left out.
  std::vector<std::string> ignored_keys = {};

  bool is_empty() const { return overrides.empty() && ignored_keys.empty(); }
};

struct LoadOptions {
  std::string model_path = {};               // empty: the default model that comes with Tern
  BackendKind backend = BackendKind::kAuto;  // auto: what suits `job`, which may be both; or the GPU
  Prefer prefer = Prefer::kSpeed;            // what auto goes by, where costs of both devices are kept,
  ExpectedJob job = {};                      // … and what for; else it takes a GPU where there is one
  int n_threads = 0;                         // 0: one per CPU that this process may use, which is also the most
  bool pin_threads = false;                  // bind each to its own CPU, the caller's thread only while it computes
  int max_batch = 0;                         // prompt tokens per forward pass; 0: a good size
  std::string chat_template = {};            // Jinja source to use instead of the model's own; empty: the model's own
  HeadKind head = HeadKind::kAuto;           // what the logits are computed from
  bool fuse = true;                          // false: run the plan without fused steps, for comparison
  bool embeddings = false;                   // for Session::embed(), and for nothing else: without the model's head
  MetadataChanges metadata = {};             // of a GGUF file
  GpuOptions gpu = {};
  OnProgress on_progress = {};
};

struct SessionOptions {
  int n_ctx = 0;  // tokens of context; 0: what the model was trained for, or as much of it as fits in memory
  KvType kv_type = KvType::kF16;
  // Take what other sessions of the engine have computed of the same beginning, and leave them what this one computes.
  bool share_prefixes = true;
  // A smaller model with the same tokenizer, whose guesses GenerateOptions::speculate checks. It must outlive the
  // session.
  const class Engine* draft = nullptr;
};

struct ChatOptions {
  bool add_generation_prompt = true;  // end the text where the model's reply begins
  std::optional<bool> think = {};     // the template's enable_thinking; if not given, the template's default
  // A JSON list of the functions that the model may call, as in OpenAI's interface: {"type": "function", "function":
  // {"name": …, "description": …, "parameters": a JSON schema}}. Empty, or an empty list: none.
  std::string tools = {};
  std::string variables = {};  // a JSON object of other variables that the template has, by name
};

struct TokenizeOptions {
  bool add_bos = true;         // put the model's begin-of-sequence token first, if the model wants one
  bool parse_special = false;  // recognise control tokens such as <|eot_id|> in the text
};

// How tokens are chosen, in every number, with Tern's own defaults.
struct Sampling {
  float temperature = 0.7f;     // 0: always the most probable token (the lowest id on a tie)
  int top_k = 40;               // keep the k most probable tokens; 0: all
  float top_p = 1.0f;           // keep the smallest set with this much probability; 1: all
  float min_p = 0.0f;           // drop tokens less probable than this fraction of the best; 0: none
  float repeat_penalty = 1.0f;  // divide (or, below zero, multiply) a seen token's logit by penalty^count; 1: off
  int repeat_last_n = 64;       // how many of the last tokens count as seen; -1: all
  // Subtracted from the logit of a token of the reply so far: once, and as often as it occurs. As OpenAI's; 0: off.
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  uint64_t seed = 0;  // same seed, same text, whatever the thread count
};

// What somebody wants of these. What is not given is as the model's makers recommend (ModelInfo::sampling), and else as
// Sampling has it.
struct SampleOptions {
  std::optional<float> temperature = {};
  std::optional<int> top_k = {};
  std::optional<float> top_p = {};
  std::optional<float> min_p = {};
  std::optional<float> repeat_penalty = {};
  std::optional<int> repeat_last_n = {};
  std::optional<float> presence_penalty = {};
  std::optional<float> frequency_penalty = {};
  uint64_t seed = 0;

  bool operator==(const SampleOptions&) const = default;
};

// What a model's makers recommend.
struct SamplingAdvice {
  SampleOptions values = {};  // those that they give
  // Where: "general.sampling" (keys of a GGUF file), "generation_config.json", "mlc-chat-config.json", "tern models"
  // (the list of published models); empty: nowhere.
  std::string source = {};
  // What is recommended there and does not happen, as "NAME VALUE": filters that Tern does not have, and values outside
  // the range of a number.
  std::vector<std::string> not_followed = {};
};

// Added to a token's logit before anything else.
struct LogitBias {
  TokenId token = 0;
  float bias = 0;  // −infinity: never this token
};

struct GenerateOptions {
  int max_tokens = -1;  // -1: until the model stops or the context is full
  SampleOptions sample = {};
  std::vector<LogitBias> logit_bias = {};  // the last one counts where a token is named twice
  // Log probabilities for GenerateResult::logprobs: of the chosen token and of the n most probable. -1: none.
  int n_logprobs = -1;
  std::vector<std::string> stop = {};  // text that ends generation; it is not part of the output
  bool ignore_eos = false;             // go on past the model's stop tokens, for measuring
  // At most so many tokens are guessed from what the text repeats, or by the session's draft model, and checked in one
  // pass over the model: the same text, faster where guesses are right, and left alone where they are not. 0: none. On
  // the cpu and ref backends; not with n_logprobs. Replies of a scheduler have guesses from their text.
  int speculate = 0;
  // The tokens of a reply to this prompt that ended too early (GenerateResult::tokens, after a device was lost, say):
  // it goes on after them as if it had never stopped, with the random numbers that come next. They count, for
  // max_tokens and in the result, but steps do not tell of them, and there are no log probabilities of them.
  std::vector<int> reply_so_far = {};
  // Where the context is full, go on with its first so many tokens and the later half of the others, instead of ending:
  // these are read again, and what lies between is forgotten. At most half the context; -1: end.
  int keep_past_context = -1;
  // For prompts that are a text to be continued and may end inside a word: its last tokens are chosen again among those
  // that begin as they do, so that "The cap" may become "The capital". What is added is the reply's first text.
  bool heal_prompt = false;
  // Control tokens whose text is part of the reply; that of others is left out (ChatFormat::shown_tokens).
  std::vector<TokenId> shown_tokens = {};
  // What the reply may say (tern/grammar.h): tokens are chosen on the host among those that it allows. Nothing is
  // guessed then (speculate), and a prompt's last word stays as it is (heal_prompt). Needs the model's tokenizer.
  std::shared_ptr<const class Grammar> grammar = {};
  // Holds only the calls of tools in the reply (tern/chat_reply.h): until one begins, and after its end, tokens are
  // chosen as ever. Not together with a grammar.
  std::shared_ptr<const struct HeldCalls> calls = {};
};

}  // namespace tern
