// Batches of `tern serve` that is killed in the middle.
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <format>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

using Json = nlohmann::json;

class Asker {
 public:
  explicit Asker(int port) : http_("127.0.0.1", port) { http_.set_connection_timeout(0, 60'000'000); }

  std::string text(const std::string& path) {
    const auto got = http_.Get(path);
    return got ? got->body : "";
  }
  Json get(const std::string& path) { return Json::parse(text(path), nullptr, false); }
  Json post(const std::string& path, const std::string& body, const std::string& type = "application/json") {
    const auto got = http_.Post(path, body, type);
    return got ? Json::parse(got->body, nullptr, false) : Json();
  }
  // Polls until `is_so` accepts the batch. Returns its last state.
  Json wait_for(const std::string& id, const std::function<bool(const Json&)>& is_so) {
    Json batch;
    for (int i = 0; i < 3000; ++i) {
      batch = get("/v1/batches/" + id);
      if (batch.is_object() && batch.contains("status") && is_so(batch)) return batch;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << batch;
    return batch;
  }

 private:
  httplib::Client http_;
};

// Serves with files in a folder. Once the server listens, `use` talks to it on a thread of its own, and then the server
// gets a signal. This thread must keep reading the log, because a server blocks when that pipe is full.
RunResult serve(const std::string& folder, int signal, const std::function<void(Asker& server)>& use) {
  bool is_used = false;
  std::jthread asking;
  const RunResult result = run_tern({"serve", "--port", "0", "--no-webui", "--files", folder, "--parallel", "4"},
                                    {.on_errors = [&](pid_t process, const std::string& err) {
                                      constexpr std::string_view kUrl = "http://127.0.0.1:";
                                      const size_t at = err.find(kUrl);
                                      if (is_used || at == err.npos || !err.ends_with('\n')) return;
                                      is_used = true;
                                      const int port = std::stoi(err.substr(at + kUrl.size()));
                                      asking = std::jthread([&use, process, port, signal] {
                                        Asker server(port);
                                        use(server);
                                        ::kill(process, signal);
                                      });
                                    }});
  EXPECT_TRUE(is_used) << result.err;
  return result;
}

constexpr int kLines = 40;

std::string begin_batch(Asker& server) {
  std::string lines;
  for (int i = 0; i < kLines; ++i) {
    const Json body = {{"prompt", "Once upon a time"}, {"max_tokens", 60}, {"ignore_eos", true}, {"seed", i}};
    lines +=
        Json{{"custom_id", std::to_string(i)}, {"method", "POST"}, {"url", "/v1/completions"}, {"body", body}}.dump() +
        "\n";
  }
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\n"
      "Content-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\r\n" +
      lines + "\r\n--b--\r\n";
  const Json file = server.post("/v1/files", form, "multipart/form-data; boundary=b");
  const Json batch = server.post(
      "/v1/batches",
      Json{{"input_file_id", file["id"]}, {"endpoint", "/v1/completions"}, {"completion_window", "24h"}}.dump());
  return batch["id"];
}

TEST(ServeFiles, ABatchOutlivesServersThatAreKilled) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("kept");
  std::string id;
  const auto has_answers = [](int n) {
    return [n](const Json& batch) { return batch["request_counts"]["completed"] >= n; };
  };
  const RunResult first = serve(folder, SIGKILL, [&](Asker& server) {
    id = begin_batch(server);
    server.wait_for(id, has_answers(3));
    // While the server runs, no other server may use the folder.
    const RunResult second = run_tern({"serve", "--port", "0", "--files", folder});
    EXPECT_TRUE(failed_with(second, 1, {folder, "another server"}));
  });
  EXPECT_EQ(first.exit_code, 128 + SIGKILL);
  serve(folder, SIGKILL, [&](Asker& server) { server.wait_for(id, has_answers(12)); });
  const RunResult last = serve(folder, SIGINT, [&](Asker& server) {
    const Json batch = server.wait_for(id, [](const Json& now) { return now["status"] == "completed"; });
    EXPECT_EQ(batch["request_counts"]["completed"], kLines);
    EXPECT_FALSE(batch.contains("error_file_id"));
    std::istringstream output(
        server.text(std::format("/v1/files/{}/content", batch["output_file_id"].get<std::string>())));
    std::set<std::string> ids;
    int n = 0;
    for (std::string line; std::getline(output, line); ++n) {
      const Json answer = Json::parse(line);
      EXPECT_EQ(answer["response"]["body"]["usage"]["completion_tokens"], 60);
      ids.insert(answer["custom_id"]);
    }
    EXPECT_EQ(n, kLines);
    EXPECT_EQ(ids.size(), kLines);
  });
  EXPECT_EQ(last.exit_code, 0) << last.err;
}

TEST(ServeFiles, AFolderThatCannotBeMade) {
  const ScratchFolder scratch;
  const std::string file = scratch.write("file", "x");
  EXPECT_TRUE(failed_with(run_tern({"serve", "--port", "0", "--files", file}), 1, {file, "folder"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--port", "0", "--files", file + "/below"}), 1, {file + "/below"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--files", "a", "--max-file-mib", "0"}), 2, {"--max-file-mib"}));
}

}  // namespace
}  // namespace tern::test
