// SPDX-License-Identifier: BSL-1.0
// The part of the page's script that asks before an action, and that acts on ticked rows.
#include "page.hpp"

SETTLE_BEGIN
namespace detail {

std::string_view page_selection_script() {
    return R"js(const ticked = new Set(); // the ids of ticked rows

// Asks a person before an action; `act` gives what came of it.
function confirmFirst(box, name, shown, label, act) {
  for (const old of box.querySelectorAll('.asked')) old.remove();
  const asking = make('div', {class: 'asked', role: 'alertdialog', 'aria-label': `Confirm ${name}`},
    shown);
  box.append(asking);
  if (!label) return;
  const button = make('button', {type: 'button'}, label);
  button.addEventListener('click', async () => {
    button.disabled = true;
    const told = await act();
    busy = false;
    ticked.clear();
    await show(true);
    status.textContent = told;
  });
  asking.append(button);
  button.focus();
}

const told = (ended) => [ended.text, ended.problem].filter((each) => each).join(': ');

// Adds a box to tick to each row of a list, and gives the actions on the rows that are ticked.
function addTicks(entries) {
  const box = make('div', {class: 'action', hidden: ''});
  const count = make('b', {role: 'status'});
  box.append(count, ' ');
  for (const name of ['recover', 'cancel', 'reverse']) {
    const button = make('button', {type: 'button'}, `${name} selected…`);
    button.addEventListener('click', () => dryRunForTicked(name, box));
    box.append(button, ' ');
  }
  entries.querySelector('thead tr').prepend(make('td'));
  for (const row of entries.querySelectorAll('tr[data-id]')) {
    const {id} = row.dataset;
    const tick = make('input', {type: 'checkbox', 'aria-label': `select ${id}`});
    tick.addEventListener('change', () => {
      if (tick.checked) ticked.add(id);
      else ticked.delete(id);
      for (const old of box.querySelectorAll('.asked')) old.remove();
      box.hidden = ticked.size === 0;
      count.textContent = `${ticked.size} selected`;
    });
    row.prepend(make('td', {}, tick));
  }
  return box;
}

async function dryRunForTicked(name, box) {
  busy = true;
  const rows = [];
  for (const id of ticked) {
    const path = `${entryPath(id)}/${name}`;
    const tried = await send(path, new URLSearchParams({dry_run: '1'}));
    rows.push({id, path, effect: tried.problem || tried.effect, ...tried});
  }
  const allowed = rows.filter((row) => row.allowed);
  confirmFirst(box, name, table('What would happen', rows, ['id', 'allowed', 'effect']),
    allowed.length ? `${name} ${allowed.length} entries` : null, async () => {
      const sentences = [];
      for (const {path, seen} of allowed)
        sentences.push(told(await send(path, new URLSearchParams({seen}))));
      return sentences.join('; ');
    });
}
)js";
}

} // namespace detail
SETTLE_END
