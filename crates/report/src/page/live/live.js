'use strict';
// Asks the server every now and then what goes on in it. All that it tells is put into the page as
// text.
(() => {
  const EVERY = 700;
  // So many transactions of a session are shown below the one that is open.
  const BEFORE_MAX = 4;
  const $ = (id) => document.getElementById(id);
  let paused = false;
  let shown = '';
  // The questions that were there at the last look.
  let known = new Set();

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

  // A session is a lane: what it is in the middle of, and below what it did before.
  function lane(it, txns) {
    const own = txns.filter((txn) => txn.session === it.session).reverse();
    const open = own.find((txn) => name(txn) === it.open);
    const box = make('div', { class: `lane-of next${it.open ? ' busy' : ''}`, role: 'group',
      'aria-label': `session ${it.session}` });
    box.append(make('h3', {}, `session ${it.session}`),
      make('p', { class: it.open ? 'open' : 'soft' }, it.open ? `in transaction ${it.open}` :
        'no open transaction'));
    if (open) box.append(make('span', { class: 'tag' }, open.level));
    if (it.statement) {
      box.append(make('p', { class: 'tag' }, 'last statement'), code(it.statement));
    }
    if (open) box.append(operations(open));
    const before = own.filter((txn) => txn !== open).slice(0, BEFORE_MAX);
    const list = make('ol', { class: 'ops before' });
    for (const txn of before) {
      list.append(make('li', {}, `${name(txn)} `,
        make('span', { class: txn.status }, txn.status)));
    }
    if (before.length) box.append(list);
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
    const rest = make('button', { type: 'button', class: 'link' },
      'the latest, for all of this statement');
    rest.dataset.key = `${it.question}:latest`;
    rest.addEventListener('click', () => send({ question: it.question, latest: true },
      `Transaction ${it.reader} reads the latest versions in this statement.`));
    box.append(list, rest);
    return box;
  }

  function pick(it, version) {
    return send({ question: it.question, writer: version.writer },
      `Transaction ${it.reader} reads ${value(version.value)}.`);
  }
  async function send(body, done) {
    try {
      const answer = await fetch('live/answer', { method: 'POST', body: JSON.stringify(body) });
      const told = await answer.json();
      say(answer.ok ? done : told.message);
    } catch {
      say('The server does not answer: the read still waits.');
      return;
    }
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
    const past = state.transactions.filter((txn) => txn.status !== 'open').reverse();
    const lanes = state.lanes.map((it) => lane(it, state.transactions));
    $('open').replaceChildren(...(lanes.length ? lanes :
      [make('p', { class: 'soft' }, 'none')]));
    $('others').hidden = state.lanes_left === 0;
    $('others').textContent = `and ${state.lanes_left} more`;
    $('history').href = state.of === 'sql' ? 'history?of=sql' : 'history';
    $('history').textContent = state.of === 'sql' ? '/history?of=sql' : '/history';
    $('past').replaceChildren(...past.map(pastOne));
    $('asked').hidden = state.questions.length === 0;
    announce(state.questions);
    const focused = document.activeElement && document.activeElement.dataset.key;
    $('questions').replaceChildren(...state.questions.map(question));
    if (focused) {
      const again = [...document.querySelectorAll('#questions button')]
        .find((button) => button.dataset.key === focused);
      (again || document.querySelector('#questions button') || $('pause')).focus();
    }
  }

  // Whoever cannot see the page is told of the questions that are new.
  function announce(questions) {
    const fresh = questions.filter((it) => !known.has(it.question));
    known = new Set(questions.map((it) => it.question));
    if (fresh.length) {
      const [first] = fresh;
      const more = fresh.length > 1 ? `, and ${fresh.length - 1} more reads wait` : '';
      $('news').textContent = `Transaction ${first.reader} reads ${first.key} and waits${more}.`;
    } else if (!questions.length) {
      $('news').textContent = '';
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
