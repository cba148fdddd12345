'use strict';
// Asks the server every now and then what goes on in it. All that it tells is put into the page as
// text.
(() => {
  const EVERY = 700;
  const $ = (id) => document.getElementById(id);
  let paused = false;
  let shown = '';

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  const code = (content) => make('code', {}, content);
  const from = (writer) => (writer === null ? 'the initial state' : `transaction ${writer}`);
  const value = (it) => (it === null ? 'nothing' : it);

  function operation(it) {
    if (it.kind === 'own-read') return ['read own ', code(it.key)];
    const line = [`${it.kind} `, code(it.key), ' = ', make('b', {}, value(it.value))];
    if (it.kind === 'read') {
      line.push(make('span', { class: 'from soft' }, ` ← ${it.writer || 'initial'}`));
    }
    return line;
  }
  function operations(txn) {
    const list = make('ul', { class: 'ops' });
    if (txn.operations_before) {
      list.append(make('li', { class: 'soft' }, `… ${txn.operations_before} before`));
    }
    for (const it of txn.operations) list.append(make('li', {}, ...operation(it)));
    return list;
  }
  const name = (txn) => `${txn.session}.${txn.transaction}`;

  function openOne(txn) {
    const head = make('h3', {}, `session ${txn.session}, transaction ${name(txn)}`);
    const box = make('div', { class: 'next' }, head, make('span', { class: 'tag' }, txn.level));
    if (txn.statement) box.append(code(txn.statement));
    box.append(operations(txn));
    return box;
  }
  function pastOne(txn) {
    const told = make('td', {});
    if (txn.statement) told.append(code(txn.statement));
    told.append(operations(txn));
    return make('tr', {}, make('th', { scope: 'row' }, name(txn)), make('td', {}, txn.level),
      make('td', { class: txn.status }, txn.status), told);
  }
  function question(it) {
    const title = `transaction ${it.reader} reads `;
    const box = make('div', { class: 'next', role: 'group', 'aria-label': `${title}${it.key}` },
      make('h3', {}, title, code(it.key), ': which version?'));
    if (it.statement) box.append(code(it.statement));
    if (it.versions_before) {
      box.append(make('p', { class: 'soft' }, `… and ${it.versions_before} older ones`));
    }
    const list = make('ul', {});
    for (const version of it.versions) {
      const button = make('button', { type: 'button', class: 'go version' },
        make('span', { class: 'value' }, value(version.value)),
        make('span', { class: 'tag' }, `from ${from(version.writer)}`));
      button.dataset.key = `${it.question}:${version.writer}`;
      button.addEventListener('click', () => pick(it, version));
      list.append(make('li', {}, button));
    }
    box.append(list);
    return box;
  }

  async function pick(it, version) {
    const body = JSON.stringify({ question: it.question, writer: version.writer });
    const answer = await fetch('live/answer', { method: 'POST', body });
    const told = await answer.json();
    say(answer.ok ? `Transaction ${it.reader} reads ${value(version.value)}.` : told.message);
    look();
  }
  function say(what) {
    $('said').textContent = what;
  }

  function show(state) {
    const asks = state.ask_seconds === null ? '' :
      ` Reads ask here, and wait ${state.ask_seconds} seconds.`;
    $('about').textContent = `${state.level}; chooser ${state.chooser}; ` +
      `${state.sessions} sessions, ${state.begun} transactions so far.${asks}`;
    const open = state.transactions.filter((txn) => txn.status === 'open');
    const past = state.transactions.filter((txn) => txn.status !== 'open').reverse();
    $('open').replaceChildren(...(open.length ? open.map(openOne) :
      [make('p', { class: 'soft' }, 'none')]));
    $('past').replaceChildren(...past.map(pastOne));
    $('asked').hidden = state.questions.length === 0;
    const focused = document.activeElement && document.activeElement.dataset.key;
    $('questions').replaceChildren(...state.questions.map(question));
    if (focused) {
      const again = [...document.querySelectorAll('#questions button')]
        .find((button) => button.dataset.key === focused);
      if (again) again.focus();
    }
  }

  // What has not changed is not made again, so that nothing jumps below the pointer.
  async function look() {
    try {
      const told = await (await fetch('live/state')).text();
      const plain = told.replace(/"waits_seconds":[0-9.e-]+/g, '');
      if (plain === shown) return;
      if (!shown) say('');
      shown = plain;
      const state = JSON.parse(told);
      show(state);
    } catch {
      shown = '';
      say('The server does not answer.');
    }
  }
  async function watch() {
    if (!paused && !document.hidden) await look();
    setTimeout(watch, EVERY);
  }
  $('pause').addEventListener('click', () => {
    paused = !paused;
    $('pause').setAttribute('aria-pressed', String(paused));
    $('pause').textContent = paused ? 'Go on' : 'Pause';
  });
  watch();
})();
