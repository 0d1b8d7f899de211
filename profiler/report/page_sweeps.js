'use strict';
// The pictures beside the roofline: sweeps, curves over threads, bars by operator and level, drawn
// by Chart.js from the same descriptions that every other format renders.

function siTick(value) {
  const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, '\u00b5'], [1e-9, 'n']];
  if (!value) return '0';
  if (Math.abs(value) >= 1e-3 && Math.abs(value) < 1) return String(+value.toPrecision(3));
  const [size, unit] = steps.find(step => Math.abs(value) >= step[0] * 0.9995) || steps[steps.length - 1];
  return +(value / size).toPrecision(3) + (unit ? ' ' + unit : '');
}

function sweepSets(chart) {
  return chart.series.map((series, i) => {
    const colour = palette(i), values = new Map(series.points.map(p => [p[0], p[1]]));
    return chart.bars
      ? {label: series.label, backgroundColor: colour, data: chart.categories.map((c, k) => values.has(k) ? values.get(k) : null)}
      : {label: series.label, borderColor: colour, backgroundColor: colour, borderDash: series.bound ? [6, 5] : [],
         pointRadius: series.bound ? 2 : 4, data: series.points.map(p => ({x: p[0], y: p[1]}))};
  });
}

function makeSweep(canvas, chart) {
  const ink = cssColour('--ink') || '#222222';
  const title = text => ({display: true, text, color: ink});
  const x = chart.bars ? {type: 'category', stacked: chart.stacked, title: title(chart.x_title), ticks: {color: ink}}
    : {type: chart.log_x ? 'logarithmic' : 'linear', title: title(chart.x_title),
       ticks: {color: ink, callback: value => Number.isInteger(Math.log2(value)) || !chart.log_x ? value : ''}};
  return new Chart(canvas, {
    type: chart.bars ? 'bar' : 'line',
    data: {labels: chart.bars ? chart.categories : undefined, datasets: sweepSets(chart)},
    options: {
      animation: false, responsive: true, maintainAspectRatio: false,
      scales: {x, y: {beginAtZero: true, stacked: chart.stacked, title: title(chart.y_title), ticks: {color: ink, callback: siTick}}},
      plugins: {legend: {position: 'bottom', labels: {color: ink, boxWidth: 14}},
                tooltip: {callbacks: {label: item => item.dataset.label + ': ' + siTick(item.parsed.y)}}}
    }
  });
}

// Appends a card for each chart; returns a function that draws them anew.
function addSweeps(main, charts) {
  const drawn = charts.map(chart => {
    const canvas = element('canvas', {role: 'img', 'aria-label': chart.title, 'data-chart': chart.name});
    main.append(element('section', {class: 'card', style: 'margin-top:16px'}, element('h2', {}, chart.title),
                        element('div', {style: 'position:relative;height:340px'}, canvas)));
    return {canvas, chart, made: null};
  });
  return () => drawn.forEach(one => {
    if (one.made) one.made.destroy();
    one.made = makeSweep(one.canvas, one.chart);
  });
}
