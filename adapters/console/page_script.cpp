// SPDX-License-Identifier: BSL-1.0
// The script of the page. It asks for the JSON of its own address, and writes all of it as text.
#include "page.hpp"

SETTLE_BEGIN
namespace detail {

constexpr std::string_view script =
    R"js(const base = document.querySelector('meta[name=base]').content;
const main = document.getElementById('view');
const status = document.getElementById('status');
const filter = document.getElementById('filter');
const help = document.getElementById('help');
const every = 5000;
let token = sessionStorage.getItem('settle-token') || '';
let timer = 0;
let asked = 0;
let selected = -1;
let busy = false; // somebody is about to act

// An element with text and children; a text never becomes markup.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function span(seconds) {
  const units = [[86400, 'd', 3600, 'h'], [3600, 'h', 60, 'min'], [60, 'min', 1, 's']];
  for (const [large, one, small, other] of units) {
    if (seconds < large) continue;
    return `${Math.floor(seconds / large)} ${one} ${Math.floor(seconds % large / small)} ${other}`;
  }
  return `${seconds} s`;
}

const labels = {age_seconds: 'age', still_seconds: 'unchanged for', oldest_seconds: 'oldest'};
const entryPath = (id) => `${base}/entries/${encodeURIComponent(id)}`;

function cell(name, value, row) {
  if (value === null || value === undefined || value === '') return make('td', {}, '–');
  if (name.endsWith("_seconds")) return make('td', {class: 'number'}, span(value));
  if (name === 'id') return make('td', {}, make('a', {href: row.href || entryPath(value)}, value));
  if (name === 'key' && value !== '***') {
    const key = value.startsWith('"') ? JSON.parse(value) : value;
    const path = `${base}/records/${encodeURIComponent(row.of)}/${encodeURIComponent(key)}`;
    return make('td', {}, make('a', {href: path}, value));
  }
  if (name === 'answers')
    return make('td', {class: value ? 'good' : 'problem'}, value ? 'yes' : 'no');
  if (name === 'problem') return make('td', {class: row.answers === false ? 'problem' : ''}, value);
  if (typeof value === 'number') return make('td', {class: 'number'}, String(value));
  return make('td', {}, typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function table(caption, rows, names) {
  if (!rows || rows.length === 0) return make('p', {class: 'note'}, 'none');
  const columns = names || Object.keys(rows[0]);
  const wide = (name) => ['participant', 'still_seconds', 'took_ms', 'stage'].includes(name);
  const body = rows.map((row) => {
    const cells = columns.map((name) => {
      const made = cell(name, row[name], row);
      if (wide(name)) made.classList.add('wide');
      return made;
    });
    return make('tr', row.id === undefined ? {} : {'data-id': row.id}, ...cells);
  });
  const heads = columns.map((name) => make('th', {scope: 'col', class: wide(name) ? 'wide' : null},
    labels[name] || name.replaceAll('_', ' ')));
  return make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
    make('table', {'aria-label': caption}, make('thead', {}, make('tr', {}, ...heads)),
      make('tbody', {}, ...body)));
}

function section(title, at, ...children) {
  const time = at ? ` · at ${at.replace('T', ' ').replace('Z', ' UTC')}` : '';
  return [make('h2', {}, title, make('small', {class: 'note'}, time)), ...children];
}

const problem = (text) => (text ? make('p', {class: 'problem', role: 'alert'}, text) : null);

function overview(data) {
  const {unfinished, stuck} = data;
  const linkToAll = make('a', {href: `${base}/entries?state=unfinished`}, 'all of them');
  const least = unfinished.complete ? '' : 'at least ';
  return ['Overview', [
    make('h1', {}, `Log ${data.log}`),
    ...(data.transactions ? section('Transactions of this program', data.at,
      make('p', {}, `${data.transactions.in_flight} in flight`),
      ...chart(data.transactions.ended_by_minute)) : []),
    ...section('Unfinished', unfinished.at, problem(unfinished.problem),
      make('p', {}, `${least}${unfinished.total} entries; `, linkToAll),
      table('Unfinished by type and state', unfinished.by_type_and_state)),
    ...section('Stuck', unfinished.at, problem(stuck.problem),
      make('p', {}, `${least}${stuck.total} older than ${span(stuck.older_than_seconds)}; the `
        + `oldest:`),
      table('The oldest stuck entries', stuck.oldest)),
    ...section('Stores', data.at, table('Stores', data.stores)),
    ...section('Prepared transactions in doubt', data.at, table('In doubt', data.in_doubt),
      table('The oldest in doubt', data.parts_in_doubt)),
    ...leftBehind(data),
    ...(data.paused ? section('Paused calls', data.at, problem(data.paused.problem),
      ...(Array.isArray(data.paused) ? pauses(data.paused) : [])) : []),
    ...(data.calls_of_this_program
      ? section('Calls of this program', data.at,
        table('Calls of services', data.calls_of_this_program)) : []),
  ]];
}

function list(data) {
  const params = new URLSearchParams(location.search);
  const shown = [...params].filter(([, value]) => value).map(([key, value]) => `${key} ${value}`);
  const next = data.next
    ? make('p', {}, make('a', {href: `${base}/${data.next}`, rel: 'next'}, 'Next page')) : null;
  const entries = table('Entries', data.entries,
    ['id', 'type', 'state', 'age_seconds', 'still_seconds', 'reason', 'participant']);
  return ['Entries', [
    make('h1', {}, 'Entries'),
    make('p', {class: 'note'}, `${shown.join(', ') || 'all'} · ${data.entries.length} shown, `
      + `${data.looked_at} looked at · ${data.at}`),
    data.note ? make('p', {class: 'note'}, data.note) : null,
    entries,
    next,
    data.entries.length ? addTicks(entries) : null,
    data.entries.length ? forAll() : null,
  ]];
}
)js"
    R"js(
// The way of an entry through its states, with the present one lit.
function way(entry) {
  const pivots = (entry.parts || []).some((part) => part.kind === 'pivot');
  const ends = ['canceling', 'canceled'].includes(entry.state)
    ? ['canceling', 'canceled'] : [...(pivots ? ['deciding'] : []), 'applied', 'done'];
  const steps = ['initial', 'pending', ...ends];
  if (!steps.includes(entry.state)) steps.push(entry.state);
  const items = steps.map((step) => make('li',
    {'aria-current': step === entry.state ? 'step' : null}, step));
  return make('ol', {class: 'way', 'aria-label': 'States'}, ...items);
}

function facts(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== null && value !== '');
  return make('dl', {}, ...pairs.flatMap(([key, value]) => [make('dt', {}, key),
    make('dd', {}, typeof value === 'object' ? JSON.stringify(value) : String(value))]));
}

function one(entry) {
  const actions = (entry.actions || []).map((each) => action(entry, each));
  const parts = entry.parts || [];
  const columns = Object.keys(parts[0] || {}).filter((name) =>
    parts.some((part) => part[name] !== null));
  return [entry.id, [
    make('h1', {}, entry.id),
    make('p', {}, `${entry.type || 'no type'} · ${entry.state} · ${span(entry.age_seconds)} old`),
    problem(entry.why_unfinished),
    entry.reason ? make('p', {}, `Reason: ${entry.participant ? entry.participant + ': ' : ''}`
      + `${entry.reason}${entry.reason_text ? ': ' + entry.reason_text : ''}`) : null,
    way(entry),
    ...(entry.picture ? section(`Type ${entry.type}`, null, ...picture(entry)) : []),
    ...section('Actions', null, ...actions),
    ...section('Parameters', null, facts(entry.parameters || {})),
    ...section('Parts', entry.at, problem(entry.marks && entry.marks.problem),
      table('Parts', parts, columns)),
    ...section('Times', null, table('Times', entry.times)),
    ...section('Entry', entry.at, facts({owner: entry.owner, 'owner has ended':
      entry.owner_has_ended, epoch: entry.epoch, 'committed epoch': entry.committed_epoch,
      revision: entry.revision, definition: entry.definition})),
  ]];
}

// An action: what it would do first, then a button that does it.
function action(entry, each) {
  if (!each.allowed) {
    return make('p', {class: 'note'}, make('b', {}, each.action),
      ` is not offered: ${each.effect}`);
  }
  const box = make('div', {class: 'action'}, make('b', {}, each.action), ` ${each.effect}`);
  const form = make('form', {'aria-label': each.action});
  if (each.action === 'resolve') {
    const calls = entry.parts.filter(({kind}) =>
      kind === 'pivot' || (kind === 'service' && entry.state !== 'deciding'));
    const options = calls.map((part) => make('option',
      {value: `${part.participant}\n${part.line || ''}`},
      part.participant + (part.line ? ` line ${part.line}` : '')));
    form.append(make('label', {}, 'Call ', make('select', {name: 'call'}, ...options)),
      make('label', {}, 'Reason ', make('input', {name: 'why', required: ''})));
    if (entry.state === 'deciding') {
      form.append(make('label', {}, 'The pivot ', make('select', {name: 'pivot'},
        make('option', {value: 'was_applied'}, 'was applied'),
        make('option', {value: 'was_not_applied'}, 'was not applied'))),
      make('label', {}, 'Result ', make('input', {name: 'result', placeholder: 'JSON'})));
    }
  }
  form.append(make('button', {}, `${each.action}…`));
  form.addEventListener('focusin', () => { busy = true; });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    dryRun(entry, each.action, form, box);
  });
  box.append(form);
  return box;
}

async function dryRun(entry, name, form, box) {
  busy = true;
  const fields = new URLSearchParams(new FormData(form));
  if (fields.has('call')) {
    const [participant, line] = fields.get('call').split('\n');
    fields.delete('call');
    fields.set('participant', participant);
    if (line) fields.set('line', line);
  }
  const path = `${entryPath(entry.id)}/${name}`;
  const tried = await send(path, new URLSearchParams([...fields, ['dry_run', '1']]));
  confirmFirst(box, name, make('p', {}, tried.problem || tried.effect),
    tried.allowed ? `${name} ${entry.id}` : null,
    async () => told(await send(path, new URLSearchParams([...fields, ['seen', tried.seen]]))));
}

// Actions on everything that the filter matches, not on the page that is shown.
function forAll() {
  const box = make('div', {class: 'action'}, make('b', {}, 'Everything that the filter matches '));
  const inputs = [make('input', {name: 'call', size: '12'}), make('input', {name: 'why'})];
  for (const name of ['recover', 'cancel', 'reverse', 'resolve']) {
    const button = make('button', {type: 'button'}, `${name}…`);
    button.addEventListener('click', () => dryRunForAll(name, box, name !== 'resolve' ? []
      : inputs.map((input) => [input.name, input.value])));
    box.append(button, ' ');
  }
  box.append(make('label', {}, 'the call of ', inputs[0]), make('label', {}, ' since ', inputs[1]));
  return box;
}

async function dryRunForAll(name, box, more) {
  busy = true;
  const fields = [...new URLSearchParams(location.search)].filter(([, value]) => value);
  if (fields.length === 0) fields.push(['all', '1']);
  fields.push(...more);
  const path = `${base}/entries/${name}`;
  const tried = await send(path, new URLSearchParams([...fields, ['dry_run', '1']]));
  for (const old of box.querySelectorAll('.asked')) old.remove();
  const asking = make('div', {class: 'asked', role: 'alertdialog', 'aria-label': `Confirm ${name}`},
    tried.problem ? problem(tried.problem) : table('What would happen', tried.would));
  box.append(asking);
  if (!tried.allowed) return;
  const button = make('button', {type: 'button'}, `${name} ${tried.allowed} entries`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    const ended = await send(path, new URLSearchParams([...fields, ['token', tried.token]]));
    if (ended.address) return go(`${base}/${ended.address}`);
    busy = false;
    await show(false);
    status.textContent = ended.problem;
  });
  asking.append(button);
  button.focus();
}

// Calls that are paused, with a button to resume each, and a form to pause others.
function pauses(paused) {
  const change = async (path, fields) => {
    const ended = await send(`${base}/calls/${path}`, new URLSearchParams(fields));
    busy = false;
    await show(false);
    status.textContent = ended.text || ended.problem;
  };
  const buttons = paused.map(({what, name}) => {
    const button = make('button', {type: 'button'}, `resume ${what} ${name}`);
    button.addEventListener('click', () => change('resume', {scope: what, name}));
    return button;
  });
  const form = make('form', {'aria-label': 'Pause calls'},
    make('label', {}, 'Calls of the ', make('select', {name: 'scope'},
      ...['service', 'type', 'transaction'].map((scope) => make('option', {}, scope)))),
    make('label', {}, 'Name ', make('input', {name: 'name', required: ''})),
    make('label', {}, 'Reason ', make('input', {name: 'why', required: ''})),
    make('button', {}, 'pause'));
  form.addEventListener('focusin', () => { busy = true; });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    change('pause', new FormData(form));
  });
  return [table('Paused calls', paused), ...buttons, form];
}

// The actions that persons took: a page of them, or one.
const actionPath = (id) => `${base}/actions/${encodeURIComponent(id)}`;

function actions(data) {
  const actionRows = data.actions.map((each) => ({...each, href: actionPath(each.id)}));
  return ['Actions', [
    make('h1', {}, 'Actions'),
    table('Actions', actionRows, ['id', 'when', 'name', 'action', 'of', 'state', 'result']),
    data.next
      ? make('p', {}, make('a', {href: `${base}/${data.next}`, rel: 'next'}, 'Next page')) : null,
  ]];
}

function oneAction({failures, ...data}) {
  const stop = make('button', {type: 'button'}, 'stop');
  stop.addEventListener('click', async () => {
    const ended = await send(`${actionPath(data.id)}/stop`, new URLSearchParams());
    await show(false);
    status.textContent = ended.text || ended.problem;
  });
  return [data.id, [
    make('h1', {}, `${data.action} ${data.of}`),
    facts(data),
    data.state === 'running' ? stop : null,
    ...(failures ? section('The first that failed', null, table('Failures', failures)) : []),
  ]];
}

// An integer that a number cannot hold stays a text, where the browser gives its digits.
const dataOf = async (answer) => JSON.parse(await answer.text(), (name, value, seen) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && seen ? seen.source : value);

async function send(path, fields) {
  try {
    const answer = await fetch(path, {method: 'POST', body: fields, headers: headers()});
    return await dataOf(answer);
  } catch (failed) {
    return {problem: `The console did not answer (${failed.message}). Look at the entry again.`};
  }
}

function headers() {
  const all = {Accept: 'application/json', 'Settle-Console': '1'};
  if (token) all.Authorization = `Bearer ${token}`;
  return all;
}

function askForToken(sentence) {
  const form = make('form', {'aria-label': 'Token'}, make('label', {}, 'Token ',
    make('input', {name: 'token', type: 'password', autocomplete: 'current-password'})),
  make('button', {}, 'Enter'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    token = new FormData(form).get('token');
    sessionStorage.setItem('settle-token', token);
    show(true);
  });
  document.title = 'Token – settle';
  main.replaceChildren(make('h1', {}, 'Token'), problem(sentence), form);
  form.querySelector('input').focus();
}

function isActions() { return location.pathname.slice(base.length).startsWith('/actions'); }

function isList() { return location.pathname.slice(base.length) === '/entries'; }

// Asks for the data of this address and shows it. A query that failed is shown as such.
async function show(moves) {
  clearTimeout(timer);
  const number = ++asked;
  let view;
  try {
    const answer = await fetch(location.pathname + location.search, {headers: headers()});
    const data = await dataOf(answer);
    if (number !== asked) return;
    if (answer.status === 401) return askForToken(data.problem);
    if (!answer.ok) view = ['Problem', [make('h1', {}, 'No answer'), problem(data.problem)]];
    else if (isList()) view = list(data);
    else if (location.pathname.slice(base.length).startsWith('/entries/')) view = one(data);
    else if (isActions()) view = data.actions ? actions(data) : oneAction(data);
    else if (data.collection) view = record(data);
    else view = overview(data);
  } catch (failed) {
    if (number !== asked) return;
    view = ['Problem', [make('h1', {}, 'No answer'),
      problem(`The console did not answer: ${failed.message}. What was here may have changed.`)]];
  }
  document.title = `${view[0]} – settle`;
  const id = selected < 0 ? null : rows()[selected].dataset.id;
  main.replaceChildren(...view[1].filter((child) => child));
  if (moves) main.focus();
  select(rows().findIndex((row) => row.dataset.id === id), false);
  refreshLater();
}

// True while a refresh would take something away from a person.
function isHeld() {
  const focused = document.activeElement;
  return busy || selected >= 0 || ticked.size > 0 || (main !== focused && main.contains(focused))
    || !getSelection().isCollapsed;
}

function refreshLater() {
  clearTimeout(timer);
  document.getElementById('held').hidden = !isHeld();
  timer = setTimeout(() => (document.hidden || isHeld() ? refreshLater() : show(false)), every);
}

// Lets go of what a person has selected.
function release() {
  selected = -1;
  busy = false;
  ticked.clear();
}

const rows = () => [...main.querySelectorAll('tr[data-id]')];

function select(index, scrolls) {
  const tableRows = rows();
  for (const row of tableRows) row.classList.remove('selected');
  selected = tableRows.length === 0 ? -1 : index;
  if (selected < 0) return;
  const row = tableRows[selected];
  row.classList.add('selected');
  if (!scrolls) return;
  row.querySelector('a').focus();
  row.scrollIntoView({block: 'nearest'});
}

function go(path) {
  history.pushState(null, '', path);
  release();
  status.textContent = '';
  fillFilter();
  show(true);
}

function fillFilter() {
  const params = new URLSearchParams(isList() ? location.search : '');
  for (const field of filter.elements) {
    if (field.name) field.value = params.get(field.name) || (field.name === 'state' ? 'all' : '');
  }
  for (const link of document.querySelectorAll('nav a')) link.removeAttribute('aria-current');
  const current = document.getElementById(
    isList() ? 'to-entries' : isActions() ? 'to-actions' : 'to-overview');
  if (!/^\/(entries|records)\//.test(location.pathname.slice(base.length)))
    current.setAttribute('aria-current', 'page');
}

filter.addEventListener('submit', (event) => {
  event.preventDefault();
  // The address may have fields that the form lacks.
  const fields = new URLSearchParams(isList() ? location.search : '');
  for (const name of ['after', 'looked']) fields.delete(name);
  for (const [name, value] of new FormData(filter)) {
    fields.delete(name);
    if (value && value !== 'all') fields.set(name, value);
  }
  go(`${base}/entries?${fields}`);
});

document.addEventListener('click', (event) => {
  const link = event.target.closest('a');
  const plain = !event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0;
  if (!link || !plain || link.origin !== location.origin || link.className === 'skip') return;
  event.preventDefault();
  go(link.pathname + link.search);
});

document.addEventListener('keydown', (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || help.open) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
    && event.target.type !== 'checkbox';
  if (event.key === 'Escape') {
    if (typing) {
      event.target.blur();
    } else if (busy || selected >= 0 || ticked.size > 0) {
      release();
      show(true);
    } else {
      history.back();
    }
    return;
  }
  if (typing) return;
  const keys = {
    '/': () => filter.elements.id.focus(),
    j: () => select(Math.min(selected + 1, rows().length - 1), true),
    k: () => select(Math.max(selected - 1, 0), true),
    x: () => rows()[selected]?.querySelector('input')?.click(),
    a: () => main.querySelector('.action:not([hidden]) button')?.focus(),
    '?': () => help.showModal(),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

document.getElementById('close-help').addEventListener('click', () => help.close());
addEventListener('popstate', () => { release(); fillFilter(); show(true); });
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !isHeld()) show(false);
});
fillFilter();
show(false);
)js";

std::string_view page_script() { return script; }

} // namespace detail
SETTLE_END
