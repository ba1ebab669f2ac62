// The chat page beside the API: which address returns what.
#include <filesystem>
#include <fstream>

#include "server/api/api_test_support.h"
#include "support/checkout.h"

namespace tern::server::test {
namespace {

// A folder with a page of two files, and a subfolder with the name of a route.
class Page : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("tern-page-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "chat");
    write("index.html", "<p>the page");
    write("chat/chat.js", "let chat;");
    write("chat/completions", "no route");
    write("models", "no route");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const char* name, const char* text) const { std::ofstream(folder_ / name) << text; }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

std::string type_of(const RunningServer::Answer& answer) {
  const auto found = answer.headers.find("Content-Type");
  return found == answer.headers.end() ? "" : found->second;
}

TEST_F(Page, IsAtTheAddressItself) {
  const RunningServer server({.page_folder = folder()});
  const auto page = server.get("/?from=somewhere");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.text, "<p>the page");
  EXPECT_EQ(type_of(page), "text/html; charset=utf-8");
  EXPECT_TRUE(page.headers.contains("ETag"));
  EXPECT_EQ(type_of(server.get("/chat/chat.js")), "text/javascript; charset=utf-8");
  EXPECT_EQ(server.get("/models").json["data"][0]["id"], "stories");
  EXPECT_EQ(server.get("/v1/models").json["data"][0]["id"], "stories");
  const Json body = {{"messages", {{{"role", "user"}, {"content", "Once"}}}}, {"max_tokens", 1}};
  EXPECT_EQ(server.post("/chat/completions", body).json["object"], "chat.completion");
}

TEST_F(Page, WhatItHasNotIsAnsweredAsTheInterfaceDoes) {
  const RunningServer server({.page_folder = folder()});
  for (const char* path : {"/nothing", "/chat", "/chat/", "/v1/index.html", "/../index.html"}) {
    const auto answer = server.get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.json["error"]["type"], "not_found_error") << path << ": " << answer.text;
  }
  for (const char* path : {"/", "/chat/chat.js", "/v1/chat/completion"}) {
    EXPECT_EQ(server.post(path, Json::object()).status, 404) << path;
  }
}

TEST_F(Page, IsForThoseWithoutAKey) {
  const RunningServer server({.api_keys = {"secret"}, .page_folder = folder()});
  EXPECT_EQ(server.get("/").text, "<p>the page");
  EXPECT_EQ(server.get("/chat/chat.js").status, 200);
  for (const char* path : {"/props", "/models", "/v1/models", "/chat/completions", "/nothing"}) {
    EXPECT_EQ(server.get(path).status, 401) << path;
  }
}

TEST_F(Page, AFolderOfOnesOwnTakesItsPlace) {
  const std::string own = folder() + "/chat";
  const RunningServer server({.static_folder = own, .page_folder = folder()});
  EXPECT_EQ(server.get("/chat.js").text, "let chat;");
  EXPECT_EQ(server.get("/").status, 404);
}

TEST_F(Page, WithoutItAFewWordsSayWhatIsThere) {
  for (const std::vector<std::string>& keys : {std::vector<std::string>(), {"secret"}}) {
    const RunningServer server({.api_keys = keys});
    const auto answer = server.get("/");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(type_of(answer), "text/plain; charset=utf-8");
    EXPECT_TRUE(answer.text.contains("OpenAI's clients here, under /v1")) << answer.text;
    EXPECT_TRUE(answer.text.contains("no page to chat on: none is installed")) << answer.text;
  }
}

TEST_F(Page, AModelOfVectorsHasNone) {
  static const Engine engine =
      Engine::load(
          {.model_path = source_path("models/tern-stories.gguf"), .backend = BackendKind::kCpu, .embeddings = true})
          .value();
  const RunningServer server({.page_folder = folder()}, engine);
  const auto answer = server.get("/");
  EXPECT_EQ(type_of(answer), "text/plain; charset=utf-8");
  EXPECT_TRUE(answer.text.contains("makes vectors")) << answer.text;
}

TEST(PageFolder, ThatIsNotThereIsAnError) {
  const auto server =
      ApiServer::open(stories(), {.address = {.port = 0}, .names = {"stories"}, .page_folder = "/nowhere"});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(server.error().message.contains("/nowhere")) << server.error().message;
}

}  // namespace
}  // namespace tern::server::test
