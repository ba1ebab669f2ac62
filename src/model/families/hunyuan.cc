#include "model/families/family.h"

namespace tern {

Result<void> finish_hunyuan(ModelSource& /*source*/, Config& c) {
  c.norms_follow_rope = true;
  return {};
}

}  // namespace tern
