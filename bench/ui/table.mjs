// The table of results.

/** A row: the name of the measurement, its target as `{most}` or `{least}`, its value and its unit. */
export const row = (what, aim, value, unit = '') => ({ what, aim, value, unit });

const met = ({ aim, value }) => (aim.most !== undefined ? value <= aim.most : value >= aim.least);

export function print(rows) {
  if (rows.length === 0) return console.log('Nothing was measured.');
  const lines = rows.map((one) => [
    one.what,
    one.aim.most !== undefined ? `≤ ${one.aim.most} ${one.unit}` : `≥ ${one.aim.least} ${one.unit}`,
    `${one.value} ${one.unit}`,
    met(one) ? 'met' : 'MISSED',
  ]);
  const all = [['measured', 'aim', 'value', ''], ...lines];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...all.map((line) => line[at].length)));
  for (const line of all) console.log(line.map((cell, at) => cell.padEnd(widths[at])).join('  ').trimEnd());
  const missed = rows.filter((one) => !met(one));
  console.log(missed.length === 0 ? '\nEvery aim was met.' : `\nMissed: ${missed.map((one) => one.what).join('; ')}.`);
}
