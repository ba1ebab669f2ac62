#include <tern/engine.h>

int main() { return tern::version().empty(); }
