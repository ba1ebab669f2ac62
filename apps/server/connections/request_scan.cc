#include "server/connections/request_scan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

// The library's own limits. It refuses longer lines, too, but without a reason.
constexpr size_t kMostLineBytes = 8192, kMostTargetBytes = 8192, kMostLines = 100;
constexpr size_t kMethodAndVersion = 32;  // bytes of a first line that are not its target
constexpr size_t kMostChunkLine = 1024;
constexpr uint64_t kMostBody = uint64_t{1} << 60;

bool is_same_word(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == y; });
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The whole of `text` as a number.
std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || value > kMostBody) return {};
  return value;
}

}  // namespace

RequestScan::State RequestScan::refuse(int status, std::string why) {
  status_ = status;
  why_ = std::move(why);
  return State::kRefused;
}

RequestScan::State RequestScan::look(std::string_view bytes, const ScanLimits& limits) {
  if (status_ != 0) return State::kRefused;
  if (head_bytes_ == 0) {
    if (const State state = look_at_head(bytes, limits); state != State::kWhole) return state;
  }
  return is_chunked_ ? look_at_chunks(bytes, limits) : look_at_body(bytes, limits);
}

RequestScan::State RequestScan::look_at_head(std::string_view bytes, const ScanLimits& limits) {
  while (true) {
    const size_t end = bytes.find("\r\n", at_);
    const size_t line_bytes = (end == std::string_view::npos ? bytes.size() : end) - at_;
    if (n_lines_ == 0 && line_bytes > kMostTargetBytes + kMethodAndVersion) {
      return refuse(414, format_text("the request's first line is longer than {} bytes", kMostTargetBytes));
    }
    if (n_lines_ > 0 && line_bytes > kMostLineBytes) {
      return refuse(431, format_text("a line of the request's head is longer than {} bytes", kMostLineBytes));
    }
    if (std::min(bytes.size(), at_ + line_bytes) > limits.head_bytes) {
      return refuse(431, format_text("the request's head is larger than {} bytes", limits.head_bytes));
    }
    if (end == std::string_view::npos) return State::kPartial;
    const std::string_view line = bytes.substr(at_, line_bytes);
    const size_t line_at = std::exchange(at_, end + 2);
    if (line.empty() && n_lines_ > 0) {
      head_bytes_ = at_;
      return State::kWhole;
    }
    if (!add_line(line, line_at)) return State::kRefused;
  }
}

bool RequestScan::add_line(std::string_view line, size_t at) {
  if (++n_lines_ == 1) return true;
  if (n_lines_ > kMostLines + 1) {
    refuse(431, format_text("the request's head has more than {} lines", kMostLines));
    return false;
  }
  if (line.starts_with(' ') || line.starts_with('\t')) {
    refuse(400, "a line of the request's head begins with a blank");
    return false;
  }
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon), known = trim(name);
  const std::string_view value = colon == std::string_view::npos ? "" : trim(line.substr(colon + 1));
  if (is_same_word(known, "expect")) is_told_to_wait_ = true;
  if (is_same_word(name, "range")) ranges_.push_back(at);
  const bool is_length = is_same_word(known, "content-length"), is_coding = is_same_word(known, "transfer-encoding");
  if (!is_length && !is_coding) return true;
  // If the library and this class took the body's length from different lines, one body's end could be another request.
  if (known != name || colon == std::string_view::npos) {
    refuse(400, format_text("the head's line '{}' must be a name, a colon and a value", known));
    return false;
  }
  if (is_length) return add_length(value);
  if (is_chunked_ || !is_same_word(value, "chunked")) {
    refuse(501, "Transfer-Encoding may only be chunked");
    return false;
  }
  is_chunked_ = true;
  return true;
}

bool RequestScan::add_length(std::string_view value) {
  const std::optional<uint64_t> length = number(value, 10);
  if (!length || (body_bytes_ && body_bytes_ != length)) {
    refuse(400, "Content-Length must be one number");
    return false;
  }
  body_bytes_ = length;
  return true;
}

RequestScan::State RequestScan::look_at_body(std::string_view bytes, const ScanLimits& limits) {
  const uint64_t body = body_bytes_.value_or(0);
  n_bytes_ = head_bytes_ + body;
  if (bytes.size() >= *n_bytes_) return State::kWhole;
  return is_told_to_wait_ || body > limits.body_bytes ? State::kLong : State::kPartial;
}

RequestScan::State RequestScan::look_at_chunks(std::string_view bytes, const ScanLimits& limits) {
  if (body_bytes_.value_or(0) > 0) return refuse(400, "a body has either a Content-Length or chunks");
  while (true) {
    const size_t end = bytes.find("\r\n", at_);
    const size_t line_bytes = (end == std::string_view::npos ? bytes.size() : end) - std::min(at_, bytes.size());
    if (at_ - head_bytes_ > limits.body_bytes) return State::kLong;
    if (line_bytes > (is_in_trailers_ ? kMostLineBytes : kMostChunkLine)) {
      return refuse(400, "a chunk of the body has no length");
    }
    if (end == std::string_view::npos) return is_told_to_wait_ ? State::kLong : State::kPartial;
    if (is_in_trailers_) {
      at_ = end + 2;
      if (line_bytes > 0) continue;
      n_bytes_ = at_;
      return State::kWhole;
    }
    const std::string_view line = bytes.substr(at_, line_bytes);
    const std::optional<uint64_t> length = number(trim(line.substr(0, line.find(';'))), 16);
    if (!length) return refuse(400, "a chunk of the body has no length");
    if (*length == 0) {
      is_in_trailers_ = true;
      at_ = end + 2;
      continue;
    }
    const uint64_t next = end + 2 + *length + 2;
    if (next - head_bytes_ > limits.body_bytes) return State::kLong;
    if (next > bytes.size()) return is_told_to_wait_ ? State::kLong : State::kPartial;
    if (bytes.substr(next - 2, 2) != "\r\n") return refuse(400, "a chunk of the body is longer than it says");
    at_ = next;
  }
}

}  // namespace tern::server
