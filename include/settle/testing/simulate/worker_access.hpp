// SPDX-License-Identifier: BSL-1.0
// Gives each worker its own access to a database or a service, with the worker's faults and the
// shared witness.
#pragma once

#include <settle/running/construction/argument_lists.hpp>
#include <settle/testing/simulate/fault_sender.hpp>
#include <settle/testing/simulate/receiver.hpp>
#include <settle/testing/simulate/witness.hpp>

SETTLE_BEGIN
namespace testing::detail {

/// One worker's access to a database: injects the worker's faults; the witness sees the calls that
/// reach the database.
/// Shape:   Shared - has the witness, seen(), and the plan, answer(worker, database, source, call)
template <typename Database, typename Shared>
class worker_database {
public:
    worker_database(Database& database, Shared& shared, std::size_t worker)
        : seen_(database, shared.seen()), fragile_(seen_) {
        std::size_t const number = shared.number_of(&database);
        fault_source& source = fragile_.source();
        source.plan([&shared, &source, worker, number](call const& current) {
            return shared.answer(worker, number, source, current);
        });
    }
    worker_database(worker_database const&) = delete;
    worker_database& operator=(worker_database const&) = delete;

    [[nodiscard]] faulty<witnessed<Database>>& open() { return fragile_; }

private:
    witnessed<Database> seen_;
    faulty<witnessed<Database>> fragile_;
};

/// One worker's calls of a service, with the worker's faults.
/// Shape:   Shared - as for a worker_database; also note_service(number, receiver) and garbles()
template <ServiceClient Client, typename Shared>
class worker_client {
public:
    worker_client(Client& client, Shared& shared, std::size_t worker) : sender_(client, shared) {
        std::size_t const number = shared.number_of(&client);
        shared.note_service(number, sender_.receiver);
        fault_source& source = sender_.fragile.source();
        source.plan([&shared, &source, worker, number](call const& current) {
            return shared.answer(worker, number, source, current);
        });
    }
    worker_client(worker_client const&) = delete;
    worker_client& operator=(worker_client const&) = delete;

    template <typename... Services>
    [[nodiscard]] auto bind(std::string const& log_name) {
        return crashing_session<sender, Services...>{sender_, log_name};
    }

private:
    struct sender {
        sender(Client& client, Shared& all) : fragile(client), shared(&all) {
            if constexpr (std::is_base_of_v<simulated_receiver, Client>) receiver = &client;
        }

        void send(std::span<service_call const> calls, std::span<service_answer> answers) {
            fragile.send(calls, answers);
            if (crashed()) return;
            for (std::size_t index = 0; index < calls.size(); ++index) {
                if (answers[index].status == call_status::ok && shared->garbles()) {
                    garble(calls[index], answers[index]);
                }
                if (receiver != nullptr) receiver->note_answered(calls[index], answers[index]);
            }
        }
        [[nodiscard]] bool crashed() const { return fragile.crashed(); }
        void end_crash() { fragile.end_crash(); }

        fault_sender<Client> fragile;
        Shared* shared;
        simulated_receiver* receiver = nullptr;

    private:
        /// An apply has a result of another form. Any other call is refused, which it must not be.
        void garble(service_call const& sent, service_answer& answer) const {
            constexpr std::string_view texts[]{"", "{", "null", R"({"other":1})", "\xff"};
            if (sent.operation != call_operation::apply) {
                answer = service_answer::refused("a wrong answer");
            } else {
                answer.text = texts[shared->chance().draw() % std::size(texts)];
            }
        }
    };

    sender sender_;
};

/// A worker's copy of an engine argument: a database in a `worker_database`, a client of services
/// in a `worker_client`, any other argument unchanged.
template <typename Argument, typename Shared>
struct own_argument {
    own_argument(Argument const& given, Shared&, std::size_t) : value(given) {}
    [[nodiscard]] Argument const& get() const { return value; }
    Argument value;
};
template <typename Database, typename Shared>
    requires settle::detail::is_database<Database>
struct own_argument<Database, Shared> {
    own_argument(Database& database, Shared& shared, std::size_t worker)
        : access(database, shared, worker) {}
    [[nodiscard]] auto& get() { return access.open(); }
    worker_database<Database, Shared> access;
};
template <typename Database, typename Shared>
struct own_argument<log_binding<Database>, Shared> {
    own_argument(log_binding<Database> const& binding, Shared& shared, std::size_t worker)
        : access(binding.database, shared, worker) {}
    [[nodiscard]] auto get() { return log_in(access.open()); }
    worker_database<Database, Shared> access;
};
template <typename Collection, typename Database, typename Shared>
struct own_argument<store_binding<Collection, Database>, Shared> {
    own_argument(store_binding<Collection, Database> const& binding, Shared& shared,
                 std::size_t worker)
        : access(binding.database, shared, worker) {}
    [[nodiscard]] auto get() {
        return store_binding<Collection, faulty<witnessed<Database>>>{access.open()};
    }
    worker_database<Database, Shared> access;
};
template <typename Service, ServiceClient Client, typename Shared>
struct own_argument<store_binding<Service, Client>, Shared> {
    own_argument(store_binding<Service, Client> const& binding, Shared& shared, std::size_t worker)
        : access(binding.database, shared, worker) {}
    [[nodiscard]] auto get() {
        return store_binding<Service, worker_client<Client, Shared>>{access};
    }
    worker_client<Client, Shared> access;
};
template <typename Service, typename Client, typename Shared>
struct own_argument<client_binding<Service, Client>, Shared> {
    own_argument(client_binding<Service, Client>& binding, Shared& shared, std::size_t worker)
        : access(binding.database, shared, worker) {}
    [[nodiscard]] auto get() {
        return store_binding<Service, worker_client<Client, Shared>>{access};
    }
    worker_client<Client, Shared> access;
};

/// Every other worker uses two phases, so that both kinds of commit occur side by side.
template <typename Shared>
struct own_argument<phases, Shared> {
    own_argument(phases phases, Shared&, std::size_t worker)
        : value(worker % 2 == 0 ? phases : two_phases) {}
    [[nodiscard]] phases get() const { return value; }
    phases value;
};

} // namespace testing::detail
SETTLE_END
