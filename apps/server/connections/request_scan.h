// Finds the end of a request in the bytes of a connection, as they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tern::server {

struct ScanLimits {
  size_t head_bytes = size_t{64} << 10;
  size_t body_bytes = size_t{1} << 20;  // longer bodies are not waited for
};

// Looks at the head's lines and at what says how long the body is (RFC 9112), and at no more. The server's library
// parses the request again and refuses what else is wrong with it.
class RequestScan {
 public:
  enum class State : uint8_t {
    kPartial,  // more bytes must arrive
    kWhole,    // `n_bytes()` bytes are the request
    kLong,     // the head is whole; the body is long, or the client waits for a word before it sends it
    kRefused   // see status() and why()
  };

  // `bytes`: all of the connection's that belong to no earlier request; each call has those of the last and perhaps
  // more.
  State look(std::string_view bytes, const ScanLimits& limits);

  // How long the head and the body are as they are sent. None: the end of a long body in chunks is not known.
  std::optional<uint64_t> n_bytes() const { return n_bytes_; }
  // Where the names of Range lines begin.
  const std::vector<size_t>& ranges() const { return ranges_; }
  int status() const { return status_; }  // 400, 414, 431, 501
  const std::string& why() const { return why_; }

 private:
  State refuse(int status, std::string why);
  State look_at_head(std::string_view bytes, const ScanLimits& limits);
  bool add_line(std::string_view line, size_t at);  // false: refused
  bool add_length(std::string_view value);
  State look_at_body(std::string_view bytes, const ScanLimits& limits);
  State look_at_chunks(std::string_view bytes, const ScanLimits& limits);

  size_t at_ = 0;          // of the line that is looked at next, or of the next chunk
  size_t n_lines_ = 0;     // of the head
  size_t head_bytes_ = 0;  // 0: the head is not whole
  bool is_chunked_ = false, is_told_to_wait_ = false, is_in_trailers_ = false;
  std::optional<uint64_t> body_bytes_, n_bytes_;
  std::vector<size_t> ranges_;
  int status_ = 0;
  std::string why_;
};

}  // namespace tern::server
