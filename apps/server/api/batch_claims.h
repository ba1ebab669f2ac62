// Which worker answers which part of a batch: files in a folder that all workers see, on one machine or many.
#pragma once

#include <sys/types.h>

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
  std::string worker;                                          // its name: letters, digits and .-; no other has it
  std::chrono::milliseconds lease = std::chrono::seconds(60);  // a worker of which nothing is seen for so long is dead
  size_t first = 0;                                            // the range at which it begins to look
};

// A queue of ranges, 0 to n - 1. FOLDER/queue says what queue it is, and in FOLDER/ranges there are:
//   00000007.0     range 7 belongs to the worker whose name is in the file;
//   00000007.1     … no more, but to this one, since that one was dead;
//   00000007.done  it has been answered.
// Each of them comes to be with all that it says, and once: a file under another name is linked to this one, which a
// network's file system sees to as well. None is ever changed or removed. FOLDER/workers/NAME is touched while the
// worker lives. Whether it is, others judge by their own clock, from when they last saw it change: no clocks are
// compared.
//
// A worker that was only slow, and is taken for dead, goes on with what it has. So a range may be answered twice; that
// it counts once is left to whoever puts the answers together.
class BatchClaims {
 public:
  // `queue`: the same text for all, or kInvalidArgument. kIo: the folder cannot be written, or knows no links.
  static Result<std::unique_ptr<BatchClaims>> open(ClaimOptions options, size_t n_ranges, std::string_view queue);
  ~BatchClaims();  // what it has and has not finished is free for others
  BatchClaims(const BatchClaims&) = delete;
  BatchClaims& operator=(const BatchClaims&) = delete;

  struct Claim {
    size_t range = 0;
    bool was_begun = false;  // by this worker before it ended, or by one that is dead
  };
  // Its own of before, then what nobody has, then what the dead had. None: nothing is free now.
  Result<std::optional<Claim>> next();
  Result<void> finish(size_t range);  // its answers are on the disk
  Result<bool> all_are_done();
  // How long to wait before it is worth while to ask for the next again.
  std::chrono::milliseconds pause() const;

 private:
  enum class State : uint8_t { kFree, kTaken, kOurs, kDone };
  struct Seen {
    timespec changed = {};
    std::chrono::steady_clock::time_point at = {};
  };

  BatchClaims(ClaimOptions options, size_t n_ranges)
      : options_(std::move(options)), states_(n_ranges), taken_(n_ranges) {}
  Result<void> start(std::string_view queue);
  Result<void> look();  // at all files of ranges
  Result<bool> create_once(const std::string& path, std::string_view text);
  Result<std::optional<Claim>> claim(size_t range, int taking, bool was_begun);
  bool is_dead(const std::string& worker);
  std::string range_path(size_t range, std::string_view ending) const;
  std::string owner(size_t range) const;
  void touch_until(const std::stop_token& stop);

  const ClaimOptions options_;
  std::mutex mutex_;  // of what follows
  std::vector<State> states_;
  std::vector<int> taken_;  // how often each has been, as far as we know
  size_t n_looked_at_ = 0;  // of the free ones, in order
  std::vector<size_t> from_before_;
  std::map<std::string, Seen> seen_;
  uint64_t n_created_ = 0;
  std::mutex sleep_mutex_;
  std::condition_variable_any sleep_;
  std::jthread heart_;
};

}  // namespace tern::server
