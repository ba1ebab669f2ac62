// Files and batches over HTTP, with the default model.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/api/api_test_support.h"
#include "server/raw_client_test_support.h"

namespace tern::server::test {
namespace {

class Files : public testing::Test {
 protected:
  Files() { std::filesystem::remove_all(folder_); }

  ApiOptions options() const { return {.files_folder = folder_, .max_file_bytes = size_t{2} << 20}; }

  static RunningServer::Answer post(const RunningServer& server, const std::string& body) {
    return server.post_form("/v1/files", body);
  }
  static std::string upload(const RunningServer& server, const std::string& text) {
    const auto answer = post(server, form({{"file", text, "in.jsonl"}, {"purpose", "batch"}}));
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.json["id"];
  }
  static std::string lines(int n, int max_tokens) {
    std::string text;
    for (int i = 0; i < n; ++i) {
      Json body = completion("Once upon a time", max_tokens);
      body["ignore_eos"] = true;
      text += Json{{"custom_id", std::to_string(i)}, {"method", "POST"}, {"url", kText}, {"body", body}}.dump() + "\n";
    }
    return text;
  }
  static std::string create(const RunningServer& server, const std::string& file) {
    const auto answer =
        server.post("/v1/batches", Json{{"input_file_id", file}, {"endpoint", kText}, {"completion_window", "24h"}});
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.json["id"];
  }
  // Waits long enough even for a slow sanitizer.
  static bool is_soon(const std::function<bool()>& is_so) { return soon(is_so, std::chrono::seconds(100)); }
  static Json batch(const RunningServer& server, const std::string& id) { return server.get("/v1/batches/" + id).json; }

  const std::string folder_ = (std::filesystem::temp_directory_path() / "kept").string();
};

TEST_F(Files, WhatIsNoUploadIsRefused) {
  const RunningServer server(options());
  struct Case {
    std::string body;
    int status;
    std::string words;
  };
  const Part file = {"file", "{}", "a"}, purpose = {"purpose", "batch"};
  for (const auto& [body, status, words] :
       {Case{form({purpose}), 400, "file: is missing"}, Case{form({file}), 400, "purpose: is missing"},
        Case{form({file, {"purpose", "fine-tune"}}), 400, "'fine-tune'"},
        Case{form({{"file", "", "a"}, purpose}), 400, "file: is empty"},
        Case{form({file, file, purpose}), 400, "file: may be there once"},
        Case{form({file, purpose, {"expires_after[anchor]", "now"}}), 400, "expires_after.anchor"},
        Case{form({file, purpose, {"expires_after[anchor]", "created_at"}, {"expires_after[seconds]", "1"}}), 400,
             "expires_after.seconds"},
        Case{form({{"file", std::string(size_t{3} << 20, 'x'), "a"}, purpose}), 413, "--max-file-mib"},
        Case{form({{"purpose", std::string(10'000, 'x')}}), 400, "longer than"},
        Case{"--" + kBoundary + "\r\nContent-Disp", 400, ""}}) {
    const auto answer = post(server, body);
    EXPECT_EQ(answer.status, status) << answer.text;
    EXPECT_TRUE(answer.text.contains(words)) << answer.text;
  }
  EXPECT_EQ(server.post("/v1/files", std::string("{}")).status, 415);
  EXPECT_EQ(server.get("/v1/files").json["data"].size(), 0u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/files"));
  // All other requests keep their own limit.
  EXPECT_EQ(server.post("/v1/nothing", std::string("{}")).status, 404);
  const auto status_of_head = [&](const std::string& head, const std::string& body = "") {
    const RawClient client(server.port());
    client.send(head + " HTTP/1.1\r\nHost: localhost\r\n\r\n" + body);
    const std::string answer = client.receive();
    return answer.starts_with("HTTP/1.1 ") ? answer.substr(9, 3) : answer;
  };
  const std::string much = " HTTP/1.1\r\nContent-Length: 17000000\r\nX:";
  EXPECT_EQ(status_of_head("POST /v1/completions" + much), "413");
  EXPECT_EQ(status_of_head("POST /v1/nothing" + much), "413");
  EXPECT_EQ(status_of_head("DELETE /v1/files/x" + much), "413");
  EXPECT_EQ(status_of_head("DELETE /v1/files/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX:", "0\r\n\r\n"), "411");
  for (const char* path : {"/v1/files?limit=0", "/v1/files?limit=x", "/v1/files?order=up", "/v1/files?after=file-x",
                           "/v1/batches?limit=101"}) {
    EXPECT_EQ(server.get(path).status, 400) << path;
  }
}

TEST_F(Files, NamesAreNoPaths) {
  const RunningServer server(options());
  std::ofstream(folder_ + "/secret.data") << "secret";
  const auto answer = post(server, form({{"file", "{}", "../../../escaped"}, {"purpose", "batch"}}));
  EXPECT_EQ(answer.json["filename"], "../../../escaped");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(folder_).parent_path() / "escaped"));
  for (const char* id : {"..%2Fsecret", "%2E%2E%2Fsecret", "..", "secret", "%00", "lock"}) {
    EXPECT_EQ(server.get(std::string("/v1/files/") + id + "/content").status, 404) << id;
    const auto removed = server.client()->Delete(std::string("/v1/files/") + id);
    EXPECT_EQ(removed ? removed->status : 0, 404) << id;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/secret.data"));
}

TEST_F(Files, WithoutAFolderTheRoutesSayWhatToDo) {
  const RunningServer server;
  for (const char* path : {"/v1/files", "/v1/files/file-x", "/v1/files/file-x/content", "/v1/batches/batch_x"}) {
    const auto answer = server.get(path);
    EXPECT_EQ(answer.status, 501) << path;
    EXPECT_TRUE(answer.text.contains("--files DIR")) << answer.text;
  }
  EXPECT_EQ(server.post("/v1/batches", Json::object()).status, 501);
  EXPECT_EQ(post(server, form({{"purpose", "batch"}})).status, 501);
}

// A batch takes the only place, and no request may wait.
TEST_F(Files, ABatchSendsNobodyAway) {
  ApiOptions with = options();
  with.scheduler.max_replies = 1;
  with.max_waiting = 0;
  with.slots = true;
  const RunningServer server(std::move(with));
  const std::string id = create(server, upload(server, lines(4, 150)));
  ASSERT_TRUE(is_soon([&] { return n_running(server) == 1; }));
  const auto answer = server.post(kText, completion("Once upon a time", 4));
  EXPECT_EQ(answer.status, 200) << answer.text;
  EXPECT_NE(batch(server, id)["status"], "completed");
  ASSERT_TRUE(is_soon([&] { return batch(server, id)["status"] == "completed"; })) << batch(server, id);
  EXPECT_EQ(batch(server, id)["request_counts"]["completed"], 4);
}

TEST_F(Files, ABatchGoesOnWhenTheServerStartsAgain) {
  std::string id;
  ApiOptions slow = options();
  slow.scheduler.max_replies = 2;
  {
    RunningServer server(slow);
    id = create(server, upload(server, lines(8, 40)));
    ASSERT_TRUE(is_soon([&] { return batch(server, id)["request_counts"]["completed"] >= 2; }));
    server.stop();
  }
  const RunningServer server(options());
  ASSERT_TRUE(is_soon([&] { return batch(server, id)["status"] == "completed"; })) << batch(server, id);
  const auto output =
      server.get("/v1/files/" + batch(server, id)["output_file_id"].get<std::string>() + "/content").text;
  EXPECT_EQ(std::ranges::count(output, '\n'), 8);
  for (int i = 0; i < 8; ++i) {
    const std::string custom_id = "\"custom_id\":\"" + std::to_string(i) + "\"";
    const size_t at = output.find(custom_id);
    EXPECT_NE(at, output.npos) << i;
    EXPECT_EQ(output.find(custom_id, at + 1), output.npos) << i;
  }
}

}  // namespace
}  // namespace tern::server::test
