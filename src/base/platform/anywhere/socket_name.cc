#include "base/platform/socket.h"

#ifdef _WIN32
#include <winsock2.h>
// After winsock2.h.
#include <ws2tcpip.h>
#else
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#endif

namespace tern::platform {

SocketName name_of(const sockaddr* address, size_t address_bytes) {
  char host[NI_MAXHOST] = {};
  ::getnameinfo(address, static_cast<socklen_t>(address_bytes), host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  int port = 0;
  if (address->sa_family == AF_INET) port = ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
  if (address->sa_family == AF_INET6) port = ntohs(reinterpret_cast<const sockaddr_in6*>(address)->sin6_port);
  return {host, port};
}

}  // namespace tern::platform
