#include "web/bindings_json.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tern::web {

using nlohmann::json;

namespace {

// The parameters that are set, by their names in the options of a reply.
json values_of(const SampleOptions& sample) {
  json values = json::object();
  const auto put = [&values](const char* name, const auto& number) {
    if (number) values[name] = *number;
  };
  put("temperature", sample.temperature);
  put("topK", sample.top_k);
  put("topP", sample.top_p);
  put("minP", sample.min_p);
  put("repeatPenalty", sample.repeat_penalty);
  put("repeatLastN", sample.repeat_last_n);
  put("presencePenalty", sample.presence_penalty);
  put("frequencyPenalty", sample.frequency_penalty);
  put("typicalP", sample.typical_p);
  put("xtcProbability", sample.xtc_probability);
  put("xtcThreshold", sample.xtc_threshold);
  put("mirostat", sample.mirostat);
  put("mirostatTau", sample.mirostat_tau);
  put("mirostatEta", sample.mirostat_eta);
  return values;
}

// A token with its text and its bytes, which may be less than a character. JSON has no infinity, so an impossible token
// gets a very low finite value.
json logprob_of(const Engine& engine, TokenId token, float logprob) {
  const std::string_view piece = engine.has_tokenizer() ? engine.tokenizer().piece(token, true) : std::string_view();
  return {{"token", token},
          {"text", std::string(piece)},
          {"bytes", std::vector<uint8_t>(piece.begin(), piece.end())},
          {"logprob", std::max(logprob, -9999.0f)}};
}

}  // namespace

std::string_view code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCorruption:
      return "corruption";
    case ErrorCode::kNotSupported:
      return "not_supported";
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kDeviceLost:
      return "device_lost";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kInterrupted:
      return "cancelled";
  }
  return "internal";
}

json info_of(const Engine& engine, int n_ctx) {
  const ModelInfo& i = engine.info();
  json info = {{"name", i.name},
               {"architecture", i.architecture},
               {"backend", i.backend},
               {"nParams", i.n_params},
               {"fileBytes", i.file_bytes},
               {"bytesPerToken", i.bytes_per_token},
               {"kvBytesPerToken", i.kv_bytes_per_token},
               {"nVocab", i.n_vocab},
               {"nCtx", n_ctx},
               {"nCtxTrained", i.n_ctx},
               {"nLayers", i.n_layers},
               {"hasTokenizer", engine.has_tokenizer()},
               {"hasChatTemplate", engine.has_chat_template()},
               {"threads", i.n_threads},
               {"sampling", {{"source", i.sampling.source}, {"values", values_of(i.sampling.values)}}}};
  if (const auto& adapter = i.adapter) {
    info["adapter"] = {{"name", adapter->name},
                       {"vendor", adapter->vendor},
                       {"driver", adapter->driver},
                       {"features", adapter->features},
                       {"failedTests", adapter->failed_tests}};
  }
  return info;
}

json logprobs_of(const Engine& engine, TokenId token, const Logprobs& logprobs) {
  json one = logprob_of(engine, token, logprobs.chosen);
  one["top"] = json::array();
  for (const auto& [id, logprob] : logprobs.top) one["top"].push_back(logprob_of(engine, id, logprob));
  return one;
}

std::string base64(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < n; ++k) word |= std::to_integer<uint32_t>(bytes[i + k]) << (16 - 8 * k);
    for (size_t k = 0; k < 4; ++k) text += k <= n ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace tern::web
