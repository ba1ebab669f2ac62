// A file that arrives in pieces, in any order, and survives the end of the process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tern::hub {

// The bytes are in STEM.incomplete, a sparse file of the final size; which of them are there is in STEM.state. The file
// is cut into chunks, each of which fills up from its beginning. STEM.state says so in lines that are only ever
// appended:
//
//   tern-download SIZE CHUNK    first
//   INDEX BYTES                 the first BYTES bytes of chunk INDEX are there; the last line about a chunk holds
//
// A line is written after its bytes, so after kill -9 the state never claims too much, and at most kLineBytes per chunk
// come again. (After a power cut it may: that is what the checksum at the end is for.) The name differs from
// huggingface_hub's ETAG.incomplete, whose old versions take the length of that file for what has arrived.
class PartialFile {
 public:
  static constexpr uint64_t kLineBytes = uint64_t{1} << 20;

  // Opens what an earlier download left, or starts anew where that does not fit `size`. kIo.
  static Result<PartialFile> open(const std::string& stem, uint64_t size, uint64_t chunk_bytes);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  size_t n_chunks() const { return have_.size(); }
  uint64_t chunk_begin(size_t chunk) const { return chunk * chunk_bytes_; }
  uint64_t chunk_size(size_t chunk) const;
  uint64_t have(size_t chunk) const { return have_[chunk]; }
  bool has_all(size_t chunk) const { return have_[chunk] == chunk_size(chunk); }
  uint64_t bytes_done() const { return done_; }
  bool resumed() const { return resumed_; }  // some of it is from an earlier download

  // The next bytes of a chunk, which may not be more than it lacks. kIo, with what to do about a full disk.
  Result<void> append(size_t chunk, Bytes bytes);

  // Forgets what is there.
  Result<void> restart();

  // Writes down how far every chunk is. append() does so now and then.
  Result<void> save();

  // Gives the complete file its name and removes the state.
  Result<void> finish(const std::string& final_path);

  // Removes everything.
  void discard();

 private:
  PartialFile(const std::string& stem, uint64_t size, uint64_t chunk_bytes);
  Result<void> open_files();
  void read_state();
  Result<void> start_state();
  Result<void> write_line(size_t chunk);
  Result<void> write_state(std::string_view text);
  void close_files();

  std::string path_;
  std::string state_path_;
  uint64_t size_;
  uint64_t chunk_bytes_;
  std::vector<uint64_t> have_;   // bytes of each chunk that are in the file
  std::vector<uint64_t> saved_;  // … that the state knows of
  uint64_t done_ = 0;
  bool resumed_ = false;
  int fd_ = -1;
  int state_fd_ = -1;
};

// The bytes on disk that an earlier download of STEM already takes.
uint64_t bytes_on_disk(const std::string& stem);

// kIo "PATH: cannot ACTION it: REASON; what to do".
std::unexpected<Error> disk_error(const std::string& path, const char* action, int error_number);

}  // namespace tern::hub
