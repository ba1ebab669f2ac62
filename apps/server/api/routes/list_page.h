// Lists of files, batches and items, a page at a time, as OpenAI's API has them.
#pragma once

#include <httplib.h>

#include <string>
#include <vector>

#include "server/api/api_error.h"

namespace tern::server {

struct Page {
  size_t limit;
  bool newest_first = true;
  std::string after;  // the id before the page; empty: the first page
};

// Reads limit, order and after. `usual`, `most`: for the limit.
ApiResult<Page> read_page(const httplib::Request& request, size_t usual, size_t most);

// `all`: objects with an id, oldest first.
ApiResult<Json> list_page(std::vector<Json> all, const Page& page);

}  // namespace tern::server
