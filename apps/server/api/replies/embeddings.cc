#include "server/api/replies/embeddings.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/text/format_text.h"
#include "server/api/base64.h"

namespace tern::server {
namespace {

constexpr size_t kMostInputs = 2048;

bool is_ids(const Json& json) { return json.is_array() && !json.empty() && json[0].is_number(); }

// A text's tokens, or the ids in a list.
ApiResult<std::vector<TokenId>> read_input(const Json& input, const std::string& name, const ModelProfile& model) {
  const Tokenizer& tokenizer = model.engine.tokenizer();
  if (input.is_string()) {
    const auto& text = input.get_ref<const std::string&>();
    if (text.empty()) return refuse(format_text("{}: is empty, and has no vector", name), name);
    std::vector<TokenId> tokens = tokenizer.encode(text);
    if (tokenizer.final_token()) tokens.push_back(*tokenizer.final_token());
    return tokens;
  }
  if (!is_ids(input)) return refuse(format_text("{}: must be a string, or a list of token ids", name), name);
  std::vector<TokenId> tokens;
  for (const Json& id : input) {
    const int64_t number = id.is_number_integer() ? id.get<int64_t>() : -1;
    if (number < 0 || number >= tokenizer.vocab_size()) {
      return refuse(format_text("{}: holds what is no token of the model", name), name);
    }
    tokens.push_back(static_cast<TokenId>(number));
  }
  return tokens;
}

void cut_off(std::vector<TokenId>& tokens, size_t most, const std::optional<TokenId>& final_token) {
  if (tokens.size() <= most) return;
  tokens.resize(most);
  if (final_token) tokens.back() = *final_token;
}

void shorten(std::vector<float>& vector, size_t n) {
  if (n >= vector.size()) return;
  vector.resize(n);
  double squares = 0;
  for (const float value : vector) squares += double{value} * value;
  if (squares == 0) return;
  const double length = std::sqrt(squares);
  for (float& value : vector) value = static_cast<float>(value / length);
}

// The numbers' little-endian bytes in base64, for clients that want shorter answers.
std::string base64(const std::vector<float>& values) {
  static_assert(std::endian::native == std::endian::little);
  return to_base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

}  // namespace

ApiResult<std::vector<std::vector<TokenId>>> read_embedding_inputs(const Json* input, const std::string& name,
                                                                   const ModelProfile& model, bool truncates) {
  if (!input) return refuse(format_text("{}: is missing; give a text", name), name, "missing_required_parameter");
  const Json list = input->is_string() || is_ids(*input) ? Json::array({*input}) : *input;
  if (!list.is_array() || list.empty()) {
    return refuse(format_text("{}: must be a string or a list of strings", name), name);
  }
  if (list.size() > kMostInputs) {
    return refuse(format_text("{}: has {} texts; at most {} are possible", name, list.size(), kMostInputs), name);
  }
  std::vector<std::vector<TokenId>> inputs;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string place = format_text("{}[{}]", name, i);
    TRY(std::vector<TokenId> tokens, read_input(list[i], place, model));
    if (truncates) cut_off(tokens, static_cast<size_t>(model.n_ctx), model.engine.tokenizer().final_token());
    TRY_STATUS(check_prompt_length(tokens.size(), model.n_ctx, place));
    inputs.push_back(std::move(tokens));
  }
  return inputs;
}

std::optional<int> read_dimensions(Fields& fields, const ModelProfile& model) {
  std::optional<int> dimensions;
  fields.read("dimensions", dimensions, Fields::Range{1, static_cast<double>(model.engine.info().n_embd)});
  return dimensions;
}

Result<std::unique_ptr<Embedder>> Embedder::open(const Engine& engine, Pooling pooling, int n_ctx,
                                                 EnergyMeter* energy) {
  if (!engine.info().embeddings) return nullptr;
  auto session = engine.new_session({.n_ctx = n_ctx});
  if (!session) return std::unexpected(session.error());
  return std::unique_ptr<Embedder>(new Embedder(*std::move(session), pooling, energy));
}

ApiResult<Embedder::Vectors> Embedder::embed(const std::vector<std::vector<TokenId>>& inputs,
                                             std::optional<int> dimensions) {
  Vectors vectors;
  const std::scoped_lock lock(mutex_);
  energy_.begin();
  for (const std::vector<TokenId>& input : inputs) {
    Result<std::vector<float>> values = session_.embed(input, pooling_);
    if (!values) {
      energy_.take(/*goes_on=*/false);
      return std::unexpected(api_error(values.error()));
    }
    if (dimensions) shorten(*values, static_cast<size_t>(*dimensions));
    vectors.n_tokens += input.size();
    vectors.values.push_back(*std::move(values));
  }
  const double joules = energy_.take(/*goes_on=*/false);
  if (energy_.is_measured()) vectors.joules = joules;
  return vectors;
}

ApiResult<Json> Embedder::answer(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  std::string format = "float";
  fields.read("encoding_format", format);
  if (format != "float" && format != "base64") fields.fail("encoding_format", "must be float or base64");
  const std::optional<int> dimensions = read_dimensions(fields, model);
  TRY_STATUS(fields.check());
  TRY(const auto inputs, read_embedding_inputs(fields.find("input"), "input", model, /*truncates=*/false));
  TRY(const Vectors vectors, embed(inputs, dimensions));
  Json data = Json::array();
  for (const std::vector<float>& values : vectors.values) {
    Json vector = format == "base64" ? Json(base64(values)) : Json(values);
    data.push_back({{"object", "embedding"}, {"index", data.size()}, {"embedding", std::move(vector)}});
  }
  Json usage = {{"prompt_tokens", vectors.n_tokens}, {"total_tokens", vectors.n_tokens}};
  if (vectors.joules) usage["joules"] = *vectors.joules;
  return Json{{"object", "list"}, {"data", std::move(data)}, {"model", model.name}, {"usage", std::move(usage)}};
}

}  // namespace tern::server
