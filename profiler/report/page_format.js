'use strict';
// Texts of figures: the document holds SI base units with the unit in the key's name; prefixes are
// made here and only here. Every text reaches the page as text, never as markup.

function trimmed(value, digits) {
  return Number(value.toPrecision(digits)).toString();
}

function withPrefix(value, unit) {
  const steps = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''],
                 [1e-3, 'm'], [1e-6, '\u00b5'], [1e-9, 'n']];
  if (value === 0) return '0 ' + unit;
  const size = Math.abs(value);
  const step = steps.find(s => size >= s[0] * 0.9995) || steps[steps.length - 1];
  return trimmed(value / step[0], 3) + ' ' + step[1] + unit;
}

function asBytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  while (value >= 1024 && i + 1 < units.length) { value /= 1024; i++; }
  return trimmed(value, 4) + ' ' + units[i];
}

// The unit is the end of the key; bytes_per_s before bytes, and so on.
const UNITS = [
  [/bytes_per_s(_|$)/, v => withPrefix(v, 'B/s')], [/flop_per_s$/, v => withPrefix(v, 'FLOP/s')],
  [/^op_per_s$/, v => withPrefix(v, 'OP/s')],
  [/flop_per_byte/, v => trimmed(v, 4) + ' FLOP/byte'], [/tokens_per_s$/, v => trimmed(v, 4) + ' tokens/s'],
  [/(^|_)fraction/, v => trimmed(100 * v, 3) + ' %'], [/seconds$/, v => withPrefix(v, 's')],
  [/hz$/, v => withPrefix(v, 'Hz')], [/joules$/, v => withPrefix(v, 'J')],
  [/bytes(_|$)/, asBytes], [/^flop/, v => withPrefix(v, 'FLOP')]];

function plain(key, value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return String(value);
  const unit = UNITS.find(u => u[0].test(key));
  return unit ? unit[1](value) : trimmed(value, 6);
}

// A number of the contract, whatever its form: {text, note, absent}.
function figure(key, value, parent) {
  if (value === null || value === undefined) {
    const why = parent && parent.why_absent && parent.why_absent[key];
    const text = why ? why.state.replace(/_/g, ' ') + (why.text ? ': ' + why.text : '') : 'absent';
    return {text: '\u2013', note: text + (why && why.try ? '; try: ' + why.try : ''), absent: true};
  }
  if (typeof value !== 'object') {
    return {text: plain(key, value), note: typeof value === 'number' && /flop|bytes_modelled|predicted|attainable/.test(key) ? 'modelled' : ''};
  }
  const notes = [];
  if (value.ci95) notes.push('95 % ' + plain(key, value.ci95[0]) + ' \u2026 ' + plain(key, value.ci95[1]));
  if (value.n > 1) notes.push('n ' + value.n);
  if (value.n > 1 && value.best !== undefined) notes.push('best ' + plain(key, value.best));
  if (value.origin) notes.push(value.origin);
  if (value.from) notes.push(Object.keys(value.from).map(k => k + ' ' + value.from[k]).join(', '));
  if (value.scope) notes.push(value.scope + ', ' + value.source + (value.events ? ', ' + value.events : ''));
  if (value.running_fraction !== undefined && value.running_fraction !== null)
    notes.push('counted ' + plain('fraction', value.running_fraction) + ' of the time');
  return {text: plain(key, value.value), note: notes.join('; ')};
}

// "94 \u2026 97 %" of a fraction with an interval.
function interval(value) {
  if (!value || !value.ci95) return '\u2013';
  return value.ci95.map(v => trimmed(100 * v, 3)).join(' \u2026 ') + ' %';
}

// The figure with its interval: "28.6 GB/s (2.68 G \u2026 54.5 G)".
function withInterval(key, value, parent) {
  const out = figure(key, value, parent);
  if (value && value.ci95) out.text += ' (' + value.ci95.map(v => withPrefix(v, '').trim()).join(' \u2026 ') + ')';
  return out;
}

function number(value) {
  if (value === null || value === undefined) return NaN;
  return typeof value === 'object' ? value.value : value;
}

// element('td', {class: 'left'}, 'text' or node, ...)
function element(tag, attributes, ...children) {
  const out = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) out.setAttribute(key, value);
  for (const child of children) out.append(child);
  return out;
}

function addFigure(list, label, key, value, parent, brief) {
  const shown = figure(key, value, parent);
  const cell = element('dd', shown.absent ? {class: 'absent'} : {}, shown.text);
  const note = brief && shown.absent ? shown.note.split(/[:;]/)[0] : shown.note;
  if (note) cell.append(' ', element('span', {class: 'origin'}, note));
  list.append(element('div', {}, element('dt', {}, label), cell));
}

function isMissing(point) {
  return point.seconds === null || point.seconds === undefined;
}

function absence(point) {
  return (point.why_absent && point.why_absent.seconds) || {state: 'absent', text: '', try: null};
}

// A point that was not measured is bound by nothing.
function boundWords(point) {
  return (isMissing(point) ? absence(point).state : point.bound || 'unknown').replace(/_/g, ' ');
}

// What a reader must know before the figures: [word, text, advice].
const ALARMS = ['wrong_result', 'disturbed', 'above_roof'];

function alarms(document_) {
  const out = [], points = document_.points || [], missing = points.filter(isMissing);
  if (document_.complete === false)
    out.push(['INCOMPLETE', 'ended before the last point; ' + (points.length - missing.length) + ' points were measured', null]);
  else if (missing.length) {
    const why = absence(missing[0]);
    out.push(['INCOMPLETE', (points.length - missing.length) + ' of ' + points.length + ' points measured: ' + why.text, why.try]);
  }
  for (const code of ALARMS) {
    const found = (document_.warnings || []).filter(w => w.code === code);
    if (found.length)
      out.push([code.replace(/_/g, ' ').toUpperCase(), found[0].text + (found.length > 1 ? ' (and ' + (found.length - 1) + ' more below)' : ''), found[0].try]);
  }
  return out;
}

// What every hover shows, in this order; then the counters that the point has.
const HOVER = [
  ['time', 'seconds'], ['of the step', 'time_share_fraction'], ['attained', 'flop_per_s'],
  ['bytes/s, modelled', 'bytes_per_s_modelled'], ['bytes/s, counted', 'bytes_per_s_counted'],
  ['intensity, predicted', 'flop_per_byte_predicted'], ['intensity, counted', 'flop_per_byte_counted'],
  ['work', 'flop'], ['work executed', 'flop_executed'], ['bytes', 'bytes_modelled'],
  ['fraction of roof', 'roof_fraction'], ['fraction, counted', 'roof_fraction_counted']];

function hoverList(point) {
  const list = element('dl');
  for (const [label, key] of HOVER) addFigure(list, label, key, point[key], point, true);
  const roof = point.roof || {};
  addFigure(list, 'roof', 'name', roof.name, roof, true);
  addFigure(list, 'roof allows', 'attainable_flop_per_s', roof.attainable_flop_per_s, roof, true);
  addFigure(list, 'read roof', 'bytes_per_s', roof.bytes_per_s, roof, true);
  addFigure(list, 'compute roof', 'flop_per_s', roof.flop_per_s, roof, true);
  const twins = point.twins || {};
  addFigure(list, 'memory-only twin', 'memory_only_seconds', twins.memory_only_seconds, twins, true);
  addFigure(list, 'compute-only twin', 'compute_only_seconds', twins.compute_only_seconds, twins, true);
  for (const key of Object.keys(point.counters || {})) {
    if (key !== 'why_absent') addFigure(list, key.replace(/_/g, ' '), key, point.counters[key], point.counters, true);
  }
  addFigure(list, 'bound', 'bound', boundWords(point), point, true);
  return list;
}
