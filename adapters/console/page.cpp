// SPDX-License-Identifier: BSL-1.0
#include "page.hpp"

SETTLE_BEGIN
namespace detail {

std::string_view page_html() {
    return R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="base" content="{base}">
<title>settle</title>
<link rel="stylesheet" href="{base}/console.css">
<script src="{base}/console.js" type="module"></script>
</head>
<body>
<a class="skip" href="#view">Skip to the content</a>
<header>
<nav aria-label="Views">
<a href="{base}/" id="to-overview">Overview</a>
<a href="{base}/entries?state=unfinished" id="to-entries">Entries</a>
<a href="{base}/actions" id="to-actions">Actions</a>
</nav>
<form id="filter" role="search" aria-label="Filter of the entries">
<label>Id <input name="id" autocomplete="off" placeholder="begins with"></label>
<label>State <select name="state"><option>all</option><option>unfinished</option>
<option>initial</option><option>pending</option><option>deciding</option><option>applied</option>
<option>canceling</option><option>done</option><option>canceled</option><option>barred</option>
</select></label>
<label>Type <input name="type" autocomplete="off"></label>
<label>Record <input name="key" autocomplete="off" placeholder="collection/key"></label>
<label>Older <input name="older" size="5" placeholder="30m" autocomplete="off"></label>
<label>Unchanged <input name="still" size="5" placeholder="30m" autocomplete="off"></label>
<label>Reason <input name="reason" size="12" autocomplete="off"></label>
<label>Participant <input name="participant" size="12" autocomplete="off"></label>
<button>Show</button>
</form>
<p id="status" role="status" aria-live="polite"></p>
<p id="held" class="note" hidden>Not refreshed while something is selected; <kbd>Esc</kbd> lets
go.</p>
</header>
<main id="view" tabindex="-1"></main>
<dialog id="help" aria-labelledby="help-title">
<h2 id="help-title">Keys</h2>
<dl>
<dt><kbd>/</kbd></dt><dd>filter</dd>
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous row</dd>
<dt><kbd>Enter</kbd></dt><dd>open the row</dd>
<dt><kbd>x</kbd></dt><dd>select the row for an action</dd>
<dt><kbd>a</kbd></dt><dd>to the actions</dd>
<dt><kbd>Esc</kbd></dt><dd>deselect, then back</dd>
<dt><kbd>?</kbd></dt><dd>this list</dd>
</dl>
<button type="button" id="close-help" autofocus>Close</button>
</dialog>
<noscript><p>This page needs its script. In a terminal, curl shows the same addresses as
text.</p></noscript>
</body>
</html>
)html";
}

std::string_view page_style() {
    return R"css(:root {
  color-scheme: light dark;
  --text: #1b1f24; --ground: #ffffff; --soft: #f1f3f5; --line: #c9ced4; --dim: #57606a;
  --link: #0b57a4; --bad: #a40e26; --good: #1a6b32; --lit: #ffe9a8; --lit-text: #1b1f24;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --ground: #0d1117; --soft: #1a2028; --line: #3d444d; --dim: #9aa4af;
    --link: #7cb8ff; --bad: #ff8f8f; --good: #7ee096; --lit: #6b4e00; --lit-text: #ffffff;
  }
}
* { box-sizing: border-box; } body { margin: 0; font: 15px/1.45 system-ui, sans-serif;
  color: var(--text); background: var(--ground); }
a { color: var(--link); } :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100em; }
.skip:focus { left: 0; background: var(--ground); padding: .5em; }
header { background: var(--soft); border-bottom: 1px solid var(--line); padding: .5em 1em;
  display: flex; flex-wrap: wrap; gap: .5em 1.5em; align-items: center; }
nav { display: flex; gap: 1em; }
nav a[aria-current] { font-weight: 700; color: var(--text); }
form { display: flex; flex-wrap: wrap; gap: .4em .8em; align-items: center; }
input, select, button, textarea { font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--dim); border-radius: 4px; padding: .2em .5em; max-width: 100%; }
button { cursor: pointer; }
#held { margin: 0; }
#status { margin: 0; color: var(--dim); flex-basis: 100%; }
main { padding: 0 1em 3em; max-width: 80em; }
main:focus { outline: none; }
h1 { font-size: 1.4em; overflow-wrap: anywhere; }
h2 { font-size: 1.1em; margin: 1.4em 0 .3em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3em .7em .3em 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--dim); font-weight: 600; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.selected td { background: var(--lit); color: var(--lit-text); }
tr.selected a { color: var(--lit-text); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2em 1em; margin: .3em 0; }
dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .6em; overflow-x: auto; }
svg { width: 300px; max-width: 100%; border-bottom: 1px solid var(--dim); }
.bar-done { fill: var(--good); } .bar-canceled { fill: var(--bad); }
.problem { color: var(--bad); font-weight: 600; }
.good { color: var(--good); }
.note { color: var(--dim); }
.way { display: flex; flex-wrap: wrap; gap: .4em; list-style: none; padding: 0; }
.way li { border: 1px solid var(--line); border-radius: 6px; padding: .3em .7em; }
.flow { display: flex; flex-wrap: wrap; gap: .6em 1.8em; list-style: none; padding: 0 1.4em; }
.flow > li { border: 1px solid var(--line); border-radius: 6px; padding: .3em .7em;
  position: relative; max-width: 22em; overflow-wrap: anywhere; }
.flow > li + li::before { content: "→"; position: absolute; left: -1.4em; top: .3em; }
li[aria-current] { background: var(--lit); color: var(--lit-text); }
.way li[aria-current] { font-weight: 700; }
li[aria-current] .note { color: inherit; }
.action { border: 1px solid var(--line); border-radius: 6px; padding: .6em; margin: .5em 0; }
.action form { margin-top: .5em; }
kbd { border: 1px solid var(--dim); border-radius: 3px; padding: 0 .3em; }
dialog { color: var(--text); background: var(--ground); border: 1px solid var(--dim);
  border-radius: 8px; }
@media (max-width: 40em) {
  main { padding: 0 .6em 3em; }
  header { padding: .5em .6em; }
  th, td { padding-right: .4em; }
  .wide { display: none; }
  .flow { flex-direction: column; }
  .flow > li + li::before { content: none; }
}
)css";
}

} // namespace detail
SETTLE_END
