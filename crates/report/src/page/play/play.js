// The page on which programs are played. It keeps the program, the level and the steps, all of
// which stand in the address behind the #; the server works out where they lead. What a program
// says comes into the page as text; only explanations come as markup, from the server's template.
(() => {
  const $ = (id) => document.getElementById(id);
  const LEVELS = ['true', 'rc', 'ra', 'cc', 'pc', 'si', 'ser'];
  // What the page shows; another one takes its place when the server has said where it leads.
  let game = { name: '', own: null, level: 'cc', steps: [], taken: 0 };
  let games = [];
  let state = null;
  // Of answers that come late, only the last question's counts.
  let asked = 0;

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === false || value === null || value === undefined) continue;
      element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  const text = (tag, kind, content) => make(tag, kind ? { class: kind } : {}, content);

  // The address: #p=lost-update&h=…&l=si&s=0:i,1:i where h= says which program of that name is
  // meant. With t= it holds the program itself: one's own, or that of a file. When all sessions are
  // through there is the token, too; without steps a link may have it alone.
  function encode(program) {
    const bytes = new TextEncoder().encode(program);
    let binary = '';
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  }
  function decode(coded) {
    const binary = atob(coded.replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  }
  function address() {
    const it = offered(game);
    const text = game.own === null && it.hash ? null : textOf(game);
    const program = text === null ?
      `p=${encodeURIComponent(game.name)}&h=${it.hash}` : `t=${encode(text)}`;
    const steps = game.steps.join(',');
    const token = state && state.token && game.steps.length === game.taken ? state.token : '';
    return `#${program}&l=${game.level}${steps ? `&s=${steps}` : ''}` +
      `${token ? `&token=${token}` : ''}`;
  }
  // The game of a link. What does not hold a program that is known here is an error: steps would
  // mean something else in another one.
  function read(hash) {
    const parts = new Map(hash.replace(/^#/, '').split('&').map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)];
    }));
    const next = { ...named(parts), level: '', steps: [], taken: 0, token: '' };
    next.level = parts.get('l') || suggested(next);
    if (!LEVELS.includes(next.level)) throw new Error('The link is damaged: it has no such level.');
    next.steps = (parts.get('s') || '').split(',').filter(Boolean);
    next.token = parts.get('token') || '';
    return next;
  }
  function named(parts) {
    if (parts.has('t')) {
      const own = damaged(() => decode(parts.get('t')));
      const same = games.find((it) => !it.hash && it.text === own);
      return same ? { name: same.name, own: null } : { name: '', own };
    }
    if (!parts.has('p')) return { name: (games[0] || nothing).name, own: null };
    const name = damaged(() => decodeURIComponent(parts.get('p')));
    const it = games.find((other) => other.name === name);
    if (!it) {
      throw new Error(`The link is to the program ${name}, which is not offered here: start ` +
        'seriatim play with it, or choose another program.');
    }
    if (parts.has('h') && parts.get('h') !== it.hash) {
      throw new Error(`The link is to another version of ${name} than the one that is offered ` +
        'here, in which its steps mean something else.');
    }
    return { name, own: null };
  }
  function damaged(make) {
    try {
      return make();
    } catch {
      throw new Error('The link is damaged: its program cannot be read.');
    }
  }
  const nothing = { name: '', about: '', text: '', hash: '' };
  const offered = (of) => games.find((it) => it.name === of.name) || nothing;
  const textOf = (of) => (of.own === null ? offered(of).text || '' : of.own);
  function suggested(of) {
    return (of.own === null && offered(of).level) || 'cc';
  }

  async function ask(path, body) {
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.message || `the server answers ${answer.status}`);
    return told;
  }
  function question(of, steps) {
    const program = of.own === null ? { name: of.name } : { text: of.own };
    return { ...program, level: of.level, steps: steps.join(',') };
  }
  function say(what) {
    $('said').textContent = what;
  }

  // Asks where the steps of a game lead, and shows it; whether that is so. What cannot be shown
  // leaves the page as it is. Steps that do not fit stay in the address, so that another level may
  // have them again.
  async function load(next, said) {
    const number = ++asked;
    document.body.setAttribute('aria-busy', 'true');
    try {
      const told = await ask('state', question(next, next.steps));
      if (number !== asked) return false;
      const { name, own, level, steps } = next;
      game = { name, own, level, steps, taken: told.taken };
      state = told;
      history.replaceState(null, '', address());
      show();
      if (said !== undefined) say(said);
      return true;
    } catch (error) {
      if (number !== asked) return false;
      // The controls say what the page shows, and not what was tried.
      if (state) show();
      say(`That did not work: ${error.message}`);
      $('own-said').textContent = next.own === null ? '' : error.message;
      return false;
    } finally {
      if (number === asked) document.body.removeAttribute('aria-busy');
    }
  }
  const taken = () => game.steps.slice(0, game.taken);

  async function step(name, focus) {
    closeWhy();
    if (!await load({ ...game, steps: [...taken(), name] })) return;
    const row = state.rows[state.rows.length - 1];
    if (row) say(sentence(row));
    refocus(focus);
  }
  function back() {
    if (!game.taken) return;
    closeWhy();
    load({ ...game, steps: game.steps.slice(0, game.taken - 1) }, 'One step back.');
  }
  function again() {
    closeWhy();
    load({ ...game, steps: [] }, 'From the beginning.');
  }
  async function attack(session) {
    say('The adversary thinks …');
    const number = ++asked;
    try {
      const told = await ask('attack', { ...question(game, taken()), session });
      if (number !== asked) return;
      closeWhy();
      await load({ ...game, steps: split(told.steps) }, `The adversary: ${told.said}.`);
      if (session !== undefined) refocus(session);
    } catch (error) {
      if (number === asked) say(`That did not work: ${error.message}`);
    }
  }
  async function follow(next, token, said) {
    const told = await ask('token', { ...question(next, []), token });
    closeWhy();
    return load({ ...next, steps: split(told.steps) }, said);
  }
  const split = (steps) => (steps ? steps.split(',') : []);

  const from = (writer) => (writer === 'initial' ? 'the initial state' : writer);
  function sentence(row) {
    const told = {
      read: `reads ${row.key} = ${row.value} from ${from(row.writer)}`,
      'own-read': `reads its own ${row.key} = ${row.value}`,
      write: `writes ${row.key} = ${row.value}`,
      commit: 'commits',
      abort: 'aborts',
      refused: 'may not commit, and begins again',
    };
    return `${row.txn} ${told[row.kind]}.`;
  }

  function show() {
    showLevels();
    showProgram();
    showTable();
    showFound();
    const left = game.steps.length - state.taken;
    $('count').textContent = `step ${state.taken}${left ? ` of ${game.steps.length}` : ''}`;
    const focused = document.activeElement;
    $('back').disabled = state.taken === 0;
    $('again').disabled = game.steps.length === 0;
    $('attack').disabled = state.is_over;
    // A button that is disabled cannot keep the focus.
    if (focused && focused.disabled) {
      (document.querySelector('.next button') || $('program')).focus();
    }
    showStopped(left);
    $('behaviour').hidden = !state.token;
    $('behaviour').querySelector('code').textContent = state.token || '';
    $('command').hidden = !state.command;
    $('command').querySelector('code').textContent = state.command || '';
    const asserted = {
      none: ['soft', 'The program has none; what counts is serializability.'],
      open: ['soft', 'not broken so far'],
      holds: ['good', '✓ holds'],
      broken: ['bad', `✗ broken: ${state.assertion.said}`],
      undecided: ['open', `undecided: ${state.assertion.said}`],
    }[state.assertion.state];
    $('assertion').className = asserted[0];
    $('assertion').textContent = asserted[1];
  }

  function showLevels() {
    const focused = document.activeElement && document.activeElement.name === 'level';
    const labels = state.levels.map((level) => {
      const mark = { true: ['good', '✓ holds'], false: ['bad', '✗ violated'] }[level.holds] ||
        ['open', '? undecided'];
      const input = make('input', {
        type: 'radio', name: 'level', value: level.code, checked: level.code === state.level,
      });
      const name = level.code === 'true' ? 'no isolation' : level.name;
      return make('label', { class: level.code === state.level ? 'chosen' : '' }, input,
        text('span', '', name), text('span', `mark ${mark[0]}`, mark[1]));
    });
    $('levels').replaceChildren(text('legend', 'away', 'Level of the transactions'), ...labels);
    if (focused) $('levels').querySelector('input:checked').focus();
  }

  function showProgram() {
    const it = game.own === null ? offered(game) :
      { about: 'A program of your own.', text: game.own };
    $('program').value = game.own === null ? game.name : '';
    // The text says it, too.
    $('about').textContent = it.text ? '' : it.about;
    $('text').textContent = it.text || '';
    $('text').hidden = !it.text;
    if (document.activeElement !== $('own') && !$('edit').open) $('own').value = it.text || '';
    $('own-said').textContent = '';
  }

  function showStopped(left) {
    const stopped = state.stopped;
    $('stopped').hidden = !stopped;
    if (!stopped) return;
    const where = stopped.session ? `, of ${stopped.session},` : '';
    const told = text('p', '', `Step ${state.taken + 1}${where} does not fit: ${stopped.why}.`);
    if (stopped.reason) told.append(' ', why(stopped.reason, 'Not allowed'));
    const rest = `It and what follows (${left} ${left === 1 ? 'step' : 'steps'}) come back at ` +
      'another level, as long as nothing else is done.';
    $('stopped').replaceChildren(told, text('p', 'soft', rest));
  }

  // The table: a column for each session, a row for each step, and below what may come next. In the
  // document it stands in the order of time.
  function showTable() {
    const table = $('table');
    // One session more is one column more; the style says how wide they are.
    table.style.setProperty('--lanes', String(state.sessions.length));
    const heads = state.sessions.map((lane, at) =>
      place(make('div', { class: 'lane' }, lane.name, ' ', text('span', 'soft', String(at + 1))),
        at, 1));
    const cells = state.rows.map((row, at) => cell(row, at));
    const nexts = state.sessions.map((lane, at) => next(lane, at));
    table.replaceChildren(...heads, ...cells, ...nexts);
  }
  function place(element, column, row) {
    element.style.gridColumn = String(column + 1);
    element.style.gridRow = String(row);
    return element;
  }
  function cell(row, at) {
    const kind = `cell ${row.kind}${row.is_lost ? ' lost' : ''}${row.begins ? ' begins' : ''}` +
      (at === state.rows.length - 1 ? ' new' : '');
    const box = make('div', { class: kind }, text('span', 'who', row.txn));
    if (row.begins) box.append(text('span', 'txn', row.txn));
    box.append(make('span', { class: 'what' }, ...what(row)));
    if (row.kind === 'read') box.append(text('span', 'from', ` ← ${row.writer}`));
    if (row.is_lost && row.kind !== 'refused') box.append(text('span', 'away', ' (undone)'));
    if (row.kind === 'refused') {
      const steps = game.steps.slice(0, at);
      box.append(' ', why(row.reason, `${row.txn} may not commit`, steps, game.steps[at]));
    }
    return place(box, row.session, at + 2);
  }
  function what(it) {
    const code = (content) => text('code', '', content);
    switch (it.kind) {
      case 'read': return ['read ', code(it.key), ' = ', text('b', '', it.value)];
      case 'own-read': return ['read own ', code(it.key), ' = ', text('b', '', it.value)];
      case 'write': return ['write ', code(it.key), ' = ', text('b', '', it.value)];
      case 'refused': return ['✗ commit refused'];
      case 'commit': return ['commit'];
      default: return [it.kind];
    }
  }

  function next(lane, at) {
    const it = lane.next;
    const box = make('div', { class: `next${it.kind === 'over' ? ' over' : ''}`, 'data-lane': at,
      role: 'group', 'aria-label': `What ${lane.name} does next` });
    const who = text('span', 'who', `${lane.name}: `);
    if (it.kind === 'over') {
      box.append(who, 'through');
    } else if (it.kind === 'read') {
      const level = lane.own_level ? ` (at ${lane.own_level})` : '';
      const key = text('code', '', it.key);
      box.append(make('h3', {}, who, 'read ', key, `: which version?${level}`));
      box.append(make('ul', {}, ...it.versions.map((version) => offer(version, lane, at))));
      const button = make('button', { type: 'button', class: 'more link', 'data-pick': at },
        'let the adversary pick');
      button.addEventListener('click', () => attack(at));
      box.append(button);
    } else {
      const button = make('button', { type: 'button', class: 'go' }, who, ...what(it));
      button.addEventListener('click', () => step(String(at), at));
      box.append(button);
    }
    if (lane.locals) box.append(text('p', 'locals', lane.locals));
    return place(box, at, state.rows.length + 2);
  }
  function offer(version, lane, at) {
    const value = text('span', 'value', version.value === '' ? '(empty)' : version.value);
    const tags = [text('span', 'tag', `from ${from(version.writer)}`)];
    if (version.is_observed) tags.push(text('span', 'tag seen', 'this is what was observed'));
    if (version.is_allowed) {
      if (version.up_to && version.up_to !== 'ser') {
        tags.push(text('span', 'tag', `allowed up to ${version.up_to}`));
      }
      const button = make('button', { type: 'button', class: 'go version' }, value, ...tags);
      button.addEventListener('click', () => step(version.step, at));
      return make('li', {}, button);
    }
    const no = version.is_allowed === null ? 'undecided: too much work to tell' : 'not allowed';
    const box = make('li', { class: 'no' }, value, ...tags, `${no} `);
    if (version.is_allowed === false) {
      const about = `${lane.txn} may not read ${lane.next.key} = ${version.value}`;
      if (version.reason) box.append(text('span', 'tag', `it would be: ${version.reason.title}`));
      box.append(why(version.reason, about, taken(), version.step));
    }
    return box;
  }

  // A button that opens an explanation below the table. One that did not come with the state is
  // asked for: why `step` is not allowed behind `steps`.
  function why(reason, title, steps, step) {
    const button = make('button', { type: 'button', class: 'link' }, 'why?');
    button.setAttribute('aria-label', `Why? ${title}${reason ? `: ${reason.title}` : ''}`);
    button.addEventListener('click', async () => {
      const told = reason || await reasonOf(steps, step);
      if (!told) return;
      $('why-title').textContent = `${title}: ${told.title}`;
      put($('why-told'), told);
      $('why').hidden = false;
      $('why').focus();
      $('why').scrollIntoView({ block: 'nearest' });
    });
    return button;
  }
  async function reasonOf(steps, step) {
    const number = asked;
    try {
      const { reason } = await ask('reason', { ...question(game, steps), step });
      if (number !== asked) return null;
      if (!reason) say('Undecided: there was too little time to say why.');
      return reason;
    } catch (error) {
      say(`That did not work: ${error.message}`);
      return null;
    }
  }
  function closeWhy() {
    $('why').hidden = true;
    $('why-told').replaceChildren();
  }
  function put(into, fragment) {
    // Made by the server's template, which escapes all names and values.
    const parsed = new DOMParser().parseFromString(fragment.html, 'text/html');
    into.replaceChildren(...into.querySelectorAll(':scope > h3, :scope > p.soft'),
      ...parsed.body.childNodes);
    into.querySelectorAll('section.anomaly').forEach(anomaly);
  }

  function showFound() {
    $('found').hidden = state.anomalies.length === 0;
    const told = state.anomalies.map((fragment) => {
      const names = text('p', 'soft', fragment.names);
      const box = make('div', {}, text('h3', '', fragment.title), names);
      put(box, fragment);
      return box;
    });
    $('anomalies').replaceChildren(...told);
  }

  // After a step the table is made anew: the focus goes to what comes next in the same session.
  function refocus(session) {
    if (session === undefined) return;
    const button = document.querySelector(`.next[data-lane="${session}"] button`) ||
      document.querySelector('.next button') || $('back');
    button.focus();
  }

  function choose(name) {
    const next = { name, own: null, level: '', steps: [] };
    next.level = suggested(next);
    $('edit').open = false;
    closeWhy();
    load(next, offered(next).about);
  }

  $('back').addEventListener('click', back);
  $('again').addEventListener('click', again);
  $('attack').addEventListener('click', () => attack());
  $('program').addEventListener('change', () => choose($('program').value));
  $('levels').addEventListener('change', (event) => {
    closeWhy();
    load({ ...game, level: event.target.value },
      `At ${event.target.parentElement.children[1].textContent}.`);
  });
  $('play-own').addEventListener('click', () => {
    closeWhy();
    load({ ...game, own: $('own').value, steps: [] }, 'Your program.');
  });
  $('use-token').addEventListener('click', async () => {
    try {
      await follow(game, $('token').value.trim(), 'The behaviour of the token.');
    } catch (error) {
      say(`That did not work: ${error.message}`);
    }
  });
  $('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say('The link is copied.');
    } catch {
      say('The browser does not let the page copy: the link is the address of this page.');
    }
  });
  // A link that cannot be played changes nothing, and stays in the address.
  async function open(link) {
    try {
      const next = read(link);
      const said = link ? 'The game of the link.' : 'Step a session, or let the adversary play.';
      closeWhy();
      if (next.token && !next.steps.length) await follow(next, next.token, said);
      else await load(next, said);
    } catch (error) {
      say(error.message);
    }
  }
  window.addEventListener('hashchange', () => {
    if (!state || location.hash !== address()) open(location.hash);
  });

  // Keys that a control or a scroller has a use for are left to it. The buttons of the table are
  // part of the game.
  function isLeft(target, key) {
    if (target.closest('textarea, input, select, figure')) return true;
    if (key === 'ArrowLeft') {
      for (let it = target; it && it !== document.body; it = it.parentElement) {
        const scrolls = ['auto', 'scroll'].includes(getComputedStyle(it).overflowX);
        if (scrolls && it.scrollWidth > it.clientWidth) return true;
      }
    }
    return !target.closest('#table') && target.closest('a, button, summary, pre, .scroll') !== null;
  }
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !state) return;
    const key = event.key;
    if (isLeft(event.target, key)) return;
    if (key === 'ArrowLeft' || key === 'Backspace') back();
    else if (key === 'a' && !state.is_over) attack();
    else if (key === '0') again();
    else if (key >= '1' && key <= '9' && state.sessions[key - 1]) go(Number(key) - 1);
    else return;
    event.preventDefault();
  });
  function go(session) {
    const kind = state.sessions[session].next.kind;
    if (kind === 'over') say(`${state.sessions[session].name} is through.`);
    else if (kind === 'read') refocus(session);
    else step(String(session), session);
  }

  async function start() {
    try {
      games = await (await fetch('games')).json();
    } catch {
      say('The server does not answer.');
      return;
    }
    const option = (it) => make('option', { value: it.name }, it.name);
    $('program').replaceChildren(...games.map(option),
      make('option', { value: '', hidden: true }, '(another one)'));
    $('program').value = '';
    open(location.hash);
  }
  start();
})();
