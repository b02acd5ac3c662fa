// SPDX-License-Identifier: BSL-1.0
// Rows of a log and of its marks as another program may leave them: a clear error or an entry.
#include "fuzz.hpp"

#include <settle/adapter/image_codec.hpp>
#include <settle/sqlite.hpp>
#include <settle/sqlite/connection/schema.hpp>
#include <settle/sqlite/log/entry_reader.hpp>
#include <settle/sqlite/records/record_table.hpp>

#include <array>

namespace {

namespace store = settle::sqlite::detail;

/// The tables of settle in memory. The next input replaces the inserted rows.
struct tables {
    store::connection connection{":memory:", std::chrono::milliseconds{0}};
    store::statement entry;
    store::statement type;
    store::statement owner;
    store::statement mark;
    std::optional<store::entry_reader> reader;
    std::optional<store::mark_reader> marks;

    tables() {
        store::create_tables(connection);
        entry = {connection,
                 "INSERT INTO settle_entry(id, type, state, epoch, committed, attempts, reason, "
                 "owner, created, modified, parameters, participant, line, images) "
                 "VALUES(?, 1, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)",
                 "insert"};
        type = {connection, "INSERT INTO settle_type VALUES(1, ?, ?)", "insert"};
        owner = {connection, "INSERT INTO settle_owner VALUES(1, ?)", "insert"};
        mark = {connection,
                "INSERT INTO settle_mark(id, participant, line, collection, key, epoch, effect) "
                "VALUES(?, ?, ?, 'things', ?, ?, 'add')",
                "insert"};
        reader.emplace(connection);
        marks.emplace(connection, "'things'");
    }
};

/// Binds a line by its first character: an integer, a real, a text, a blob, or NULL.
void bind(store::run& to, std::string_view line) {
    auto const rest = line.empty() ? line : line.substr(1);
    std::int64_t number = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    switch (line.empty() ? 'n' : line.front()) {
    case 'i': to.bind(number); break;
    case 'r': to.bind_real(static_cast<double>(number) / 4); break;
    case 't': to.bind(rest); break;
    case 'b': to.bind_blob(rest); break;
    default: to.bind(nullptr);
    }
}

/// False when the table itself refuses the row.
bool insert(store::statement const& by, fuzz::lines& from, int columns) {
    store::run row{by};
    for (int column = 0; column < columns; ++column) bind(row, from.next());
    try {
        row.change();
        return true;
    } catch (settle::failure const&) {
        return false;
    }
}

/// The result of a call, or nothing if the call reports damage.
template <typename Call>
auto result_of(Call&& call) -> std::optional<decltype(call())> {
    try {
        return call();
    } catch (settle::failure const& problem) {
        fuzz::verify(problem.problem().code == settle::errc::damaged,
                     "damage has the code for damage");
        fuzz::verify(!problem.problem().text.empty(), "an error has a sentence");
        return std::nullopt;
    }
}

void read_entry(tables& in, fuzz::lines& from) {
    insert(in.type, from, 2);
    insert(in.owner, from, 1);
    if (!insert(in.entry, from, 12)) return;
    store::statement const ids{in.connection, "SELECT id FROM settle_entry", "read"};
    store::run row{ids};
    row.next();
    std::string const id{row.text(0)};
    auto const entry = result_of([&] { return in.reader->read(id); });
    auto const listed = result_of([&] { return in.reader->list({}, {}, 10); });
    fuzz::verify(listed.has_value(), "a damaged entry holds up no others");
    if (!entry || !*entry || listed->empty()) return;
    fuzz::verify(listed->front() == **entry, "an entry is listed as it is read");
    std::string images;
    settle::detail::append_images(images, (*entry)->images);
    auto const again = settle::detail::decode_images(images);
    fuzz::verify(again.has_value() && again.value() == (*entry)->images, "images come back");
}

void read_marks(tables& in, fuzz::lines& from) {
    if (!insert(in.mark, from, 5)) return;
    auto const marks = result_of([&] { return in.marks->read(std::nullopt, 10); });
    fuzz::verify(marks && marks->size() == 1, "a damaged mark is listed with its fault");
    if (marks->front().fault.empty()) return;
    fuzz::verify(marks->front().fault.code == settle::errc::damaged,
                 "damage has the code for damage");
}

} // namespace

/// Input: a line for each column of a type, an owner, an entry and a mark.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static tables in;
    in.connection.execute("SAVEPOINT one", "begin");
    fuzz::lines from{data, size};
    read_entry(in, from);
    read_marks(in, from);
    in.connection.execute("ROLLBACK TO one; RELEASE one", "forget");
    return 0;
}
