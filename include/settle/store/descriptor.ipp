// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that descriptor.hpp declares.
#pragma once

#include <settle/store/descriptor.hpp>

SETTLE_BEGIN

SETTLE_FUNCTION std::optional<std::string>
transaction_descriptor::normal_json(std::string const& stored) const {
    if (!described) return std::nullopt;
    held_parameters const decoded{*this};
    if (!detail::read_whole(*codec, stored, json_form::exact, decoded.get()).empty()) {
        return std::nullopt;
    }
    return json(decoded.get());
}

SETTLE_FUNCTION std::size_t transaction_descriptor::count_parts(void const* parameters) const {
    std::size_t count = 0;
    for (part_descriptor const& part : participants) count += lines(parameters, part.participant);
    return count;
}

SETTLE_FUNCTION held_parameters::held_parameters(transaction_descriptor const& type,
                                                 detail::function_view<void(void*)> construct)
    : type_(&type), value_(::operator new(type.size)) {
    try {
        construct(value_);
    } catch (...) {
        ::operator delete(value_);
        throw;
    }
}
SETTLE_FUNCTION held_parameters::held_parameters(transaction_descriptor const& type)
    : held_parameters(type, [&](void* slot) { type.construct(slot); }) {}
SETTLE_FUNCTION held_parameters::~held_parameters() {
    if (value_ == nullptr || type_ == nullptr) return;
    type_->destroy(value_);
    ::operator delete(value_);
}

SETTLE_FUNCTION transaction_descriptor const& undescribed_descriptor() {
    return descriptor_of<undescribed>;
}

SETTLE_END
