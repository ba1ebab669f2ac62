// How batches end: cancelled, late, after a failure, or with a server that is killed. What was answered stays.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iterator>

#include "server/api/batches/batch_queue_test_support.h"

namespace tern::server::test {
namespace {

class BatchEndings : public Batches {};

TEST_F(BatchEndings, WhatHasAllLinesOnlyBecomesFiles) {
  answer_ = [](const std::string& prompt, const auto&) -> ApiResult<Json> {
    if (prompt == "1") return refuse("no");
    return Json{{"said", prompt}};
  };
  open();
  const std::string id = create(upload(lines(3)));
  EXPECT_TRUE(queue_->start());
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
  EXPECT_TRUE(queue_->start());
  const Json after = end(id);
  EXPECT_EQ(after["status"], "completed");
  EXPECT_EQ(after["output_file_id"], before["output_file_id"]);
  EXPECT_EQ(after["request_counts"], before["request_counts"]);
  EXPECT_EQ(lines_of(after).size(), 3u);
  EXPECT_EQ(lines_of(after).at("0")["response"]["status_code"], 200);
}

TEST_F(BatchEndings, CancelledAndExpired) {
  open();
  answer_ = stuck_after(4);
  const std::string input = upload(lines(10)), id = create(input), waiting = create(input);
  EXPECT_EQ(queue_->cancel(waiting).value()["status"], "cancelled");
  EXPECT_TRUE(queue_->start());
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
  EXPECT_TRUE(queue_->start());
  const Json expired = end(late);
  EXPECT_EQ(expired["status"], "expired");
  EXPECT_EQ(lines_of(expired).at("1")["error"]["code"], "batch_expired");
}

TEST_F(BatchEndings, WhatWasAnsweredInTimeStays) {
  open();
  const std::string id = create(upload(lines(10)));
  queue_.reset();
  change_note(id, [](Json& note) { note["times"]["expires_at"] = unix_seconds() + 2; });
  answer_ = stuck_after(4);
  open();
  EXPECT_TRUE(queue_->start());
  const Json batch = end(id);
  EXPECT_EQ(batch["status"], "expired");
  EXPECT_EQ(batch["request_counts"].dump(), R"({"total":10,"completed":4,"failed":6})");
  EXPECT_TRUE(batch.contains("output_file_id") && batch.contains("error_file_id") && batch.contains("expired_at"));
  const auto all = lines_of(batch);
  EXPECT_EQ(all.size(), 10u);
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& one) { return one.second["response"].is_null(); }), 6);
}

TEST_F(BatchEndings, WhatWasAnsweredBeforeAFailureStays) {
  open();
  const std::string input = upload(lines(2000)), id = create(input);
  answer_ = [&](const std::string& prompt, const auto&) -> ApiResult<Json> {
    if (prompt == "5") std::filesystem::resize_file(queue_->files().path_of(input), 0);
    return Json{{"said", prompt}};
  };
  EXPECT_TRUE(queue_->start());
  const Json batch = end(id);
  EXPECT_EQ(batch["status"], "failed");
  EXPECT_TRUE(batch.contains("failed_at"));
  EXPECT_EQ(batch["errors"]["data"][0]["code"], "server_error") << batch;
  const Json counts = batch["request_counts"];
  EXPECT_GE(counts["completed"], 1);
  EXPECT_EQ(counts["completed"].get<int>() + counts["failed"].get<int>(), 2000);
  const auto all = lines_of(batch);
  ASSERT_EQ(all.size(), 2000u);
  int answered = 0;  // whichever lines were under way when the file was cut
  for (const auto& [line, record] : all) {
    if (record.at("response").is_null()) {
      EXPECT_EQ(record.at("error").at("code"), "batch_failed");
    } else {
      EXPECT_EQ(record.at("response").at("body").at("said"), line);
      ++answered;
    }
  }
  EXPECT_EQ(counts["completed"], answered);
  EXPECT_TRUE(all.at("1999").at("response").is_null());
  const Json before = batch;
  open();
  EXPECT_EQ(state(id), before);
}

TEST_F(BatchEndings, AFailureIsToldByTheNextServerIfItMust) {
  open();
  const std::string id = create(upload(lines(2)));
  queue_.reset();
  change_note(id, [](Json& note) {
    note.update({{"status", "in_progress"}, {"has_all_lines", true}, {"total", 2}, {"completed", 1}, {"failed", 1}});
    note["errors"] = Json::array({{{"code", "server_error"}, {"message", "no room"}, {"param", nullptr}}});
  });
  std::ofstream(folder_ + "/batches/" + id + ".output") << answer_line("0", Json{{"said", "0"}}).dump() << '\n';
  open();
  EXPECT_TRUE(queue_->start());
  const Json batch = end(id);
  EXPECT_EQ(batch["status"], "failed");
  EXPECT_EQ(batch["errors"]["data"][0]["message"], "no room");
  EXPECT_EQ(lines_of(batch).size(), 1u) << batch;
}

// ThreadSanitizer allows a forked process no threads.
#if defined(__SANITIZE_THREAD__)
#define TERN_NO_FORK
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TERN_NO_FORK
#endif
#endif

TEST_F(BatchEndings, OfAKilledServerGoOnWithTheNext) {
#ifdef TERN_NO_FORK
  GTEST_SKIP();
#endif
  open();
  const std::string id = create(upload(lines(20)));
  queue_.reset();
  answer_ = stuck_after(8);
  const pid_t server = ::fork();
  if (server == 0) {
    open();
    EXPECT_TRUE(queue_->start());
    while (true) ::pause();
  }
  const std::string output = folder_ + "/batches/" + id + ".output";
  const auto n_lines = [&] {
    std::ifstream file(output);
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  EXPECT_TRUE(soon([&] { return n_lines() == 8; }, std::chrono::seconds(60)));
  ::kill(server, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(server, &status, 0), server);
  EXPECT_TRUE(WIFSIGNALED(status));
  n_asked_ = -1000;
  open();
  EXPECT_EQ(state(id)["status"], "in_progress");
  EXPECT_TRUE(queue_->start());
  const Json batch = end(id);
  EXPECT_EQ(batch["status"], "completed");
  EXPECT_EQ(batch["request_counts"].dump(), R"({"total":20,"completed":20,"failed":0})");
  EXPECT_EQ(lines_of(batch).size(), 20u);
  EXPECT_EQ(n_asked_, -1000 + 12);  // no answer was made twice
}

// A limit on the size of files acts like a full disk.
TEST_F(BatchEndings, ADiskThatIsFullFailsTheBatchAndNothingElse) {
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
  EXPECT_TRUE(queue_->start());
  const Json failed = end(big);
  EXPECT_EQ(end(small)["status"], "completed");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(failed["status"], "failed");
  const std::string message = failed["errors"]["data"][0]["message"];
  EXPECT_TRUE(message.contains("cannot be written: File too large")) << message;
  const auto all = lines_of(failed);
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(failed["request_counts"].dump(), R"({"total":20,"completed":4,"failed":16})");  // the whole lines that fit
}

}  // namespace
}  // namespace tern::server::test
