// Input of the load generator: a server's stream, which has the same events wherever it is cut (here into pieces whose
// length depends on the first byte), the JSON in the events, prompt files, and URLs.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "load/endpoint.h"
#include "load/prompts.h"
#include "load/reply_chunk.h"
#include "load/sse_reader.h"

namespace {

std::vector<std::string> events_of(std::string_view stream, size_t piece) {
  tern::load::SseReader reader;
  std::vector<std::string> events;
  while (!stream.empty()) {
    const std::string_view part = stream.substr(0, piece);
    stream.remove_prefix(part.size());
    const auto read =
        reader.feed(part, [&](const tern::load::SseEvent& event) { events.push_back(event.type + "\n" + event.data); });
    if (!read) break;
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> whole = events_of(stream, std::string_view::npos);
  if (events_of(stream, 1 + data[0] % 16) != whole) std::abort();
  for (const std::string& event : whole) {
    for (const auto api : {tern::load::Api::kChat, tern::load::Api::kCompletions}) {
      const auto chunk = tern::load::parse_chunk(api, event.substr(event.find('\n') + 1));
      if (!chunk && chunk.error().message.empty()) std::abort();
    }
  }
  static_cast<void>(tern::load::error_message(stream));
  static_cast<void>(tern::load::first_model(stream));
  if (const auto prompts = tern::load::Prompts::from_jsonl(stream, "fuzz", tern::load::Api::kChat)) {
    const tern::load::RequestOptions options;
    if (tern::load::Conversation(*prompts, options, 0).body().empty()) std::abort();
  }
  if (const auto endpoint = tern::load::parse_endpoint(stream)) {
    const std::string url = endpoint->url();
    if (url.find_first_of("\r\n ") != std::string::npos || endpoint->host.empty()) std::abort();
  }
  return 0;
}
