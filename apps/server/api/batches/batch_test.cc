#include "server/api/batches/batch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

std::string lines(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    const Json body = {{"prompt", "Once upon a time"}, {"max_tokens", 3 + i % 4}, {"temperature", 0}};
    const Json line = {
        {"custom_id", std::to_string(i)}, {"method", "POST"}, {"url", "/v1/completions"}, {"body", body}};
    text += line.dump() + "\n";
  }
  return text;
}

class Batch : public testing::Test {
 protected:
  Batch() { std::filesystem::remove_all(folder_), std::filesystem::create_directories(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  void write(const char* name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::string read(const char* name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<Json> answers() const {
    std::vector<Json> all;
    std::ifstream file(path("out"));
    for (std::string line; std::getline(file, line);) all.push_back(Json::parse(line));
    return all;
  }
  Result<BatchResult> run(const std::function<void(size_t, size_t)>& on_progress = {}, std::stop_token stop = {}) {
    return run_batch(*model_, {.in = path("in"), .out = path("out"), .n_at_once = 4, .on_progress = on_progress}, stop);
  }
  void expect_refused(const std::string& in, const std::string& words) {
    write("in", in);
    const auto result = run();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(result.error().message.contains(words)) << result.error().message;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "batch";
  std::unique_ptr<ServedModel> model_ = ServedModel::start(stories(), {.names = {"stories"}}).value();
};

TEST_F(Batch, EachRequestIsAnsweredOnce) {
  write("in", lines(20));
  const BatchResult result = run().value();
  EXPECT_EQ(result.n_answered, 20u);
  EXPECT_EQ(result.n_wrong, 0u);
  EXPECT_TRUE(result.is_complete());
  std::set<std::string> ids;
  for (const Json& answer : answers()) {
    ids.insert(answer["custom_id"]);
    EXPECT_EQ(answer["response"]["status_code"], 200);
    const int i = std::stoi(answer["custom_id"].get<std::string>());
    EXPECT_EQ(answer["response"]["body"]["usage"]["completion_tokens"], 3 + i % 4);
  }
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_EQ(answers().size(), 20u);
}

// Where replies are being written besides, a file's lines are read on threads that give way.
TEST_F(Batch, LinesAreParsedBesideOtherWork) {
  std::string text = lines(200);
  text += Json{{"custom_id", "long"},
               {"method", "POST"},
               {"url", "/v1/completions"},
               {"body", {{"prompt", std::string(3 << 20, 'a')}}}}
              .dump();
  write("in", text);
  const int priority = ::getpriority(PRIO_PROCESS, 0);
  for (const bool gives_way : {false, true}) {
    BatchInput input = BatchInput::open(path("in"), gives_way).value();
    const auto check = [&](const BatchRequest&, size_t) -> std::optional<BatchFault> {
#ifdef __linux__
      EXPECT_EQ(::getpriority(PRIO_PROCESS, 0) > priority, gives_way);
#endif
      return std::nullopt;
    };
    EXPECT_TRUE(input.validate({.check = check}).value().empty());
    EXPECT_EQ(input.n_requests(), 201u);
    const BatchRequest last = input.request(200).value();
    EXPECT_EQ(last.body["prompt"].get_ref<const std::string&>().size(), size_t{3} << 20);
    EXPECT_EQ(last.n_bytes, text.size() - text.rfind('\n') - 1);
  }
}

TEST_F(Batch, GoesOnWhereItWasBrokenOff) {
  write("in", lines(20));
  std::stop_source stop;
  const BatchResult first =
      run([&](size_t n_done, size_t) { n_done >= 5 ? stop.request_stop() : false; }, stop.get_token()).value();
  EXPECT_FALSE(first.is_complete());
  EXPECT_GE(first.n_answered, 5u);
  std::string text = read("out");
  text.resize(text.size() - 7);  // imitates an incomplete last line
  write("out", text);
  const BatchResult second = run().value();
  EXPECT_EQ(second.n_there, first.n_answered - 1);
  EXPECT_TRUE(second.is_complete());
  std::set<std::string> ids;
  for (const Json& answer : answers()) ids.insert(answer["custom_id"]);
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_EQ(answers().size(), 20u);
  EXPECT_EQ(run().value().n_answered, 0u);
}

TEST_F(Batch, WrongRequestsHaveTheirErrorsAndOthersGoOn) {
  write("in", lines(1) + R"({"custom_id": "a", "url": "/v1/completions", "body": {"prompt": 7}})" + "\n\n" +
                  R"({"custom_id": "b", "url": "/v1/nothing", "body": {}})" + "\r\n" +
                  R"({"custom_id": "c", "url": "/v1/completions"})" + "\n" +
                  R"({"custom_id": "d", "url": "/v1/completions", "body": {"prompt": "a", "stream": true}})" + "\n" +
                  R"({"custom_id": "e", "method": "GET", "url": "/v1/completions", "body": {}})" + "\n" +
                  R"({"custom_id": "f", "url": "/v1/embeddings", "body": {"input": "a"}})" + "\n" +
                  R"({"custom_id": "g", "url": "/v1/responses", "body": {"input": "a", "store": true}})");
  EXPECT_EQ(run().value().n_wrong, 7u);
  std::map<std::string, std::string> got;
  for (const Json& answer : answers()) {
    const Json& response = answer["response"];
    got[answer["custom_id"]] = response["status_code"].dump() + " " +
                               (response["body"].contains("error") ? response["body"]["error"]["param"].dump() : "");
  }
  const std::map<std::string, std::string> expected = {
      {"0", "200 "},           {"a", "400 \"prompt\""}, {"b", "404 null"}, {"c", "400 \"body\""},
      {"d", "400 \"stream\""}, {"e", "400 \"method\""}, {"f", "501 null"}, {"g", "400 \"store\""}};
  EXPECT_EQ(got, expected);
}

TEST_F(Batch, WhatIsNoBatchIsRefused) {
  expect_refused("nonsense", "in, line 1: the body is not JSON");
  expect_refused(lines(2) + "{}", "in, line 3: has no custom_id");
  expect_refused(lines(2) + lines(1), "in, line 3: the custom_id '0' is that of an earlier line");
  write("out", "some notes\n");
  expect_refused(lines(1), "out, line 1: is no answer");
  write("out", R"({"custom_id": "stranger"})"
               "\n");
  expect_refused(lines(1), "answers to requests that are not in");
  EXPECT_EQ(read("out"), R"({"custom_id": "stranger"})"
                         "\n");
  const auto device = run_batch(*model_, {.in = path("in"), .out = "/dev/null"}, {});
  EXPECT_TRUE(device.error().message.contains("no regular file")) << device.error().message;
  const auto missing = run_batch(*model_, {.in = path("nowhere"), .out = path("out")}, {});
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tern::server::test
