#include "load/sse_reader.h"

#include <algorithm>

#include "base/result.h"

namespace tern::load {

size_t SseReader::take(std::string_view bytes) {
  if (after_cr_ && bytes.front() == '\n') {
    after_cr_ = false;
    return 1;
  }
  after_cr_ = false;
  const size_t end = bytes.find_first_of("\r\n");
  if (end == std::string_view::npos) {
    // Takes only part at a time, so that the limit on an event's size is checked.
    const size_t n = std::min(bytes.size(), kMaxEventBytes);
    line_.append(bytes.substr(0, n));
    return n;
  }
  line_.append(bytes.substr(0, end));
  after_cr_ = bytes[end] == '\r';
  end_line();
  return end + 1;
}

void SseReader::end_line() {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view line = line_;
  if (is_first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  is_first_line_ = false;
  if (line.empty()) {
    is_complete_ = has_data_;
    if (!has_data_) event_ = {};
    has_data_ = false;
  } else {
    const std::string_view field = line.substr(0, line.find(':'));  // empty for a comment line
    std::string_view value = line.substr(std::min(field.size() + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data") {
      if (has_data_) event_.data += '\n';
      event_.data += value;
      has_data_ = true;
    } else if (field == "event") {
      event_.type = value;
    }
  }
  line_.clear();
}

Result<void> SseReader::too_large() {
  return fail(ErrorCode::kCorruption, "{}",
              "an event of more than " + std::to_string(kMaxEventBytes >> 20) + " MiB: this is no stream of a reply");
}

}  // namespace tern::load
