// Fields of OpenAI's requests that change no text here: hints to a service, and promises of other things than text.
#pragma once

#include "server/api/fields.h"

namespace tern::server {

// Refuses audio, searches on the web and moderation by name.
void refuse_what_is_no_text(Fields& fields);

// Checks service_tier, verbosity, prediction, the fields about caches, and names of users. They have no effect.
void check_hints(Fields& fields);
void check_verbosity(Fields& fields);

// Up to 16 short texts, as at OpenAI; null if there are none.
ApiResult<Json> read_metadata(const Fields& fields);

}  // namespace tern::server
