#include "load/prompts.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/result.h"
#include "load/random.h"

namespace tern::load {
namespace {

using PromptJson = nlohmann::ordered_json;

constexpr auto kWords = std::to_array<std::string_view>(
    {"the",    "a",      "one",   "this",   "that",  "old",    "new",   "small",  "great",  "red",   "blue",
     "green",  "cold",   "warm",  "dark",   "light", "long",   "short", "house",  "river",  "stone", "tree",
     "field",  "road",   "ship",  "horse",  "bird",  "dog",    "cat",   "king",   "child",  "man",   "woman",
     "friend", "night",  "day",   "year",   "time",  "water",  "fire",  "wind",   "rain",   "snow",  "sun",
     "moon",   "star",   "city",  "garden", "door",  "window", "book",  "word",   "song",   "story", "voice",
     "hand",   "eye",    "heart", "bread",  "milk",  "goes",   "comes", "sees",   "hears",  "finds", "gives",
     "takes",  "holds",  "keeps", "makes",  "tells", "asks",   "runs",  "walks",  "stands", "falls", "sings",
     "sleeps", "wakes",  "turns", "and",    "but",   "or",     "then",  "when",   "where",  "while", "because",
     "after",  "before", "near",  "under",  "over",  "behind", "with",  "without"});

// Random streams for text: one for the shared beginning, one for each turn of each conversation.
constexpr uint64_t kSharedStream = ~uint64_t{0};
uint64_t stream_of(int64_t conversation, int turn) {
  return (static_cast<uint64_t>(conversation) << 16) + static_cast<uint64_t>(turn);
}

std::string made_words(int n, uint64_t seed, uint64_t stream) {
  Random random(seed, stream);
  std::string text;
  for (int i = 0; i < n; ++i) {
    if (i > 0) text += ' ';
    text += kWords[random.below(kWords.size())];
  }
  return text;
}

PromptJson messages_json(const std::vector<Message>& messages) {
  PromptJson json = PromptJson::array();
  for (const Message& message : messages) json.push_back({{"role", message.role}, {"content", message.content}});
  return json;
}

// Texts from files may contain any bytes; invalid UTF-8 is replaced.
std::string dumped(const PromptJson& json) { return json.dump(-1, ' ', false, PromptJson::error_handler_t::replace); }

std::optional<std::vector<Message>> messages_of(const PromptJson& json) {
  if (!json.is_array() || json.empty()) return std::nullopt;
  std::vector<Message> messages;
  for (const PromptJson& message : json) {
    if (!message.is_object() || message.size() != 2) return std::nullopt;  // other members would be lost
    const auto role = message.find("role"), content = message.find("content");
    if (role == message.end() || content == message.end() || !role->is_string() || !content->is_string())
      return std::nullopt;
    messages.push_back({.role = *role, .content = *content});
  }
  return messages;
}

}  // namespace

Result<void> check_extra(std::string_view extra) {
  const PromptJson json = PromptJson::parse(extra, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return fail(ErrorCode::kInvalidArgument, "{}",
                "'" + std::string(extra) + "' is no object of JSON; give one such as {\"ignore_eos\": true}");
  }
  for (const char* key : {"stream", "stream_options", "prompt", "messages", "n"}) {
    if (json.contains(key)) {
      return fail(ErrorCode::kInvalidArgument, "{}",
                  std::string("\"") + key + "\" is set by Tern: replies are streamed, with usage, one for a request");
    }
  }
  return {};
}

bool is_greedy(const RequestOptions& options) {
  const PromptJson json = PromptJson::parse(options.extra, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("temperature")) return true;
  return json["temperature"].is_number() && json["temperature"].get<double>() == 0;
}

Prompts Prompts::made(const MadeText& text) {
  Prompts prompts;
  prompts.made_ = text;
  return prompts;
}

Result<Prompts> Prompts::from_jsonl(std::string_view text, std::string_view path, Api api) {
  Prompts prompts;
  size_t number = 0;
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::kCorruption, "{}", std::string(path) + ", line " + std::to_string(number) + ": " + why);
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const PromptJson whole = PromptJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!whole.is_object()) return bad("this is no object of JSON");
    const PromptJson& json = whole.contains("body") && whole["body"].is_object() ? whole["body"] : whole;
    Opening opening;
    if (json.contains("prompt") && json["prompt"].is_string()) {
      opening.messages.push_back({.role = "user", .content = json["prompt"]});
    } else if (!json.contains("messages")) {
      return bad("there is neither \"prompt\", a text, nor \"messages\"");
    } else if (auto messages = messages_of(json["messages"]); !messages) {
      return bad("\"messages\" is no list of {\"role\": TEXT, \"content\": TEXT}");
    } else if (api == Api::kCompletions) {
      return bad("messages are for the chat API; completions take \"prompt\"");
    } else {
      opening.messages = *std::move(messages);
    }
    if (const auto limit = json.find("max_tokens"); limit != json.end()) {
      if (!limit->is_number_integer() || *limit < 1 || *limit > INT32_MAX)
        return bad("\"max_tokens\" is no number of tokens");
      opening.max_tokens = *limit;
    }
    prompts.file_.push_back(std::move(opening));
  }
  if (prompts.file_.empty())
    return fail(ErrorCode::kCorruption, "{}", std::string(path) + ": there is no line with a prompt");
  return prompts;
}

Prompts::Opening Prompts::opening(int64_t conversation, Api api) const {
  if (!file_.empty()) return file_[static_cast<size_t>(conversation) % file_.size()];
  if (made_.n_distinct > 0) conversation %= made_.n_distinct;
  const std::string shared = made_words(made_.shared_tokens, made_.seed, kSharedStream);
  const std::string own = made_words(made_.tokens - made_.shared_tokens, made_.seed, stream_of(conversation, 0));
  if (shared.empty()) return {.messages = {{.role = "user", .content = own}}};
  if (own.empty()) return {.messages = {{.role = "user", .content = shared}}};
  if (api == Api::kCompletions) return {.messages = {{.role = "user", .content = shared + " " + own}}};
  // In a chat, the text that conversations share becomes the system message.
  return {.messages = {{.role = "system", .content = shared}, {.role = "user", .content = own}}};
}

std::string Prompts::next_message(int64_t conversation, int turn) const {
  if (made_.n_distinct > 0) conversation %= made_.n_distinct;
  return made_words(made_.tokens, made_.seed, stream_of(conversation, turn));
}

Conversation::Conversation(const Prompts& prompts, const RequestOptions& options, int64_t index)
    : prompts_(prompts), options_(options), index_(index), history_(prompts.opening(index, options.api)) {}

std::string Conversation::body() const {
  PromptJson json;
  json["model"] = options_.model;
  if (options_.api == Api::kChat) {
    json["messages"] = messages_json(history_.messages);
  } else {
    json["prompt"] = history_.messages.front().content;
  }
  json["max_tokens"] = history_.max_tokens > 0 ? history_.max_tokens : options_.max_tokens;
  json["temperature"] = 0;
  json["stream"] = true;
  json["stream_options"] = {{"include_usage", true}};
  json.update(PromptJson::parse(options_.extra));
  return dumped(json);
}

void Conversation::add_reply(const std::string& content) {
  ++turn_;
  const std::string next = prompts_.next_message(index_, turn_);
  if (options_.api == Api::kChat) {
    history_.messages.push_back({.role = "assistant", .content = content});
    history_.messages.push_back({.role = "user", .content = next});
  } else {
    history_.messages.front().content += content + "\n" + next;
  }
}

}  // namespace tern::load
