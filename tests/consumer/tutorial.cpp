// SPDX-License-Identifier: BSL-1.0
// A layout of a tutorial's program is checked without a server.
#include <settle/mongodb/tutorial/layout.hpp>

int main() {
    settle::mongodb::tutorial_layout names;
    names.fields = {{"amount", "value"}};
    settle::mongodb::detail::tutorial_entries const entries{
        names, "transfer", 1, {{"amount", false, false}}};
    return entries.is_parameter("value") ? 0 : 1;
}
