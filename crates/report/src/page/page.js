'use strict';
// Steps through the proof of each anomaly, opens what an edge rests on, looks closer at pictures of
// time, and filters. Without this script the page has the same content.
document.documentElement.classList.add('js');

function anomaly(section) {
  section.querySelectorAll('.proven').forEach(proof);
}

function proof(part) {
  const steps = [...part.querySelectorAll('ol.steps > li')];
  const edges = [...part.querySelectorAll('g.edge')];
  const said = part.querySelector('nav.steps output');
  const told = part.querySelector('.said');
  if (!steps.length) return;
  let at = -1;
  const isOf = (edge, step) => edge.dataset.step === String(step + 1);
  const why = (step) => steps[step] && steps[step].querySelector('details');
  const sentence = (step) =>
    (steps[step].querySelector('summary') || steps[step]).textContent.trim();

  function show(next, from) {
    at = next;
    steps.forEach((step, i) => step.classList.toggle('lit', i === at));
    edges.forEach((edge) => {
      const is = at >= 0 && isOf(edge, at);
      const ground = edge.classList.contains('ground');
      edge.classList.toggle('lit', is && !ground);
      edge.classList.toggle('under', is && ground);
      edge.classList.toggle('dim', at >= 0 && !is);
    });
    if (said) said.textContent = at < 0 ? 'all steps' : `step ${at + 1} of ${steps.length}`;
    if (told) told.textContent = at < 0 ? '' : sentence(at);
    if (at < 0) return;
    // What is lit is seen: beside the picture the step, beside the steps the edge.
    const lit = edges.find((edge) => edge.classList.contains('lit'));
    if (lit && from !== 'edge') intoView(lit.querySelector('rect'), from === 'key');
    if (from === 'edge') steps[at].scrollIntoView({ block: 'nearest' });
  }
  const count = steps.length + 1;
  const move = (by) => show(((at + 1 + by + count) % count) - 1, 'key');

  // Whether a key means something here; only then nobody else gets it.
  function keys(event, all) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in all) all[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  const stepping = { n: () => move(1), p: () => move(-1), Escape: () => show(-1) };
  // The picture scrolls by arrows, so that only buttons step by them.
  const figure = part.querySelector('figure.proof');
  if (figure) figure.addEventListener('keydown', (event) => keys(event, stepping));
  const arrows = { ArrowRight: stepping.n, ArrowLeft: stepping.p, ...stepping };
  for (const button of part.querySelectorAll('nav.steps button')) {
    button.addEventListener('keydown', (event) => keys(event, arrows));
    button.addEventListener('click', () => {
      if (button.dataset.by === '0') show(-1);
      else move(Number(button.dataset.by));
    });
  }
  steps.forEach((step, i) => step.addEventListener('click', () => show(i, 'step')));
  for (const edge of edges) {
    if (!edge.dataset.step) continue;
    const step = Number(edge.dataset.step) - 1;
    edge.setAttribute('tabindex', '0');
    edge.setAttribute('role', 'button');
    const opens = why(step);
    const note = () => edge.setAttribute('aria-expanded', String(opens.open));
    if (opens) {
      note();
      opens.addEventListener('toggle', note);
    }
    const open = () => {
      if (opens) opens.open = true;
      show(step, 'edge');
    };
    edge.addEventListener('click', open);
    edge.addEventListener('keydown', (event) => keys(event, { Enter: open, ' ': open }));
  }
}

// Scrolls the figure around a part of its picture, and the page too if that is wanted.
function intoView(part, scrollsPage) {
  const figure = part.closest('figure');
  const [own, all] = [part.getBoundingClientRect(), figure.getBoundingClientRect()];
  if (own.left < all.left || own.right > all.right) {
    figure.scrollLeft += own.left + own.width / 2 - all.left - all.width / 2;
  }
  if (scrollsPage) part.scrollIntoView({ block: 'nearest' });
}

document.querySelectorAll('section.anomaly').forEach(anomaly);

// A picture over time, or over places: closer, wider, and around one anomaly.
function zoomable(figure) {
  const plane = figure.querySelector('svg.plane');
  const ticks = [...figure.querySelectorAll('.tick[data-at]')];
  const [first, last] = [Number(figure.dataset.first), Number(figure.dataset.last)];
  const height = plane.viewBox.baseVal.height;
  let focus = figure.dataset.focus ? figure.dataset.focus.split(' ').map(Number) : [0, 1000];
  let [from, to] = [0, 1000];

  function show(start, end) {
    const width = Math.min(1000, Math.max(0.01, end - start));
    from = Math.min(Math.max(0, start), 1000 - width);
    to = from + width;
    plane.setAttribute('viewBox', `${from} 0 ${to - from} ${height}`);
    for (const tick of ticks) {
      const at = (from + ((to - from) * Number(tick.dataset.at)) / 1000) / 1000;
      tick.textContent = moment(first + (last - first) * at, figure.dataset.unit);
    }
  }
  function scale(by) {
    const half = ((to - from) * by) / 2;
    const middle = by < 1 ? (focus[0] + focus[1]) / 2 : (from + to) / 2;
    show(middle - half, middle + half);
  }
  const does = {
    closer: () => scale(0.5),
    wider: () => scale(2),
    all: () => show(0, 1000),
  };
  for (const button of figure.querySelectorAll('nav.zoom button')) {
    button.addEventListener('click', () => does[button.dataset.zoom]());
  }
  for (const pick of figure.querySelectorAll('nav.zoom select')) {
    pick.addEventListener('change', () => {
      if (!pick.value) {
        does.all();
        return;
      }
      focus = pick.value.split(' ').map(Number);
      const room = Math.max(20, focus[1] - focus[0]);
      show(focus[0] - room, focus[1] + room);
    });
  }
}

// A time as the page writes it: with its unit, if that is known.
function moment(at, unit) {
  if (unit !== 'ns') return String(Math.round(at));
  const units = [[1e9, 's', 6], [1e6, 'ms', 3], [1e3, 'µs', 3], [1, 'ns', 0]];
  const [size, name, digits] = units.find(([size]) => Math.abs(at) >= size) || units[3];
  return `${Number((at / size).toFixed(digits))} ${name}`;
}
document.querySelectorAll('figure[data-first]').forEach(zoomable);

// Filters: rows of a table, and whatever else says what it is about.
for (const input of document.querySelectorAll('input[data-filters]')) {
  const table = document.getElementById(input.dataset.filters);
  const rows = table ? [...table.querySelectorAll('tbody tr')] : [];
  const marked = [...document.querySelectorAll(`[data-of="${input.dataset.filters}"]`)];
  input.addEventListener('input', () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    for (const it of marked) {
      const row = it.dataset.row && rows[Number(it.dataset.row)];
      const is = row ? !row.hidden : it.dataset.about.toLowerCase().includes(wanted);
      it.classList.toggle('dim', !is);
    }
  });
}

// Paper cannot be opened.
window.addEventListener('beforeprint', () => {
  for (const it of document.querySelectorAll('details:not([open])')) {
    it.open = true;
    it.dataset.opened = '';
  }
});
window.addEventListener('afterprint', () => {
  for (const it of document.querySelectorAll('details[data-opened]')) {
    it.open = false;
    delete it.dataset.opened;
  }
});
