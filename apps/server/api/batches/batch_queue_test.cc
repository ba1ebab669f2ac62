// Batches and their files, with answers that need no model.
#include "server/api/batches/batch_queue_test_support.h"

namespace tern::server::test {
namespace {

TEST_F(Batches, EachLineHasOneInTheOutputOrInTheErrors) {
  answer_ = [](const std::string& prompt, const auto&) -> ApiResult<Json> {
    if (prompt == "7") return refuse("prompt: is unlucky", "prompt");
    return Json{{"said", prompt}};
  };
  open();
  const std::string id = create(upload(lines(20)));
  EXPECT_EQ(state(id)["status"], "validating");
  EXPECT_TRUE(queue_->start());
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
  EXPECT_TRUE(queue_->start());
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
  EXPECT_TRUE(queue_->start());
  EXPECT_EQ(end(id)["status"], "completed");
  EXPECT_EQ(lines_of(state(id)).size(), 20u);
  EXPECT_EQ(n_asked_, -1000 + 12 + (end(second)["status"] == "completed" ? 2 : 0));
  open();
  EXPECT_EQ(lines_of(state(id)).size(), 20u);
  EXPECT_TRUE(queue_->files().remove(state(id)["input_file_id"]).value());
}

TEST_F(Batches, WhatIsWrongInAFileIsToldByItsLine) {
  open();
  EXPECT_TRUE(queue_->start());
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
  EXPECT_TRUE(queue_->start());
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
  EXPECT_TRUE(queue_->start());
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

}  // namespace
}  // namespace tern::server::test
