#include "text/chat/forms/call_reader.h"

#include "text/chat/forms/call_text.h"
#include "text/chat/forms/marked_reader.h"

namespace tern {

std::unique_ptr<CallReader> make_call_reader(const ToolCallFormat& format, const ChatReplyOptions& options) {
  if (format.marked) return std::make_unique<MarkedReader>(format, options);
  return std::make_unique<CallText>(format, options);
}

}  // namespace tern
