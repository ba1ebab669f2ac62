#include "server/api/replies/similarity.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

using Tokens = std::vector<std::vector<TokenId>>;

// The cosine of the angle between them.
double closeness(const std::vector<float>& a, const std::vector<float>& b) {
  const auto product = [](const std::vector<float>& x, const std::vector<float>& y) {
    return std::transform_reduce(x.begin(), x.end(), y.begin(), 0.0, std::plus<>(),
                                 [](float p, float q) { return double{p} * q; });
  };
  const double lengths = std::sqrt(product(a, a) * product(b, b));
  return lengths > 0 ? product(a, b) / lengths : 0;
}

Json usage_json(const Embedder::Vectors& vectors) {
  Json usage = {{"prompt_tokens", vectors.n_tokens}, {"total_tokens", vectors.n_tokens}};
  if (vectors.joules) usage["joules"] = *vectors.joules;
  return usage;
}

ApiResult<Tokens> read_texts(const Json* texts, const std::string& name, const ModelProfile& model) {
  return read_embedding_inputs(texts, name, model, /*truncates=*/false);
}

// Documents are texts, or objects with a text.
ApiResult<Json> read_documents(const Fields& fields) {
  const Json* list = fields.find("documents");
  if (!list || !list->is_array() || list->empty()) return refuse("documents: must be a list of texts", "documents");
  Json texts = Json::array();
  for (const Json& document : *list) {
    const bool has_text = document.is_object() && document.contains("text");
    const Json& text = has_text ? document["text"] : document;
    if (!text.is_string()) {
      const std::string name = format_text("documents[{}]", texts.size());
      return refuse(name + ": must be a string, or an object with a text", name);
    }
    texts.push_back(text);
  }
  return texts;
}

}  // namespace

ApiResult<Json> rerank(const Json& body, const ModelProfile& model, Embedder& embedder) {
  Fields fields(body);
  std::string query;
  int most = std::numeric_limits<int>::max();
  bool with_texts = false;
  fields.read("query", query);
  fields.read("top_n", most, {1, static_cast<double>(most)});
  fields.read("return_documents", with_texts);
  TRY_STATUS(fields.check());
  TRY(const Json documents, read_documents(fields));
  const Json asked = query;
  TRY(Tokens tokens, read_texts(&asked, "query", model));
  TRY(Tokens others, read_texts(&documents, "documents", model));
  std::ranges::move(others, std::back_inserter(tokens));
  TRY(const Embedder::Vectors vectors, embedder.embed(tokens, std::nullopt));
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < documents.size(); ++i) {
    order.emplace_back(closeness(vectors.values[0], vectors.values[i + 1]), i);
  }
  std::ranges::stable_sort(order, std::greater<>(), &std::pair<double, size_t>::first);
  order.resize(std::min(order.size(), static_cast<size_t>(most)));
  Json results = Json::array();
  for (const auto& [closeness, index] : order) {
    Json result = {{"index", index}, {"relevance_score", closeness}};
    if (with_texts) result["document"] = {{"text", documents[index]}};
    results.push_back(std::move(result));
  }
  return Json{{"id", new_id("rerank-")},
              {"object", "list"},
              {"model", model.name},
              {"results", std::move(results)},
              {"usage", usage_json(vectors)}};
}

ApiResult<Json> score(const Json& body, const ModelProfile& model, Embedder& embedder) {
  const Fields fields(body);
  TRY(Tokens tokens, read_texts(fields.find("text_1"), "text_1", model));
  TRY(Tokens others, read_texts(fields.find("text_2"), "text_2", model));
  const size_t n_first = tokens.size(), n = std::max(n_first, others.size());
  if ((n_first != n && n_first != 1) || (others.size() != n && others.size() != 1)) {
    return refuse(format_text("text_2: has {} texts, and text_1 has {}", others.size(), n_first), "text_2");
  }
  const size_t n_second = others.size();
  std::ranges::move(others, std::back_inserter(tokens));
  TRY(const Embedder::Vectors vectors, embedder.embed(tokens, std::nullopt));
  Json data = Json::array();
  for (size_t i = 0; i < n; ++i) {
    const size_t first = n_first == 1 ? 0 : i, second = n_first + (n_second == 1 ? 0 : i);
    const double value = closeness(vectors.values[first], vectors.values[second]);
    data.push_back({{"index", i}, {"object", "score"}, {"score", value}});
  }
  return Json{{"id", new_id("score-")}, {"object", "list"},        {"created", unix_seconds()},
              {"model", model.name},    {"data", std::move(data)}, {"usage", usage_json(vectors)}};
}

}  // namespace tern::server
