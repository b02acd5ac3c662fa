#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Runs the compile line of an adapter's page, with the installed descriptions for pkg-config, and then
# the program: on memory and SQLite a bank, else a client of an address where nothing listens.
# Usage: pkg_config.sh ROOT FOLDER DESCRIPTIONS COMPILER ADAPTER
set -u
root=$1
folder=$2
PKG_CONFIG_PATH=$3
compiler=$4
adapter=$5
export PKG_CONFIG_PATH
rm -rf "$folder"
mkdir -p "$folder" && cd "$folder" && cp "$root/tests/consumer/bank.hpp" . || exit 1

nowhere="127.0.0.1:1"
needs_bank='return bank::settles(database) ? 0 : 1;'
case $adapter in
memory) begin='settle::memory::database database;' ;;
sqlite) begin='settle::sqlite::database database{"bank.db"};' ;;
mongodb)
    address="mongodb://$nowhere/bank?serverSelectionTimeoutMS=100"
    begin="settle::mongodb::database database{\"$address\"};"
    ;;
http)
    begin="settle::http::client client{\"http://$nowhere/airline\"};"
    needs_bank='settle::service_call const call{"airline", settle::call_operation::apply, "key", "id",
        "flight", std::nullopt, 1, settle::timestamp{}, "[1]", {}};
    settle::service_answer answer;
    client.send({&call, 1}, {&answer, 1});
    std::cout << answer.text << "\n";
    return 0;'
    ;;
*)
    begin="settle::$adapter::database database{\"$adapter://$nowhere/bank\",
        {.connect_timeout = std::chrono::milliseconds{100}}};"
    ;;
esac
cat >bank.cpp <<PROGRAM
#include "bank.hpp"
#include <settle/$adapter.hpp>
int main() try {
    $begin
    $needs_bank
} catch (settle::failure const& away) {
    std::cout << away.what() << '\n';
}
PROGRAM

line=$(sed -n 's/^\$ \(g++ .*pkg-config.*\)$/\1/p' "$root/adapters/$adapter/README.md")
[ -n "$line" ] || {
    echo "adapters/$adapter/README.md has no compile line with pkg-config"
    exit 1
}
eval "$compiler ${line#g++ }" || exit 1
./bank >said
result=$?
cat said
case $adapter in
memory | sqlite) exit "$result" ;;
esac
[ "$result" -eq 0 ] && grep -q "$nowhere" said
