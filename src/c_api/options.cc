#include "c_api/options.h"

#include <cmath>
#include <limits>
#include <stop_token>
#include <vector>

#include "c_api/handles.h"

namespace tern::c_api {
namespace {

// Sizes in the first version, without padding at the end: a field added there would not make the struct larger.
constexpr size_t kLoadSize = 80, kChatSize = 16, kSessionSize = 16, kGenerateSize = 64, kPullSize = 40, kTurnSize = 40;
static_assert(sizeof(tern_load_options) == kLoadSize + 40);  // `overrides` and the fields after it were added
static_assert(sizeof(tern_chat_options) == kChatSize + 8);   // `continue_final_message` and a later field were added
static_assert(sizeof(tern_session_options) == kSessionSize + 16);     // `draft` and `draft_block` were added
static_assert(sizeof(tern_generate_options) == kGenerateSize + 128);  // the penalties and later fields were added
static_assert(sizeof(tern_turn_options) == kTurnSize);
static_assert(sizeof(tern_pull_options) == kPullSize + 8);  // `unchecked` was added

constexpr tern_load_options kLoad = {.size = sizeof(tern_load_options),
                                     .model_path = nullptr,
                                     .chat_template = nullptr,
                                     .gpu_adapter = nullptr,
                                     .gpu_cache_dir = nullptr,
                                     .on_progress = nullptr,
                                     .user = nullptr,
                                     .backend = TERN_BACKEND_AUTO,
                                     .n_threads = 0,
                                     .max_batch = 0,
                                     .head = TERN_HEAD_AUTO,
                                     .pin_threads = 0,
                                     .prefer = TERN_PREFER_SPEED,
                                     .overrides = nullptr,
                                     .n_overrides = 0,
                                     .ignored_keys = nullptr,
                                     .n_ignored_keys = 0,
                                     .gpu_layers = 0};
constexpr tern_chat_options kChat = {.size = sizeof(tern_chat_options), .add_generation_prompt = 1, .think = -1};
constexpr tern_session_options kSession = {
    .size = sizeof(tern_session_options), .n_ctx = 0, .kv_type = TERN_KV_F16, .draft = nullptr, .draft_block = 0};
constexpr tern_turn_options kTurn = {.size = sizeof(tern_turn_options),
                                     .tools = nullptr,
                                     .tool_name = nullptr,
                                     .tool_choice = TERN_TOOLS_AUTO,
                                     .one_call = 0,
                                     .think = -1,
                                     .parse_special = 0};
constexpr tern_pull_options kPull = {.size = sizeof(tern_pull_options),
                                     .cache_dir = nullptr,
                                     .on_progress = nullptr,
                                     .user = nullptr,
                                     .offline = 0,
                                     .prefer_cached = 0,
                                     .unchecked = 0,
                                     .reserved = 0};

constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();

tern_generate_options generate_defaults() {
  const GenerateOptions options;
  return {.size = sizeof(tern_generate_options),
          .stop = nullptr,
          .n_stop = 0,
          .seed = options.sample.seed,
          .max_tokens = options.max_tokens,
          .ignore_eos = 0,
          .temperature = TERN_RECOMMENDED,
          .top_p = TERN_RECOMMENDED,
          .min_p = TERN_RECOMMENDED,
          .repeat_penalty = TERN_RECOMMENDED,
          .top_k = TERN_RECOMMENDED,
          .repeat_last_n = TERN_RECOMMENDED,
          .presence_penalty = kUnset,
          .frequency_penalty = kUnset,
          .logit_bias = nullptr,
          .n_logit_bias = 0,
          .heal_prompt = 0,
          .speculate = options.speculate,
          .keep_past_context = options.keep_past_context,
          .reserved = 0,
          .grammar = nullptr,
          .turn = nullptr,
          .min_tokens = options.min_tokens,
          .mirostat = TERN_RECOMMENDED,
          .mirostat_tau = kUnset,
          .mirostat_eta = kUnset,
          .typical_p = kUnset,
          .top_n_sigma = kUnset,
          .xtc_probability = kUnset,
          .xtc_threshold = kUnset,
          .dry_multiplier = kUnset,
          .dry_base = kUnset,
          .dry_allowed_length = TERN_RECOMMENDED,
          .dry_penalty_last_n = TERN_RECOMMENDED,
          .dry_sequence_breakers = nullptr,
          .n_dry_sequence_breakers = TERN_RECOMMENDED,
          .samplers = nullptr};
}

std::optional<float> unless_nan(float value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

template <class T>
std::optional<T> unless_recommended(T value) {
  return value == static_cast<T>(TERN_RECOMMENDED) ? std::nullopt : std::optional(value);
}

// The C and C++ enums are in the same order.
template <class E>
Result<E> read_enum(int32_t value, E last, std::string_view name) {
  if (value >= 0 && value <= static_cast<int32_t>(last)) return static_cast<E>(value);
  return fail(ErrorCode::kInvalidArgument, "{} is {}, but can be 0 to {}", name, value, static_cast<int32_t>(last));
}

Result<bool> read_bool(int32_t value, std::string_view name) {
  if (value == 0 || value == 1) return value == 1;
  return fail(ErrorCode::kInvalidArgument, "{} is {}, but can be 0 or 1", name, value);
}

Result<std::optional<bool>> read_think(int32_t value, std::string_view name) {
  if (value == -1) return std::nullopt;
  if (value == 0 || value == 1) return value == 1;
  return fail(ErrorCode::kInvalidArgument, "{} is {}, but can be -1, 0 or 1", name, value);
}

Result<std::vector<std::string>> read_texts(const char* const* texts, size_t n, std::string_view name) {
  std::vector<std::string> read;
  if (n > 0 && !texts) return fail(ErrorCode::kInvalidArgument, "{} is NULL, but there should be {} of them", name, n);
  for (size_t i = 0; i < n; ++i) {
    if (!texts[i]) return fail(ErrorCode::kInvalidArgument, "{}[{}] is NULL", name, i);
    read.emplace_back(texts[i]);
  }
  return read;
}

Result<SampleOptions> read_sampling(const tern_generate_options& from) {
  SampleOptions to = {.temperature = unless_recommended(from.temperature),
                      .top_k = unless_recommended(from.top_k),
                      .top_p = unless_recommended(from.top_p),
                      .min_p = unless_recommended(from.min_p),
                      .repeat_penalty = unless_recommended(from.repeat_penalty),
                      .repeat_last_n = unless_recommended(from.repeat_last_n),
                      .presence_penalty = unless_nan(from.presence_penalty),
                      .frequency_penalty = unless_nan(from.frequency_penalty),
                      .dry_multiplier = unless_nan(from.dry_multiplier),
                      .dry_base = unless_nan(from.dry_base),
                      .dry_allowed_length = unless_recommended(from.dry_allowed_length),
                      .dry_penalty_last_n = unless_recommended(from.dry_penalty_last_n),
                      .top_n_sigma = unless_nan(from.top_n_sigma),
                      .typical_p = unless_nan(from.typical_p),
                      .xtc_probability = unless_nan(from.xtc_probability),
                      .xtc_threshold = unless_nan(from.xtc_threshold),
                      .mirostat = unless_recommended(from.mirostat),
                      .mirostat_tau = unless_nan(from.mirostat_tau),
                      .mirostat_eta = unless_nan(from.mirostat_eta),
                      .seed = from.seed};
  if (from.samplers) to.samplers = from.samplers;
  if (from.n_dry_sequence_breakers == TERN_RECOMMENDED) return to;
  if (from.n_dry_sequence_breakers < 0) {
    return fail(ErrorCode::kInvalidArgument,
                "tern_generate_options.n_dry_sequence_breakers is {}: it must be 0 or above",
                from.n_dry_sequence_breakers);
  }
  TRY(to.dry_sequence_breakers,
      read_texts(from.dry_sequence_breakers, static_cast<size_t>(from.n_dry_sequence_breakers),
                 "tern_generate_options.dry_sequence_breakers"));
  return to;
}

template <class T>
void init(T* options, size_t size, T defaults) {
  if (!options) return;
  std::memset(static_cast<void*>(options), 0, size);
  defaults.size = size;
  std::memcpy(options, &defaults, std::min(size, sizeof(T)));
}

}  // namespace

Result<LoadOptions> read_options(const tern_load_options* given) {
  TRY(const auto from, read_struct(given, kLoad, kLoadSize, "tern_load_options"));
  LoadOptions to;
  to.model_path = text_or_empty(from.model_path);
  to.chat_template = text_or_empty(from.chat_template);
  to.gpu.adapter = text_or_empty(from.gpu_adapter);
  to.gpu.cache_dir = text_or_empty(from.gpu_cache_dir);
  TRY(to.backend, read_enum(from.backend, BackendKind::kBoth, "tern_load_options.backend"));
  TRY(to.head, read_enum(from.head, HeadKind::kExact, "tern_load_options.head"));
  TRY(to.pin_threads, read_bool(from.pin_threads, "tern_load_options.pin_threads"));
  TRY(to.prefer, read_enum(from.prefer, Prefer::kGpu, "tern_load_options.prefer"));
  TRY(to.metadata.overrides, read_texts(from.overrides, from.n_overrides, "tern_load_options.overrides"));
  TRY(to.metadata.ignored_keys, read_texts(from.ignored_keys, from.n_ignored_keys, "tern_load_options.ignored_keys"));
  if (from.gpu_layers < 0) {
    return fail(ErrorCode::kInvalidArgument, "tern_load_options.gpu_layers is {}: it must be 0 or above",
                from.gpu_layers);
  }
  if (from.gpu_layers > 0) to.gpu_layers = from.gpu_layers;
  to.n_threads = from.n_threads;
  to.max_batch = from.max_batch;
  if (from.on_progress) {
    to.on_progress = [call = from.on_progress, user = from.user](const Progress& progress) {
      call(user, progress.what.c_str(), progress.done, progress.total, progress.unit.c_str());
    };
  }
  return to;
}

Result<ChatOptions> read_options(const tern_chat_options* given) {
  TRY(const auto from, read_struct(given, kChat, kChatSize, "tern_chat_options"));
  ChatOptions to;
  TRY(to.add_generation_prompt, read_bool(from.add_generation_prompt, "tern_chat_options.add_generation_prompt"));
  TRY(to.think, read_think(from.think, "tern_chat_options.think"));
  TRY(to.continue_final_message, read_bool(from.continue_final_message, "tern_chat_options.continue_final_message"));
  TRY(to.parse_special, read_bool(from.parse_special, "tern_chat_options.parse_special"));
  return to;
}

Result<TurnOptions> read_options(const tern_turn_options* given) {
  TRY(const auto from, read_struct(given, kTurn, kTurnSize, "tern_turn_options"));
  TurnOptions to;
  to.use.tools = text_or_empty(from.tools);
  to.use.required = text_or_empty(from.tool_name);
  TRY(to.use.choice, read_enum(from.tool_choice, ToolUse::Choice::kRequired, "tern_turn_options.tool_choice"));
  if (!to.use.required.empty() && to.use.choice != ToolUse::Choice::kRequired)
    return fail(ErrorCode::kInvalidArgument, "tern_turn_options.tool_name is only for TERN_TOOLS_REQUIRED");
  TRY(const bool one_call, read_bool(from.one_call, "tern_turn_options.one_call"));
  to.use.parallel = !one_call;
  TRY(to.think, read_think(from.think, "tern_turn_options.think"));
  TRY(to.parse_special, read_bool(from.parse_special, "tern_turn_options.parse_special"));
  return to;
}

Result<SessionOptions> read_options(const tern_session_options* given) {
  TRY(const auto from, read_struct(given, kSession, kSessionSize, "tern_session_options"));
  SessionOptions to;
  to.n_ctx = from.n_ctx;
  TRY(to.kv_type, read_enum(from.kv_type, KvType::kQ8_0, "tern_session_options.kv_type"));
  if (from.draft) to.draft = &from.draft->shared->engine;
  TRY(to.draft_block, read_bool(from.draft_block, "tern_session_options.draft_block"));
  return to;
}

Result<GenerateOptions> read_options(const tern_generate_options* given) {
  TRY(const auto from, read_struct(given, generate_defaults(), kGenerateSize, "tern_generate_options"));
  GenerateOptions to;
  to.max_tokens = from.max_tokens;
  TRY(to.ignore_eos, read_bool(from.ignore_eos, "tern_generate_options.ignore_eos"));
  TRY(to.sample, read_sampling(from));
  to.min_tokens = from.min_tokens;
  TRY(to.stop, read_texts(from.stop, from.n_stop, "tern_generate_options.stop"));
  if (from.n_logit_bias > 0 && !from.logit_bias) {
    return fail(ErrorCode::kInvalidArgument, "tern_generate_options.logit_bias is NULL, but n_logit_bias is {}",
                from.n_logit_bias);
  }
  for (size_t i = 0; i < from.n_logit_bias; ++i) {
    to.logit_bias.push_back({.token = from.logit_bias[i].token, .bias = from.logit_bias[i].bias});
  }
  TRY(to.heal_prompt, read_bool(from.heal_prompt, "tern_generate_options.heal_prompt"));
  to.speculate = from.speculate;
  to.keep_past_context = from.keep_past_context;
  if (from.reserved != 0) return fail(ErrorCode::kInvalidArgument, "tern_generate_options.reserved is not 0");
  if (from.grammar) to.grammar = from.grammar->grammar;
  if (!from.turn) return to;
  const GenerateOptions& holds = from.turn->holds;
  if (to.grammar && (holds.grammar || holds.calls)) {
    return fail(ErrorCode::kInvalidArgument,
                "tern_generate_options.grammar: the turn holds the reply to its tools already; give one of them");
  }
  if (holds.grammar) to.grammar = holds.grammar;
  to.calls = holds.calls;
  to.shown_tokens = holds.shown_tokens;
  return to;
}

Result<HubOptions> read_options(const tern_pull_options* given) {
  TRY(const auto from, read_struct(given, kPull, kPullSize, "tern_pull_options"));
  HubOptions to;
  to.cache_dir = text_or_empty(from.cache_dir);
  TRY(to.offline, read_bool(from.offline, "tern_pull_options.offline"));
  TRY(to.prefer_cached, read_bool(from.prefer_cached, "tern_pull_options.prefer_cached"));
  TRY(const bool unchecked, read_bool(from.unchecked, "tern_pull_options.unchecked"));
  if (!unchecked) to.check = check_model_header;
  if (from.on_progress) {
    std::stop_source stop;
    to.stop = stop.get_token();
    to.on_progress = [call = from.on_progress, user = from.user, stop](const Progress& progress) mutable {
      if (!call(user, progress.what.c_str(), progress.done, progress.total, progress.unit.c_str())) stop.request_stop();
    };
  }
  return to;
}

}  // namespace tern::c_api

using namespace tern::c_api;

void tern_load_options_init(tern_load_options* options, size_t size) { init(options, size, kLoad); }
void tern_chat_options_init(tern_chat_options* options, size_t size) { init(options, size, kChat); }
void tern_session_options_init(tern_session_options* options, size_t size) { init(options, size, kSession); }
void tern_generate_options_init(tern_generate_options* options, size_t size) {
  init(options, size, generate_defaults());
}
void tern_turn_options_init(tern_turn_options* options, size_t size) { init(options, size, kTurn); }
void tern_pull_options_init(tern_pull_options* options, size_t size) { init(options, size, kPull); }
