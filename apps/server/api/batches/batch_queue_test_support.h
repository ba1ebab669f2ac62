// For tests: a server's batches, with answers that need no model.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "server/api/api_test_support.h"
#include "server/api/batches/batch_queue.h"
#include "server/api/replies/answer.h"

namespace tern::server::test {

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
    return {
        .folder = folder_,
        .n_at_once = 3,
        .answer = [this](const BatchRequest& request,
                         const std::function<bool()>& is_wanted) { return answer_(request.body["prompt"], is_wanted); },
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

}  // namespace tern::server::test
