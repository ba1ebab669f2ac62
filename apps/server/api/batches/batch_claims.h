// Assigns parts of a batch to workers, through files in a folder that all workers see, on one or more machines.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tern/error.h"

namespace tern::server {

struct ClaimOptions {
  std::string folder;
  std::string worker;                                          // its unique name: letters, digits and .-
  std::chrono::milliseconds lease = std::chrono::seconds(60);  // a worker without a sign of life for so long is dead
  size_t first = 0;                                            // the range where its search begins
};

// A queue of ranges, 0 to n - 1. FOLDER/queue identifies the queue, and FOLDER/ranges contains:
//   00000007.0     range 7 belongs to the worker named in the file;
//   00000007.1     … now to this worker, since that one was dead;
//   00000007.done  it has been answered.
// Each file appears once, with its complete content: a draft under another name is linked to it, which works on network
// file systems, too. No file is ever changed or removed. FOLDER/workers/NAME is touched while the worker lives. Other
// workers measure by their own clocks how long ago they last saw it change; clocks are never compared.
//
// A slow worker that is taken for dead continues with its ranges. A range may therefore be answered twice; the program
// that merges the answers counts it once.
class BatchClaims {
 public:
  // `queue`: the same text for all workers, else kInvalidArgument. kIo: the folder is not writable or does not support
  // links.
  static Result<std::unique_ptr<BatchClaims>> open(ClaimOptions options, size_t n_ranges, std::string_view queue);
  ~BatchClaims();  // frees its unfinished ranges for other workers
  BatchClaims(const BatchClaims&) = delete;
  BatchClaims& operator=(const BatchClaims&) = delete;

  struct Claim {
    size_t range = 0;
    bool was_begun = false;  // by this worker before it restarted, or by a dead worker
  };
  // Prefers this worker's ranges from before, then free ones, then those of dead workers. None: no range is free now.
  Result<std::optional<Claim>> next();
  Result<void> finish(size_t range);  // call it when the answers are on the disk
  Result<bool> all_are_done();
  // How long to wait before calling next() again.
  std::chrono::milliseconds pause() const;

 private:
  enum class State : uint8_t { kFree, kTaken, kOurs, kDone };
  struct Seen {
    int64_t written_ns = 0;
    std::chrono::steady_clock::time_point at = {};
  };

  BatchClaims(ClaimOptions options, size_t n_ranges)
      : options_(std::move(options)), states_(n_ranges), taken_(n_ranges) {}
  Result<void> start(std::string_view queue);
  Result<void> look();  // reads the names of all files of ranges
  Result<bool> create_once(const std::string& path, std::string_view text);
  Result<std::optional<Claim>> claim(size_t range, int taking, bool was_begun);
  bool is_dead(const std::string& worker);
  std::string range_path(size_t range, std::string_view ending) const;
  std::string owner(size_t range) const;
  void touch_until(const std::stop_token& stop);
  void beat_once() const;

  const ClaimOptions options_;
  std::mutex mutex_;  // guards what follows
  std::vector<State> states_;
  std::vector<int> taken_;  // how often each was taken, as far as this worker knows
  size_t n_looked_at_ = 0;  // ranges already searched for free ones
  std::vector<size_t> from_before_;
  std::map<std::string, Seen> seen_;
  uint64_t n_created_ = 0;
  std::mutex sleep_mutex_;
  std::condition_variable_any sleep_;
  std::jthread heart_;
};

}  // namespace tern::server
