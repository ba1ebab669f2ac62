// Foreign web pages and names that lead here, at a server without API keys.
#include <algorithm>

#include "server/api/api_test_support.h"
#include "server/api/routes/request_origin.h"
#include "server/raw_client_test_support.h"

namespace tern::server::test {
namespace {

httplib::Headers page(const std::string& origin) { return {{"Origin", origin}}; }

int status_with(const RunningServer& server, const httplib::Headers& headers) {
  const auto client = server.client();
  return client->Get("/v1/models", headers)->status;
}

TEST(ApiOrigin, NamesThatDoNotBelongToThisMachine) {
  const RunningServer server;
  for (const std::string host : {"127.0.0.1", "127.1.2.3:80", "localhost:8080", "LOCALHOST", "tern.localhost",
                                 "[::1]:1", "host.docker.internal:8080"}) {
    EXPECT_EQ(status_with(server, {{"Host", host}}), 200) << host;
  }
  for (const std::string host : {"evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]:8080",
                                 "notlocalhost", "128.0.0.1", "127.evil.example"}) {
    EXPECT_EQ(status_with(server, {{"Host", host}}), 403) << host;
  }
  const auto client = server.client();
  EXPECT_EQ(client->Get("/health", {{"Host", "a.proxy.example"}})->status, 200);
  const auto refused =
      client->Post("/v1/completions", {{"Host", "evil.example:8080"}}, completion("Once").dump(), "application/json");
  EXPECT_EQ(refused->status, 403);
  EXPECT_TRUE(refused->body.contains("not for evil.example:8080; --allow-origin http://evil.example:8080"))
      << refused->body;
}

// Browsers send a form or plain text without asking first.
TEST(ApiOrigin, PagesOfStrangers) {
  const RunningServer server;
  const std::string own = "http://127.0.0.1:" + std::to_string(server.port());
  for (const std::string& origin : {own, std::string("http://localhost:3000"), std::string("app://obsidian.md")}) {
    EXPECT_EQ(status_with(server, page(origin)), 200) << origin;
  }
  for (const std::string origin : {"https://evil.example", "http://evil.example:8080", "null", "http://10.0.0.7"}) {
    EXPECT_EQ(status_with(server, page(origin)), 403) << origin;
  }
  const auto client = server.client();
  EXPECT_EQ(client->Post(kText, page("https://evil.example"), completion("Once").dump(), "text/plain")->status, 403);
}

TEST(ApiOrigin, ListedPagesMayReadAnswers) {
  const RunningServer server({.allowed_origins = {"https://Chat.example.org"}});
  const auto client = server.client();
  const std::string origin = "https://chat.example.org";
  const auto answer = client->Post(kText, page(origin), completion("Once", 2).dump(), "application/json");
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Access-Control-Allow-Origin"), origin);
  const auto [first, last] = answer->headers.equal_range("Vary");
  EXPECT_TRUE(std::any_of(first, last, [](const auto& header) { return header.second == "Origin"; }));
  EXPECT_EQ(client->Get("/v1/models", {{"Host", "chat.example.org"}})->status, 200) << "through a proxy with this name";
  const httplib::Headers ask = {{"Origin", origin},
                                {"Access-Control-Request-Method", "POST"},
                                {"Access-Control-Request-Headers", "authorization,content-type"}};
  const auto preflight = client->Options("/v1/chat/completions", ask);
  EXPECT_EQ(preflight->status, 204);
  EXPECT_EQ(preflight->get_header_value("Access-Control-Allow-Origin"), origin);
  EXPECT_EQ(preflight->get_header_value("Access-Control-Allow-Headers"), "authorization,content-type");
  EXPECT_TRUE(preflight->get_header_value("Access-Control-Allow-Methods").contains("POST"));
  EXPECT_EQ(status_with(server, page("https://chat.example.com")), 403);
}

TEST(ApiOrigin, WithKeysAPageNeedsOne) {
  const RunningServer server({.api_keys = {"secret"}, .allowed_origins = {"https://chat.example.org"}});
  const auto client = server.client();
  const auto ask = [&](const std::string& origin, const std::string& key) {
    return client->Get("/v1/models", {{"Origin", origin}, {"Host", "tern.example"}, {"Authorization", key}});
  };
  EXPECT_EQ(ask("https://chat.example.org", "Bearer secret")->status, 200);
  EXPECT_EQ(ask("https://chat.example.org", "bearer secret")->status, 200) << "a scheme has no case";
  EXPECT_EQ(ask("https://chat.example.org", "Bearer wrong")->status, 401);
  EXPECT_EQ(ask("https://chat.example.org", "Bearer wrong")->get_header_value("Access-Control-Allow-Origin"),
            "https://chat.example.org");
  const auto stranger = ask("https://evil.example", "Bearer secret");
  EXPECT_EQ(stranger->status, 200);
  EXPECT_FALSE(stranger->has_header("Access-Control-Allow-Origin"));
  httplib::Headers preflight = page("https://chat.example.org");
  preflight.emplace("Access-Control-Request-Method", "POST");
  EXPECT_EQ(client->Options("/v1/completions", preflight)->status, 204) << "browsers ask without a key";
}

TEST(ApiOrigin, AllPages) {
  const RunningServer server({.allowed_origins = {"*"}});
  EXPECT_EQ(status_with(server, page("https://any.example")), 200);
  EXPECT_EQ(status_with(server, {{"Host", "any.example"}}), 200);
}

TEST(ApiOrigin, FormsOfOrigins) {
  for (const char* right : {"*", "null", "https://a.example", "http://a.example:80", "app://x", "http://[::1]:8080"}) {
    EXPECT_TRUE(is_origin(right)) << right;
  }
  for (const char* wrong : {"", "a.example", "https://", "://a", "https://a.example/", "https://a b"}) {
    EXPECT_FALSE(is_origin(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace tern::server::test
