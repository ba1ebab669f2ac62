#include "cli/sudden_end.h"

namespace tern::cli {

void handle_end_signals() {}  // Ctrl-C and the like are InterruptPipe's; there are no others
Result<void> widen_stack() { return {}; }

}  // namespace tern::cli
