// /v1/rerank and /score; models by any name.
#include <cmath>

#include "server/api/api_test_support.h"
#include "support/checkout.h"

namespace tern::server::test {
namespace {

const Engine& embedder() {
  static const Engine engine =
      Engine::load(
          {.model_path = source_path("models/tern-stories.gguf"), .backend = BackendKind::kCpu, .embeddings = true})
          .value();
  return engine;
}

// By the vectors of /v1/embeddings.
double closeness(const RunningServer& server, const std::string& a, const std::string& b) {
  const Json data = server.post("/v1/embeddings", Json{{"input", {a, b}}}).json["data"];
  const std::vector<double> x = data[0]["embedding"], y = data[1]["embedding"];
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xy / std::sqrt(xx * yy);
}

TEST(Similarity, TheClosestDocumentsComeFirst) {
  const RunningServer server({}, embedder());
  const std::vector<std::string> documents = {"a green boat", "a cat sat", "the cat sat there"};
  Json body = {{"query", "the cat sat"}, {"documents", documents}};
  const Json results = server.post("/v1/rerank", body).json["results"];
  ASSERT_EQ(results.size(), 3u);
  double last = 1;
  for (const Json& result : results) {
    const double score = result["relevance_score"];
    EXPECT_LE(score, last);
    last = score;
    EXPECT_NEAR(score, closeness(server, "the cat sat", documents[result["index"].get<size_t>()]), 1e-5);
  }
  body["top_n"] = 1;
  body["return_documents"] = true;
  body["documents"] = {{{"text", documents[0]}}, documents[1], documents[2]};
  const Json first = server.post("/rerank", body).json["results"];
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0]["index"], results[0]["index"]);
  EXPECT_EQ(first[0]["document"]["text"], documents[first[0]["index"].get<size_t>()]);
}

TEST(Similarity, ScoresOfPairs) {
  const RunningServer server({}, embedder());
  const Json one = server.post("/score", Json{{"text_1", "a cat"}, {"text_2", {"a dog", "a cat"}}}).json["data"];
  ASSERT_EQ(one.size(), 2u);
  EXPECT_NEAR(one[0]["score"].get<double>(), closeness(server, "a cat", "a dog"), 1e-5);
  EXPECT_NEAR(one[1]["score"].get<double>(), 1, 1e-5);
  const Json two = server.post("/v1/score", Json{{"text_1", {"a cat", "a dog"}}, {"text_2", {"a dog", "a cat"}}}).json;
  EXPECT_NEAR(two["data"][0]["score"].get<double>(), one[0]["score"].get<double>(), 1e-5);
  EXPECT_NEAR(two["data"][1]["score"].get<double>(), one[0]["score"].get<double>(), 1e-5);
}

TEST(Similarity, WrongRequestsAreRefusedByName) {
  const RunningServer server({}, embedder());
  const std::vector<Refusal> refusals = {
      {"/v1/rerank", R"({"documents": ["a"]})", 400, "query[0]", "empty"},
      {"/v1/rerank", R"({"query": "a"})", 400, "documents", "list"},
      {"/v1/rerank", R"({"query": "a", "documents": ["b", 7]})", 400, "documents[1]", "string"},
      {"/v1/rerank", R"({"query": "a", "documents": ["b"], "top_n": 0})", 400, "top_n", "from 1"},
      {"/score", R"({"text_1": "a"})", 400, "text_2", "missing"},
      {"/score", R"({"text_1": ["a", "b"], "text_2": ["a", "b", "c"]})", 400, "text_2", "has 3 texts"},
  };
  for (const Refusal& refusal : refusals) {
    const auto answer = server.post(refusal.path, refusal.body);
    EXPECT_EQ(answer.status, refusal.status) << refusal.body;
    EXPECT_EQ(answer.json["error"]["param"], refusal.param) << answer.text;
    EXPECT_TRUE(answer.json["error"]["message"].get<std::string>().contains(refusal.words)) << answer.text;
  }
  const RunningServer writer;
  EXPECT_EQ(writer.post("/score", Json{{"text_1", "a"}, {"text_2", "b"}}).status, 501);
}

TEST(AnyModel, EveryNameIsTheFirstModel) {
  const RunningServer server({.any_model = true});
  Json body = chat("Once");
  body["model"] = "claude-9";
  const Json answer = server.post(kChat, body).json;
  EXPECT_EQ(answer["model"], "stories") << answer;
  EXPECT_EQ(server.post("/api/show", Json{{"model", "llama"}}).status, 200);
  const RunningServer strict;
  EXPECT_EQ(strict.post(kChat, body).status, 404);
}

}  // namespace
}  // namespace tern::server::test
