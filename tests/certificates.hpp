// SPDX-License-Identifier: BSL-1.0
// Certificates for the tests of servers with TLS, made with openssl.
#pragma once

#include "program.hpp"
#include "server_process.hpp"

#include <cstdlib>
#include <string>

namespace settle_test {

/// Makes the certificates of two authorities, `ca.pem` and `other.pem`, and by the first of them
/// `server.pem` for 127.0.0.1. Their keys are in `….key`; `both.pem` has the server's certificate
/// and key. Skips the test where there is no openssl.
inline void make_certificates(testing::scratch_folder const& folder) {
    auto const log = folder.at("openssl.txt");
    auto const run = [&](std::string const& options) {
        if (std::system(("openssl " + options + " >>'" + log + "' 2>&1").c_str()) == 0) return;
        skip("no certificate can be made here: is the program openssl installed? It said: " +
             testing::read_file(log));
    };
    for (std::string const name : {"ca", "other"}) {
        auto const at = folder.at(name);
        run("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=" + name + " -keyout '" + at +
            ".key' -out '" + at + ".pem'");
    }
    auto const extensions = folder.write("extensions", "subjectAltName=IP:127.0.0.1\n");
    auto const server_path = folder.at("server");
    run("req -newkey rsa:2048 -nodes -subj /CN=server -keyout '" + server_path + ".key' -out '" +
        server_path + ".csr'");
    run("x509 -req -in '" + server_path + ".csr' -CA '" + folder.at("ca.pem") + "' -CAkey '" +
        folder.at("ca.key") + "' -CAcreateserial -days 2 -extfile '" + extensions + "' -out '" +
        server_path + ".pem'");
    folder.write("both.pem", testing::read_file(server_path + ".pem") +
                                 testing::read_file(server_path + ".key"));
}

} // namespace settle_test
