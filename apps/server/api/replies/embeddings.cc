#include "server/api/replies/embeddings.h"

#include <bit>
#include <cstring>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

constexpr size_t kMostInputs = 2048;

// Reads a text, a list of token ids, or a list of either.
ApiResult<std::vector<std::vector<TokenId>>> read_inputs(const Json* input, const ModelProfile& model) {
  const Tokenizer& tokenizer = model.engine.tokenizer();
  if (!input) return refuse("input: is missing; give a text", "input", "missing_required_parameter");
  const auto is_ids = [](const Json& json) { return json.is_array() && !json.empty() && json[0].is_number(); };
  Json list = input->is_string() || is_ids(*input) ? Json::array({*input}) : *input;
  if (!list.is_array() || list.empty()) return refuse("input: must be a string or a list of strings", "input");
  if (list.size() > kMostInputs) {
    return refuse(format_text("input: has {} texts; at most {} are possible", list.size(), kMostInputs), "input");
  }
  std::vector<std::vector<TokenId>> inputs;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = format_text("input[{}]", i);
    std::vector<TokenId> tokens;
    if (list[i].is_string()) {
      const auto& text = list[i].get_ref<const std::string&>();
      if (text.empty()) return refuse(format_text("{}: is empty, and has no vector", name), name);
      tokens = tokenizer.encode(text);
      if (tokenizer.final_token()) tokens.push_back(*tokenizer.final_token());
    } else if (is_ids(list[i])) {
      for (const Json& id : list[i]) {
        const int64_t number = id.is_number_integer() ? id.get<int64_t>() : -1;
        if (number < 0 || number >= tokenizer.vocab_size()) {
          return refuse(format_text("{}: holds what is no token of the model", name), name);
        }
        tokens.push_back(static_cast<TokenId>(number));
      }
    } else {
      return refuse(format_text("{}: must be a string, or a list of token ids", name), name);
    }
    TRY_STATUS(check_prompt_length(tokens.size(), model.n_ctx, name));
    inputs.push_back(std::move(tokens));
  }
  return inputs;
}

// The numbers' little-endian bytes in base64, for clients that want shorter answers.
std::string base64(const std::vector<float>& values) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  const size_t n = values.size() * sizeof(float);
  std::string text;
  for (size_t i = 0; i < n; i += 3) {
    const size_t left = n - i;
    const unsigned bits = unsigned{bytes[i]} << 16 | (left > 1 ? unsigned{bytes[i + 1]} << 8 : 0) |
                          (left > 2 ? unsigned{bytes[i + 2]} : 0);
    for (size_t digit = 0; digit < 4; ++digit) {
      text += digit > left ? '=' : kDigits[(bits >> (18 - 6 * digit)) & 63];
    }
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Embedder>> Embedder::open(const Engine& engine, Pooling pooling, int n_ctx,
                                                 EnergyMeter* energy) {
  if (!engine.info().embeddings) return nullptr;
  auto session = engine.new_session({.n_ctx = n_ctx});
  if (!session) return std::unexpected(session.error());
  return std::unique_ptr<Embedder>(new Embedder(*std::move(session), pooling, energy));
}

ApiResult<Json> Embedder::answer(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  std::string format = "float";
  fields.read("encoding_format", format);
  if (format != "float" && format != "base64") fields.fail("encoding_format", "must be float or base64");
  std::optional<int> dimensions;
  const int n_embd = model.engine.info().n_embd;
  fields.read("dimensions", dimensions, Fields::Range{1, 1e9});
  if (dimensions && *dimensions != n_embd) {
    fields.fail("dimensions", format_text("other than the model's {} is not supported", n_embd));
  }
  TRY_STATUS(fields.check());
  TRY(const auto inputs, read_inputs(fields.find("input"), model));
  Json data = Json::array();
  size_t n_tokens = 0;
  const std::scoped_lock lock(mutex_);
  energy_.begin();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Result<std::vector<float>> values = session_.embed(inputs[i], pooling_);
    if (!values) {
      energy_.take(/*goes_on=*/false);
      return std::unexpected(api_error(values.error()));
    }
    n_tokens += inputs[i].size();
    Json vector = format == "base64" ? Json(base64(*values)) : Json(*values);
    data.push_back({{"object", "embedding"}, {"index", i}, {"embedding", std::move(vector)}});
  }
  Json usage = {{"prompt_tokens", n_tokens}, {"total_tokens", n_tokens}};
  const double joules = energy_.take(/*goes_on=*/false);
  if (energy_.is_measured()) usage["joules"] = joules;
  return Json{{"object", "list"}, {"data", std::move(data)}, {"model", model.name}, {"usage", std::move(usage)}};
}

}  // namespace tern::server
