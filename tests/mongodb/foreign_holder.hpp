// SPDX-License-Identifier: BSL-1.0
// Another program's native transaction that changes documents and stays open, as when a person at a
// shell forgets it, or its client has vanished.
#pragma once

#include "commands.hpp"

#include <doctest/doctest.h>

#include <string>

namespace settle_test {

class foreign_holder {
public:
    /// Shape:   address - the address of the documents' database
    explicit foreign_holder(std::string const& address) : client_(address) {
        bson_error_t problem{};
        session_.reset(mongoc_client_start_session(client_.native(), nullptr, &problem));
        REQUIRE_MESSAGE(session_, problem.message);
        bool const begun =
            mongoc_client_session_start_transaction(session_.get(), nullptr, &problem);
        REQUIRE_MESSAGE(begun, problem.message);
    }

    /// From now on every other native transaction that writes this document gets a conflict.
    void hold(std::string const& collection, std::string const& id) {
        write(R"({"update": ")" + collection + R"(", "updates": [{"q": {"_id": ")" + id +
              R"("}, "u": {"$set": {"foreign": 1}}}]})");
    }
    /// The same for the key of a document that is not there.
    void hold_new(std::string const& collection, std::string const& id) {
        write(R"({"insert": ")" + collection + R"(", "documents": [{"_id": ")" + id + R"("}]})");
    }

    /// Ends it, and takes its changes back.
    void end() {
        bson_error_t problem{};
        bool const ended = mongoc_client_session_abort_transaction(session_.get(), &problem);
        CHECK_MESSAGE(ended, problem.message);
    }

private:
    void write(std::string const& json) {
        document const command{json};
        document options;
        bson_error_t problem{};
        REQUIRE(mongoc_client_session_append(session_.get(), options.get(), &problem));
        bson_t answer;
        bool const written = mongoc_client_command_with_opts(
            client_.native(), client_.database().c_str(), command.get(), nullptr, options.get(),
            &answer, &problem);
        bson_destroy(&answer);
        REQUIRE_MESSAGE(written, problem.message);
    }

    struct destroyer {
        void operator()(mongoc_client_session_t* held) const noexcept {
            mongoc_client_session_destroy(held);
        }
    };
    connection client_;
    std::unique_ptr<mongoc_client_session_t, destroyer> session_;
};

} // namespace settle_test
