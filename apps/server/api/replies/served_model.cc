#include "server/api/replies/served_model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/replies/chat_completions.h"
#include "server/api/replies/responses.h"
#include "server/connections/preparation.h"

namespace tern::server {
namespace {

constexpr std::array<ServedModel::ReplyRoute, 3> kReplyRoutes = {{{"/v1/chat/completions", read_chat_completion},
                                                                  {"/v1/completions", read_completion},
                                                                  {"/v1/responses", read_response}}};
constexpr std::string_view kEmbeddings = "/v1/embeddings";

ApiError only_for_embeddings() { return {.status = 501, .message = "the model was loaded for embeddings only"}; }

}  // namespace

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  constexpr std::string_view kTag = ":latest";
  if (std::ranges::contains(names, name)) return true;
  return name.ends_with(kTag) && std::ranges::contains(names, name.substr(0, name.size() - kTag.size()));
}

ServedModel::ServedModel(const Engine& engine, ServedModelOptions options)
    : names_(std::move(options.names)),
      any_name_(options.any_name),
      profile_{.engine = engine,
               .name = names_.front(),
               .n_ctx = 0,
               .defaults = options.defaults,
               .grammars = grammars_,
               .responses = options.responses,
               .mcp = std::move(options.mcp)} {}

Result<std::unique_ptr<ServedModel>> ServedModel::start(const Engine& engine, ServedModelOptions options) {
  if (!engine.has_tokenizer()) {
    return std::unexpected(
        Error{ErrorCode::kNotSupported,
              format_text("{}: the file has no tokenizer, so nobody could ask it anything", engine.info().path)});
  }
  if (options.names.empty()) options.names = {engine.info().name};
  ModelService::Options service = options.service;
  if (!computes_on_cpu(engine.info())) service.energy = nullptr;
  const Pooling pooling = options.pooling;
  std::unique_ptr<ServedModel> model(new ServedModel(engine, std::move(options)));
  const int n_ctx = service.scheduler.n_ctx;
  model->profile_.n_ctx = n_ctx > 0 ? n_ctx : engine.info().n_ctx;
  auto vectors = Embedder::open(engine, pooling, model->profile_.n_ctx, service.energy);
  if (!vectors) return std::unexpected(vectors.error());
  model->embedder_ = *std::move(vectors);
  if (model->embedder_) return model;
  auto started = ModelService::start(engine, service);
  if (!started) return std::unexpected(started.error());
  model->service_ = *std::move(started);
  model->profile_.n_ctx = model->service_->n_ctx();
  return model;
}

ApiResult<void> ServedModel::check_name(const Json& body) const {
  Fields fields(body);
  std::string name;
  fields.read("model", name);
  TRY_STATUS(fields.check());
  if (name.empty() || any_name_ || is_among(names_, name)) return {};
  return std::unexpected(ApiError{
      .status = 404,
      .message = format_text("model: there is no '{}' here; there is '{}'", name.substr(0, 100), profile_.name),
      .param = "model",
      .code = "model_not_found"});
}

std::span<const ServedModel::ReplyRoute> ServedModel::reply_routes() { return kReplyRoutes; }

ApiResult<void> ServedModel::check_route(const std::string& route, bool embedding) {
  if (route == kEmbeddings) {
    if (embedding) return {};
    return std::unexpected(
        ApiError{.status = 501, .message = "the model was not loaded for embeddings; start with --embedding"});
  }
  if (!std::ranges::contains(kReplyRoutes, route, &ReplyRoute::path)) {
    return std::unexpected(ApiError{.status = 404, .message = format_text("there is nothing at {}", route)});
  }
  if (!embedding) return {};
  return std::unexpected(only_for_embeddings());
}

ApiResult<Asked> ServedModel::read(ReadRequest reader, const Json& body, const Client& client) const {
  TRY_STATUS(check_writes());
  TRY_STATUS(check_name(body));
  return reader(body, profile_, client);
}

ApiResult<void> ServedModel::check_writes() const {
  return embedder_ ? std::unexpected(only_for_embeddings()) : ApiResult<void>();
}

ApiResult<Embedder*> ServedModel::embedder() const {
  TRY_STATUS(check_route(std::string(kEmbeddings), embedder_ != nullptr));
  return embedder_.get();
}

ApiResult<Json> ServedModel::embed(const Json& body) {
  TRY_STATUS(check_route(std::string(kEmbeddings), embedder_ != nullptr));
  TRY_STATUS(check_name(body));
  return embedder_->answer(body, profile_);
}

ApiResult<Json> ServedModel::answer(const std::string& route, const Json& body, const std::function<bool()>& is_wanted,
                                    bool in_background, size_t n_bytes) {
  if (route == kEmbeddings) return embed(body);
  TRY_STATUS(check_route(route, embedder_ != nullptr));
  Json unkept = body;
  unkept["store"] = false;  // no conversation continues an answer in a batch's file
  std::optional<ApiResult<Asked>> read_one;
  Preparation::shared().run(n_bytes, [&] {
    read_one.emplace(read(std::ranges::find(kReplyRoutes, route, &ReplyRoute::path)->read, unkept, {}));
  });
  TRY(Asked asked, *std::move(read_one));
  asked.options.stream = false;
  return whole_answer(*service_, std::move(asked), is_wanted, in_background);
}

}  // namespace tern::server
