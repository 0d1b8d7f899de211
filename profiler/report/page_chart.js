'use strict';
// The roofline: drawn from the plot's description by Chart.js. Roofs are lines, points are one
// data set for each colour and mark; a plugin adds what Chart.js has no word for: names along the
// roofs, the prediction joined to each point, and the batches under their columns.

const LIGHT = ['#0072B2', '#D55E00', '#009E73', '#8E44AD', '#E69F00', '#C2185B',
               '#3A9BD9', '#7F6000', '#666666', '#00695C', '#3949AB', '#9E9D24'];
const DARK = ['#4DB2F0', '#FF8A3D', '#2FD6A3', '#C58BE0', '#FFC53D', '#FF5C93',
              '#8CCBFF', '#C9A94F', '#A8B0B8', '#4DB6AC', '#8C9EFF', '#DCE775'];
const MARKS = ['circle', 'rect', 'triangle', 'rectRot', 'triangleDown', 'star'];
const MARK_TEXT = ['\u25cf', '\u25a0', '\u25b2', '\u25c6', '\u25bc', '\u2605'];

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function isDark() {
  return matchMedia('(prefers-color-scheme: dark)').matches && !matchMedia('print').matches;
}

function palette(index) {
  const colours = isDark() ? DARK : LIGHT;
  return colours[index % colours.length];
}

// Chart.js has no triangle that points down: a small canvas serves as one.
function pointStyle(mark, colour, hollow) {
  if (MARKS[mark] !== 'triangleDown') return MARKS[mark];
  const size = 15, canvas = document.createElement('canvas');
  canvas.width = canvas.height = size;
  const c = canvas.getContext('2d');
  c.beginPath(); c.moveTo(1, 2); c.lineTo(size - 1, 2); c.lineTo(size / 2, size - 1); c.closePath();
  c.strokeStyle = c.fillStyle = colour; c.lineWidth = 1.6;
  if (hollow) c.stroke(); else c.fill();
  return canvas;
}

function roofSets(plot, several) {
  return plot.roofs.map((roof, i) => {
    const colour = several ? palette(roof.run) : cssColour(roof.main ? '--roof' : '--roof-soft');
    return {
      kind: 'roof', roof: i, run: roof.run, main: roof.main, label: roof.label, type: 'line', order: 99, pointRadius: 0,
      pointHitRadius: 0, borderColor: colour, borderWidth: roof.main ? 2.4 : 1.3,
      borderDash: roof.main ? [] : [6, 5],
      data: [{x: roof.from[0], y: roof.from[1]}, {x: roof.to[0], y: roof.to[1]}]
    };
  });
}

// Points often coincide: each next colour is drawn smaller, so that all stay visible.
function pointSets(plot) {
  const sets = new Map();
  for (const p of plot.points) {
    const key = p[5] + '/' + p[6] + '/' + p[7];
    if (!sets.has(key)) {
      const colour = palette(plot.colours[p[5]].colour), hollow = p[7] === 1;
      sets.set(key, {
        kind: 'points', colour: p[5], mark: p[6], label: plot.colours[p[5]].label,
        order: plot.colours.length - p[5], data: [], // a lower order lies on top
        pointStyle: pointStyle(plot.marks[p[6]].mark, colour, hollow), borderColor: colour,
        backgroundColor: hollow ? cssColour('--card') : colour, borderWidth: 1.6,
        pointRadius: plot.points.length > 2000 ? 3 : 7.5 - 3.5 * p[5] / plot.colours.length,
        pointHoverRadius: 9, pointHitRadius: 4
      });
    }
    sets.get(key).data.push({x: p[0], y: p[1], predicted: p[4], run: p[8], index: p[9]});
  }
  return Array.from(sets.values());
}

function clipped(chart, draw) {
  const c = chart.ctx, area = chart.chartArea;
  c.save();
  c.beginPath();
  c.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  c.clip();
  draw(c);
  c.restore();
}

function aside(colour) {
  return 3 * (Math.ceil(colour % 6 / 2) * (colour % 2 ? 1 : -1));
}

// Text on a halo of the card's colour, so that lines and points below it do not cut it.
function haloText(c, text, x, y) {
  const fill = c.fillStyle;
  c.lineWidth = 4;
  c.lineJoin = 'round';
  c.strokeStyle = cssColour('--card');
  c.strokeText(text, x, y);
  c.fillStyle = fill;
  c.fillText(text, x, y);
}

function drawPredictions(chart) {
  const {x, y} = chart.scales;
  clipped(chart, c => {
    c.lineWidth = 1;
    c.globalAlpha = 0.6;
    chart.data.datasets.forEach((set, i) => {
      if (set.kind !== 'points' || !chart.isDatasetVisible(i)) return;
      c.strokeStyle = set.borderColor;
      c.beginPath();
      for (const p of set.data) {
        if (p.predicted === null) continue;
        // Side by side where points share an intensity; each ends in a foot.
        const at = x.getPixelForValue(p.x) + aside(set.colour), end = y.getPixelForValue(p.predicted);
        c.moveTo(at, y.getPixelForValue(p.y));
        c.lineTo(at, end);
        c.moveTo(at - 2, end);
        c.lineTo(at + 2, end);
      }
      c.stroke();
    });
  });
}

// Names along the slopes, and above the right ends of the plateaus; those of plateaus that nearly
// coincide are stacked above the highest of them, in their order. Narrow pages name all plateaus,
// and of the slopes the strong one; the chips name all.
function drawRoofNames(chart) {
  const {x, y} = chart.scales, area = chart.chartArea, plateaus = [];
  const narrow = isNarrow(chart.width);
  clipped(chart, c => {
    c.font = (narrow ? '10px ' : '12px ') + getComputedStyle(document.body).fontFamily;
    chart.data.datasets.forEach((set, i) => {
      if (set.kind !== 'roof' || !chart.isDatasetVisible(i) || (narrow && !set.main && set.data[0].y !== set.data[1].y)) return;
      const [from, to] = set.data;
      const x0 = x.getPixelForValue(from.x), y0 = y.getPixelForValue(from.y);
      const x1 = x.getPixelForValue(to.x), y1 = y.getPixelForValue(to.y);
      if (Math.abs(y1 - y0) < 1) { plateaus.push({text: set.label, colour: set.borderColor, line: y1}); return; }
      c.save();
      c.translate(x0, y0);
      c.rotate(Math.atan2(y1 - y0, x1 - x0));
      c.fillStyle = set.borderColor;
      haloText(c, set.label, 26 + 105 * (set.run % 3), -6);
      c.restore();
    });
    c.textAlign = 'right';
    for (const name of stacked(plateaus, narrow ? 12 : 15)) {
      c.fillStyle = name.colour;
      haloText(c, name.text, area.right - 6, name.at - 5);
    }
  });
}

function stacked(names, height) {
  names.sort((a, b) => a.line - b.line);
  for (let first = 0, end; first < names.length; first = end) {
    for (end = first + 1; end < names.length && names[end].line - names[end - 1].line < height + 4;) end++;
    for (let i = first; i < end; i++) names[i].at = names[first].line - (end - 1 - i) * height;
  }
  return names;
}

function isNarrow(width) {
  return width < 600;
}

function drawNotes(chart, plot) {
  if (isNarrow(chart.width)) return;
  const {x, y} = chart.scales;
  clipped(chart, c => {
    c.font = '11px ' + getComputedStyle(document.body).fontFamily;
    c.fillStyle = cssColour('--soft');
    c.textAlign = 'left';
    for (const [at, low, text] of plot.notes)
      c.fillText(text, x.getPixelForValue(at) - 4, y.getPixelForValue(low) + 4);
    if (plot.ridge) {
      const at = x.getPixelForValue(plot.ridge);
      c.strokeStyle = cssColour('--line');
      c.setLineDash([2, 4]);
      c.beginPath(); c.moveTo(at, chart.chartArea.top); c.lineTo(at, chart.chartArea.bottom); c.stroke();
      c.textAlign = 'left';
      c.fillText('ridge ' + trimmed(plot.ridge, 3), at + 5, chart.chartArea.top + 12);
    }
  });
}

function axis(description, type, narrow) {
  const named = description.ticks.filter(t => t[1] !== '');
  const shown = narrow ? named.filter(t => (type === 'x' ? /^0*\.?0*1/ : /^0*\.?0*[15]/).test(t[1]) || named.length < 9) : named;
  return {
    type: 'logarithmic', position: type === 'x' ? 'bottom' : 'left',
    min: description.low, max: description.high,
    title: {display: true, text: narrow ? description.title.replace(/ \(.*of modelled.*\)/, ' (FLOP/byte)') : description.title, color: cssColour('--ink'), font: {size: narrow ? 11 : 13}},
    grid: {color: cssColour('--grid'), borderColor: cssColour('--soft')},
    afterBuildTicks: scale => { scale.ticks = shown.map(t => ({value: t[0]})); },
    ticks: {
      color: cssColour('--soft'), autoSkip: false, maxRotation: 0,
      callback: value => (shown.find(t => Math.abs(t[0] / value - 1) < 1e-9) || ['', ''])[1]
    }
  };
}

// handlers: hover(point or null, event position), pick(point).
function makeChart(canvas, plot, several, handlers) {
  const narrow = isNarrow(canvas.parentNode.clientWidth);
  const nearest = (event, chart) => {
    const found = chart.getElementsAtEventForMode(event, 'nearest', {intersect: true}, false)
      .filter(e => chart.data.datasets[e.datasetIndex].kind === 'points');
    return found.length ? {data: chart.data.datasets[found[0].datasetIndex].data[found[0].index],
                           at: found[0].element} : null;
  };
  return new Chart(canvas, {
    type: 'scatter',
    data: {datasets: roofSets(plot, several).concat(pointSets(plot))},
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, layout: {padding: {right: 10, top: 6}},
      scales: {x: axis(plot.x, 'x', narrow), y: axis(plot.y, 'y', narrow)},
      plugins: {legend: {display: false}, tooltip: {enabled: false}},
      onHover: (event, found, chart) => {
        const hit = nearest(event, chart);
        canvas.style.cursor = hit ? 'pointer' : 'default';
        handlers.hover(hit && hit.data, hit && hit.at);
      },
      onClick: (event, found, chart) => { const hit = nearest(event, chart); if (hit) handlers.pick(hit.data); }
    },
    plugins: [{
      id: 'roofline',
      beforeDatasetsDraw: drawPredictions,
      afterDatasetsDraw: chart => { drawRoofNames(chart); drawNotes(chart, plot); }
    }]
  });
}
