'use strict';
// Steps through the proof of each anomaly, opens what an edge rests on, and filters neighbours.
// Without this script the page has the same content.
document.documentElement.classList.add('js');

function anomaly(section) {
  const steps = [...section.querySelectorAll('ol.steps > li')];
  const edges = [...section.querySelectorAll('g.edge')];
  const said = section.querySelector('nav.steps output');
  if (!steps.length) return;
  let at = -1;

  function show(next, scrolls) {
    at = next;
    steps.forEach((step, i) => step.classList.toggle('lit', i === at));
    edges.forEach((edge) => {
      const is = edge.dataset.step === String(at + 1);
      edge.classList.toggle('lit', at >= 0 && is);
      edge.classList.toggle('dim', at >= 0 && !is);
    });
    if (said) said.textContent = at < 0 ? 'all steps' : `step ${at + 1} of ${steps.length}`;
    if (scrolls && at >= 0) steps[at].scrollIntoView({ block: 'nearest' });
  }
  const move = (by) => show(((at + 1 + by + steps.length + 1) % (steps.length + 1)) - 1, true);

  for (const button of section.querySelectorAll('nav.steps button')) {
    button.addEventListener('click', () => {
      if (button.dataset.by === '0') show(-1, false);
      else move(Number(button.dataset.by));
    });
  }
  steps.forEach((step, i) => step.addEventListener('click', () => show(i, false)));
  edges.forEach((edge) => {
    if (!edge.dataset.step) return;
    edge.setAttribute('tabindex', '0');
    edge.setAttribute('role', 'button');
    const open = () => {
      const number = Number(edge.dataset.step) - 1;
      show(number, true);
      const why = steps[number] && steps[number].querySelector('details');
      if (why) why.open = true;
    };
    edge.addEventListener('click', open);
    edge.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      open();
    });
  });
  const figure = section.querySelector('figure.proof');
  if (figure) {
    figure.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
        event.preventDefault();
        move(event.key === 'ArrowRight' ? 1 : -1);
      } else if (event.key === 'Escape') show(-1, false);
    });
  }
}
document.querySelectorAll('section.anomaly').forEach(anomaly);

for (const input of document.querySelectorAll('input[data-filters]')) {
  const rows = [...document.getElementById(input.dataset.filters).querySelectorAll('tbody tr')];
  input.addEventListener('input', () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
