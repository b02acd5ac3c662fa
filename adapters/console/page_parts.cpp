// SPDX-License-Identifier: BSL-1.0
// Parts of the page's script: it asks before an action, acts on ticked rows, and shows what has
// ended, the picture of a type, and a record.
#include "page.hpp"

SETTLE_BEGIN
namespace detail {

constexpr std::string_view parts_script = R"js(const ticked = new Set(); // the ids of ticked rows

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

// What has ended in each of the last minutes: a bar of what is done, and above it what is canceled.
function chart(minutes) {
  const svg = (name, attributes, ...children) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const most = Math.max(1, ...minutes.map((each) => each.done + each.canceled));
  const bars = minutes.flatMap((each, index) => {
    const height = (count) => 60 * count / most;
    const bar = (name, top) => svg('rect', {class: `bar-${name}`, x: index * 20, width: 16,
      y: 60 - height(top), height: height(each[name])},
    svg('title', {}, `${each.minute.slice(11, 16)} UTC: ${each[name]} ${name}`));
    return [bar('done', each.done), bar('canceled', each.done + each.canceled)];
  });
  const sum = (name) => minutes.reduce((total, each) => total + each[name], 0);
  const text = `Ended in the last ${minutes.length} min: ${sum('done')} done, `
    + `${sum('canceled')} canceled; at most ${most} in a minute`;
  return [make('p', {}, text), svg('svg', {viewBox: '0 0 300 60', role: 'img', 'aria-label': text},
    ...bars)];
}

// Marks without an entry, and the sweep that ends what was left behind.
function leftBehind(data) {
  const early = data.marks_without_entry;
  const box = make('div', {class: 'action'});
  const button = make('button', {type: 'button'}, 'sweep…');
  button.addEventListener('click', async () => {
    busy = true;
    const tried = await send(`${base}/sweep`, new URLSearchParams({dry_run: '1'}));
    confirmFirst(box, 'sweep', make('p', {}, tried.problem || tried.effect),
      tried.allowed ? 'sweep now' : null,
      async () => told(await send(`${base}/sweep`, new URLSearchParams({seen: tried.seen}))));
  });
  box.append(button);
  return section('Marks without an entry', early.at,
    early.problem ? make('p', {class: 'note'}, early.problem)
      : table('Marks without an entry', early.by_collection), data.may_act ? box : null);
}

// The picture of an entry's type, drawn from the library's Mermaid, with the present stage lit.
function picture(entry) {
  const signs = {quot: '"', lt: '<', gt: '>', 35: '#'};
  const plain = (text) => text.replace(/#(quot|lt|gt|35);/g, (all, name) => signs[name]);
  const boxes = {};
  const fails = {};
  const stages = [];
  let frame = null;
  for (const line of entry.picture.split('\n')) {
    const [, title, number] = line.match(/^ *subgraph \w+\["(stage (\d+).*)"\]$/) || [];
    if (title) stages.push(frame = {title, number: Number(number), parts: []});
    if (line.trim() === 'end') frame = null;
    for (const [, id, text] of title ? [] : line.matchAll(/(\w+)(?:\[|\(\[|\{\{)"([^"]*)"/g)) {
      boxes[id] = plain(text.replaceAll('<br/>', '\n')).split('\n');
      const [, alone] = boxes[id][0].match(/^stage (\d+)$/) || [];
      if (alone) stages.push({title: boxes[id].shift(), number: Number(alone), parts: [id]});
      else if (frame) frame.parts.push(id);
    }
    const [, from, why] = line.match(/^ *(\w+) -\.->\|"([^"]*)"\| cancel/) || [];
    if (from) fails[from] = plain(why);
  }
  stages.sort((left, right) => left.number - right.number);
  const box = (id) => make('div', {}, make('b', {}, boxes[id][0]),
    ...boxes[id].slice(1).map((text) => make('div', {}, text)),
    fails[id] ? make('div', {class: 'note'}, `✗ ${fails[id]}`) : null);
  const step = (isPresent, ...children) =>
    make('li', {'aria-current': isPresent ? 'step' : null}, ...children);
  const end = (id, ...states) => (boxes[id] ? [step(states.includes(entry.state), box(id))] : []);
  const shown = stages.map(({title, number, parts}) =>
    step(entry.stage === number, make('span', {class: 'note'}, title), ...parts.map(box)));
  const last = boxes.deciding ? shown.pop() : null;
  const flow = (label, ...steps) => make('ol', {class: 'flow', 'aria-label': label}, ...steps);
  return [flow(`Stages of the type ${entry.type}`, ...end('begin_', 'initial'), ...shown,
    ...end('deciding'), last, ...end('commit', boxes.confirm ? '' : 'applied'),
    ...end('confirm', 'applied'), ...end('done', 'done')),
  flow('When it is canceled', ...end('cancel', 'canceling'), ...end('canceled', 'canceled')),
  make('details', {}, make('summary', {}, 'As Mermaid'),
    make('pre', {tabindex: '0'}, entry.picture))];
}

// A record, and which transactions hold it.
function record(data) {
  const name = `${data.collection}/${data.key}`;
  const unfinished = new URLSearchParams({state: 'unfinished', key: name});
  const shown = (values) => (values ? facts(values) : make('p', {class: 'note'}, 'none'));
  return [name, [
    make('h1', {}, name),
    problem(data.problem),
    ...section('Committed', data.at, shown(data.committed)),
    ...section('With what unfinished transactions have applied', data.at, shown(data.record)),
    ...section('Marks of transactions', data.at, table('Marks', data.marks),
      make('p', {}, make('a', {href: `${base}/entries?${unfinished}`},
        'Unfinished transactions with a part on it'))),
  ]];
}
)js";

std::string_view page_parts_script() { return parts_script; }

} // namespace detail
SETTLE_END
