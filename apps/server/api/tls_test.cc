// The server with TLS, if this build has it. The test makes a certificate that is valid for an hour.
#include <httplib.h>

#include "server/api/api_test_support.h"
#include "server/connections/connection_front.h"
#include "server/http_server.h"
#include "server/raw_client_test_support.h"
#include "support/checkout.h"

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <filesystem>

namespace tern::server::test {
namespace {

class Certificate {
 public:
  Certificate() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_NAME_new();
    constexpr unsigned char kName[] = "localhost";
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, kName, -1, -1, 0);
    X509_set_subject_name(certificate, name);
    X509_set_issuer_name(certificate, name);
    X509_NAME_free(name);
    X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate, key, EVP_sha256());
    std::FILE* file = std::fopen(certificate_path().c_str(), "w");
    PEM_write_X509(file, certificate);
    std::fclose(file);
    file = std::fopen(key_path().c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  ~Certificate() {
    std::filesystem::remove(certificate_path());
    std::filesystem::remove(key_path());
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  std::string certificate_path() const { return prefix_ + ".crt"; }
  std::string key_path() const { return prefix_ + ".key"; }

 private:
  std::string prefix_ = testing::TempDir() + "tern_tls_" + std::to_string(::getpid());
};

TEST(Tls, AnswersWithItsCertificate) {
  const Certificate files;
  const RunningServer server({.address = {.tls = {.certificate = files.certificate_path(), .key = files.key_path()}}});
  EXPECT_TRUE(server.url().starts_with("https://127.0.0.1:"));
  httplib::SSLClient client("127.0.0.1", server.port());
  client.set_connection_timeout(0, 60'000'000);
  client.set_ca_cert_path(files.certificate_path());
  Json body = completion("Once upon a time", 40);
  const auto whole = client.Post(kText, body.dump(), "application/json");
  ASSERT_TRUE(whole) << httplib::to_string(whole.error());
  EXPECT_EQ(whole->status, 200);
  body["stream"] = true;
  const auto stream = client.Post(kText, body.dump(), "application/json");
  ASSERT_TRUE(stream) << httplib::to_string(stream.error());
  EXPECT_TRUE(stream->body.ends_with("data: [DONE]\n\n"));
  httplib::SSLClient stranger("127.0.0.1", server.port());  // does not trust the certificate
  stranger.set_connection_timeout(0, 60'000'000);
  EXPECT_FALSE(stranger.Get("/health"));
  EXPECT_FALSE(server.client()->Get("/health"));  // without TLS
  EXPECT_TRUE(client.Get("/health"));
}

TEST(Tls, WhoVanishesCostsNothingMore) {
  const Certificate files;
  const RunningServer server({.address = {.tls = {.certificate = files.certificate_path(), .key = files.key_path()}},
                              .limits = {.request = std::chrono::milliseconds(500)}});
  const RawClient silent(server.port());  // never starts the handshake
  EXPECT_LT(silent.send_slowly('\x16', 200, std::chrono::milliseconds(50)), 200);
  httplib::SSLClient client("127.0.0.1", server.port());
  client.set_connection_timeout(0, 60'000'000);
  client.set_ca_cert_path(files.certificate_path());
  Json body = completion("Once upon a time", 100'000);
  body["ignore_eos"] = true;
  body["stream"] = true;
  size_t n = 0;
  client.Post(kText, httplib::Headers{}, body.dump(), "application/json",
              [&](const char*, size_t length) { return (n += length) < 1000; });
  EXPECT_GE(n, 1000u);
  httplib::SSLClient other("127.0.0.1", server.port());
  other.set_connection_timeout(0, 60'000'000);
  other.set_ca_cert_path(files.certificate_path());
  EXPECT_TRUE(other.Get("/health"));
}

TEST(Tls, FilesThatAreNone) {
  const Certificate files, others;
  const auto code_of = [](const TlsFiles& tls) { return HttpServer::open(tls, FrontOptions{}).error().code; };
  const std::string model = source_path("models/tern-stories.gguf");
  EXPECT_EQ(code_of({.certificate = files.certificate_path()}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({.key = files.key_path()}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({.certificate = "/none", .key = files.key_path()}), ErrorCode::kIo);
  EXPECT_EQ(code_of({.certificate = model, .key = files.key_path()}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({.certificate = files.key_path(), .key = files.certificate_path()}), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tern::server::test
#endif
