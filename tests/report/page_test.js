'use strict';
// Runs inside the page: checks what a person would do and leaves the result in the document.

(async function () {
  const failures = [];
  let checks = 0;
  const check = (good, text) => { checks++; if (!good) failures.push(text); };
  // Headless Chromium without a window draws no frames to wait for.
  const frames = n => new Promise(done => setTimeout(done, 20 * n));
  const {data, rows, table} = lmroof, chart = lmroof.chart(), canvas = chart.canvas;
  const visible = () => chart.data.datasets.map((set, i) => chart.isDatasetVisible(i));

  // Every point of every run is in the table, and every drawable one in the picture.
  const all = data.runs.reduce((n, run) => n + (run.document.points || []).length, 0);
  const measured = rows.filter(row => row.point.seconds !== null).length;
  check(all > 0 && rows.length === all && table.count() === measured, 'points in the table: ' + table.count() + ' of ' + all);
  const missing = document.getElementById('missing'), alarm = document.querySelector('.alarm');
  check((missing !== null) === (measured < all), 'a button for what is missing');
  if (missing) {
    missing.click();
    check(table.count() === all, 'showing what is missing');
    missing.click();
    check(table.count() === measured, 'hiding what is missing');
    check(alarm.textContent.includes('INCOMPLETE ' + measured + ' of ' + all), 'an alarm on what is missing');
    check(!/not asked/.test(document.getElementById('points').textContent), 'not asked for what the time did not last for');
  }
  check((alarm !== null) === (measured < all), 'an alarm exactly if something is missing');
  const sets = chart.data.datasets.filter(set => set.kind === 'points');
  const drawn = sets.reduce((n, set) => n + set.data.length, 0);
  check(drawn === data.plot.points.length && drawn + data.plot.skipped === all, 'points drawn: ' + drawn);
  const inside = chart.chartArea;
  sets.forEach((set, s) => chart.getDatasetMeta(chart.data.datasets.indexOf(set)).data.forEach((e, i) =>
    check(e.x >= inside.left && e.x <= inside.right && e.y >= inside.top && e.y <= inside.bottom,
          'point outside of the picture: ' + set.label + ' ' + i)));

  // The levels of memory, where their bytes were counted.
  check((document.getElementById('hierarchy') !== null) === (data.hierarchy !== null), 'a picture by level of memory');
  if (data.hierarchy) {
    const marks = lmroof.levels().data.datasets.filter(set => set.kind === 'points').reduce((n, set) => n + set.data.length, 0);
    check(marks === data.hierarchy.points.length && marks > 0, 'marks by level: ' + marks);
  }

  // Every roof is there and can be toggled, alone.
  const chips = document.querySelectorAll('#roofs .chip');
  check(chips.length === data.plot.roofs.length && chips.length > 0, 'a chip for each roof');
  chips.forEach((chip, i) => {
    const before = visible();
    chip.click();
    const changed = visible().map((v, k) => v !== before[k] ? chart.data.datasets[k].label : null).filter(Boolean);
    check(changed.length === 1 && chip.textContent.endsWith(changed[0]) && chip.getAttribute('aria-pressed') === 'false',
          'toggling roof ' + chip.textContent);
    chip.click();
    check(visible().every((v, k) => v === before[k]), 'toggling roof back ' + chip.textContent);
  });

  // Operators and marks hide their rows and points.
  document.querySelectorAll('#colours .chip, #marks .chip').forEach(chip => {
    chip.click();
    const hidden = visible().filter(v => !v).length;
    check(hidden > 0 && table.count() < measured, 'hiding ' + chip.textContent);
    chip.click();
    check(table.count() === measured && visible().every(Boolean), 'showing ' + chip.textContent);
  });

  // The filter and sorting.
  const search = document.querySelector('input[type=search]');
  search.value = rows[0].point.operator + ' ' + rows[0].point.dtype;
  search.dispatchEvent(new Event('input'));
  const expected = rows.filter(r => !r.missing && r.words.includes(rows[0].point.operator) && r.words.includes(rows[0].point.dtype)).length;
  check(table.count() === expected, 'filtering');
  search.value = '';
  search.dispatchEvent(new Event('input'));
  const heading = Array.from(document.querySelectorAll('#points th')).find(th => th.textContent === 'time');
  heading.click();
  check(heading.getAttribute('aria-sort') === 'descending', 'sorting');
  document.querySelector('#points tbody tr').click();
  const slowest = rows.reduce((a, b) => (b.point.seconds ? b.point.seconds.value : 0) > (a.point.seconds ? a.point.seconds.value : 0) ? b : a);
  check(document.querySelector('#details h2').textContent === slowest.point.id, 'the slowest comes first');

  // Hovering shows the figures with their origins; clicking all of the point.
  const tip = document.getElementById('tip');
  for (const set of sets.slice(0, 6)) {
    const meta = chart.getDatasetMeta(chart.data.datasets.indexOf(set)), at = meta.data[0];
    const place = canvas.getBoundingClientRect();
    const where = {clientX: place.left + at.x, clientY: place.top + at.y, bubbles: true};
    canvas.dispatchEvent(new MouseEvent('mousemove', where));
    await frames(3);
    const text = tip.textContent;
    check(tip.style.opacity === '1' && rows.some(r => text.includes(r.point.id)), 'hover on ' + set.label);
    for (const word of ['time', 'attained', 'bytes/s, modelled', 'intensity, predicted', 'fraction of roof', 'twin', 'timed', 'modelled', 'bound'])
      check(text.includes(word), 'hover on ' + set.label + ' lacks "' + word + '"');
    canvas.dispatchEvent(new MouseEvent('click', where));
    await frames(2);
    const details = document.getElementById('details');
    const shown = rows.find(r => r.point.id === details.querySelector('h2').textContent);
    check(!details.hidden && shown !== undefined, 'click on ' + set.label);
    for (const key of Object.keys(shown.point)) {
      if (typeof shown.point[key] !== 'object' && key !== 'id')
        check(details.textContent.includes(key.replace(/_/g, ' ')), 'details lack ' + key);
    }
  }
  check(!/NaN|undefined|\[object/.test(document.body.innerText), 'NaN, undefined or [object in the page');

  // The rest of the document.
  for (const run of data.runs) {
    for (const w of run.document.warnings)
      check(document.body.textContent.includes(w.text) && (!w.try || document.body.textContent.includes(w.try)), 'warning ' + w.code);
    for (const facts of [run.document.host, run.document.conditions])
      for (const key of Object.keys(facts)) check(document.body.textContent.includes(facts[key]), 'fact ' + key);
  }
  for (const {document: d} of data.runs) {
    const card = document.getElementById('claim');
    check(!d.claim || (card.textContent.includes(d.claim) && card.textContent.includes(d.finding)), 'claim and finding');
    for (const e of d.claim ? d.evidence : []) check(card.textContent.includes(e.found), 'evidence of ' + e.test);
  }
  check(document.documentElement.scrollWidth <= innerWidth + 1, 'the page is wider than the window');
  document.body.append(element('pre', {id: 'test'}, failures.length ? 'FAILED ' + failures.join(' | ') : 'PASSED ' + checks));
})().catch(error => document.body.append(element('pre', {id: 'test'}, 'FAILED ' + error.stack)));
