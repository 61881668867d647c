'use strict';
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const tagged = (name, attributes) => Object.assign(document.createElement(name), attributes);

  // Tables: a click on a heading sorts by its column, another one backwards.
  const valueOf = (row, column) => row.cells[column].textContent.trim();
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  const sortBy = (heading) => {
    const table = heading.closest('table');
    const column = heading.cellIndex;
    const down = heading.getAttribute('aria-sort') === 'ascending';
    all('th', table).forEach((th) => th.removeAttribute('aria-sort'));
    heading.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column), row]);
    rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
    table.tBodies[0].append(...rows.map((pair) => pair[1]));
  };
  all('table.sortable th').forEach((heading) => {
    const button = tagged('button', { type: 'button', textContent: heading.textContent });
    button.addEventListener('click', () => sortBy(heading));
    heading.replaceChildren(button);
  });

  // Graph: the stacks of an arrow are shown below it.
  const shown = one('#shown');
  const show = (edge) => {
    const row = document.getElementById(edge.getAttribute('href').slice(1));
    if (!row || !shown) return false;
    all('.picked').forEach((other) => other.classList.remove('picked'));
    edge.classList.add('picked');
    const title = tagged('h3', { textContent: edge.querySelector('title').textContent });
    const stacks = all('.stacks > div', row).map((stack) => stack.cloneNode(true));
    shown.replaceChildren(title, ...stacks);
    all('details', shown).forEach((details) => { details.open = true; });
    return true;
  };
  all('svg .edge').forEach((edge) => edge.addEventListener('click', (event) => {
    if (show(edge)) event.preventDefault();
  }));

  // A large graph opens where the first finding is, and can be seen whole.
  const canvas = one('.canvas');
  if (canvas && (canvas.scrollWidth > canvas.clientWidth ||
                 canvas.scrollHeight > canvas.clientHeight)) {
    const look = () => {
      const node = one('svg .node.bad, svg .node.conditional') || one('svg .node');
      const box = node.getBoundingClientRect();
      const frame = canvas.getBoundingClientRect();
      canvas.scrollLeft += box.left - frame.left - (frame.width - box.width) / 2;
      canvas.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
    };
    const button = tagged('button', { type: 'button', textContent: 'Whole graph' });
    button.setAttribute('aria-pressed', 'false');
    button.addEventListener('click', () => {
      const whole = canvas.classList.toggle('whole');
      button.setAttribute('aria-pressed', String(whole));
      if (!whole) look();
    });
    canvas.before(button);
    look();
  }

  // Filters: what has none of the locks asked for is hidden, or dim in the graph.
  const form = one('#filters');
  const rows = all('tr[data-lock]');
  const modules = new Set(rows.map((row) => row.dataset.module).filter(Boolean));
  [...modules].sort(compare).forEach((module) => {
    one('#module').append(tagged('option', { value: module, textContent: module }));
  });
  const apply = () => {
    const name = one('#name').value.toLowerCase();
    const module = one('#module').value;
    const active = name !== '' || module !== '';
    const kept = new Set();
    rows.forEach((row) => {
      const keep = (module === '' || row.dataset.module === module) &&
        row.cells[0].textContent.toLowerCase().includes(name);
      row.hidden = !keep;
      if (keep) kept.add(row.dataset.lock);
    });
    const has = (element) => kept.has(element.dataset.from) || kept.has(element.dataset.to);
    all('tr[data-from]').forEach((row) => { row.hidden = active && !has(row); });
    all('svg .edge').forEach((edge) => edge.classList.toggle('out', active && !has(edge)));
    all('svg .node').forEach((node) =>
      node.classList.toggle('out', active && !kept.has(node.dataset.lock)));
    all('article.finding').forEach((finding) => {
      const locks = all('[data-lock]', finding);
      finding.hidden = active && !locks.some((lock) => kept.has(lock.dataset.lock));
    });
    one('#matches').textContent = active ? `${kept.size} of ${rows.length} locks` : '';
  };
  if (rows.length > 1) {
    form.hidden = false;
    form.addEventListener('input', apply);
    form.addEventListener('submit', (event) => event.preventDefault());
  }
})();
