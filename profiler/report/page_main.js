'use strict';
// Puts the page together from the embedded data.

(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const plot = data.plot, runs = data.runs, several = runs.length > 1;
  const hidden = {colours: new Set(), marks: new Set(), roofs: new Set()};
  let query = '', chart = null, levels = null, table = null, drawSweeps = null, missingToo = false;

  const keys = {colours: new Map(), marks: new Map()};
  if (plot) {
    plot.colours.forEach((key, i) => keys.colours.set(key.label, i));
    plot.marks.forEach((key, i) => keys.marks.set(key.label, i));
  }
  const rows = [];
  runs.forEach((run, r) => (run.document.points || []).forEach((point, i) => {
    const colour = several ? r : keys.colours.get(point.operator);
    rows.push({
      point, run: r, index: i, order: rows.length, label: run.label, missing: isMissing(point),
      colourKey: colour, markKey: keys.marks.get(point.phase + ' ' + point.dtype),
      words: [point.id, point.operator, point.phase, point.dtype, point.bound, 'batch ' + point.batch,
              run.label, (point.roof && point.roof.name) || ''].join(' ').toLowerCase(),
      colour: () => palette(colour === undefined ? 8 : several ? r : plot.colours[colour].colour)
    });
  }));
  const rowOf = new Map(rows.map(row => [row.run + '/' + row.index, row]));

  function filter(row) {
    return (missingToo || !row.missing) && !hidden.colours.has(row.colourKey) && !hidden.marks.has(row.markKey) &&
      query.split(/\s+/).every(word => row.words.includes(word));
  }

  // ---- heading
  function addHeader() {
    const first = runs[0].document;
    const title = plot ? plot.title : (first.model && first.model.name) || 'lmroof';
    document.title = title + ' \u2013 lmroof';
    const header = element('header', {}, element('h1', {}, title));
    const sub = element('p', {class: 'sub'}, plot ? plot.subtitle + ' \u00b7 ' : '');
    sub.append(element('code', {}, (first.argv || []).join(' ')));
    header.append(sub);
    const seen = new Set();
    runs.forEach(run => alarms(run.document).forEach(([word, text, advice]) => {
      const strip = element('p', {class: 'alarm', role: 'alert'}, element('b', {}, word), ' ' + (several ? run.label + ': ' : '') + text);
      if (advice && !seen.has(advice)) strip.append(element('span', {class: 'try'}, 'try: ' + advice));
      seen.add(advice);
      header.append(strip);
    }));
    if (data.thinned)
      header.append(element('p', {class: 'sub noprint'}, 'Large report: single samples are left out here; they are in the run\u2019s own file.'));
    document.body.append(header);
  }

  // ---- toggles
  function refresh() {
    if (chart) {
      chart.data.datasets.forEach((set, i) => {
        const off = set.kind === 'roof' ? hidden.roofs.has(set.roof)
                                        : hidden.colours.has(set.colour) || hidden.marks.has(set.mark);
        chart.setDatasetVisibility(i, !off);
      });
      chart.update('none');
    }
    const missing = rows.filter(row => row.missing).length;
    document.getElementById('count').textContent = table.update() + ' of ' + (rows.length - (missingToo ? 0 : missing)) +
      (missing && !missingToo ? ', ' + missing + ' not measured' : '');
  }

  function chip(set, index, label, sign) {
    const button = element('button', {type: 'button', class: 'chip', 'aria-pressed': 'true'}, sign, label);
    button.addEventListener('click', () => {
      const off = !set.has(index);
      if (off) set.add(index); else set.delete(index);
      button.setAttribute('aria-pressed', String(!off));
      refresh();
    });
    return button;
  }

  function coloured(className, colour) {
    const sign = element('i', {class: className});
    if (className === 'line dashed') sign.style.borderColor = colour;
    else sign.style.background = colour;
    return sign;
  }

  function addToggles(card) {
    const roofs = element('div', {class: 'toggles', id: 'roofs'}, element('span', {}, 'roofs'));
    plot.roofs.forEach((roof, i) => {
      const colour = several ? palette(roof.run) : cssColour(roof.main ? '--roof' : '--roof-soft');
      const name = (several ? (roof.run + 1) + ': ' : '') + roof.label;
      roofs.append(chip(hidden.roofs, i, name, coloured(roof.main ? 'line' : 'line dashed', colour)));
    });
    const colours = element('div', {class: 'toggles', id: 'colours'}, element('span', {}, several ? 'runs' : 'operators'));
    plot.colours.forEach((key, i) => colours.append(chip(hidden.colours, i, key.label, coloured('dot', palette(key.colour)))));
    const marks = element('div', {class: 'toggles', id: 'marks'}, element('span', {}, 'marks'));
    plot.marks.forEach((key, i) =>
      marks.append(chip(hidden.marks, i, key.label, element('i', {class: 'mark'}, MARK_TEXT[key.mark]))));
    card.append(colours, marks, roofs);
    if (plot.points.some(p => p[7] === 1))
      card.append(element('p', {class: 'sub'}, 'Hollow points: some counter ran less than 95 % of the time.'));
  }

  // ---- hover and pick
  function showTip(point, at) {
    const tip = document.getElementById('tip');
    if (!point) { tip.style.opacity = 0; return; }
    const row = rowOf.get(point.run + '/' + point.index);
    tip.replaceChildren(element('b', {}, (several ? row.label + ': ' : '') + row.point.id), hoverList(row.point),
                        element('div', {class: 'more'}, 'click for shape, evidence and conditions'));
    const stage = tip.parentNode;
    const left = at.x > stage.clientWidth / 2 ? at.x - tip.offsetWidth - 14 : at.x + 14;
    tip.style.left = Math.max(4 - stage.offsetLeft, Math.min(left, stage.clientWidth - tip.offsetWidth)) + 'px';
    tip.style.top = Math.max(-40, Math.min(at.y - tip.offsetHeight / 2, stage.clientHeight - tip.offsetHeight + 60)) + 'px';
    tip.style.opacity = 1;
  }

  function markPoint(row) {
    if (!chart) return;
    let active = [];
    if (row) chart.data.datasets.forEach((set, datasetIndex) => {
      if (set.kind !== 'points' || set.colour !== row.colourKey || set.mark !== row.markKey) return;
      const index = set.data.findIndex(p => p.run === row.run && p.index === row.index);
      if (index >= 0) active = [{datasetIndex, index}];
    });
    chart.setActiveElements(active);
    chart.draw();
  }

  function addDetails(list, prefix, object) {
    for (const key of Object.keys(object)) {
      const value = object[key];
      const group = value && typeof value === 'object' && !Array.isArray(value) && value.value === undefined;
      if (key === 'why_absent' || key === 'evidence' || key === 'id') continue;
      if (group) addDetails(list, key + ' ', value);
      else addFigure(list, prefix + key.replace(/_/g, ' '), key, value, object);
    }
  }

  function pick(row) {
    const card = document.getElementById('details');
    const list = element('dl', {class: 'wide'});
    addDetails(list, '', row.point);
    const title = element('div', {class: 'tools'}, element('h2', {}, row.point.id));
    const close = element('button', {type: 'button', class: 'plain'}, 'close');
    close.addEventListener('click', () => { card.hidden = true; });
    title.append(close);
    card.replaceChildren(title, evidenceList(row.point.evidence), list);
    card.hidden = false;
    table.pick(row);
    markPoint(row);
  }

  // ---- cards below
  function addFacts(grid, title, facts) {
    const names = Object.keys(facts || {});
    if (names.length === 0) return;
    const list = element('dl');
    names.forEach(name => list.append(element('dt', {}, name.replace(/_/g, ' ')), element('dd', {}, String(facts[name]))));
    grid.append(element('section', {class: 'card'}, element('h2', {}, title), list));
  }

  function smallTable(titles, lines) {
    const head = element('tr', {}, ...titles.map(t => element('th', {class: 'left', scope: 'col'}, t)));
    const body = lines.map(line => element('tr', {}, ...line.map(text => {
      const cell = element('td', {class: 'left'}, text.text === undefined ? String(text) : text.text);
      if (cell.textContent.length > 24) cell.className = 'left long';
      if (text.note) cell.title = text.note;
      return cell;
    })));
    return element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)));
  }

  function addCeilings(grid, document_) {
    const machine = document_.machine || document_, lines = [];
    for (const b of machine.bandwidth || [])
      lines.push([b.level, b.kernel, withInterval('bytes_per_s', b.bytes_per_s, b), b.threads, asBytes(b.working_set_bytes) + ', ' + b.variant]);
    for (const l of machine.latency || [])
      lines.push([l.level, 'latency', withInterval('seconds', l.seconds, l), 1, asBytes(l.working_set_bytes)]);
    for (const c of machine.compute || [])
      lines.push([c.dtype, c.kind, withInterval(c.op_kind === 'int' ? 'op_per_s' : 'flop_per_s', c.flop_per_s, c), c.threads, [c.class, c.shape, c.backend].filter(Boolean).join(', ')]);
    if (lines.length)
      grid.append(element('section', {class: 'card'}, element('h2', {}, 'Ceilings'),
                          smallTable(['of', 'kind', 'rate (95 % interval)', 'threads', 'how'], lines)));
  }

  // "memory 98 %, unknown 2 %": shares of the time of a step whose operators were all measured.
  function boundOfStep(document_, step) {
    const of = (document_.points || []).filter(p => p.phase === step.phase && p.dtype === step.dtype && p.batch === step.batch &&
      p.context === step.context && (p.prompt || 0) === (step.prompt || 0));
    if (of.length === 0 || of.some(p => typeof p.time_share_fraction !== 'number')) return '\u2013';
    const shares = new Map();
    for (const p of of) {
      const word = /^memory/.test(p.bound) ? 'memory' : p.bound || 'unknown';
      shares.set(word, (shares.get(word) || 0) + p.time_share_fraction);
    }
    return Array.from(shares).sort((a, b) => b[1] - a[1]).map(s => s[0] + ' ' + trimmed(100 * s[1], 2) + ' %').join(', ');
  }

  function addSteps(grid, document_) {
    const lines = (document_.steps || []).map(s => [s.phase, s.batch, s.prompt || s.context, s.dtype,
      figure('tokens_per_s', s.tokens_per_s, s), figure('predicted_tokens_per_s', s.predicted_tokens_per_s, s),
      figure('seconds', s.phase === 'prefill' ? s.ttft_seconds : s.tpot_seconds, s), boundOfStep(document_, s)]);
    if (lines.length)
      grid.append(element('section', {class: 'card'}, element('h2', {}, 'Whole step'),
                          smallTable(['phase', 'batch', 'tokens', 'dtype', 'measured', 'roofs allow', 'time', 'its operators are bound by'], lines)));
    const turns = (document_.crossover_batches || []).map(c => [c.dtype, figure('batch', c.predicted_linears, c),
      figure('batch', c.predicted_step, c), figure('batch', c.measured, c)]);
    if (turns.length)
      grid.append(element('section', {class: 'card'}, element('h2', {}, 'Batch at which decode turns to compute'),
                          smallTable(['dtype', 'linears, predicted', 'step, predicted', 'measured'], turns)));
  }

  function addWarnings(grid, document_) {
    const list = element('ul', {class: 'warnings'});
    for (const w of document_.warnings || []) {
      const item = element('li', {}, element('code', {}, w.code), ': ' + w.text);
      if (w.try) item.append(element('span', {class: 'try'}, 'try: ' + w.try));
      list.append(item);
    }
    if (list.children.length)
      grid.append(element('section', {class: 'card'}, element('h2', {}, 'Warnings'), list));
  }

  function download(name, text, type) {
    const link = element('a', {href: URL.createObjectURL(new Blob([text], {type})), download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function addDownloads(tools) {
    runs.forEach(run => {
      const name = /\.json$/.test(run.label) ? run.label : run.label + '.json';
      const button = element('button', {type: 'button', class: 'plain'}, several ? 'JSON of ' + run.label : 'JSON');
      button.addEventListener('click', () => download(name, JSON.stringify(run.document, null, 1) + '\n', 'application/json'));
      tools.append(button);
    });
  }

  // Points without a figure are hidden until asked for.
  function addMissingButton(tools) {
    if (!rows.some(row => row.missing)) return;
    const button = element('button', {type: 'button', class: 'plain', id: 'missing', 'aria-pressed': 'false'}, 'show what is missing');
    button.addEventListener('click', () => {
      missingToo = !missingToo;
      button.setAttribute('aria-pressed', String(missingToo));
      button.textContent = missingToo ? 'hide what is missing' : 'show what is missing';
      refresh();
    });
    tools.append(button);
  }

  // The claim that validate put to the test, what came of it, and why.
  function addClaim(main, run) {
    const d = run.document;
    if (!d.claim) return;
    const list = evidenceList(d.evidence);
    main.append(element('section', {class: 'card', id: 'claim'},
      element('h2', {}, (several ? run.label + ': ' : '') + String(d.verdict).replace(/_/g, ' ')),
      element('p', {class: 'claim'}, d.claim), element('p', {class: 'claim'}, d.finding), list));
  }

  function evidenceList(evidence) {
    const list = element('ul', {class: 'evidence'});
    for (const e of evidence || [])
      list.append(element('li', {}, element('span', {class: e.passed ? 'pass' : 'fail'}, e.passed ? '\u2713 ' : '\u2717 '),
                          e.test.replace(/_/g, ' ') + ': expected ' + e.expected + ', found ' + e.found));
    return list;
  }

  // The same points once for each level whose bytes were counted.
  function addHierarchy(main) {
    const card = element('section', {class: 'card', style: 'margin-top:16px'}, element('h2', {}, 'By level of memory, bytes counted'));
    const names = element('div', {class: 'toggles'});
    data.hierarchy.colours.forEach(key => names.append(element('span', {}, coloured('dot', palette(key.colour)), key.label)));
    card.append(element('div', {class: 'stage'}, element('canvas', {id: 'hierarchy', role: 'img',
      'aria-label': 'Hierarchical roofline: each point once for each level of memory'})), names);
    main.append(card);
  }

  function drawHierarchy() {
    if (!data.hierarchy) return;
    if (levels) levels.destroy();
    levels = makeChart(document.getElementById('hierarchy'), data.hierarchy, several, {
      hover: () => {},
      pick: point => pick(rowOf.get(point.run + '/' + point.index))
    });
  }

  // ---- all of it
  function addMain() {
    const main = element('main', {}), split = element('div', {class: 'split'});
    const left = element('section', {class: 'card'}), right = element('section', {class: 'card'});
    const stage = element('div', {class: 'stage'}, element('canvas', {id: 'roofline', role: 'img',
      'aria-label': 'Roofline: the table holds the same points'}), element('div', {id: 'tip'}));
    if (plot) left.append(stage);
    else left.append(element('p', {class: 'absent'}, data.no_plot));
    const search = element('input', {type: 'search', placeholder: 'filter: gate_up bf16 \u2026', 'aria-label': 'filter the table'});
    search.addEventListener('input', () => { query = search.value.trim().toLowerCase(); refresh(); });
    const tools = element('div', {class: 'tools'}, element('h2', {}, 'Points ', element('span', {class: 'origin', id: 'count'})), search);
    addMissingButton(tools);
    addDownloads(tools);
    const holder = element('div', {class: 'scroll', tabindex: '0'});
    right.append(tools, element('p', {class: 'cue'}, 'The table is wider than this page: swipe it for the other columns.'), holder);
    split.append(left, right);
    const details = element('section', {class: 'card', id: 'details', hidden: ''});
    runs.forEach(run => addClaim(main, run));
    main.append(split, details);
    if (data.hierarchy) addHierarchy(main);
    drawSweeps = addSweeps(main, data.charts || []);
    runs.forEach(run => {
      const grid = element('div', {class: 'facts'});
      if (several) main.append(element('h2', {style: 'margin-top:18px'}, run.label));
      addWarnings(grid, run.document);
      addSteps(grid, run.document);
      addCeilings(grid, run.document);
      addFacts(grid, 'Host', run.document.host);
      addFacts(grid, 'Conditions', run.document.conditions);
      main.append(grid);
    });
    details.style.marginTop = '16px';
    document.body.append(main);
    table = makeTable(holder, rows, several, {filter, pick, point: markPoint});
    if (plot) {
      addToggles(left);
      drawChart();
    }
    drawHierarchy();
    drawSweeps();
    refresh();
  }

  function drawChart() {
    if (chart) chart.destroy();
    chart = makeChart(document.getElementById('roofline'), plot, several, {
      hover: showTip,
      pick: point => pick(rowOf.get(point.run + '/' + point.index))
    });
  }

  function repaint() {
    drawHierarchy();
    drawSweeps();
    if (!plot) return;
    drawChart();
    refresh();
  }

  addHeader();
  addMain();
  const tool = runs[0].document.tool || {};
  document.body.append(element('footer', {}, [tool.name, tool.version].filter(Boolean).join(' ') + ' \u00b7 ' + (runs[0].document.started_at || '')));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  addEventListener('beforeprint', repaint);
  addEventListener('afterprint', repaint);
  // For tests and for the console.
  window.lmroof = {data, rows, hidden, table, chart: () => chart, levels: () => levels, pick, showTip};
})();
