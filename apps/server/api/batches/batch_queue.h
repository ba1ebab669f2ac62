// The batches of a server: kept in a folder, and answered one after another, besides other requests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/api/batches/batch_answers.h"
#include "server/api/batches/batch_lines.h"
#include "server/api/batches/batch_record.h"
#include "server/api/batches/file_store.h"

namespace tern::server {

struct BatchQueueOptions {
  std::string folder;  // used by one server at a time
  int n_at_once = 1;   // requests
  // Returns the complete answer to a request. After 429 it is called again until the batch expires; after 503, a
  // limited number of times.
  std::function<ApiResult<Json>(const BatchRequest& request, const std::function<bool()>& is_wanted)> answer = {};
  // Checks that requests to a route can be answered.
  std::function<ApiResult<void>(const std::string& endpoint)> check_endpoint = {};
  std::chrono::milliseconds pause = std::chrono::milliseconds(200);  // before a retry
};

// Resumes batches that the previous server left, however it ended: every line of the input gets one line in the output
// or in the errors. Thread-safe.
class BatchQueue {
 public:
  // No request is answered before start(). kIo: the folder cannot be written, or another server uses it; kCorruption: a
  // file in it was not written by a server.
  static Result<std::unique_ptr<BatchQueue>> open(BatchQueueOptions options);
  ~BatchQueue();

  Result<void> start();
  void stop();  // unfinished batches resume when the next server starts

  FileStore& files() { return *files_; }

  ApiResult<Json> create(const Json& body);
  std::optional<Json> find(const std::string& id) const;
  std::vector<Json> all() const;  // in order of creation
  // 404: no such batch; 409: it is over.
  ApiResult<Json> cancel(const std::string& id);

 private:
  struct Outputs {
    std::unique_ptr<BatchAnswers> answers, errors;
  };

  BatchQueue(BatchQueueOptions options, FileLock lock) : options_(std::move(options)), lock_(std::move(lock)) {}
  Result<void> load();
  std::string note_path(const std::string& id) const { return options_.folder + "/batches/" + id + ".json"; }
  std::string lines_path(const std::string& id, const char* which) const {
    return options_.folder + "/batches/" + id + which;
  }

  void run();
  BatchRecord* next();  // call with the lock held
  // Works on one batch until it is over or the server ends. An error fails the batch.
  Result<void> work_on(BatchRecord& batch);
  Result<bool> validate(BatchRecord& batch, BatchInput& input);  // false: it failed, or the server ends
  Result<void> answer(BatchRecord& batch, const BatchInput& input, Outputs& outputs);
  ApiResult<Json> ask(const BatchRequest& request, const std::function<bool()>& is_wanted);
  Result<void> finish(BatchRecord& batch);
  struct Unanswered {
    std::string_view code, why;
  };
  std::optional<Unanswered> why_unanswered(const BatchRecord& batch, bool is_fine) const;
  void fail(BatchRecord& batch, std::vector<BatchFault> faults);
  void fail(BatchRecord& batch, const Error& error);

  bool is_wanted(const BatchRecord& batch) const;
  Result<void> save(const BatchRecord& batch) const;  // call with the lock held
  Result<void> hand_over(BatchRecord& batch, bool BatchRecord::* has, const std::string& id, const char* which);

  const BatchQueueOptions options_;
  FileLock lock_;
  std::unique_ptr<FileStore> files_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::unique_ptr<BatchRecord>> batches_;
  uint64_t n_ever_ = 0;
  std::string current_;  // the batch being worked on
  bool is_ending_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tern::server
