// Requests to a hub through libcurl: what all of them share, and requests with short answers.
#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/net/retry.h"

namespace tern::hub {

struct HttpOptions {
  std::string token = {};  // sent only to the host of the URL, never to redirect targets
  int connections = 8;
  Milliseconds connect_timeout{10'000};
  std::chrono::seconds stall_timeout{30};  // a connection without data for so long is given up
  RetryPolicy retry = {};
  std::stop_token stop = {};
  std::function<void(std::string_view)> on_note = [](std::string_view) {};
};

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using CurlList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// A handle for GET `url`, with proxies and certificates from the environment, redirects, timeouts and the token.
// `headers` must live as long as the handle is used. The caller must add a function that receives the data.
CurlHandle make_handle(const HttpOptions& options, const std::string& url, CurlList& headers);

// The value of a header of the last answer; "" if absent.
std::string header_of(CURL* handle, const char* name);

// The host that a transfer of `asked` came to, and where it was sent there from, if it was redirected.
std::string describe_host(CURL* handle, const std::string& asked);

// libcurl's description of a failed transfer of `asked`, with the host's name.
std::string describe_failure(CURL* handle, CURLcode code, const std::string& asked);

// "HOST answered with status N", and how long it wants to be left alone.
std::string describe_status(CURL* handle, const std::string& asked);

// True if a transfer that failed so may succeed when repeated.
bool is_passing_failure(CURLcode code);

struct HttpReply {
  long status = 0;
  std::string body = {};        // of a GET
  std::string error_code = {};  // X-Error-Code: the hub's name for the error
  std::string etag = {};        // X-Linked-Etag, else ETag, without quotes
  std::string size = {};        // X-Linked-Size, else Content-Length
};

// Any final status is a reply. kIo: no answer, or only "not now", in all tries of the retry policy. kCorruption: an
// answer of more than 64 MiB. kInterrupted.
Result<HttpReply> http_get(const HttpOptions& options, const std::string& url);

// The same without a body. Follows redirects on the same host only: a CDN's headers for the file are not wanted.
Result<HttpReply> http_head(const HttpOptions& options, const std::string& url);

// Waits; kInterrupted if a stop is requested meanwhile.
Result<void> wait_for(Milliseconds time, const std::stop_token& stop);

}  // namespace tern::hub
