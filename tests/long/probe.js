// Appended to a page by html.bats: what the page does when it is used, as text.
'use strict';
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const said = [];
  const say = (key, value) => said.push(`${key}=${value}`);
  const seen = (element) => element.getClientRects().length > 0;
  const set = (id, value) => {
    const field = document.getElementById(id);
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };

  say('findings', all('article.finding').filter(seen).length);
  const boxes = all('svg .node rect').map((rect) => rect.getBBox());
  say('nodes', boxes.filter((box) => box.width > 20 && box.height > 10).length);
  say('wide', document.documentElement.scrollWidth > document.documentElement.clientWidth);
  const edge = document.querySelector('svg .edge');
  edge.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
  say('shown', all('#shown details[open]').filter(seen).length);
  edge.focus();
  say('focus', document.activeElement === edge);

  const button = document.querySelector('#locks th button');
  const first = () => document.querySelector('#locks td').textContent;
  button.click();
  say('up', first());
  button.click();
  say('down', first());

  set('name', first());
  say('kept', all('#locks tbody tr').filter(seen).length);
  say('dim', all('svg .node.out').length);
  say('findings-kept', all('article.finding').filter(seen).length);
  set('name', '');
  say('dim-again', all('svg .node.out').length);
  const modules = all('#module option').length - 1;
  say('modules', modules);
  set('module', document.querySelectorAll('#module option')[1].value);
  say('of-module', all('#locks tbody tr').filter(seen).length);

  const canvas = document.querySelector('.canvas');
  const inside = () => {
    const node = document.querySelector('svg .node.bad').getBoundingClientRect();
    const frame = canvas.getBoundingClientRect();
    return node.left >= frame.left && node.right <= frame.right;
  };
  say('at-finding', inside());
  const whole = document.querySelector('#graph > button');
  if (whole) {
    whole.click();
    say('whole', canvas.scrollWidth <= canvas.clientWidth && inside());
  }

  const result = document.createElement('pre');
  result.id = 'probe';
  result.textContent = `\n${said.join('\n')}\nend\n`;
  document.body.append(result);
})();
