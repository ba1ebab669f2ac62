// Batches and their files, with answers that need no model.
#include "server/api/batches/batch_queue.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "server/api/api_test_support.h"
#include "server/api/replies/answer.h"

namespace tern::server::test {
namespace {

class Batches : public testing::Test {
 protected:
  Batches() { std::filesystem::remove_all(folder_); }

  static std::string line(const std::string& id, const std::string& url = "/v1/completions") {
    return Json{{"custom_id", id}, {"method", "POST"}, {"url", url}, {"body", {{"prompt", id}}}}.dump() + "\n";
  }
  static std::string lines(int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += line(std::to_string(i));
    return text;
  }

  void open() {
    queue_.reset();
    queue_ = BatchQueue::open(options()).value();
  }
  BatchQueueOptions options() {
    return {.folder = folder_,
            .n_at_once = 3,
            .answer = [this](const std::string&, const Json& body,
                             const std::function<bool()>& is_wanted) { return answer_(body["prompt"], is_wanted); },
            .check_endpoint = [](const std::string& endpoint) -> ApiResult<void> {
              if (endpoint == "/v1/completions") return {};
              return refuse("endpoint: there is nothing at " + endpoint, "endpoint");
            },
            .pause = std::chrono::milliseconds(1)};
  }
  std::string upload(const std::string& text) {
    const std::string id = "file-" + std::to_string(++n_uploads_);
    NewFile file = queue_->files().begin(id).value();
    EXPECT_TRUE(file.add(text));
    return queue_->files().keep(id, std::move(file), "in.jsonl", 0).value().id;
  }
  std::string create(const std::string& file) {
    return queue_->create({{"input_file_id", file}, {"endpoint", "/v1/completions"}, {"completion_window", "24h"}})
        .value()["id"];
  }
  Json state(const std::string& id) const { return queue_->find(id).value(); }
  Json end(const std::string& id) const {
    EXPECT_TRUE(soon(
        [&] {
          const std::string status = state(id)["status"];
          return status == "completed" || status == "failed" || status == "cancelled" || status == "expired";
        },
        std::chrono::seconds(100)))
        << state(id);
    return state(id);
  }
  // Lines by custom_id; fails on duplicates.
  std::map<std::string, Json> lines_of(const Json& batch) const {
    std::map<std::string, Json> all;
    for (const char* which : {"output_file_id", "error_file_id"}) {
      if (!batch.contains(which)) continue;
      std::ifstream file(queue_->files().path_of(batch[which]));
      for (std::string text; std::getline(file, text);) {
        Json json = Json::parse(text);
        const std::string id = json["custom_id"];
        EXPECT_TRUE(all.emplace(id, std::move(json)).second) << id << " twice";
      }
    }
    return all;
  }
  Json note_of(const std::string& id) const {
    std::ifstream file(folder_ + "/batches/" + id + ".json");
    return Json::parse(file);
  }
  void change_note(const std::string& id, const std::function<void(Json&)>& change) const {
    Json note = note_of(id);
    change(note);
    std::ofstream(folder_ + "/batches/" + id + ".json") << note.dump();
  }

  using Answer = std::function<ApiResult<Json>(const std::string& prompt, const std::function<bool()>& is_wanted)>;
  Answer answer_ = [](const std::string& prompt, const auto&) -> ApiResult<Json> { return Json{{"said", prompt}}; };
  // Answers `n` requests; later ones block for as long as they are wanted.
  Answer stuck_after(int n) {
    return [n, this](const std::string& prompt, const auto& is_wanted) -> ApiResult<Json> {
      if (++n_asked_ <= n) return Json{{"said", prompt}};
      while (is_wanted()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return std::unexpected(ApiError{.status = 499, .message = "gone"});
    };
  }

  const std::string folder_ = (std::filesystem::temp_directory_path() / "kept").string();
  std::atomic<int> n_asked_ = 0;
  int n_uploads_ = 0;
  std::unique_ptr<BatchQueue> queue_;
};

TEST_F(Batches, EachLineHasOneInTheOutputOrInTheErrors) {
  answer_ = [](const std::string& prompt, const auto&) -> ApiResult<Json> {
    if (prompt == "7") return refuse("prompt: is unlucky", "prompt");
    return Json{{"said", prompt}};
  };
  open();
  const std::string id = create(upload(lines(20)));
  EXPECT_EQ(state(id)["status"], "validating");
  queue_->start();
  const Json batch = end(id);
  EXPECT_EQ(batch["status"], "completed");
  EXPECT_EQ(batch["request_counts"].dump(), R"({"total":20,"completed":19,"failed":1})");
  for (const char* time : {"created_at", "in_progress_at", "expires_at", "finalizing_at", "completed_at"}) {
    EXPECT_TRUE(batch.contains(time)) << time;
  }
  const auto all = lines_of(batch);
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(all.at("3")["response"]["body"]["said"], "3");
  EXPECT_EQ(all.at("7")["response"]["status_code"], 400);
  const StoredFile output = queue_->files().find(batch["output_file_id"]).value();
  EXPECT_EQ(output.purpose, "batch_output");
  EXPECT_EQ(queue_->files().find(batch["error_file_id"]).value().bytes, all.at("7").dump().size() + 1);
  EXPECT_TRUE(files_in(folder_ + "/batches").value().size() == 1);  // the note that it is over
}

TEST_F(Batches, GoOnWithTheNextServer) {
  open();
  answer_ = stuck_after(8);
  const std::string id = create(upload(lines(20))), second = create(upload(lines(2)));
  queue_->start();
  ASSERT_TRUE(soon([&] { return state(id)["request_counts"]["completed"] == 8; }));
  EXPECT_EQ(state(second)["status"], "validating");
  queue_->stop();
  EXPECT_EQ(state(id)["status"], "in_progress");
  {
    std::ofstream broken_off(folder_ + "/batches/" + id + ".output", std::ios::app);
    broken_off << R"({"id": "batch_req_)";
  }
  n_asked_ = -1000;
  open();
  EXPECT_EQ(queue_->files().remove(state(id)["input_file_id"]).error().status, 409);
  queue_->start();
  EXPECT_EQ(end(id)["status"], "completed");
  EXPECT_EQ(lines_of(state(id)).size(), 20u);
  EXPECT_EQ(n_asked_, -1000 + 12 + (end(second)["status"] == "completed" ? 2 : 0));
  open();
  EXPECT_EQ(lines_of(state(id)).size(), 20u);
  EXPECT_TRUE(queue_->files().remove(state(id)["input_file_id"]).value());
}

TEST_F(Batches, WhatHasAllLinesOnlyBecomesFiles) {
  answer_ = [](const std::string& prompt, const auto&) -> ApiResult<Json> {
    if (prompt == "1") return refuse("no");
    return Json{{"said", prompt}};
  };
  open();
  const std::string id = create(upload(lines(3)));
  queue_->start();
  const Json before = end(id);
  queue_.reset();
  // Imitates a program that was killed after it had made one of the two files.
  change_note(id, [](Json& note) {
    note["status"] = "finalizing";
    note["has_output"] = note["has_errors"] = false;
  });
  const std::string errors = before["error_file_id"];
  std::filesystem::rename(folder_ + "/files/" + errors + ".data", folder_ + "/batches/" + id + ".errors");
  std::filesystem::remove(folder_ + "/files/" + errors + ".json");
  std::filesystem::remove(folder_ + "/files/" + before["output_file_id"].get<std::string>() + ".json");
  answer_ = [](const auto&, const auto&) -> ApiResult<Json> { return refuse("nobody is to be asked again"); };
  open();
  queue_->start();
  const Json after = end(id);
  EXPECT_EQ(after["status"], "completed");
  EXPECT_EQ(after["output_file_id"], before["output_file_id"]);
  EXPECT_EQ(after["request_counts"], before["request_counts"]);
  EXPECT_EQ(lines_of(after).size(), 3u);
  EXPECT_EQ(lines_of(after).at("0")["response"]["status_code"], 200);
}

TEST_F(Batches, CancelledAndExpired) {
  open();
  answer_ = stuck_after(4);
  const std::string input = upload(lines(10)), id = create(input), waiting = create(input);
  EXPECT_EQ(queue_->cancel(waiting).value()["status"], "cancelled");
  queue_->start();
  ASSERT_TRUE(soon([&] { return state(id)["request_counts"]["completed"] == 4; }));
  EXPECT_EQ(queue_->files().remove(input).error().code, "file_in_use");
  EXPECT_EQ(queue_->cancel(id).value()["status"], "cancelling");
  const Json batch = end(id);
  EXPECT_EQ(batch["status"], "cancelled");
  const auto all = lines_of(batch);
  EXPECT_EQ(all.size(), 10u);
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& one) { return one.second["response"].is_null(); }), 6);
  EXPECT_EQ(queue_->cancel(id).error().status, 409);
  EXPECT_EQ(queue_->cancel("batch_none").error().status, 404);
  EXPECT_TRUE(soon([&] { return queue_->files().remove(input).has_value(); }));

  const std::string late = create(upload(lines(2)));
  queue_.reset();
  change_note(late, [](Json& note) { note["times"]["expires_at"] = 1; });
  open();
  queue_->start();
  const Json expired = end(late);
  EXPECT_EQ(expired["status"], "expired");
  EXPECT_EQ(lines_of(expired).at("1")["error"]["code"], "batch_expired");
}

TEST_F(Batches, WhatIsWrongInAFileIsToldByItsLine) {
  open();
  queue_->start();
  const auto faults = [&](const std::string& text) {
    const Json batch = end(create(upload(text)));
    EXPECT_EQ(batch["status"], "failed");
    std::string all;
    for (const Json& fault : batch["errors"]["data"]) {
      all += fault["code"].get<std::string>() + " " + fault["line"].dump() + "; ";
    }
    return all;
  };
  EXPECT_EQ(faults("some notes\nmore of them\n"), "invalid_json_line 1; invalid_json_line 2; ");
  EXPECT_EQ(faults(line("a") + "\n" + line("a")), "duplicate_custom_id 3; ");
  EXPECT_EQ(faults(line("a") + "{}"), "missing_required_parameter 2; ");
  EXPECT_EQ(faults(line("a", "/v1/nothing") + line("b")), "mismatched_endpoint 1; ");
  EXPECT_EQ(faults(R"({"custom_id": "a", "method": "GET", "url": "/v1/completions", "body": {}})"),
            "invalid_request 1; ");
  EXPECT_EQ(faults("\n \n"), "empty_file null; ");
  EXPECT_EQ(faults(line("a") + std::string(size_t{17} << 20, 'x') + "\n" + line("b")), "line_too_large 2; ");
}

TEST_F(Batches, WhatCannotBeNowIsAskedAgain) {
  std::atomic<int> times = 0;
  answer_ = [&](const std::string& prompt, const auto&) -> ApiResult<Json> {
    if (prompt == "0" && ++times < 5) return std::unexpected(ApiError{.status = 503, .message = "no memory"});
    return Json{{"said", prompt}};
  };
  open();
  const std::string id = create(upload(lines(2)));
  queue_->start();
  EXPECT_EQ(end(id)["request_counts"]["completed"], 2);
  EXPECT_EQ(times, 5);
}

TEST_F(Batches, AServerThatIsBusyForLongFailsNothing) {
  std::atomic<int> times = 0;
  answer_ = [&](const std::string& prompt, const auto&) -> ApiResult<Json> {
    if (prompt == "0" && ++times < 100) return std::unexpected(ApiError{.status = 429, .message = "others are asked"});
    if (prompt == "1") return std::unexpected(ApiError{.status = 503, .message = "no memory"});
    return Json{{"said", prompt}};
  };
  open();
  const std::string id = create(upload(lines(3)));
  queue_->start();
  const Json counts = end(id)["request_counts"];
  EXPECT_EQ(counts["completed"], 2);
  EXPECT_EQ(counts["failed"], 1);  // a request that never gets enough memory still ends
  EXPECT_EQ(times, 100);
}

TEST_F(Batches, WhatIsAskedForWronglyIsRefused) {
  open();
  const std::string file = upload(lines(1));
  const Json right = {{"input_file_id", file}, {"endpoint", "/v1/completions"}, {"completion_window", "24h"}};
  const auto refused = [&](const char* field, const Json& value) {
    Json body = right;
    body[field] = value;
    const auto created = queue_->create(body);
    return created ? Json("created") : created.error().json()["error"]["param"];
  };
  EXPECT_EQ(refused("endpoint", "/v1/embeddings"), "endpoint");
  EXPECT_EQ(refused("endpoint", nullptr), "endpoint");
  EXPECT_EQ(refused("completion_window", "7d"), "completion_window");
  EXPECT_EQ(refused("metadata", {{"a", 1}}), "metadata");
  EXPECT_EQ(refused("output_expires_after", {{"anchor", "now"}, {"seconds", 3600}}), "output_expires_after.anchor");
  for (const char* id : {"", "file-none", "../lock", "/etc/passwd", "..", "file-1.data"}) {
    EXPECT_EQ(refused("input_file_id", id), "input_file_id") << id;
  }
  EXPECT_TRUE(queue_->all().empty());
  EXPECT_EQ(refused("metadata", {{"a", "1"}}), "created");
}

TEST_F(Batches, AFolderHasOneServer) {
  open();
  const auto second = BatchQueue::open(options());
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().message.contains("another server")) << second.error().message;
  queue_.reset();
  EXPECT_TRUE(BatchQueue::open(options()));
  std::ofstream(folder_ + "/batches/batch_x.json") << R"({"id": "batch_x"})";
  const auto strange = BatchQueue::open(options());
  ASSERT_FALSE(strange);
  EXPECT_TRUE(strange.error().message.contains("batch_x.json")) << strange.error().message;
}

TEST_F(Batches, WhatWasLeftBehindIsTidiedUp) {
  open();
  const std::string file = upload(lines(1));
  queue_.reset();
  for (const char* name : {"/files/file-a.data.part", "/files/file-b.data", "/files/file-c.json.part"}) {
    std::ofstream(folder_ + name) << "x";
  }
  open();
  EXPECT_EQ(files_in(folder_ + "/files").value().size(), 2u);
  EXPECT_EQ(queue_->files().all().size(), 1u);
  EXPECT_EQ(queue_->files().find(file).value().filename, "in.jsonl");
}

// A limit on the size of files acts like a full disk.
TEST_F(Batches, ADiskThatIsFullFailsTheBatchAndNothingElse) {
  open();
  answer_ = [](const std::string& prompt, const auto&) -> ApiResult<Json> {
    return Json{{"said", prompt == "small" ? prompt : std::string(10'000, 'a')}};
  };
  const std::string big = create(upload(lines(20))), small = create(upload(line("small")));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit = {.rlim_cur = 50'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  queue_->start();
  const Json failed = end(big);
  EXPECT_EQ(end(small)["status"], "completed");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(failed["status"], "failed");
  const std::string message = failed["errors"]["data"][0]["message"];
  EXPECT_TRUE(message.contains("cannot be written: File too large")) << message;
  ASSERT_TRUE(soon([&] { return state(big).contains("output_file_id"); }));
  EXPECT_EQ(lines_of(state(big)).size(), 4u);  // the whole lines that fit
}

}  // namespace
}  // namespace tern::server::test
