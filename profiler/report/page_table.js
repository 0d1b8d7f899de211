'use strict';
// The table of points. Only the rows in view exist, so that ten thousand are as quick as ten; for
// print all of them are made.

const ROW_PIXELS = 27;
const PRINT_MOST = 2000;

// narrow: the place on a narrow page, where the others follow behind.
const COLUMNS = [
  {title: 'operator', narrow: 1, left: true, get: r => r.point.id.split('/')[1] || r.point.operator},
  {title: 'run', narrow: 2, left: true, several: true, get: r => r.label},
  {title: 'phase', left: true, get: r => r.point.phase},
  {title: 'tokens', help: 'context of a decode, prompt of a prefill', get: r => r.point.prompt || r.point.context},
  {title: 'batch', narrow: 3, get: r => r.point.batch},
  {title: 'dtype', left: true, get: r => r.point.dtype},
  {title: 'AI', key: 'flop_per_byte_predicted', help: 'predicted FLOP per byte of modelled DRAM traffic', show: v => trimmed(v, 3)},
  {title: 'FLOP/s', key: 'flop_per_s', help: 'attained; integer formats say OP/s', show: (v, r) => withPrefix(v, r.point.op_kind === 'int' ? 'OP/s' : '')},
  {title: 'bytes/s', key: 'bytes_per_s_modelled', help: 'attained, of the modelled DRAM bytes', show: v => withPrefix(v, '')},
  {title: 'of roof', narrow: 5, key: 'roof_fraction', bar: true, help: 'fraction of the roof that it is judged by', show: v => trimmed(100 * v, 3) + ' %'},
  {title: 'bound', narrow: 4, left: true, get: r => boundWords(r.point) + (r.point.disturbed ? ' (disturbed)' : '')},
  {title: 'time', narrow: 6, key: 'seconds', help: 'one call', show: v => withPrefix(v, 's')},
  {title: '95 %', help: 'interval of that fraction', value: r => number(r.point.roof_fraction), show: (v, r) => interval(r.point.roof_fraction)},
  {title: 'm', help: 'its memory-only twin', value: r => number(r.point.twins && r.point.twins.memory_only_seconds), show: v => withPrefix(v, 's')},
  {title: 'k', help: 'its compute-only twin', value: r => number(r.point.twins && r.point.twins.compute_only_seconds), show: v => withPrefix(v, 's')},
  {title: 'share', key: 'time_share_fraction', bar: true, help: "of the step's time", show: v => trimmed(100 * v, 2) + ' %'},
  {title: 'threads', get: r => r.point.threads},
  {title: 'roof', left: true, get: r => (r.point.roof && r.point.roof.name) || '\u2013'}];

function cellValue(column, row) {
  if (column.get) return column.get(row);
  return column.value ? column.value(row) : number(row.point[column.key]);
}

function compareBy(column, down) {
  return (a, b) => {
    const x = cellValue(column, a), y = cellValue(column, b);
    // Absent figures last, whichever way the column is sorted.
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.order - b.order;
    const order = x < y ? -1 : x > y ? 1 : 0;
    return (down ? -order : order) || a.order - b.order;
  };
}

function makeTable(holder, rows, several, handlers) {
  const columns = COLUMNS.filter(c => !c.several || several);
  if (isNarrow(innerWidth)) columns.sort((a, b) => (a.narrow || 9) - (b.narrow || 9));
  const table = element('table', {id: 'points'}), body = element('tbody');
  let shown = rows, picked = null, sorted = null, down = false;

  const headings = columns.map(column => {
    const cell = element('th', {scope: 'col', tabindex: '0', title: column.help || 'sort'}, column.title);
    if (column.left) cell.className = 'left';
    const sort = () => { down = sorted === column ? !down : !column.left; sorted = column; update(); };
    cell.addEventListener('click', sort);
    cell.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sort(); } });
    return cell;
  });
  table.append(element('thead', {}, element('tr', {}, ...headings)), body);
  holder.append(table);

  function cell(column, row) {
    const value = cellValue(column, row), absent = typeof value === 'number' && Number.isNaN(value);
    const out = element('td', column.left ? {class: 'left'} : {},
                        absent ? '\u2013' : column.show ? column.show(value, row) : String(value));
    if (column.key) out.title = figure(column.key, row.point[column.key], row.point).note;
    if (column.bar && !absent) {
      out.className = 'bar';
      out.style.setProperty('--part', Math.max(0, Math.min(100, 100 * value)) + '%');
    }
    if (column === columns[0]) {
      const dot = element('i', {class: 'dot'});
      dot.style.background = row.colour();
      out.prepend(dot);
    }
    return out;
  }

  function line(row) {
    const out = element('tr', {tabindex: '0'}, ...columns.map(c => cell(c, row)));
    if (row === picked) out.className = 'picked';
    out.addEventListener('click', () => handlers.pick(row));
    out.addEventListener('keydown', e => { if (e.key === 'Enter') handlers.pick(row); });
    out.addEventListener('mouseenter', () => handlers.point(row));
    return out;
  }

  function gap(count) {
    const out = element('tr', {'aria-hidden': 'true'});
    const filler = element('td', {colspan: columns.length});
    filler.style.cssText = 'padding:0;border:0;height:' + count * ROW_PIXELS + 'px';
    out.append(filler);
    return out;
  }

  function draw(all) {
    const height = holder.clientHeight || 600;
    let first = Math.max(0, Math.floor(holder.scrollTop / ROW_PIXELS) - 10);
    let last = Math.min(shown.length, first + Math.ceil(height / ROW_PIXELS) + 30);
    if (all) { first = 0; last = Math.min(shown.length, PRINT_MOST); }
    const lines = shown.slice(first, last).map(line);
    if (first > 0) lines.unshift(gap(first));
    if (last < shown.length && !all) lines.push(gap(shown.length - last));
    if (last < shown.length && all)
      lines.push(element('tr', {}, element('td', {colspan: columns.length, class: 'left'},
                                           (shown.length - last) + ' more points are in the page')));
    body.replaceChildren(...lines);
  }

  function update() {
    shown = rows.filter(handlers.filter);
    if (sorted) shown.sort(compareBy(sorted, down));
    headings.forEach((h, i) => {
      if (columns[i] === sorted) h.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else h.removeAttribute('aria-sort');
    });
    draw(false);
    return shown.length;
  }

  let waiting = false;
  holder.addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(false); });
  });
  addEventListener('resize', () => draw(false));
  addEventListener('beforeprint', () => draw(true));
  addEventListener('afterprint', () => draw(false));
  update();
  return {
    update,
    count: () => shown.length,
    pick(row) {
      picked = row;
      const at = shown.indexOf(row);
      const top = at * ROW_PIXELS;
      if (at >= 0 && (top < holder.scrollTop || top > holder.scrollTop + holder.clientHeight - 3 * ROW_PIXELS))
        holder.scrollTop = top - holder.clientHeight / 2;
      draw(false);
    }
  };
}
