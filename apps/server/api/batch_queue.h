// The batches of a server: kept in a folder, and answered one after the other beside everything else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/api/batch_answers.h"
#include "server/api/batch_lines.h"
#include "server/api/batch_record.h"
#include "server/api/file_store.h"

namespace tern::server {

struct BatchQueueOptions {
  std::string folder;  // one server at a time has it
  int n_at_once = 1;   // requests
  // The whole answer to a request. 429: not now, it is asked again for as long as the batch has; 503: a number of
  // times.
  std::function<ApiResult<Json>(const std::string& url, const Json& body, const std::function<bool()>& is_wanted)>
      answer = {};
  // Whether requests to a route can be answered at all.
  std::function<ApiResult<void>(const std::string& endpoint)> check_endpoint = {};
  std::chrono::milliseconds pause = std::chrono::milliseconds(200);  // before it is asked again
};

// Goes on with what was under way when the server before it ended, however it ended: every line of the input has one
// line in the output or in the errors. Threads may call all of it.
class BatchQueue {
 public:
  // Nothing is answered before start(). kIo: the folder cannot be written, or another server has it; kCorruption: a
  // file in it is none of the server's.
  static Result<std::unique_ptr<BatchQueue>> open(BatchQueueOptions options);
  ~BatchQueue();

  void start();
  void stop();  // what is under way goes on when the next server starts

  FileStore& files() { return *files_; }

  ApiResult<Json> create(const Json& body);
  std::optional<Json> find(const std::string& id) const;
  std::vector<Json> all() const;  // in the order in which they came
  // 404: there is none; 409: it is over.
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
  BatchRecord* next();  // locked
  // One batch, until it is over or the server ends. An error fails it.
  Result<void> work_on(BatchRecord& batch);
  Result<bool> validate(BatchRecord& batch, BatchInput& input);  // false: it is over
  Result<void> answer(BatchRecord& batch, const BatchInput& input, Outputs& outputs);
  ApiResult<Json> ask(const BatchRequest& request, const std::function<bool()>& is_wanted);
  Result<void> finish(BatchRecord& batch);
  bool fail(BatchRecord& batch, std::vector<BatchFault> faults);  // whether that is on the disk
  void fail(BatchRecord& batch, const Error& error);

  bool is_wanted(const BatchRecord& batch) const;
  Result<void> save(const BatchRecord& batch) const;  // locked
  Result<void> hand_over(BatchRecord& batch, bool BatchRecord::* has, const std::string& id, const char* which);

  const BatchQueueOptions options_;
  FileLock lock_;
  std::unique_ptr<FileStore> files_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::unique_ptr<BatchRecord>> batches_;
  uint64_t n_ever_ = 0;
  std::string current_;  // that is worked on
  bool is_ending_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tern::server
