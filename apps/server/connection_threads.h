// Threads for a server whose connections each keep one for as long as they are open.
#pragma once

#include <cstddef>

namespace httplib {
class TaskQueue;
}

namespace tern::server {

// For httplib's new_task_queue: a connection waits for a thread only where `most` have one already. Browsers open six
// at once and hold them; httplib's own pool makes no thread while one seems idle, be it about to take another
// connection, so that some of the six would wait until others are closed.
httplib::TaskQueue* new_connection_threads(size_t most);

}  // namespace tern::server
