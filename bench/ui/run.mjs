// Measures the size and the speed of the page, with the real binary in a real Chromium. Prints one table. A missed
// target is printed but is not an error. Only a measurement that fails ends the run with an error.
//
//   GATEHOUSE_BENCH_BINARY   the gateway
//   GATEHOUSE_TEST_CHROMIUM  the browser
//   node run.mjs [bytes] [lighthouse] [interactions] [axe] [frames]    runs only these
import { measureAxe } from './axe.mjs';
import { Gateway } from './gateway.mjs';
import { ModelServer } from './model.mjs';
import { measureBytes } from './bytes.mjs';
import { measureFrames } from './frames.mjs';
import { measureInteractions } from './interactions.mjs';
import { measureLighthouse } from './lighthouse.mjs';
import { print } from './table.mjs';

const ALL = {
  bytes: measureBytes,
  lighthouse: measureLighthouse,
  interactions: measureInteractions,
  axe: measureAxe,
  frames: measureFrames,
};
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in ALL));
if (unknown.length > 0) throw new Error(`no such measurement: ${unknown.join(', ')}; there are ${Object.keys(ALL).join(', ')}`);

const model = await ModelServer.start();
const gateway = await Gateway.start(model.environment);
const rows = [];
let failed = false;
try {
  await gateway.setUp();
  await gateway.seed({ deliveries: 40, sessions: 3 });
  for (const [name, measure] of Object.entries(ALL)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    process.stderr.write(`measuring ${name} …\n`);
    try {
      rows.push(...(await measure(gateway, model)));
    } catch (error) {
      failed = true;
      process.stderr.write(`${name} could not be measured: ${error.stack}\n`);
    }
  }
} finally {
  await gateway.remove();
  await model.close();
}
print(rows);
process.exit(failed ? 1 : 0);
