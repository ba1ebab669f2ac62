// POST /slots/{id}?action=save, restore or erase: keeps the keys and values of a conversation in a file.
#pragma once

#include "server/api/routes/server_routes.h"

namespace tern::server {

// 501 if there is no folder for the files.
void add_slot_routes(const RouteContext& context);

}  // namespace tern::server
