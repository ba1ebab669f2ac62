// Requests to a hub through libcurl: what all of them share, and those whose answer is short.
#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/retry.h"

namespace tern::hub {

struct HttpOptions {
  std::string token = {};  // sent to the host of the address only, never to one that it redirects to
  int connections = 8;
  Milliseconds connect_timeout{10'000};
  std::chrono::seconds stall_timeout{30};  // a connection that brings nothing for so long is given up
  RetryPolicy retry = {};
  std::stop_token stop = {};
  std::function<void(std::string_view)> on_note = [](std::string_view) {};
};

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using CurlList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// A handle set up for GET `url`: proxies and certificates from the environment, redirects, timeouts, the token.
// `headers` must live as long as the handle is used. Nothing is received yet: that is for the caller to add.
CurlHandle make_handle(const HttpOptions& options, const std::string& url, CurlList& headers);

// The value of a header of the last answer, "" where there is none.
std::string header_of(CURL* handle, const char* name);

// libcurl's words for a failed transfer, with the host that it was about.
std::string describe_failure(CURL* handle, CURLcode code);

// Whether a transfer that ended so may succeed when repeated.
bool is_passing_failure(CURLcode code);

struct HttpReply {
  long status = 0;
  std::string body = {};        // of a GET
  std::string error_code = {};  // X-Error-Code: the hub's own word for what is wrong
  std::string etag = {};        // X-Linked-Etag, else ETag, without quotes
  std::string size = {};        // X-Linked-Size, else Content-Length
};

// Any final status is a reply. kIo: no answer came, or only "not now", as often as the retry policy tries.
// kCorruption: an answer of more than 64 MiB. kInterrupted.
Result<HttpReply> http_get(const HttpOptions& options, const std::string& url);

// The same without a body. Follows redirects on the same host only: what a CDN behind it says of a file is not wanted.
Result<HttpReply> http_head(const HttpOptions& options, const std::string& url);

// Waits; kInterrupted if told to stop meanwhile.
Result<void> wait_for(Milliseconds time, const std::stop_token& stop);

}  // namespace tern::hub
