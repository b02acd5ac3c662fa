// SPDX-License-Identifier: BSL-1.0
// The log in memory: entries under their ids, parameters kept as they are.
#pragma once

#include <settle/memory/table.hpp>

SETTLE_BEGIN
namespace memory {

/// Parameters of any type, kept by value; written as JSON only when somebody reads the entry.
class parameter_box {
public:
    parameter_box() = default;

    template <typename Parameters>
    explicit parameter_box(Parameters const& parameters)
        : content_(std::make_unique<model<Parameters>>(parameters)) {}

    [[nodiscard]] std::string json() const { return content_ ? content_->json() : std::string{}; }

private:
    struct concept_base {
        concept_base() = default;
        concept_base(concept_base const&) = delete;
        concept_base& operator=(concept_base const&) = delete;
        virtual ~concept_base() = default;
        [[nodiscard]] virtual std::string json() const = 0;
    };
    template <typename Parameters>
    struct model final : concept_base {
        explicit model(Parameters const& given) : parameters(given) {}
        [[nodiscard]] std::string json() const override { return encode_json(parameters); }
        Parameters parameters;
    };

    std::unique_ptr<concept_base const> content_;
};

class journal {
public:
    template <typename Direction>
    log_answer insert(job<Direction> const& work, occasion const& at) {
        auto const [place, fresh] = entries_.try_emplace(work.id);
        if (!fresh) return log_answer::conflict;
        kept& made = place->second;
        entry& fields = made.fields;
        fields.type = Direction::name();
        fields.definition = Direction::definition();
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            made.parameters = parameter_box{*work.parameters};
        }
        fields.state = work.coordinator.insert_state();
        fields.epoch_number = work.coordinator.insert_epoch();
        fields.owner = at.owner;
        fields.created = work.created;
        fields.modified = at.now;
        fields.why = work.coordinator.why();
        return log_answer::taken;
    }

    template <typename Direction>
    log_answer change(job<Direction> const& work, occasion const& at) {
        auto const found = entries_.find(work.id);
        if (found == entries_.end()) return log_answer::conflict;
        entry& fields = found->second.fields;
        transition const wanted = work.coordinator.change();
        if (fields.state != wanted.from || fields.epoch_number != wanted.from_epoch) {
            return log_answer::conflict;
        }
        fields.state = wanted.to;
        fields.epoch_number = wanted.to_epoch;
        fields.committed = wanted.committed;
        fields.attempts = wanted.attempts;
        fields.modified = at.now;
        if (wanted.takes_owner) fields.owner = at.owner;
        if (wanted.why != reason::none && fields.why == reason::none) note_reason(fields, work);
        if (work.coordinator.next() == step::commit) fields.images = work.images;
        return log_answer::taken;
    }

    [[nodiscard]] std::optional<entry> read(transaction_id const& id) const {
        auto const found = entries_.find(id);
        if (found == entries_.end()) return std::nullopt;
        entry copy = found->second.fields;
        copy.id = id;
        copy.parameters = found->second.parameters.json();
        return copy;
    }

    /// Ids in order, beginning behind one of them.
    [[nodiscard]] std::vector<entry> list(entry_filter const& filter, transaction_id const& after,
                                          std::size_t limit) const {
        std::vector<transaction_id> ids;
        for (auto const& [id, found] : entries_) {
            if (id > after && passes(filter, found.fields)) ids.push_back(id);
        }
        std::sort(ids.begin(), ids.end());
        if (ids.size() > limit) ids.resize(limit);
        std::vector<entry> found;
        for (auto const& id : ids) found.push_back(*read(id));
        return found;
    }

    void reserve(std::size_t room) { entries_.reserve(room); }

private:
    struct kept {
        entry fields;
        parameter_box parameters;
    };

    template <typename Direction>
    static void note_reason(entry& fields, job<Direction> const& work) {
        fields.why = work.coordinator.why();
        if (work.coordinator.failed_part() == coordinator::no_part) return;
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            part_name const where = Direction::name_part(Direction::user(*work.parameters),
                                                         work.coordinator.failed_part());
            fields.participant = where.participant;
            fields.line = where.line;
        }
    }

    static bool passes(entry_filter const& filter, entry const& fields) {
        bool const unfinished = !is_final(fields.state) && fields.state != state::initial;
        return (!filter.state || *filter.state == fields.state) &&
               (!filter.unfinished || unfinished) &&
               (!filter.before || fields.modified <= *filter.before);
    }

    std::unordered_map<transaction_id, kept> entries_;
};

} // namespace memory
SETTLE_END
